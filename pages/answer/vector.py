"""Answer of a network without a head: one vector of the whole input, and how alike that of another input is."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import islice

import numpy as np
import streamlit as st

from model import InputError, Trace
from model.analysis import largest_terms, placed
from model.measures.alike import Found, alike, cosine, of_cosine, of_pair, row_cosines, through_layers, vector_of
from model.measures.siamese import AtWords, at_words
from model.operations.working import Table, terms_table
from model.pipeline import MOST_CHARACTERS, Reader
from model.variants.pooled import POOLINGS, Pooled
from pages.answer.pictures import alike_map, cell_by_heads, row_sums, search_results, sentence_map
from pages.drawing.cache import kept, missing
from pages.drawing.figures.latex import formula
from pages.drawing.page import Tabs
from pages.drawing.pictures.vectors import as_makers, probe_looks, vectors
from pages.drawing.screen import Screen
from pages.drawing.text import plain, t, texts_of
from pages.layers.pictures import by_layers
from pages.screen.components.arithmetic import arithmetic
from pages.screen.frame.changes_bar import other_input
from pages.screen.frame.pen import Pen
from pages.screen.frame.pickers import either, lasting
from pages.screen.sections.patience import patience, waits
from pages.screen.sections.sentence_vector import is_headless, no_head, of_input, ways_of, worked_out
from pages.screen.sections.working import MOST, terms

EQUATION = r"\cos(u, v) = \frac{u \cdot v}{|u|\,|v|}"
text, word = texts_of("alike")
LINES = "answer.lines"  # the widget in which they are pasted
MOST_LINES, OURS = 50, 12  # that are compared; of our own examples
MAPS = ("layer", "words")  # where the pairs are: in the last layer, or at the words
MOST_WORDS, RUNS = 40, 105  # tokens of a text for which that is offered; runs that a token costs
Progress = Callable[[float], object]


def tabs_of(screen: Screen) -> Tabs:
    """The vector, and another one beside it; of a network that nobody trained only why there is no answer."""
    if not is_headless(screen):
        return {"": lambda screen, pen: no_head(screen)}
    tabs = {"vector": vector, "alike": similarity}
    return tabs | ({"search": search} if screen.run.picture is None else {})


def vector(screen: Screen, pen: Pen) -> None:
    """The vector as its makers make it, or in the usual ways where they do not say."""
    no_head(screen)
    match ways_of(screen):
        case {"makers": Pooled() as pooled}:
            pen.show_both("makers", partial(as_makers, pooled=pooled))
            last_linear(screen, pooled)
        case ways:
            pen.show_both("vector", partial(vectors, ways=ways, more=makers_way(screen)))
    if not no_map(screen.run, way := next(iter(ways_of(screen).values()))) and not screen.choice.big:
        pen.show("shares", lambda run, at: row_sums(run, at, of_cosine(run, run, way), "shares", total="sum"))
    if "pool.probe" in screen.run:
        pen.show("probe", partial(probe_looks, seen=screen.seen))


def last_linear(screen: Screen, pooled: Pooled) -> None:
    """The arithmetic of the largest number of the last Linear behind the pooling, where there is one."""
    if not pooled.dense:
        return
    steps = pooled.steps(screen.run.Z)
    last = max(place for place, (name, _) in enumerate(steps) if name == "Dense")
    v, linear = steps[last - 1][1].astype(np.float64), pooled.dense[-1]
    found = v @ linear.W.astype(np.float64) + (0 if linear.b is None else linear.b)
    component = int(np.abs(found).argmax())
    bias = 0.0 if linear.b is None else float(linear.b[component])
    products = largest_terms(v, linear.W[:, component], bias, most=MOST)
    lines = terms(screen, terms_table(products, "d_model", "v", "w", None if linear.b is None else products.bias))
    st.markdown(t("sentence_vector.hand_makers", component=component + 1, value=f"{products.total:.5f}"))
    arithmetic(lines, key="makers_by_hand")


def makers_way(screen: Screen) -> list[str]:
    """What the folder itself does, where not all of that is computed here."""
    pooled = screen.pipeline.pooled
    if not pooled or pooled.computed:
        return []
    known = pooled.pooling in POOLINGS
    name = plain(f"sentence_vector.step_{pooled.pooling}") if known else pooled.pooling
    said = [t("sentence_vector.uses" if known else "sentence_vector.uses_other", name=name)]
    if "Dense" in pooled.more:
        said.append(t("sentence_vector.dense"))
    if "Normalize" in pooled.more:
        said.append(t("sentence_vector.normalize"))
    return said


def similarity(screen: Screen, pen: Pen) -> None:
    """The cosine with another input's vector, and how the pairs of their tokens make it."""
    ways, pooled = ways_of(screen), screen.pipeline.pooled
    if not screen.pair:
        other_input(screen.choice, pen.name)
        st.caption(t(of_input(screen, "ask")))
        return
    run, other = screen.pair
    for name, way in ways.items():
        found = cosine(vector_of(run, way), vector_of(other, way))
        with st.container(horizontal=True, vertical_alignment="center"):
            said = {"name": plain(f"sentence_vector.{name}"), "cosine": f"{found.value:.4f}"}
            st.markdown(t("sentence_vector.alike", **said), width="content")
            st.latex(worked_out(found), width="content")
    st.caption(t("sentence_vector.means_known" if pooled or screen.run.graph.vector else "sentence_vector.means"))
    pairs(screen, pen, run, other, next(iter(ways.values())))
    other_input(screen.choice, pen.name)


