"""The drawing of the network: what it says is what was computed, and nothing in it collides."""

import itertools

import numpy as np
import pytest

from model import Edit, load
from pages.ui.components.diagram import Arrow, Diagram, diagram, kind_of, page_of
from pages.ui.frame.contents import PAGES
from pages.ui.sections.decoder import BLOCKS
from pages.ui.sections.overview import block_of
from tests.networks import trace_of

ENCODERS = [
    "000",
    "003",
    "004",
    "vit-b-16",
    "bert-base",
    "pre-norm words",
    "gated words",
    "turned words",
    "pre-norm patches",
    "trained text",
]
NAMES = [*ENCODERS, "translation"]


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    return request.param


def drawn(name: str, layer: int = 1) -> Diagram:
    return diagram(trace_of(name), layer)


def into(drawing: Diagram, box: str) -> list[Arrow]:
    return [arrow for arrow in drawing.arrows if arrow.end == box]


def embedded(name: str) -> str:
    """The box that X⁰ leaves."""
    return "embedding_norm" if trace_of(name).config.embedding_norm else "sum"


def sides(name: str) -> list[str]:
    return ["", "decoder."] if name == "translation" else [""]


def sublayers(name: str, layer: int = 1) -> list[tuple[str, object]]:
    """(the beginning of its boxes' names, sub-layer) of the layer that is drawn, on both sides."""
    graph = trace_of(name).graph
    return [
        (f"{side}{sublayer.name}.", sublayer)
        for side in sides(name)
        for sublayer in graph.sublayers(min(layer, graph.layers(side) - 1), side)
    ]


def test_each_arrow_carries_the_shape_of_what_passed(name: str) -> None:
    trace = trace_of(name)
    for arrow in drawn(name).arrows:
        if arrow.key in trace:
            assert arrow.shape == " × ".join(map(str, trace[arrow.key].shape)), arrow
        else:
            assert arrow.start.endswith("tokens"), arrow


@pytest.mark.parametrize("layer", [0, 1])
def test_arrows_are_what_the_quantities_of_a_layer_read(name: str, layer: int) -> None:
    """What one box reads from another is an arrow that carries that very key, and there is no other arrow."""
    graph, carried = trace_of(name).graph, {arrow.key for arrow in drawn(name, layer).arrows}
    shown = {side: min(layer, graph.layers(side) - 1) for side in sides(name)}
    read = set()
    for quantity in graph:
        if quantity.layer in (None, shown["decoder." if quantity.key.startswith("decoder.") else ""]):
            read |= set(quantity.reads)
            for key in quantity.reads:
                normalised_at_once = quantity.operation == "norm" and graph[key].operation == "add"
                if kind_of(graph[key]) != kind_of(quantity) and not normalised_at_once:
                    assert key in carried, (key, quantity.key)
    assert carried <= read


def test_what_meets_in_an_add_box_adds_up(name: str) -> None:
    trace, drawing = trace_of(name), drawn(name)
    for stem, sublayer in sublayers(name):
        arrows = into(drawing, f"{stem}add")
        assert {arrow.key: arrow.residual for arrow in arrows} == {sublayer.before: True, sublayer.output: False}
        total = sum(trace[arrow.key] for arrow in arrows)
        np.testing.assert_allclose(total, trace[sublayer.sum], rtol=1e-5, atol=1e-5)


def test_attention_reads_q_and_k_from_the_scores_and_v_from_the_weighted_sum(name: str) -> None:
    trace, drawing = trace_of(name), drawn(name)
    for stem, sublayer in sublayers(name):
        if sublayer.name == "ffn":
            continue
        read = into(drawing, f"{stem}scores") + into(drawing, f"{stem}heads")
        of = {arrow.start.rpartition(".")[2]: trace[arrow.key] for arrow in read}
        Q, K = (of.pop(f"{name}_rotated" if trace.config.positions == "rotary" else name) for name in "QK")
        assert of.keys() == {"softmax", "V"}
        masked = stem == "decoder.attention." or 1 in trace.config.local
        after_scores = f"{stem}mask" if masked else f"{stem}softmax"
        (scaled,) = (trace[arrow.key] for arrow in into(drawing, after_scores))
        np.testing.assert_allclose(Q @ K.mT / trace.config.d_k**0.5, scaled, rtol=1e-4, atol=1e-4)
        (heads,) = (trace[arrow.key] for arrow in into(drawing, f"{stem}concat"))
        np.testing.assert_allclose(of["softmax"] @ of["V"], heads, rtol=1e-4, atol=1e-4)


