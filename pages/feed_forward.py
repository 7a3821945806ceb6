"""Feed-forward: every token for itself, through a wide layer of neurons and back."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

import numpy as np
import pandas as pd
import streamlit as st

from model import Trace
from model.config import ACTIVATIONS
from model.neurons import activation_curve
from model.pipeline import SPECIAL_TOKENS
from pages.ui import figures
from pages.ui.figures import ACCENT, AFTER, BEFORE, Axis, bars, grouped_bars, on_screen, wide_heatmap
from pages.ui.figures.theme import SMALL, font_size, scaled
from pages.ui.frame.pickers import either, pick_number
from pages.ui.page import Page
from pages.ui.runs.measure import Measure, of_both
from pages.ui.runs.worked_out import proof, pushed
from pages.ui.sections.cell_map import cell_maps
from pages.ui.sections.neuron import fired_by, show_contexts
from pages.ui.sections.without import answer_without_ffn
from pages.ui.state.link import select
from pages.ui.text import class_label, plain, t, texts_of
from pages.ui.text.numbers import written

MOST_NEURONS = 128  # as many as can still be told apart on a screen
SILENT = 0.01  # an activation this small adds next to nothing, whatever its output vector
LISTED, PUSHED = 15, 10
LISTED_LARGE = 10  # where everything is large
LEAKING = "#c3bdf0"
HIGH = 240  # pixels of the curve in a story
PLAIN = r"\operatorname{FFN}(x) = \operatorname{act}(x W_1 + b_1)\, W_2 + b_2"
GATED = r"\operatorname{FFN}(x) = \bigl(\operatorname{act}(x W_1 + b_1) \odot (x W_3 + b_3)\bigr)\, W_2 + b_2"
text, word = texts_of("feed_forward")


class FeedForward(Page):
    @property
    def title_equation(self) -> str:
        equation = GATED if self.gated else PLAIN
        return re.sub(r" \+ b_\d", "", equation) if "ffn" in self.config.unbiased else equation

    @property
    def gated(self) -> bool:
        """Whether each neuron is multiplied by a second number before it is written."""
        return self.config.ffn == "gated"

    @property
    def prefix(self) -> str:
        return self.key("layers.{l}.ffn.")

    @property
    def d_ff(self) -> int:
        return self.config.d_ff

    @property
    def bend(self) -> str:
        """The activation function."""
        return self.config.activation.partition("-")[0]  # other ways to GELU do the same to every digit that is said

    @property
    def hidden(self) -> np.ndarray:
        """What goes into the activation: (token, d_ff)."""
        return self.trace[self.prefix + "hidden"]

    @property
    def active(self) -> np.ndarray:
        """What comes out of it: (token, d_ff)."""
        return self.trace[self.prefix + "activation"]

    @property
    def fed(self) -> str:
        """The row of the graph by which each neuron's row of W_2 is multiplied: behind its gate, where it has one."""
        return self.prefix + ("product" if self.gated else "activation")

    def loudness(self, fed: np.ndarray) -> np.ndarray:
        """How strongly neurons speak: behind gates with either sign, else as much as they are above 0."""
        return np.abs(fed) if self.gated else fed

    @cached_property
    def loud(self) -> np.ndarray:
        """How strongly each neuron speaks at each token: (token, d_ff)."""
        return self.loudness(self.trace[self.fed])

    @cached_property
    def neuron(self) -> int:
        """The chosen neuron, else the one that answers the selected token most."""
        return int(self.loud[self.token].argmax()) if self.choice.neuron is None else self.choice.neuron

    @property
    def points(self) -> bool:
        """Whether there is anything that a neuron can point to."""
        return self.trace.graph.get("logits") is not None or self.trace.picture is None

    def bent_and_without(self) -> None:
        """The bend on which the selected token's neurons lie; then the answer without feed-forward networks."""
        line = activation_curve(self.config.activation, self.hidden.min(), self.hidden.max())
        before, after = self.hidden[self.token], self.active[self.token]
        figure = figures.activation_curve(
            line,
            (before, after),
            self.neuron,
            (word("axis_hidden"), word("axis_activation"), word("a_neuron")),
        )
        figure.layout["height"] = scaled(HIGH)
        said: dict[str, object] = {"d_model": self.config.d_model, "d_ff": self.d_ff}
        said |= {"token": self.tokens[self.token], "bend": ACTIVATIONS[self.config.activation]}
        said |= {"below": int((before < 0).sum()), "least": written(f"{line[1].min():.2f}")}
        kind = "read_bend_shut" if self.bend == "relu" else "read_bend"
        table = self.as_table(before, after)
        told = [text("about_bend", **said), text(kind, **said)]
        if not self.gated:  # a gate multiplies, which no matrix does
            told.append(text("read_unbent", d_ff=self.d_ff))
        self.picture("bend", figure, " ".join(told), still=True, table=table)
        self.way_to(self.name, word("way_bend"), depth="numbers", panel="curve")
        look = {"key": "feed_forward.try.without", "on_change": "rerun", "icon": ":material/touch_app:"}
        if "logits" in self.trace:
            with st.expander(word("panel_without"), **look) as box:
                if box.open:
                    answer_without_ffn(self)

    def parts(self) -> Mapping[str, Callable[[], None]]:
        return {
            "maps": self.maps,
            "curve": self.curve_and_shares,
            "neuron": self.one_neuron,
            **({"writes": self.writes} if self.points else {}),
            "output": self.output,
            "alone": self.for_itself,
            **({"without": lambda: answer_without_ffn(self)} if "logits" in self.trace else {}),
        }

    def choose_part(self, names: Sequence[str]) -> str:
        with st.container(horizontal=True, vertical_alignment="bottom"):
            part = super().choose_part(names)
            if part in ("curve", "neuron", "writes"):
                pick_number("neuron", word("neuron", d_ff=self.d_ff), self.d_ff, self.neuron)
        return part

    def code(self) -> Sequence[object]:
        return (type(self.pipeline.network.layers[self.choice.layer].ffn),)

    def curve_and_shares(self) -> None:
        columns = st.columns([1, 1])
        with columns[0]:
            self.curve()
        with columns[1]:
            self.shares()

    def one_neuron(self) -> None:
        columns = st.columns([1, 1])
        with columns[0]:
            self.most_active()
        with columns[1]:
            self.fires()
        show_contexts(self, self.neuron)
        if self.points:
            self.writes_towards()

    def output(self) -> None:
        sentence = text("read_output", d_ff=self.d_ff, d_model=self.config.d_model)
        cell_maps(self, [self.prefix + "output"], [sentence], [{"title": word("output")}], stacked=True)

    def maps(self) -> None:
        """Before and after the activation, neuron by neuron, and the arithmetic of the chosen one."""
        kinds = ("most", "all", "sorted")
        words = [word(f"shown_{kind}", most=min(MOST_NEURONS, self.d_ff)) for kind in kinds]
        either("order", word("shown"), kinds, words, self.choice.order)
        order = np.argsort(-self.loud.mean(axis=0), kind="stable")
        order = {"most": order[:MOST_NEURONS], "all": np.arange(self.d_ff), "sorted": order}[self.choice.order].tolist()
        loud = np.unravel_index(self.hidden.argmax(), self.hidden.shape)
        said = [
            text(
                "read_hidden",
                token=self.tokens[loud[0]],
                neuron=loud[1] + 1,
                value=f"{self.hidden[loud]:.2f}",
                share=f"{(self.hidden < 0).mean():.0%}",
            ),
            text(
                f"read_activation_{self.bend}",
                low=f"{self.hidden.min():.2f}",
                lowest=f"{self.active.min():.2f}",
                high=f"{self.hidden.max():.2f}",
                highest=f"{self.active.max():.2f}",
            ),
        ]
        low = scaled(min(300, 90 + 14 * len(self.tokens)))
        names = ["hidden", "activation"]
        if self.gated:
            names += ["up", "product"]
            said += [text("read_gate_up"), text("read_gate_product", d_model=self.config.d_model)]
        titles = [word(f"gate_{name}" if name in ("up", "product") else name) for name in names]
        looks: list[dict] = [{"title": title, "columns": order, "height": low} for title in titles]
        keys = [self.prefix + name for name in names]
        for key, look in zip(keys, looks, strict=True):
            look["strongest"] = float(np.quantile(np.abs(self.measure(key).less_nothing().values), 0.999))
        cell_maps(self, keys, said, looks, stacked=True)

    def before_and_after(self, run: Trace) -> np.ndarray:
        """What goes into the activation and what comes out: (2, token, d_ff)."""
        return np.stack([run[self.prefix + "hidden"], run[self.prefix + "activation"]])

    def as_table(self, before: np.ndarray, after: np.ndarray) -> pd.DataFrame:
        return pd.DataFrame({"U": before, "H": after}, index=range(1, self.d_ff + 1))

    def curve(self) -> None:
        """The activation function, with the selected token's neurons on it; of two runs those of both."""
        drawn = self.both(self.before_and_after, ("", "token", "d_ff"), token=self.token)[:, self.token]
        here, other = tuple(drawn.values), None if drawn.other is None else tuple(drawn.other)
        self.picture(
            "curve",
            figures.activation_curve(
                activation_curve(self.config.activation, self.hidden.min(), self.hidden.max()),
                here,
                self.neuron,
                tuple(word(name) for name in ("axis_hidden", "axis_activation", "a_neuron")),
                other=other,
            ),
            text(
                f"read_curve_{self.bend}",
                token=self.tokens[self.token],
                d_ff=self.d_ff,
                below=int((here[0] < 0).sum()),
                neuron=self.neuron + 1,
                u=f"{here[0][self.neuron]:.2f}",
                h=f"{here[1][self.neuron]:.2f}",
            ),
            still=True,
            shows=drawn,
            law_of=[self.prefix + "activation"],
            table=of_both(self.as_table(*here), None if other is None else self.as_table(*other)),
        )

    def shares(self) -> None:
        """How many neurons of each token are open, leaking or silent."""
        colours = {"open": AFTER, "leaking": LEAKING, "silent": BEFORE}
        if self.bend == "relu":
            del colours["leaking"]

        def sorted_out(run: Trace) -> dict[str, np.ndarray]:
            """Which neurons of each token are of which kind: (token, d_ff) each."""
            active = run[self.prefix + "activation"]
            silent = np.abs(active) < SILENT
            leaking = ~silent & (active < 0)
            return {"open": ~silent & ~leaking, "leaking": leaking, "silent": silent}

        def parts(run: Trace) -> np.ndarray:
            """The share of each kind, for each token: (kind, token)."""
            found = sorted_out(run)
            return np.stack([found[kind].mean(axis=1) for kind in colours])

        found, drawn = sorted_out(self.trace), self.measure(parts, ("", "token"))
        kinds = [word(f"share_{kind}") for kind in colours]
        self.picture(
            "shares",
            grouped_bars(
                dict(zip(kinds, drawn.values, strict=True)),
                self.token_axis("axis.token"),
                word("axis_share"),
                list(colours.values()),
                stacked=True,
                value_range=None if self.differs else (0, 1),
            ),
            text(
                f"read_shares_{self.bend}",
                token=self.tokens[self.token],
                silent=f"{found['silent'][self.token].mean():.1%}",
                leaking=f"{found['leaking'][self.token].mean():.1%}",
                always=int(found["silent"].all(axis=0).sum()),
                d_ff=self.d_ff,
            ),
            on_pick=lambda _, place: select(token=place),
            shows=drawn.on(Axis("", kinds), self.token_axis("axis.token"), upwards=True),
        )

    def activations(
        self,
        name: str,
        drawn: Measure,
        names: Axis,
        lit: Sequence[bool],
        sentence: str,
        choose: Callable[[int], None],
        *,
        height: int | None = None,
        title: str | None = None,
    ) -> None:
        """What neurons feed on as bars, each of which can be clicked. lit: in another colour."""
        colours = [ACCENT if one else AFTER for one in lit]
        self.picture(
            name,
            bars(
                drawn.values,
                names,
                word("axis_product" if self.gated else "axis_activation"),
                colours=colours,
                height=height,
                **drawn.look,
            ),
            sentence,
            on_pick=lambda place, _: choose(place),
            title=title,
            shows=drawn.on(names),
        )

    def most_active(self) -> None:
        """The selected token's most active neurons, or those that differ most; a click chooses one."""
        drawn = self.measure(self.fed, beside=True, token=self.token)[self.token]
        best = np.argsort(-np.abs(drawn.values) if drawn.differs else -self.loudness(drawn.values), kind="stable")
        best = best[: LISTED if font_size() <= SMALL else LISTED_LARGE]
        names = Axis(word("a_neuron"), [self.named_by_what_fires_it(int(place)) for place in best])
        said = {"neuron": best[0] + 1, "value": f"{self.trace[self.fed][self.token, best[0]]:.2f}", "listed": len(best)}
        height = on_screen(80 + scaled(24 * len(best)))
        sentence = text("read_best_gated" if self.gated else "read_best", token=self.tokens[self.token], **said)

        def choose(place: int) -> None:
            select(neuron=int(best[place]))

        self.activations("best", drawn[best], names, best == self.neuron, sentence, choose, height=height)

    def named_by_what_fires_it(self, neuron: int) -> str:
        """A neuron's number; in a story behind the pieces of a corpus that fired it most, where that was measured."""
        pieces = fired_by(self, neuron) if self.story else []
        return plain("neuron.named", neuron=neuron + 1, pieces=", ".join(pieces)) if pieces else str(neuron + 1)

    def fires(self) -> None:
        """The chosen neuron over all tokens of the input."""
        values, drawn = self.trace[self.fed][:, self.neuron], self.measure(self.fed, beside=True)
        most = int(self.loud[:, self.neuron].argmax())
        said = {"token": self.tokens[most], "value": f"{values[most]:.2f}", "n": len(self.tokens)}
        fired = "read_fires" if self.loud[most, self.neuron] > 0 else "read_fires_nowhere"
        sentence = text(fired, neuron=self.neuron + 1, quiet=int((np.abs(values) < SILENT).sum()), **said)
        names, title = self.token_axis("axis.token"), word("fires_title", neuron=self.neuron + 1)
        lit = np.arange(len(self.tokens)) == self.token
        self.activations(
            "fires", drawn[:, self.neuron], names, lit, sentence, lambda place: select(token=place), title=title
        )

    def outputs(self) -> tuple[Sequence[str], bool]:
        """What `pushes` has a score for: the classes of a picture, or words; and whether they are classes."""
        reader = self.pipeline.reader
        if self.trace.picture is not None:
            return [class_label(label) for label in reader.labels], True
        return reader.vocabulary, False

    def writes_towards(self) -> None:
        """In one line, the words or classes to which the chosen neuron's output points; for pictures see `writes`."""
        scores, (labels, classes) = pushed(self.choice.pipeline, self.choice.layer, self.neuron), self.outputs()
        ranked = [i for i in np.argsort(-scores, kind="stable").tolist() if labels[i] not in SPECIAL_TOKENS]
        many = 1 if classes else 5
        up, down = (plain("common.comma").join(labels[i] for i in places[:many]) for places in (ranked, ranked[::-1]))
        st.markdown(t("neuron.writes", neuron=self.neuron + 1, up=up, down=down))

    def writes(self) -> None:
        """Where the chosen neuron's output vector points: the words, or the classes, that it pushes up and down."""
        scores, (labels, classes) = pushed(self.choice.pipeline, self.choice.layer, self.neuron), self.outputs()
        if classes:
            kind = "read_classes_one" if len(self.tokens) == 1 else "read_classes"
            if self.trace.config.distillation_head:
                kind = "read_classes_two"
            elif self.trace.config.patch_head:
                kind = "read_classes_mean" if self.trace.config.patch_head == "alone" else "read_classes_beside"
            said = {"up": labels[int(scores.argmax())], "down": labels[int(scores.argmin())]}
            self.push_picture("classes", "axis_class", labels, scores, text(kind, neuron=self.neuron + 1, **said))
        else:
            self.words_pushed(scores, labels)
        answer = self.trace.graph.get("logits")
        if not classes and (answer is None or "class" in answer.axes):
            st.markdown(text("no_words" if self.choice.checkpoint else "untrained"))
        st.markdown(text("memory", neuron=self.neuron + 1))

    def words_pushed(self, scores: np.ndarray, vocabulary: Sequence[str]) -> None:
        """The words that the chosen neuron pushes up most, and those that it pushes down most. scores: (word,)."""
        ranked = np.argsort(-scores, kind="stable")
        for column, name, places in zip(st.columns([1, 1]), ("up", "down"), (ranked, ranked[::-1]), strict=True):
            first = [place for place in places[: PUSHED + 5] if vocabulary[place] not in SPECIAL_TOKENS][:PUSHED]
            names = [vocabulary[place] for place in first]
            said = {"words": plain("common.comma").join(names[:3]), "value": f"{scores[first[0]]:.2f}"}
            with column:
                self.push_picture(
                    name, "axis_word", names, scores[first], text(f"read_{name}", neuron=self.neuron + 1, **said)
                )

    def push_picture(self, name: str, title: str, names: Sequence[str], values: np.ndarray, sentence: str) -> None:
        colour = BEFORE if name == "down" else AFTER
        figure = bars(values, Axis(word(title), names), word("axis_push"), colours=colour)
        self.picture(name, figure, sentence, still=True)

    def for_itself(self) -> None:
        """Shuffled and alone: the FFN gives each token the same; attention does not."""
        attends, *_, thinks = self.trace.graph.sublayers(self.choice.layer)
        turn = st.session_state.get("feed_forward.turn", 0)
        test = proof(self.choice.pipeline, self.choice.layer, self.trace[attends.reads], self.trace[thinks.reads], turn)
        st.markdown(text("positionwise"))
        many = len(self.tokens) > 1
        columns = st.columns([1, 1])
        with columns[0]:
            gap = f"{test.shuffle_gap:.1e}" if test.shuffle_gap else "0"
            said = {"token": self.tokens[test.order[0]], "place": test.order[0] + 1, "gap": gap}
            self.picture(
                "shuffled",
                wide_heatmap(
                    test.shuffled,
                    Axis(word("axis_shuffled"), [self.tokens[place] for place in test.order]),
                    plain("axis.d_model"),
                    limit=float(np.quantile(np.abs(test.shuffled), 0.999)) or None,
                ),
                text("read_shuffled" if many else "read_shuffled_one", **said),
                law_of=[self.prefix + name for name in ("hidden", "activation", "output")],
            )
            st.button(
                word("again"),
                key="feed_forward.again",
                icon=":material/shuffle:",
                disabled=not many,
                on_click=lambda: st.session_state.update({"feed_forward.turn": turn + 1}),
            )
        with columns[1]:
            knows = self.config.positions == "rotary" or self.config.buckets > 0 or bool(self.config.distance_terms)
            ordered = "_distances" * knows
            gaps = {word("gap_ffn"): test.ffn_gaps, word("gap_attention"): test.attention_gaps}
            self.picture(
                "alone",
                grouped_bars(
                    gaps,
                    Axis(plain("axis.token"), self.tokens),  # of this run alone
                    word("axis_gap"),
                    (ACCENT, BEFORE),
                    value_range=None if many else (0, 1),
                ),
                text(
                    f"read_alone{ordered}" if many else "read_alone_one",
                    ffn=f"{test.ffn_gaps.max():.1e}" if test.ffn_gaps.any() else "0",
                    attention=f"{test.attention_gaps.max():.2f}",
                ),
                on_pick=lambda _, place: select(token=place),
            )
