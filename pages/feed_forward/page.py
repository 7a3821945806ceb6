"""Feed-forward: every token for itself, through a wide layer of neurons and back."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import streamlit as st

from model import Edit
from model.measures.without import Answers, ffn_off
from model.neurons import scripts
from pages.drawing.figures.equations import plain_math
from pages.drawing.page import LAYER, Page, Tabs
from pages.drawing.picture import says_words, touched
from pages.drawing.pictures.quantity_map import chosen_cell
from pages.drawing.screen import Screen
from pages.drawing.text import class_label, listed
from pages.drawing.text.numbers import two
from pages.feed_forward.neuron import show_contexts
from pages.feed_forward.pictures import LISTED, Neurons, curve, loudest, pushes, text, without_ffn, word
from pages.screen.frame.pen import Pen
from pages.screen.frame.pickers import either, pick_number
from pages.screen.runs.worked_out import answered, pointed_to, pushed
from pages.screen.sections.patience import takes_long
from pages.screen.sections.without import answers_with
from pages.screen.sections.working import working

PUSHED = 10
PLAIN = r"\operatorname{FFN}(x) = \operatorname{act}(x W_1 + b_1)\, W_2 + b_2"
GATED = r"\operatorname{FFN}(x) = \bigl(\operatorname{act}(x W_1 + b_1) \odot (x W_3 + b_3)\bigr)\, W_2 + b_2"
FORMER: Mapping[str, str | Mapping[str, object]] = {
    "writes": "neuron",
    "alone": "without",
    "maps": "loudest",
    "output": {"tab": None, "stage": "output"},
}


def equation_of(screen: Screen) -> str:
    equation = GATED if Neurons(screen.run, screen.at).gated else PLAIN
    bare = {"ffn": r" \+ b_\d", "gates": r" \+ b_[13]"}
    return re.sub("|".join(bare[part] for part in bare if part in screen.run.config.unbiased) or "$^", "", equation)


def points(screen: Screen) -> bool:
    """Whether there is anything that a neuron can point to."""
    return screen.run.graph.get("logits") is not None or screen.run.picture is None


def tabs(screen: Screen) -> Tabs:
    tabs = {"loudest": activations, "neuron": one_neuron}
    return tabs | ({"without": ablation} if "logits" in screen.run else {})


def pick_neuron(screen: Screen, pen: Pen) -> int:
    """A box for the neuron of the chosen layer; returns it."""
    neuron = chosen_neuron(screen)
    with pen.places:
        pick_number("neuron", word("neuron"), screen.run.config.d_ff, neuron, width=220, key=None)
    return neuron


def chosen_neuron(screen: Screen) -> int:
    """The chosen neuron, else of the loudest the first that points to the answer at the selected token, else the
    loudest.
    """
    of, token = Neurons(screen.run, screen.at), screen.at.token
    if screen.at.neuron is None and says_words(screen.run):
        answer = screen.run.outputs[int(screen.run["logits"][token].argmax())]
        loud = np.argsort(-of.loud[token], kind="stable")[:LISTED].tolist()
        return next((one for one in loud if answer in points_to(screen, one)), of.neuron)
    return of.neuron


# -- activations -------------------------------------------------------------------------------


def activations(screen: Screen, pen: Pen) -> None:
    """Which neurons speak at the selected token, and what they say; beside that the activation function, and the chosen
    neuron by hand; in a presentation the neurons alone.
    """
    neuron, words = pick_neuron(screen, pen), partial(points_to, screen)
    at = replace(screen.at, neuron=neuron)
    left, *right = pen.columns(8, 5)
    with left:
        pen.show_both("loudest", partial(loudest, words=words, without=without_neuron(screen, neuron)), at=at)
    for column in right:
        with column:
            pen.show("curve", curve, at=at)
            by_hand(screen, pen, neuron)


def without_neuron(screen: Screen, neuron: int) -> Answers | None:
    """The answer at the selected token as it is, and without a neuron; None where there is none, or not at once."""
    run, of = screen.run, Neurons(screen.run, screen.at)
    if "logits" not in run or takes_long(run.config, len(run.tokens), 2):
        return None
    off = (*run.edits, Edit(of.fed, "zero", neuron=neuron))
    token = screen.at.token if says_words(run) else 0
    return answered(screen.choice.pipeline, screen.subject, (run.edits, off), token)


def points_to(screen: Screen, neuron: int) -> Sequence[str]:
    """The words (in the script of the input) or the classes to which a neuron points most; none without answers."""
    if not points(screen):
        return []
    asked, reader = (screen.choice.pipeline, screen.at.layer, neuron), screen.pipeline.reader
    if screen.run.picture is not None:
        return [class_label(reader.labels[i]) for i in pointed_to(*asked, None)]
    return [reader.vocabulary[i] for i in pointed_to(*asked, scripts(screen.run.tokens))]


def by_hand(screen: Screen, pen: Pen, neuron: int) -> None:
    """What the chosen neuron is before the activation and behind it, or a number of what is added."""
    neurons = Neurons(screen.run, screen.at)
    names, prefix = ["hidden", "activation", *(["up", "product"] if neurons.gated else []), "output"], neurons.prefix
    of_names = {name: plain_math(screen.run.graph[prefix + name].symbol).replace("'", "′") for name in names}
    symbols = [word(f"stage_{name}", symbol=symbol) for name, symbol in of_names.items()]
    usual = screen.choice.stage if screen.choice.stage in names else neurons.fed.removeprefix(prefix)
    stage = either("stage", word("lines"), names, symbols, usual, label_visibility="collapsed")
    key = prefix + stage
    at = screen.at
    cell = chosen_cell(screen.run, at, key) if stage == "output" else (at.token, neuron)
    working(screen, pen, key, cell)


# -- one neuron --------------------------------------------------------------------------------


def one_neuron(screen: Screen, pen: Pen) -> None:
    """To which words or classes the chosen neuron points; beside that, except in a presentation, what fires it over a
    corpus.
    """
    neuron = pick_neuron(screen, pen)
    if not points(screen):
        show_contexts(screen, neuron)
        return
    left, *right = pen.columns(2, 1)
    with left:
        scores = pushed(screen.choice.pipeline, screen.at.layer, neuron)
        (words_pushed if screen.run.picture is None else classes_pushed)(screen, pen, neuron, scores)
        if screen.run.picture is None and not Neurons(screen.run, screen.at).answers:
            st.markdown(text("no_words" if screen.choice.checkpoint else "untrained"))
        if right and not touched(screen.run, screen.at.head, Neurons(screen.run, screen.at).prefix + "output"):
            st.markdown(text("memory"))
    for column in right:
        with column:
            show_contexts(screen, neuron)


def classes_pushed(screen: Screen, pen: Pen, neuron: int, scores: np.ndarray) -> None:
    """The classes that the chosen neuron pushes up and down. scores: (class,)."""
    labels = [class_label(label) for label in screen.pipeline.reader.labels]
    said = {"up": labels[int(scores.argmax())], "down": labels[int(scores.argmin())], "neuron": neuron + 1}
    pen.show("classes", pushes("classes", "class", labels, scores, text("read_classes", **said)))


def words_pushed(screen: Screen, pen: Pen, neuron: int, scores: np.ndarray) -> None:
    """The words that the chosen neuron pushes up most, and those that it pushes down most, in the script of the input.

    scores: (word,).
    """
    vocabulary, written = screen.pipeline.reader.vocabulary, scripts(screen.run.tokens)
    for column, name, sign in zip(st.columns(2, gap="medium"), ("up", "down"), (1, -1), strict=True):
        first = pointed_to(screen.choice.pipeline, screen.at.layer, neuron, written, PUSHED, sign)
        names = [vocabulary[place] for place in first]
        if not names:
            continue
        with column:
            sentence = text(f"read_{name}", neuron=neuron + 1, words=listed(names[:3]), value=two(scores[first[0]]))
            pen.show(name, pushes(name, "word", names, scores[first], sentence))


# -- ablation ----------------------------------------------------------------------------------


def ablation(screen: Screen, pen: Pen) -> None:
    """The answer without the FFN of this layer, and without any."""
    lost = answers_with(screen, ffn_off(screen.run.graph, screen.at.layer))
    if lost is not None:
        pen.show("without", partial(without_ffn, found=lost))


PAGE = Page(
    name="feed_forward",
    group="layer",
    tabs=tabs,
    former=FORMER,
    shown_of=LAYER,
    tokenless=("neuron", "without drawing"),
    equation=equation_of,
    code=lambda screen: (type(screen.pipeline.network.layers[screen.at.layer].ffn),),
)