def test_a_mask_stands_where_later_words_are_hidden_and_nowhere_else() -> None:
    trace, drawing = trace_of("translation"), drawn("translation")
    assert [box.name for box in drawing.boxes if box.kind == "mask"] == ["decoder.attention.mask"]
    (read,), (handed_on,) = (into(drawing, f"decoder.attention.{name}") for name in ("mask", "softmax"))
    assert (read.start, handed_on.start) == ("decoder.attention.scores", "decoder.attention.mask")
    assert np.isinf(trace[handed_on.key]).any() and not np.isinf(trace[read.key]).any()
    said = drawing.box("decoder.attention.mask").text
    for layer, gone in (("{l}", True), ("1", True), ("0", False)):  # the second layer is drawn
        edit = Edit(f"decoder.layers.{layer}.attention.masked", "unmasked")
        without = diagram(load("translation")("the cat sat .", [edit]), 1).box("decoder.attention.mask").text
        assert (without != said) == gone, layer


@pytest.mark.parametrize("name", ENCODERS)
def test_norm_stands_before_the_sublayer_or_after_the_sum(name: str) -> None:
    config, drawing = trace_of(name).config, drawn(name)
    source = "attention.norm" if config.norm_first else embedded(name)
    assert {arrow.start for role in "QKV" for arrow in into(drawing, f"attention.{role}")} == {source}
    y = {box.name: box.y for box in drawing.boxes}
    if config.norm_first:
        assert y["attention.norm"] < y["attention.Q"] < y["attention.add"] < y["ffn.norm"] < y["ffn.ffn"] < y["ffn.add"]
    else:
        assert "attention.norm" not in y and y["attention.concat"] < y["attention.add"] < y["ffn.ffn"] < y["ffn.add"]
    assert ("norm" in y) == config.final_norm


@pytest.mark.parametrize("layer", [0, 1])
@pytest.mark.parametrize("name", ENCODERS)
def test_one_layer_stands_for_all(name: str, layer: int) -> None:
    """Whatever layer is drawn, it reads the embedding, and what the last layer hands on leaves its last box."""
    graph, drawing = trace_of(name).graph, drawn(name, layer)
    layer = min(layer, graph.layers() - 1)
    into_layer = [arrow for arrow in drawing.arrows if arrow.key == graph.stream(layer)[0] and not arrow.residual]
    assert into_layer and {arrow.start for arrow in into_layer} == {embedded(name)}
    assert {arrow.symbol for arrow in into_layer} == {"X⁽⁰⁾"}, "whichever layer is drawn"
    out = [arrow for arrow in drawing.arrows if arrow.key == graph.stream(graph.layers() - 1)[-1]]
    assert {arrow.start for arrow in out} == ({"ffn.add"} if "norm" in graph or "logits" in graph else set())


def test_cross_attention_asks_the_target_and_looks_at_what_the_encoder_hands_on() -> None:
    trace, drawing = trace_of("translation"), drawn("translation")
    before = {"Q": "decoder.attention.add", "K": "ffn.add", "V": "ffn.add"}
    for role, box in before.items():
        (arrow,) = into(drawing, f"decoder.cross.{role}")
        assert arrow.start == box
        if role != "Q":
            assert arrow.key == trace.graph.Z and arrow.symbol == "Z"
    assert len(drawing.frames) == 2 and "linear" not in {box.name for box in drawing.boxes}


