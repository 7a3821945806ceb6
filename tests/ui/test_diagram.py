"""The drawing of the encoder: what it says is what was computed, and nothing in it collides."""

import itertools

import numpy as np
import pytest

from model import load
from pages.ui.components.diagram import WIDTH, Arrow, Diagram, diagram
from pages.ui.frame import PAGES
from tests.networks import trace_of

NAMES = ["000", "003", "004", "vit-b-16", "pre-norm words", "trained text"]


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    return request.param


def drawn(name: str) -> Diagram:
    return diagram(trace_of(name), layer=trace_of(name).config.layers - 1)


def into(drawing: Diagram, box: str) -> list[Arrow]:
    return [arrow for arrow in drawing.arrows if arrow.end == box]


def test_each_arrow_carries_the_shape_of_what_passed(name: str) -> None:
    trace = trace_of(name)
    for arrow in drawn(name).arrows:
        if arrow.key is None:
            assert arrow.start == "tokens"
        else:
            assert arrow.shape == " × ".join(map(str, trace[arrow.key].shape)), arrow


def test_what_meets_in_an_add_box_adds_up(name: str) -> None:
    trace, drawing = trace_of(name), drawn(name)
    for number in (1, 2):
        arrows = into(drawing, f"add_{number}")
        assert sorted(arrow.residual for arrow in arrows) == [False, True]
        total = sum(trace[arrow.key] for arrow in arrows)
        here = f"layers.{trace.config.layers - 1}.add_{number}"
        np.testing.assert_allclose(total, trace[here], rtol=1e-5, atol=1e-5)


def test_attention_reads_q_and_k_from_the_scores_and_v_from_the_weighted_sum(name: str) -> None:
    trace, drawing = trace_of(name), drawn(name)
    of = {arrow.start: trace[arrow.key] for arrow in into(drawing, "scores") + into(drawing, "heads")}
    assert of.keys() == {"Q", "K", "softmax", "V"}
    (scaled,) = (trace[arrow.key] for arrow in into(drawing, "softmax"))
    np.testing.assert_allclose(of["Q"] @ of["K"].mT / trace.config.d_k**0.5, scaled, rtol=1e-4, atol=1e-4)
    (heads,) = (trace[arrow.key] for arrow in into(drawing, "concat"))
    np.testing.assert_allclose(of["softmax"] @ of["V"], heads, rtol=1e-4, atol=1e-4)


def test_norm_stands_before_the_sublayer_or_after_the_sum(name: str) -> None:
    config, drawing = trace_of(name).config, drawn(name)
    source = "norm_1" if config.norm_first else "sum"
    assert {arrow.start for role in "QKV" for arrow in into(drawing, role)} == {source}
    boxes = {box.name: box for box in drawing.boxes}
    if config.norm_first:
        assert boxes["norm_1"].y < boxes["Q"].y and boxes["add_1"].y < boxes["norm_2"].y < boxes["ffn"].y
    else:
        assert "norm_1" not in boxes and boxes["concat"].y < boxes["add_1"].y < boxes["ffn"].y
    assert ("norm" in boxes) == config.final_norm


def test_what_stands_lower_was_computed_later(name: str) -> None:
    order, drawing = trace_of(name).keys(), drawn(name)
    for first, second in itertools.product(drawing.arrows, repeat=2):
        if first.end == second.start and first.key and second.key and first.key != second.key:
            assert order.index(first.key) < order.index(second.key), (first, second)
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


@pytest.mark.parametrize("sentence", ["i", "the cat sat on the mat . " * 12])
def test_nothing_collides_from_one_word_to_the_longest_sentence(sentence: str) -> None:
    no_collision(diagram(load("text")(sentence), layer=2, answer="something: 0.31"))


def test_nothing_collides_in_other_encoders(name: str) -> None:
    no_collision(drawn(name))


def no_collision(drawing: Diagram) -> None:
    boxes = [(box.x, box.y, box.x + box.width, box.bottom, box.name) for box in drawing.boxes]
    labels = []
    for arrow in drawing.arrows:
        if arrow.label:
            x, y = arrow.label
            symbol = "" if arrow.residual or arrow.start in ("positions", "Q", "K", "V") else arrow.symbol + " "
            wide = 6.1 * len((symbol + arrow.shape).replace("_", ""))
            labels.append((x, y - 6, x + wide, y + 6, f"{arrow.start} to {arrow.end}"))
    for a, b in itertools.combinations(boxes + labels, 2):
        assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1], (a, b)
    for left, top, right, bottom, what in boxes + labels:
        assert left >= 0 and top >= 0 and right <= WIDTH and bottom <= drawing.height, what


def test_boxes_open_pages_and_every_page_with_a_quantity_can_be_opened(name: str) -> None:
    opened = {box.page for box in drawn(name).boxes}
    assert opened <= {row.name for row in PAGES}
    without_head = {"answer"} if trace_of(name).config.head == "none" else set()
    assert {row.name for row in PAGES if row.stages} - without_head <= opened
