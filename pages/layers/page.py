"""Layers: how each token's vector changes from layer to layer, and where it comes from."""

from collections.abc import Callable, Sequence
from functools import partial

import streamlit as st

from model import Trace, WeightsError
from model.analysis import cosine_similarity, placed, rollout
from model.config import NORMS
from model.encoder import EncoderLayer
from model.measures.alike import row_cosines, through_layers
from model.measures.comparison import align
from model.measures.lens import Lens, calibrated
from pages.drawing.cache import kept
from pages.drawing.page import LAYER, Page, Tabs
from pages.drawing.picture import Make, says_words
from pages.drawing.pictures.hidden_words import how_to_hide
from pages.drawing.pictures.shared_weights import shared_weights
from pages.drawing.screen import Screen
from pages.drawing.state.choice import PIPELINES
from pages.drawing.text import plain, t, texts_of
from pages.drawing.text.numbers import two
from pages.layers import pictures
from pages.layers.pictures import (
    Guesses,
    all_reached,
    chosen_key,
    cosine_by_hand,
    guesses,
    likeness,
    read_output,
    rollout_by_hand,
)
from pages.screen.components.arithmetic import arithmetic
from pages.screen.frame.pen import Pen
from pages.screen.frame.pickers import either
from pages.screen.runs import pipelines
from pages.screen.runs.worked_out import plane
from pages.screen.sections.cell_map import cell_maps
from pages.screen.sections.sentence_vector import is_headless, ways_of
from pages.screen.sections.working import MOST, terms

#: The stages of a link that ask for a lens; as the head stands where it asks for none.
LENSES = "raw", "calibrated"

_, word = texts_of("layers")

FORMER = {"lengths": "path"}


def purpose_of(screen: Screen) -> str:
    return "layers.purpose_shared" if shared_weights(screen.run.config) else "layers.purpose"


def equation_of(screen: Screen) -> str:
    """The whole layer, wherever its LayerNorms stand."""
    lines: list[str] = []
    rows = ("MHA", r"\lambda", "X", "X'"), ("FFN", r"\lambda'", "X'", "X^{(l+1)}")
    for sub, (name, scale, read, made) in zip(screen.run.graph.sublayers(screen.at.layer), rows, strict=True):
        norm = rf"\operatorname{{{NORMS[screen.run.config.norm]}}}(%s)" if sub.norm else "%s"
        found = rf"{scale} \odot \text{{{name}}}" if screen.run.config.layer_scale else rf"\text{{{name}}}"
        whole = f"{read} + {found}({norm % read})" if sub.norm_first else norm % f"{read} + {found}({read})"
        lines.append(f"{made} = {whole}")
    return r" \qquad ".join(lines)


def above(screen: Screen, pen: Pen) -> None:
    if said := shared_weights(screen.run.config, "differs"):
        st.caption(" ".join(said))
    if len(screen.run.tokens) == 1:
        st.info(t("layers.one_token"), icon=":material/info:")


def lens(screen: Screen, pen: Pen) -> None:
    """The likeliest words at the selected token, or the classes, after each layer; of two runs how they differ."""
    if screen.two.differs and screen.two.counterpart(screen.at.token) is not None:
        pen.show("guess", partial(pictures.difference, lens=screen.pipeline.read_layers))
    elif says_words(screen.run):
        mapped = screen.choice.stage == LENSES[1] and maps_of(screen.choice.pipeline) is not None
        found = best_words(screen.choice.pipeline, screen.run, screen.at.token, screen.choice.output, mapped)
        pen.show("guess", partial(pictures.words, found=found, to_hide=how_to_hide(screen, screen.at.token)))
        if maps_of(screen.choice.pipeline) and not screen.choice.big:
            either(
                "stage", word("which"), LENSES, [*map(word, LENSES)], screen.choice.stage, label_visibility="collapsed"
            )
    else:
        pen.show("guess", partial(pictures.classes, lens=screen.pipeline.read_layers))


@kept(1000)
def best_words(name: str, trace: Trace, token: int, output: int | None = None, mapped: bool = False) -> Guesses:
    """What `guesses` finds. mapped: by the calibrated lens.

    A whole class keeps its guesses here: of all words there would be a hundred times as many numbers.
    """
    read = pipelines.pipeline(name).read_layers(trace, token, maps_of(name) if mapped else None)
    return guesses(read, output)._replace(mapped=mapped)


def maps_of(name: str) -> Lens | None:
    """The calibrated lens of a network; None where none was fitted to it."""
    try:
        return calibrated() if name == PIPELINES["sentence"] else None
    except WeightsError:  # the raw lens is there
        return None