def test_what_stands_lower_was_computed_later(name: str) -> None:
    order = {quantity.key: place for place, quantity in enumerate(trace_of(name).graph)}
    drawing = drawn(name)
    for first, second in itertools.product(drawing.arrows, repeat=2):
        if first.end == second.start and first.key != second.key:
            assert order[first.key] < order[second.key], (first, second)
            if first.end.startswith("decoder.") == second.end.startswith("decoder."):
                assert drawing.box(first.end).bottom <= drawing.box(second.end).bottom


def test_arrows_begin_and_end_at_their_boxes(name: str) -> None:
    drawing = drawn(name)

    def touches(point: tuple[float, float], box_name: str) -> bool:
        box, (x, y) = drawing.box(box_name), point
        on_side = x in (box.x, box.x + box.width) and box.y <= y <= box.bottom
        return on_side or (y in (box.y, box.bottom) and box.x <= x <= box.x + box.width)

    for arrow in drawing.arrows:
        assert touches(arrow.points[-1], arrow.end), arrow
        if not arrow.residual:  # the residual arrow leaves the stream a little below its box
            assert touches(arrow.points[0], arrow.start), arrow
        for (x0, y0), (x1, y1) in itertools.pairwise(arrow.points):
            assert x0 == x1 or y0 == y1, "only straight up, down and across"


def test_no_line_runs_through_a_box(name: str) -> None:
    drawing = drawn(name)
    for arrow, box in itertools.product(drawing.arrows, drawing.boxes):
        for (x0, y0), (x1, y1) in itertools.pairwise(arrow.points):
            across = max(x0, x1) > box.x and min(x0, x1) < box.x + box.width
            down = max(y0, y1) > box.y and min(y0, y1) < box.bottom
            assert not (across and down), (arrow.start, arrow.end, box.name)


@pytest.mark.parametrize("sentence", ["i", "the cat sat on the mat . " * 12])
def test_nothing_collides_from_one_word_to_the_longest_sentence(sentence: str) -> None:
    no_collision(diagram(load("text")(sentence), layer=2, answer="something: 0.31"))


def test_nothing_collides_in_other_networks(name: str) -> None:
    no_collision(drawn(name))


def no_collision(drawing: Diagram) -> None:
    boxes = [(box.x, box.y, box.x + box.width, box.bottom, box.name) for box in drawing.boxes]
    labels = []
    for arrow in drawing.arrows:
        if arrow.label:
            x, y = arrow.label
            wide = 6.1 * len(arrow.written.replace("_", ""))
            labels.append((x, y - 6, x + wide, y + 6, f"{arrow.start} to {arrow.end}"))
    for a, b in itertools.combinations(boxes + labels, 2):
        assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1], (a, b)
    for left, top, right, bottom, what in boxes + labels:
        assert left >= 0 and top >= 0 and right <= drawing.width and bottom <= drawing.height, what


def test_every_quantity_has_a_page_and_a_box_opens_it(name: str) -> None:
    drawing, graph = drawn(name), trace_of(name).graph
    opened = {box.page for box in drawing.boxes}
    own = {"answer"} if graph.decoder else set()  # the symbols are there, but the boxes open the decoder's page
    assert {page_of(quantity) for quantity in graph} | {"layers"} == opened | own
    assert opened <= {row.name for row in PAGES}


@pytest.mark.parametrize("name", ENCODERS)
def test_each_add_and_norm_box_opens_its_own_sublayer(name: str) -> None:
    for box in drawn(name).boxes:
        wanted = {"attention": 1, "ffn": 2}.get(box.name.rpartition(".")[0])
        assert box.sublayer == (wanted if box.kind in ("add", "norm") else None)


def test_the_boxes_of_a_decoder_open_their_part_of_its_page() -> None:
    opened = {}
    for box in drawn("translation").boxes:
        assert (box.page == "translation") == (box.name.startswith("decoder."))
        if box.page == "translation":
            opened[box.name.removeprefix("decoder.")] = block_of(box)
    assert opened.pop("tokens") == "embedding" and opened.pop("answer") == "next"
    assert all(block == name.split(".")[0] for name, block in opened.items() if "." in name)
    assert set(opened.values()) == set(BLOCKS)