def pairs(screen: Screen, pen: Pen, run: Trace, other: Trace, way: Pooled | None) -> None:
    """The map whose cells add up to the cosine, what each row and column has of it, and the arithmetic of a cell."""
    if through_words(screen, pen, run, other, way):
        return
    if why := no_map(run, way):
        st.info(why, icon=":material/info:")
        cosines = row_cosines(*(through_layers(screen.pipeline, each, way) for each in (run, other)))
        pen.show("by_layers", replace(by_layers(run, screen.at, {"inputs": cosines}), title=plain("layers.by_layers")))
        return
    assert way is not None  # or there would be no map
    cells = of_cosine(run, other, way)
    at, chosen = chosen_pair(screen, cells), screen.choice.step is not None
    map_of_pairs = alike_map(run, screen.at, other, cells, at, chosen)
    if screen.choice.big:
        pen.show("pairs", map_of_pairs)
        return
    left, right = st.columns([3, 2], gap="medium")
    with left:
        if max(len(run.tokens), len(other.tokens)) > MOST_WORDS:
            pen.show("sentences", lambda run, at: sentence_map(run, at, other, cells))
        pen.show("pairs", map_of_pairs)
        pen.show("columns", row_sums(other, screen.at, cells.T, "columns"))
    with right:
        if not (chosen and opened(pen, run, other, way, at)):
            pen.show("rows", row_sums(run, screen.at, cells))
        with st.container(border=True, key="working.pairs"):
            names = {"token": placed(run.tokens)[at[0]], "other": placed(other.tokens)[at[1]]}
            st.markdown(f"**{plain('common.by_hand')}** · {word('pair', **names)}")
            lines, table = by_hand(run, other, way, at)
            arithmetic("".join((*map(formula, lines), terms(screen, table))), key="pairs_by_hand")


def through_words(screen: Screen, pen: Pen, run: Trace, other: Trace, way: Pooled | None) -> bool:
    """The same map at the words, through all layers, where the reader chose that; whether it is what is shown."""
    n, m = len(run.tokens), len(other.tokens)
    usable = way is not None and not run.edits and not run.graph.vector and way.parts(run.Z) is not None
    if not usable or run.picture is not None or max(n, m) > MOST_WORDS:
        return False
    look = {"key": "maps", "label_visibility": "collapsed"}
    if either("stage", word("maps"), MAPS, [*map(word, MAPS)], screen.choice.stage, **look) != "words":
        return False
    size = run.config, max(n, m), RUNS * (n + m)
    wanted = missing(found_at_words, screen, run, other, way, None)
    if wanted and waits(*size, wanted):
        return True
    with patience(*size) as progress:
        found = found_at_words(screen, run, other, way, progress)
    at = chosen_pair(screen, found.cells)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        pen.show("pairs", alike_map(run, screen.at, other, found.cells, at, through=found))
        st.caption(text("about_words"))
    with right:
        pen.show("rows", row_sums(run, screen.at, found.cells, total="sum"))
        pen.show("columns", row_sums(other, screen.at, found.cells.T, "columns", total="sum"))
    return True


@kept(64, lambda screen, run, other, way, progress: (screen.network, tuple(run.ids), tuple(other.ids)))
def found_at_words(screen: Screen, run: Trace, other: Trace, way: Pooled, progress: Progress | None) -> AtWords:
    return at_words(screen.pipeline, run, other, way, progress=progress or (lambda share: None))