def trajectories(screen: Screen, pen: Pen) -> None:
    """The plane, and the lengths beside it; in a presentation the plane alone."""
    make = partial(pictures.path, plane=plane)
    if screen.choice.big:
        pen.show("path", make)
        return
    left, right = st.columns([3, 2], gap="medium")
    with left:
        pen.show("path", make)
    with right:
        pen.show("norms", pictures.lengths_on_the_way)


def by_layers(screen: Screen, pen: Pen) -> None:
    """How alike two inputs are after each layer, and the vector of one to what it is in the end."""
    run, pair = screen.run, screen.pair or ()
    others = pair[:1] if screen.shows == "other" else pair[1:]
    curves, called = {}, ""
    if is_headless(screen):
        way = next(iter(ways_of(screen).values()))
        own, *theirs = (through_layers(screen.pipeline, each, way) for each in (run, *others))
        compared = zip(("vector", "inputs"), (own[-1], *theirs), strict=False)
        curves = {name: row_cosines(own, vectors) for name, vectors in compared}
    for other in others:
        places = {pair.one: pair.other for pair in align(run.tokens, other.tokens)}
        if (there := places.get(screen.at.token)) is not None:
            called = placed(other.tokens)[there]
            curves["token"] = row_cosines(run.states()[:, screen.at.token], other.states()[:, there])
    if curves:
        pen.show("by_layers", pictures.by_layers(run, screen.at, curves, called))
    else:
        st.info(t("layers.no_counterpart", token=placed(run.tokens)[screen.at.token]), icon=":material/info:")


def tabs(screen: Screen) -> Tabs:
    """The lens of a head that says words or classes; layer by layer what is compared, where something is."""
    tabs = {"lens": lens} if "logits" in screen.run else {}
    tabs["path"] = trajectories
    if is_headless(screen) or screen.pair:
        tabs["by_layers"] = by_layers
    return tabs | {"alike": similarity, "origin": origin, "out": output}


def similarity(screen: Screen, pen: Pen) -> None:
    run, at = screen.run, screen.at
    key = chosen_key(at, likeness(run, at))

    def lines() -> list[str]:
        pair = run.states()[:, [at.token, key]]
        cosines = [float(cosine_similarity(both)[0, 1]) for both in pair]
        return [*cosine_by_hand(run, at, key), each_layer("cos(a, b)", cosines, at.layer + 1)]

    token_map(screen, pen, "similarity", pictures.similarity, key, lines)


def origin(screen: Screen, pen: Pen) -> None:
    run, at, reached = screen.run, screen.at, all_reached(screen.run)
    key = chosen_key(at, reached[at.layer, at.token])

    def lines() -> list[str]:
        tables = [terms(screen, table) for table in rollout_by_hand(run, at, reached, key, MOST)]
        shares = [float(at.token == key), *reached[:, at.token, key].tolist()]
        return [*tables, each_layer("R", shares, at.layer + 1)]

    token_map(screen, pen, "rollout", pictures.origin, key, lines)


def each_layer(symbol: str, values: Sequence[float], step: int) -> str:
    """A table of a value after each layer, that of one step in bold; in HTML."""
    rows = [f"<th>{word('axis_number')}</th><th>{symbol}</th>"]
    for number, value in enumerate(values):
        shown = f"<td>{number}</td><td>{two(value)}</td>"
        rows.append(shown.replace("td>", "th>") if number == step else shown)
    return f"<table>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"


def output(screen: Screen, pen: Pen) -> None:
    cell_maps(screen, pen, [screen.run.graph.Z], [read_output(screen.run, screen.at)], [{"title": "Z"}])


def token_map(screen: Screen, pen: Pen, name: str, make: Make, key: int, lines: Callable[[], Sequence[str]]) -> None:
    """A map of all tokens by all tokens, beside it the arithmetic of its chosen cell; in a presentation alone.

    lines: the arithmetic, in HTML.
    """
    left, *right = pen.columns(5, 2)
    with left:
        pen.show(name, make)
    for column in right:
        names = placed(screen.run.tokens)
        with column, st.container(border=True, key=f"working.{name}"):
            pair = plain("layers.pair", token=names[screen.at.token], other=names[key])
            st.markdown(f"**{plain('common.by_hand')}** · {pair}")
            arithmetic("".join(lines()), key=f"{name}_by_hand")


PAGE = Page(
    name="layers",
    tabs=tabs,
    attention=True,
    former=FORMER,
    but={"alike": LAYER, "origin": LAYER},
    equation=equation_of,
    purpose=purpose_of,
    above=above,
    code=lambda screen: (EncoderLayer, rollout),
)
