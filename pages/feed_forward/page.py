"""Feed-forward: every token for itself, through a wide layer of neurons and back."""

import re
from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
import streamlit as st

from model.measures.without import ffn_off
from model.pipeline import SPECIAL_TOKENS
from pages.feed_forward.neuron import show_contexts
from pages.feed_forward.pictures import Neurons, curve, fires, flow, most_active, pushes, text, without_ffn, word
from pages.ui.figures.equations import plain_math
from pages.ui.frame.pickers import either, pick_number
from pages.ui.page import Page, Parts
from pages.ui.runs.worked_out import pointed_to, pushed
from pages.ui.sections.quantity_map import chosen_cell
from pages.ui.sections.without import answers_with
from pages.ui.sections.working import working
from pages.ui.text import class_label, plain

PUSHED = 10
PLAIN = r"\operatorname{FFN}(x) = \operatorname{act}(x W_1 + b_1)\, W_2 + b_2"
GATED = r"\operatorname{FFN}(x) = \bigl(\operatorname{act}(x W_1 + b_1) \odot (x W_3 + b_3)\bigr)\, W_2 + b_2"
FORMER: Mapping[str, str | Mapping[str, object]] = {
    "writes": "neuron",
    "alone": "without",
    "output": {"panel": None, "stage": "output"},
}


class FeedForward(Page):
    former = FORMER

    @property
    def title_equation(self) -> str:
        equation = GATED if self.gated else PLAIN
        bare = {"ffn": r" \+ b_\d", "gates": r" \+ b_[13]"}
        return re.sub("|".join(bare[part] for part in bare if part in self.config.unbiased) or "$^", "", equation)

    @property
    def of(self) -> Neurons:
        """The neurons of the chosen layer."""
        return Neurons(self.trace, self.at)

    @property
    def gated(self) -> bool:
        return self.of.gated

    @property
    def neuron(self) -> int:
        return self.of.neuron

    @property
    def points(self) -> bool:
        """Whether there is anything that a neuron can point to."""
        return self.trace.graph.get("logits") is not None or self.trace.picture is None

    def parts(self) -> Parts:
        parts = {"maps": self.activations, "neuron": self.one_neuron}
        return parts | ({"without": self.ablation} if "logits" in self.trace else {})

    def choose_more(self) -> None:
        if self.choice.panel != "without":
            pick_number("neuron", word("neuron"), self.config.d_ff, self.neuron, width=220)

    def code(self) -> Sequence[object]:
        return (type(self.pipeline.network.layers[self.layer].ffn),)

    # -- activations -------------------------------------------------------------------------------

    def activations(self) -> None:
        """From what comes in through the neurons to what is added; below it, but not in a presentation, the loudest
        neurons, and one by hand.
        """
        focused = self.choice.stage == "output"
        self.show_both("flow", partial(flow, words=self.points_to, focused=focused))
        if self.choice.big:
            return
        below = {"best": partial(most_active, words=self.points_to), "curve": curve, "fires": fires}
        for column, (name, make) in zip(st.columns(3, gap="medium"), below.items(), strict=True):
            with column:
                self.show(name, make)
        self.by_hand()

    def points_to(self, neuron: int) -> Sequence[str]:
        """The words (in the input's letters) or the classes to which a neuron points most; none without answers."""
        if not self.points:
            return []
        ascii_only = None if self.trace.picture is not None else all(token.isascii() for token in self.tokens)
        names = pointed_to(self.choice.pipeline, self.layer, neuron, ascii_only)
        return names if ascii_only is not None else [class_label(name) for name in names]

    def by_hand(self) -> None:
        """What the chosen neuron is before the activation, and behind it, or a number of what is added."""
        names = ["hidden", "activation", *(["up", "product"] if self.gated else []), "output"]
        prefix, fed = self.of.prefix, self.of.fed
        symbols = [plain_math(self.trace.graph[prefix + name].symbol).replace("'", "′") for name in names]
        usual = self.choice.stage if self.choice.stage in names else fed.removeprefix(prefix)
        stage = either("stage", word("lines"), names, symbols, usual, label_visibility="collapsed")
        key = prefix + stage
        cell = chosen_cell(self.trace, self.at, key) if stage == "output" else (self.token, self.neuron)
        working(self, key, cell)

    # -- one neuron --------------------------------------------------------------------------------

    def one_neuron(self) -> None:
        """To which words or classes the chosen neuron points, and what fires it over a corpus."""
        if self.points:
            scores = pushed(self.choice.pipeline, self.layer, self.neuron)
            (self.words_pushed if self.trace.picture is None else self.classes_pushed)(scores)
            if self.trace.picture is None and not self.of.answers:
                st.markdown(text("no_words" if self.choice.checkpoint else "untrained"))
            st.markdown(text("memory"))
        show_contexts(self, self.neuron)

    def classes_pushed(self, scores: np.ndarray) -> None:
        """The classes that the chosen neuron pushes up and down. scores: (class,)."""
        labels = [class_label(label) for label in self.pipeline.reader.labels]
        said = {"up": labels[int(scores.argmax())], "down": labels[int(scores.argmin())], "neuron": self.neuron + 1}
        self.show("classes", pushes("classes", "axis_class", labels, scores, text("read_classes", **said)))

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
                self.show(name, pushes(name, "axis_word", names, scores[first], sentence))

    # -- ablation ----------------------------------------------------------------------------------

    def ablation(self) -> None:
        """The answer without the FFN of this layer, and without any."""
        lost = answers_with(self, ffn_off(self.trace.graph, self.layer))
        if lost is not None:
            self.show("without", partial(without_ffn, found=lost))
