"""Feed-forward: every token for itself, through a wide layer of neurons and back."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import islice

import numpy as np
import pandas as pd
import streamlit as st

from model import Trace
from model.analysis import placed
from model.config import ACTIVATIONS
from model.neurons import activation_curve
from model.pipeline import SPECIAL_TOKENS
from pages.feed_forward.neuron import show_contexts
from pages.ui import figures
from pages.ui.figures import ACCENT, AFTER, BEFORE, Axis, bars, grouped_bars
from pages.ui.figures.equations import plain_math
from pages.ui.figures.theme import scaled
from pages.ui.frame.pickers import either, pick_number
from pages.ui.page import Page
from pages.ui.runs.measure import Measure, of_both
from pages.ui.runs.worked_out import proof, pushed
from pages.ui.sections.band import Column, band
from pages.ui.sections.cell_map import chosen_cell
from pages.ui.sections.without import answer_without_ffn
from pages.ui.sections.working import working
from pages.ui.state.link import select
from pages.ui.text import class_label, plain, texts_of
from pages.ui.text.numbers import written

MOST_ASKED = 128  # neurons that answer a click: the loudest of each token
FIRES = 0.1  # an activation from here on is counted
LISTED, PUSHED, WORDS = 6, 10, 3
HIGH = 270  # pixels of the pictures below the matrices
PLAIN = r"\operatorname{FFN}(x) = \operatorname{act}(x W_1 + b_1)\, W_2 + b_2"
GATED = r"\operatorname{FFN}(x) = \bigl(\operatorname{act}(x W_1 + b_1) \odot (x W_3 + b_3)\bigr)\, W_2 + b_2"
FORMER: Mapping[str, str | Mapping[str, object]] = {
    "writes": "neuron",
    "alone": "without",
    "output": {"panel": None, "stage": "output"},
}
text, word = texts_of("feed_forward")


class FeedForward(Page):
    former = FORMER

    @property
    def title_equation(self) -> str:
        equation = GATED if self.gated else PLAIN
        bare = {"ffn": r" \+ b_\d", "gates": r" \+ b_[13]"}
        return re.sub("|".join(bare[part] for part in bare if part in self.config.unbiased) or "$^", "", equation)

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
        return {"maps": self.activations, "neuron": self.one_neuron, "without": self.ablation}

    def choose_more(self) -> None:
        if self.choice.panel != "without":
            pick_number("neuron", word("neuron"), self.d_ff, self.neuron, width=220)

    def code(self) -> Sequence[object]:
        return (type(self.pipeline.network.layers[self.layer].ffn),)

    # -- activations -------------------------------------------------------------------------------

    def activations(self) -> None:
        """From what comes in through the neurons to what is added; then the loudest neurons, and one by hand."""
        self.flow()
        left, middle, right = st.columns(3, gap="medium")
        with left:
            self.most_active()
        with middle:
            self.curve()
        with right:
            self.fires()
        self.by_hand()

    def flow(self) -> None:
        """What comes in, the neurons, and what is added, row by row."""
        fed, output = self.fed, self.prefix + "output"
        each = max(1, MOST_ASKED // len(self.tokens))
        loudest = np.argsort(-self.loud, axis=1, kind="stable")[:, :each]
        asked = np.unique([*loudest.ravel(), self.neuron]).tolist()
        strongest = float(np.quantile(np.abs(self.trace[fed]), 0.999)) or None
        columns = [
            Column(self.trace.graph.sublayers(self.layer)[-1].reads, word("comes_in"), 1.2),
            Column(fed, word("neurons"), 5, asked, strongest),
            Column(output, word("added"), 1.2),
        ]
        component = chosen_cell(self, output)[1] if self.choice.stage == "output" else None
        marks = {fed: self.neuron, output: component}
        band(self, "flow", columns, self.read_flow(), title=word("flow"), marks=marks, least=520)

    def read_flow(self) -> str:
        """How many neurons fire at the selected token, how much the chosen one does, and where that points."""
        count, value = int((self.loud[self.token] > FIRES).sum()), self.trace[self.fed][self.token, self.neuron]
        said = {"token": self.called, "layer": self.layer + 1, "neuron": self.neuron + 1, "value": f"{value:.2f}"}
        said |= {"loud": f"{count:,}", "d_ff": f"{self.d_ff:,}"}
        sentence = text("read_flow_gated" if self.gated else "read_flow", **said)
        named = self.points_to(self.neuron)[:1]
        return " ".join([sentence, *(text("read_points", word=one) for one in named)])

    def points_to(self, neuron: int) -> list[str]:
        """The words (in the input's letters) or the classes to which a neuron points most; none without answers."""
        if not self.points:
            return []
        scores = pushed(self.choice.pipeline, self.layer, neuron)
        if self.trace.picture is not None:
            labels = self.pipeline.reader.labels
            return [class_label(labels[place]) for place in np.argsort(-scores, kind="stable")[:WORDS]]
        vocabulary = self.pipeline.reader.vocabulary
        ascii_only = all(token.isascii() for token in self.tokens)
        ranked = (vocabulary[place] for place in np.argsort(-scores, kind="stable") if scores[place] > 0)
        fits = (one for one in ranked if one not in SPECIAL_TOKENS and one.isascii() == ascii_only and one[:2] != "##")
        return list(islice(fits, WORDS))

    def most_active(self) -> None:
        """The selected token's loudest neurons, or those that differ most, with the words to which each points."""
        drawn = self.measure(self.fed, beside=True, token=self.token)[self.token]
        best = np.argsort(-np.abs(drawn.values) if drawn.differs else -self.loudness(drawn.values), kind="stable")
        best = best[:LISTED].tolist()
        named = [" · ".join([", ".join(self.points_to(one)), str(one + 1)]).strip(" ·") for one in best]
        said = {"neuron": best[0] + 1, "value": f"{self.trace[self.fed][self.token, best[0]]:.2f}"}
        self.bars_of(
            "best",
            drawn[best],
            Axis("", named),
            [one == self.neuron for one in best],
            text("read_best", token=self.called, **said),
            lambda place: select(neuron=best[place]),
            word("best", token=self.called),
        )

    def curve(self) -> None:
        """The activation function, with the selected token's neurons on it; of two runs those of both."""

        def before_and_after(run: Trace) -> np.ndarray:
            """What goes into the activation and what comes out: (2, token, d_ff)."""
            return np.stack([run[self.prefix + "hidden"], run[self.prefix + "activation"]])

        def as_table(values: np.ndarray) -> pd.DataFrame:
            return pd.DataFrame(values.T, range(1, self.d_ff + 1), ["U", "H"])

        drawn = self.both(before_and_after, ("", "token", "d_ff"), token=self.token)[:, self.token]
        (u, h), other = drawn.values, drawn.other
        hidden = self.trace[self.prefix + "hidden"]
        line = activation_curve(self.config.activation, hidden.min(), hidden.max())
        titles = word("axis_hidden"), word("axis_activation"), word("a_neuron")
        figure = figures.activation_curve(
            line, (u, h), self.neuron, titles, other=None if other is None else tuple(other)
        )
        figure.layout["height"] = scaled(HIGH)
        said = {"below": f"{int((u < 0).sum()):,}", "d_ff": f"{self.d_ff:,}", "neuron": self.neuron + 1}
        said |= {"bend": self.bend, "least": written(f"{line[1].min():.2f}")}
        said |= {name: written(f"{one[self.neuron]:.2f}") for name, one in (("u", u), ("h", h))}
        self.picture(
            "curve",
            figure,
            text("read_curve", **said),
            title=word("curve", bend=self.bend),
            still=True,
            shows=drawn,
            law_of=[self.prefix + "activation"],
            table=of_both(as_table(drawn.values), None if other is None else as_table(other)),
        )

    def fires(self) -> None:
        """The chosen neuron over all tokens of the input."""
        values, drawn = self.trace[self.fed][:, self.neuron], self.measure(self.fed, beside=True)
        most = int(self.loud[:, self.neuron].argmax())
        said = {"token": placed(self.tokens)[most], "value": f"{values[most]:.2f}"}
        lit = np.arange(len(self.tokens)) == self.token
        self.bars_of(
            "fires",
            drawn[:, self.neuron],
            Axis("", self.named),
            lit,
            text("read_fires" if values.any() else "read_silent", neuron=self.neuron + 1, **said),
            lambda place: select(token=place),
            word("fires", neuron=self.neuron + 1),
        )

    def bars_of(
        self,
        name: str,
        drawn: Measure,
        names: Axis,
        lit: Sequence[bool],
        sentence: str,
        choose: Callable[[int], None],
        title: str,
    ) -> None:
        """What neurons feed on as bars, each of which can be clicked. lit: in another colour."""
        look = {"colours": [ACCENT if one else AFTER for one in lit], "height": scaled(HIGH), **drawn.look}
        axis = word("axis_product" if self.gated else "axis_activation")
        self.picture(
            name,
            bars(drawn.values, names, axis, **look),
            sentence,
            on_pick=lambda place, _: choose(place),
            title=title,
            shows=drawn.on(names),
        )

    def by_hand(self) -> None:
        """What the chosen neuron is before the activation, and behind it, or a number of what is added."""
        names = ["hidden", "activation", *(["up", "product"] if self.gated else []), "output"]
        symbols = [plain_math(self.trace.graph[self.prefix + name].symbol).replace("'", "′") for name in names]
        usual = self.choice.stage if self.choice.stage in names else self.fed.removeprefix(self.prefix)
        stage = either("stage", word("lines"), names, symbols, usual, label_visibility="collapsed")
        key = self.prefix + stage
        working(self, key, chosen_cell(self, key) if stage == "output" else (self.token, self.neuron))

    # -- one neuron --------------------------------------------------------------------------------

    def one_neuron(self) -> None:
        """To which words or classes the chosen neuron points, and what fires it over a corpus."""
        if self.points:
            scores = pushed(self.choice.pipeline, self.layer, self.neuron)
            (self.words_pushed if self.trace.picture is None else self.classes_pushed)(scores)
            answer = self.trace.graph.get("logits")
            if self.trace.picture is None and (answer is None or "class" in answer.axes):
                st.markdown(text("no_words" if self.choice.checkpoint else "untrained"))
            st.markdown(text("memory"))
        show_contexts(self, self.neuron)

    def classes_pushed(self, scores: np.ndarray) -> None:
        """The classes that the chosen neuron pushes up and down. scores: (class,)."""
        labels = [class_label(label) for label in self.pipeline.reader.labels]
        kind = "_one" if len(self.tokens) == 1 else ""
        if self.config.distillation_head:
            kind = "_two"
        elif self.config.patch_head:
            kind = "_mean" if self.config.patch_head == "alone" else "_beside"
        said = {"up": labels[int(scores.argmax())], "down": labels[int(scores.argmin())], "neuron": self.neuron + 1}
        self.pushes("classes", "axis_class", labels, scores, f"{text('read_classes', **said)} {text(f'reads{kind}')}")

    def words_pushed(self, scores: np.ndarray) -> None:
        """The words that the chosen neuron pushes up most, and those that it pushes down most. scores: (word,)."""
        vocabulary, ranked = self.pipeline.reader.vocabulary, np.argsort(-scores, kind="stable")
        for column, name, places in zip(
            st.columns(2, gap="medium"), ("up", "down"), (ranked, ranked[::-1]), strict=True
        ):
            first = [place for place in places[: PUSHED + 5] if vocabulary[place] not in SPECIAL_TOKENS][:PUSHED]
            names = [vocabulary[place] for place in first]
            said = {"words": plain("common.comma").join(names[:3]), "value": f"{scores[first[0]]:.2f}"}
            with column:
                sentence = text(f"read_{name}", neuron=self.neuron + 1, **said)
                self.pushes(name, "axis_word", names, scores[first], sentence)

    def pushes(self, name: str, title: str, names: Sequence[str], values: np.ndarray, sentence: str) -> None:
        colour = BEFORE if name == "down" else AFTER
        figure = bars(values, Axis(word(title), names), word("axis_push"), colours=colour)
        self.picture(name, figure, sentence, still=True)

    # -- ablation ----------------------------------------------------------------------------------

    def ablation(self) -> None:
        """The answer without the FFN; and each token sent through alone, which changes attention only."""
        left, right = st.columns(2, gap="medium")
        if "logits" in self.trace:
            with left:
                answer_without_ffn(self)
        attends, *_, thinks = self.trace.graph.sublayers(self.layer)
        test = proof(self.choice.pipeline, self.layer, self.trace[attends.reads], self.trace[thinks.reads], 0)
        gaps = {word("gap_ffn"): test.ffn_gaps, word("gap_attention"): test.attention_gaps}
        names = Axis(plain("axis.token"), self.tokens)  # of this run alone
        figure = grouped_bars(gaps, names, word("axis_gap"), (ACCENT, BEFORE))
        ffn = written(f"{test.ffn_gaps.max():.1e}") if test.ffn_gaps.any() else "0"
        with right:
            sentence = text("read_alone", ffn=ffn, attention=f"{test.attention_gaps.max():.2f}")
            self.picture("alone", figure, sentence, on_pick=lambda _, place: select(token=place))