def no_map(run: Trace, way: Pooled | None) -> str:
    """Why no map of token pairs adds up to the cosine; nothing where one does."""
    ends = {"cls": 0, "lasttoken": -1}
    if (run.config.cls_token and way is None) or (way and way.pooling in ends):
        return text("one_cell", token=placed(run.tokens)[ends[way.pooling] if way else 0])
    return "" if way and way.parts(run.Z) is not None else text("no_sum")


def opened(pen: Pen, run: Trace, other: Trace, way: Pooled, cell: tuple[int, int]) -> bool:
    """Which heads and FFNs brought a cell to both of its tokens; whether there is such a picture."""
    try:
        pictures = (
            cell_by_heads(run, of_pair(run, other, cell, way)),
            cell_by_heads(other, of_pair(other, run, (cell[1], cell[0]), way), shown="other"),
        )
    except ValueError:  # an edit stands on the way through sums
        return False
    for name, picture in zip(("cell", "cell_there"), pictures, strict=True):
        pen.show(name, picture)
    st.caption(text("cell_exact"))
    return True


def chosen_pair(screen: Screen, cells: np.ndarray) -> tuple[int, int]:
    """The cell of the map that the reader chose; while none is chosen, the largest, of a chosen row its largest."""
    token, other = screen.choice.token, screen.choice.step
    row = int(cells.max(axis=1).argmax()) if token is None else token
    return row, int(cells[row].argmax()) if other is None else min(other, cells.shape[1] - 1)


def search(screen: Screen, pen: Pen) -> None:
    """Lines that the reader pastes, by how alike they are to the input; a few of ours stand there at first."""
    reader = screen.pipeline.reader
    ours = (line for line in reader.examples() if is_read(reader, line) and "[UNK]" not in reader.read(line).tokens)
    st.text_area(word("lines", most=MOST_LINES), height=110, **lasting(LINES, "\n".join(islice(ours, OURS))))
    pasted = [line.strip()[:MOST_CHARACTERS] for line in st.session_state[LINES].splitlines() if line.strip()]
    lines = tuple(line for line in pasted[:MOST_LINES] if is_read(reader, line))
    if len(lines) < len(pasted):
        st.caption(text("lines_left_out", n=len(pasted) - len(lines), most=MOST_LINES))
    if not lines:
        return
    size = screen.run.config, max(len(reader.read(line).tokens) for line in lines), len(lines)
    wanted = missing(found_lines, screen, lines)
    if wanted and waits(*size, wanted):
        return
    with patience(*size):
        found = found_lines(screen, lines)
    pen.show("search", search_results(screen.run, screen.at, found, lines))


def is_read(reader: Reader, line: str) -> bool:
    """Whether the network's reader can read it."""
    with suppress(InputError):
        reader.read(line)
        return True
    return False


@kept(64, lambda screen, lines: (screen.network, screen.subject, screen.run.edits, lines))
def found_lines(screen: Screen, lines: tuple[str, ...]) -> list[Found]:
    return alike(screen.pipeline, screen.run, lines, next(iter(ways_of(screen).values())))


def by_hand(run: Trace, other: Trace, way: Pooled, cell: tuple[int, int]) -> tuple[Sequence[str], Table]:
    """A cell of the map: its product, and what that is divided by; and the largest terms of the product."""
    plainly = way.pooling == "mean" and not way.dense  # else a row of Z counts otherwise than as its n-th part
    one, two = (way.parts(each.Z) for each in (run, other))
    assert one is not None and two is not None  # or there would be no map
    u, v = (round(float(np.linalg.norm(each.sum(axis=0))), 4) for each in (one, two))
    n, m, z = (len(one), len(two), "z") if plainly else (1, 1, "p")
    products = largest_terms(n * one[cell[0]], m * two[cell[1]], most=MOST)
    product = rf"{z}_{{{cell[0] + 1}}} \cdot {z}'_{{{cell[1] + 1}}}"
    counts, numbers = (r"n \, m \, ", rf"{n} \cdot {m} \cdot ") if plainly else ("", "")
    value = products.total / (n * m * u * v) if u and v else 0.0
    below = rf"\frac{{{product}}}{{{counts}|u|\,|v|}} = \frac{{{products.total:.4f}}}{{{numbers}{u:.4f} \cdot {v:.4f}}}"
    return [rf"{below} = {value:.4f}"], terms_table(products, "d_model", z, f"{z}′")
