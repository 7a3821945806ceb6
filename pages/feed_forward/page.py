"""Feed-forward: every token for itself, through a wide layer of neurons and back."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from model import Trace
from model.analysis import placed
from model.config import ACTIVATIONS
from model.neurons import activation_curve
from model.pipeline import SPECIAL_TOKENS
from pages.feed_forward.neuron import fired_by, show_contexts
from pages.ui import figures
from pages.ui.figures import (
    ACCENT,
    AFTER,
    BEFORE,
    Axis,
    Figure,
    Matrix,
    abreast,
    bars,
    grouped_bars,
    on_screen,
    wide_heatmap,
)
from pages.ui.figures.equations import plain_math
from pages.ui.figures.theme import SMALL, font_size, scaled
from pages.ui.frame.pickers import either, pick_number
from pages.ui.page import Page
from pages.ui.runs.measure import Measure, of_both, widest
from pages.ui.runs.worked_out import proof, pushed
from pages.ui.sections.cell_map import chosen_cell, limit
from pages.ui.sections.without import answer_without_ffn
from pages.ui.sections.working import working
from pages.ui.state.link import select
from pages.ui.text import class_label, plain, texts_of
from pages.ui.text.numbers import written

MOST_NEURONS = 128  # as many as can still be told apart on a screen
FIRES = 0.1  # an activation from here on is counted
SILENT = 0.01  # an activation this small adds next to nothing, whatever its output vector
LISTED, PUSHED = 10, 10
LISTED_LARGE = 6  # where everything is large
HIGH = 330  # pixels of the pictures below the matrices
PLAIN = r"\operatorname{FFN}(x) = \operatorname{act}(x W_1 + b_1)\, W_2 + b_2"
GATED = r"\operatorname{FFN}(x) = \bigl(\operatorname{act}(x W_1 + b_1) \odot (x W_3 + b_3)\bigr)\, W_2 + b_2"
FORMER: Mapping[str, str | Mapping[str, object]] = {"writes": "neuron", "output": {"panel": None, "stage": "output"}}
text, word = texts_of("feed_forward")


class FeedForward(Page):
    former = FORMER

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
        """The name of the activation function."""
        return ACTIVATIONS[self.config.activation]

    @property
    def hidden(self) -> np.ndarray:
        """What goes into the activation: (token, d_ff)."""
        return self.trace[self.prefix + "hidden"]

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

    @cached_property
    def called(self) -> str:
        """The selected token as sentences name it."""
        return placed(self.tokens)[self.token]

    @property
    def points(self) -> bool:
        """Whether there is anything that a neuron can point to."""
        return self.trace.graph.get("logits") is not None or self.trace.picture is None

    def parts(self) -> Mapping[str, Callable[[], None]]:
        return {
            "maps": self.activations,
            "neuron": self.one_neuron,
            "alone": self.for_itself,
            **({"without": lambda: answer_without_ffn(self)} if "logits" in self.trace else {}),
        }

    def choose_more(self) -> None:
        if self.choice.panel not in ("alone", "without"):
            pick_number("neuron", word("neuron"), self.d_ff, self.neuron, width=220)

    def code(self) -> Sequence[object]:
        return (type(self.pipeline.network.layers[self.choice.layer].ffn),)

    # -- all neurons -------------------------------------------------------------------------------

    def activations(self) -> None:
        """From what comes in through the neurons to what is added; then the loudest neurons, and one by hand."""
        self.flow()
        left, middle, right = st.columns(3, gap="medium")
        with left:
            self.most_active()
        with middle:
            self.curve()
        with right:
            self.by_hand()

    @cached_property
    def shown(self) -> list[int]:
        """The neurons that have a column: the loudest of each token and the chosen one, in the order of the tokens."""
        each = max(1, MOST_NEURONS // len(self.tokens))
        best = np.argsort(-self.loud, axis=1, kind="stable")[:, :each]
        wanted = np.unique([*best.ravel(), self.neuron])
        loud = self.loud[:, wanted]
        return wanted[np.lexsort((-loud.max(axis=0), loud.argmax(axis=0)))].tolist()

    def flow(self) -> None:
        """What comes in, the neurons, and what is added, row by row."""
        keys = [self.trace.graph.sublayers(self.layer)[-1].reads, self.fed, self.prefix + "output"]
        measures = [self.measure(key) for key in keys]
        drawn = [measure.less_nothing().values for measure in measures]
        fed, loud = self.trace[self.fed][self.token], self.loud[self.token]
        best, count, shown = int(loud.argmax()), int((loud > FIRES).sum()), len(self.shown)
        said = {"token": self.called, "layer": self.layer + 1, "neuron": best + 1, "value": f"{fed[best]:.2f}"}
        said |= {"loud": f"{count:,}", "d_ff": f"{self.d_ff:,}", "listed": shown}
        kind = "read_flow_silent" if not count else "read_flow_gated" if self.gated else "read_flow"
        sentence = text(kind, **said) + " " + text("read_columns" if shown < self.d_ff else "read_every_column", **said)
        title = word("flow", **dict(zip(("entering", "fed", "output"), self.symbols(keys), strict=True)))
        self.picture(
            "flow",
            self.abreast(keys, drawn, self.token_axis("axis.token"), self.token),
            sentence,
            title=title,
            table=lambda: pd.DataFrame(drawn[1], index=self.named, columns=range(1, self.d_ff + 1)),
            on_pick=partial(choose, self.shown, self.choice.stage),
            shows=widest(measures).on(Axis("", self.named), Axis("")),
            still=self.beside(self.fed),
        )
        if self.beside(self.fed) and self.other:
            there = [self.other[key] for key in keys]
            names = Axis(plain("axis.token"), self.other.tokens)
            figure = self.abreast(keys, there, names, self.counterpart(self.token))
            self.picture("other_flow", figure, "", title=plain("compare.there", title=title), still=True)

    def abreast(self, keys: Sequence[str], values: Sequence[np.ndarray], rows: Axis, row: int | None) -> Figure:
        """X′, the neurons that are shown, and F side by side."""
        entering, fed, output = values
        symbols = self.symbols(keys)
        stage = self.choice.stage == "output"
        component = chosen_cell(self, keys[2])[1] if stage else None
        strongest = float(np.quantile(np.abs(fed), 0.999)) or 1.0
        matrices = [
            Matrix(entering, Axis(symbols[0]), limit(self, keys[0]) or 1.0, 2),
            Matrix(
                fed[:, self.shown],
                Axis(symbols[1], [str(neuron + 1) for neuron in self.shown]),
                strongest,
                5,
                self.shown.index(self.neuron),
            ),
            Matrix(output, Axis(symbols[2]), limit(self, keys[2]) or 1.0, 2, component),
        ]
        return abreast(matrices, rows, row, height=on_screen(max(230, 100 + scaled(18 * len(rows.labels)))))

    def symbols(self, keys: Sequence[str]) -> list[str]:
        """What quantities are called in pictures."""
        return [plain_math(self.trace.graph[key].symbol).replace("'", "′") for key in keys]

    def by_hand(self) -> None:
        """What the chosen neuron is before the activation, and behind it, or a number of what is added."""
        names = ["hidden", "activation", *(["up", "product"] if self.gated else []), "output"]
        symbols = self.symbols([self.prefix + name for name in names])
        usual = self.choice.stage if self.choice.stage in names else self.fed.removeprefix(self.prefix)
        stage = either("stage", word("lines"), names, symbols, usual, label_visibility="collapsed")
        key = self.prefix + stage
        working(self, key, chosen_cell(self, key) if stage == "output" else (self.token, self.neuron))

    def before_and_after(self, run: Trace) -> np.ndarray:
        """What goes into the activation and what comes out: (2, token, d_ff)."""
        return np.stack([run[self.prefix + "hidden"], run[self.prefix + "activation"]])

    def as_table(self, before: np.ndarray, after: np.ndarray) -> pd.DataFrame:
        return pd.DataFrame({"U": before, "H": after}, index=range(1, self.d_ff + 1))

    def curve(self) -> None:
        """The activation function, with the selected token's neurons on it; of two runs those of both."""
        drawn = self.both(self.before_and_after, ("", "token", "d_ff"), token=self.token)[:, self.token]
        here, other = tuple(drawn.values), None if drawn.other is None else tuple(drawn.other)
        line = activation_curve(self.config.activation, self.hidden.min(), self.hidden.max())
        titles = tuple(word(name) for name in ("axis_hidden", "axis_activation", "a_neuron"))
        figure = figures.activation_curve(line, here, self.neuron, titles, other=other)
        figure.layout["height"] = scaled(HIGH)
        self.picture(
            "curve",
            figure,
            text(
                "read_curve",
                below=f"{int((here[0] < 0).sum()):,}",
                d_ff=f"{self.d_ff:,}",
                bend=self.bend,
                least=written(f"{line[1].min():.2f}"),
                neuron=self.neuron + 1,
                u=written(f"{here[0][self.neuron]:.2f}"),
                h=written(f"{here[1][self.neuron]:.2f}"),
            ),
            title=word("curve", bend=self.bend),
            still=True,
            shows=drawn,
            law_of=[self.prefix + "activation"],
            table=of_both(self.as_table(*here), None if other is None else self.as_table(*other)),
        )

    def bars_of_neurons(
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
        """The selected token's loudest neurons, or those that differ most, by what fires them; a click chooses one."""
        drawn = self.measure(self.fed, beside=True, token=self.token)[self.token]
        best = np.argsort(-np.abs(drawn.values) if drawn.differs else -self.loudness(drawn.values), kind="stable")
        best = best[: LISTED if font_size() <= SMALL else LISTED_LARGE]
        fired = [fired_by(self, int(neuron)) for neuron in best]
        named = [
            plain("neuron.named", neuron=neuron + 1, pieces=", ".join(pieces)) if pieces else str(neuron + 1)
            for neuron, pieces in zip(best.tolist(), fired, strict=True)
        ]
        names = Axis(word("a_neuron"), named)
        said = {"neuron": best[0] + 1, "value": f"{self.trace[self.fed][self.token, best[0]]:.2f}", "listed": len(best)}
        sentence = text("read_best_gated" if self.gated else "read_best", token=self.called, **said)
        if any(fired):
            sentence += " " + text("read_fired_by")
        title = word("best", token=self.called)
        look = {"height": scaled(HIGH), "title": title}
        self.bars_of_neurons(
            "best", drawn[best], names, best == self.neuron, sentence, lambda i: select(neuron=int(best[i])), **look
        )

    # -- one neuron --------------------------------------------------------------------------------

    def one_neuron(self) -> None:
        """Where it fires in this input, to which words or classes it points, and what fires it over a corpus."""
        scores = pushed(self.choice.pipeline, self.choice.layer, self.neuron) if self.points else None
        classes = self.trace.picture is not None
        columns = st.columns(1 if scores is None else 2 if classes else 3, gap="medium")
        with columns[0]:
            self.fires()
        if scores is not None and classes:
            with columns[1]:
                self.classes_pushed(scores)
        elif scores is not None:
            self.words_pushed(scores, columns[1:])
        show_contexts(self, self.neuron)
        if scores is None:
            return
        answer = self.trace.graph.get("logits")
        if not classes and (answer is None or "class" in answer.axes):
            st.markdown(text("no_words" if self.choice.checkpoint else "untrained"))
        st.markdown(text("memory", neuron=self.neuron + 1))

    def fires(self) -> None:
        """The chosen neuron over all tokens of the input."""
        values, drawn = self.trace[self.fed][:, self.neuron], self.measure(self.fed, beside=True)
        most = int(self.loud[:, self.neuron].argmax())
        said = {"token": placed(self.tokens)[most], "value": f"{values[most]:.2f}", "n": len(self.tokens)}
        fired = "read_fires" if self.loud[most, self.neuron] > 0 else "read_fires_nowhere"
        sentence = text(fired, neuron=self.neuron + 1, quiet=int((np.abs(values) < SILENT).sum()), **said)
        names, title = self.token_axis("axis.token"), word("fires_title", neuron=self.neuron + 1)
        lit = np.arange(len(self.tokens)) == self.token
        self.bars_of_neurons(
            "fires", drawn[:, self.neuron], names, lit, sentence, lambda place: select(token=place), title=title
        )

    def classes_pushed(self, scores: np.ndarray) -> None:
        """The classes that the chosen neuron pushes up and down. scores: (class,)."""
        labels = [class_label(label) for label in self.pipeline.reader.labels]
        kind = "read_classes_one" if len(self.tokens) == 1 else "read_classes"
        if self.config.distillation_head:
            kind = "read_classes_two"
        elif self.config.patch_head:
            kind = "read_classes_mean" if self.config.patch_head == "alone" else "read_classes_beside"
        said = {"up": labels[int(scores.argmax())], "down": labels[int(scores.argmin())]}
        self.push_picture("classes", "axis_class", labels, scores, text(kind, neuron=self.neuron + 1, **said))

    def words_pushed(self, scores: np.ndarray, columns: Sequence[DeltaGenerator]) -> None:
        """The words that the chosen neuron pushes up most, and those that it pushes down most. scores: (word,)."""
        vocabulary, ranked = self.pipeline.reader.vocabulary, np.argsort(-scores, kind="stable")
        for column, name, places in zip(columns, ("up", "down"), (ranked, ranked[::-1]), strict=True):
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


def choose(shown: Sequence[int], stage: str | None, matrix: int, row: int, column: int, _: float) -> None:
    """A click on one of the three matrices. shown: the neurons that have a column. stage: what is worked out."""
    if matrix == 0:
        select(token=row)
    elif matrix == 1:
        select(token=row, neuron=shown[column], stage=None if stage == "output" else stage)
    else:
        select(token=row, component=column, stage="output")
