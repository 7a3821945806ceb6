"""“Why there?” on the attention pages: the bars add up to the score, and each part links to its page."""

import re
from functools import cache
from typing import NamedTuple

import numpy as np
import pytest

from model import Edit, Trace
from model.analysis import placed
from model.measures.sources import BIAS, DISTANCE, EDIT, Scores, of_attention
from model.translator import Task
from pages.attention import why_there
from pages.drawing.picture import Picture
from pages.drawing.pictures.sources import kind_of, layer_of, way_to
from pages.drawing.screen import open_screen
from pages.drawing.state import sketch
from pages.drawing.state.choice import Choice
from pages.drawing.state.link_values import edit_code
from pages.drawing.text import catalogue
from pages.screen.frame.contents import NAMES
from pages.screen.runs import pipelines
from tests.networks import QUICK, TRANSLATORS, trace_of
from tests.pages.opening import charts, open_page, steps, summed, texts
from tests.pages.recorder import Recorder

SENTENCE = "the dog chased the cat ."
TIRED = "the animal did not cross the street because it was too tired ."
LINK = {"s": SENTENCE, "layer": "3", "head": "2", "token": "4", "key": "6", "why": "1"}
OWN = "layers.2.attention."
CELL = 1, 3, 5  # head, query and key
DIGIT = {"input": "digit", "drawing": sketch.example()}


class Why(NamedTuple):
    """The bars of “Why there?” on a page, and their run."""

    trace: Trace
    bars: Picture
    pairs: Picture
    scores: Scores

    def said(self) -> str:
        return f"{self.bars.says()} {self.pairs.says()}".replace("\\", "").replace("−", "-")

    def lengths(self) -> np.ndarray:
        return np.asarray(self.bars.drawn().data[0]["x"])


def why(prefix: str = OWN, cell: tuple[int, int, int] = CELL, **chosen: object) -> Why:
    screen = open_screen(Choice(**{"sentence": SENTENCE, "hidden": ()} | chosen), source=pipelines)
    if prefix.startswith("decoder"):
        screen = screen.of("translation", Task(SENTENCE, "zh"))
    pen, head = Recorder(screen), cell[0]
    asked = why_there.Asked(screen, pen, prefix, *cell, np.isfinite(screen.run[f"{prefix}masked"][head]))
    asked.as_bars()
    asked.as_pairs()
    sublayer = screen.run.graph.sublayer(prefix)
    return Why(screen.run, pen.shown["why_there"], pen.shown["pairs"], of_attention(screen.run, sublayer, head))


@pytest.mark.parametrize(
    ("prefix", "chosen", "room"),
    [
        *((f"layers.{layer}.attention.", {}, 0) for layer in (0, 2, 5)),
        ("decoder.layers.1.cross.", {}, 0),
        (OWN, {"edits": (Edit(f"{OWN}masked", "scale", 0.5),)}, 0),
        (OWN, DIGIT, 1_000_000),
    ],
)
def test_the_bars_as_they_are_written_add_up_to_the_scaled_score_and_the_pairs_to_what_is_above_its_row(
    prefix: str, chosen: dict, room: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(why_there, "MOST_BYTES", room or why_there.MOST_BYTES)
    found = why(prefix, **chosen)
    row = found.trace[f"{prefix}scaled"][1, 3]
    written = summed(found.bars.drawn().data[0]["text"])
    assert written[-1] == pytest.approx(row[5], abs=0.006)
    np.testing.assert_allclose(found.lengths(), written, atol=0.0051)
    assert re.search(f"scaled score of .* is {row[5]:.2f}", found.said())
    parts = found.scores.parts[:, :, 3]
    z = np.asarray(found.pairs.drawn().data[0]["z"])
    np.testing.assert_allclose(z, parts[..., 5] - parts.mean(-1), atol=1e-4)
    assert z.sum() == pytest.approx(row[5] - row.mean(), abs=1e-3)
    assert ("instead of" in found.said()) == ("edits" not in chosen), "of other weights nothing is said"
    assert ("Over all rows" in found.said()) == (not room) and "The largest pair" in found.said()


def test_a_score_is_said_to_lie_above_or_below_the_mean_of_its_row_with_what_does_most_to_it() -> None:
    kinds = {}
    for key in range(1, 6):
        found = why(cell=(1, 3, key))
        parts = found.scores.parts[:, :, 3].sum(0)
        parts = parts[:, key] - parts.mean(-1)
        kinds[key] = above = bool(parts.sum() > 0)
        most = f"{parts.max() if above else parts.min():.2f}"
        where = f": {parts.sum():.2f} above the mean of its row. The largest part, {most}"
        if not above:
            where = f"{-parts.sum():.2f} below the mean of its row. What lowers it most, {most}"
        assert where in found.said(), key
    assert {*kinds.values()} == {True, False}


def test_the_largest_parts_have_bars_of_their_own_and_the_others_one_together() -> None:
    found = why("layers.5.attention.")
    row = found.scores.parts[:, :, 3].sum(0)
    parts = row[:, 5] - row.mean(-1)
    order = np.argsort(-np.abs(parts))
    values, named = found.lengths(), found.bars.drawn().layout["yaxis"]["ticktext"]
    np.testing.assert_allclose(values[1:7], parts[order[:6]], atol=0.006)
    assert values[7] == pytest.approx(parts[order[6:]].sum(), abs=0.006)
    assert list(named[7:]) == [f"other parts: {len(parts) - 6}", "scaled score"] and len(values) == 9


@pytest.mark.parametrize(
    ("prefix", "asks", "answers"),
    [
        (OWN, "biases", "attention 2"),
        ("decoder.layers.1.cross.", "cross-attention 1", "FFN 6"),
        ("decoder.layers.1.attention.", "cross-attention 1", "cross-attention 1"),
    ],
)
def test_the_sources_are_those_of_the_two_tokens(prefix: str, asks: str, answers: str) -> None:
    layout = why(prefix, (1, 3, 2)).pairs.drawn().layout
    assert asks in layout["yaxis"]["ticktext"] and answers in layout["xaxis"]["ticktext"]


def test_without_a_part_the_weights_are_those_of_the_rest() -> None:
    found = why(cell=(6, 3, 5), sentence=TIRED)
    part = found.scores.of_keys.index("layers.1.attention.output")
    row = found.trace[f"{OWN}scaled"][6, 3] - found.scores.parts[:, part, 3].sum(0)
    weight, now = np.exp(row)[5] / np.exp(row).sum(), found.trace[f"{OWN}weights"][6, 3, 5]
    assert f"would get {weight:.0%} instead of {now:.0%}" in found.said()


def test_a_tie_keeps_what_is_left_out_and_nothing_is_left_out_where_no_part_is_ahead() -> None:
    """Without the largest part two keys tie; in another cell two parts do."""
    tied = why("layers.0.attention.", (0, 2, 1), sentence=TIRED).said()
    assert re.search(r"Without that part in the whole row, .* would get 8.6% instead of 45%: 2 of 15 keys tie", tied)
    assert "Word against word alone: " in tied
    parts = why("layers.0.attention.", (2, 5, 6)).said()
    assert "parts tie at the bottom: -0.35" in parts and "that part" not in parts


@pytest.mark.parametrize(
    ("head", "source", "read", "other"),
    [
        (2, "embedding.positions", "Position against position", "Word against word"),
        (3, "embedding.tokens", "Word against word", "Position against position"),
    ],
)
def test_attention_by_position_or_content_alone_is_said_where_it_counts(
    head: int, source: str, read: str, other: str
) -> None:
    """Head 3 of layer 2 attends to the next word, by position alone."""
    found = why("layers.1.attention.", (head, 3, 5), sentence=TIRED)
    place = found.scores.of_keys.index(source)
    best = placed(found.trace.tokens)[found.scores.parts[place, place, 3].argmax()]
    assert f"{read} alone would attend most to “{best}”" in found.said()
    shares = found.scores.shares(np.ones(found.scores.parts.shape[2:], bool))
    assert (other in found.said()) == (shares[1 - place, 1 - place] >= 0.05)
    assert head == 3 or best == "not"
    assert "alone would" not in why("layers.5.attention.", sentence=TIRED).said()


def test_a_page_asks_why_of_a_score_that_was_seen_among_others_and_of_one_that_is_not_too_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    link = LINK | {"s": "i love you .", "layer": "2", "tab": "inside", "stage": "weights"}
    for page, asked in (("attention", LINK | {"stage": "scaled"}), ("translation", link | {"block": "cross"})):
        app = open_page(page, **asked)
        assert [one for one in charts(app) if "why_there" in one["key"]] and not steps(app)
    for step, key, told in (("1", "1", "may attend only to"), ("2", "4", "is masked for")):
        app = open_page("translation", **link | {"block": "attention", "step": step, "key": key})
        assert told in texts(app) and not [one for one in charts(app) if "why_there" in one["key"]]
    assert steps(open_page("attention", **LINK, input="flat"))  # a single token: arithmetic only
    for room, edits in ((1_000_000, edit_code(Edit("layers.0.add_1", "scale", 0.5))), (100_000, "")):
        monkeypatch.setattr(why_there, "MOST_BYTES", room)
        assert "too long to be taken apart" in texts(open_page("attention", **LINK, input="digit", edits=edits))


@cache
def every_source() -> set[tuple[str, bool]]:
    """All sources of networks of every kind, and whether the input is an image."""
    found = set()
    for name in [*QUICK, *TRANSLATORS]:
        trace = trace_of(name)
        for sublayers in trace.graph.sublayers_of.values():
            for attention in sublayers:
                if attention.name != "ffn":
                    scores = of_attention(trace, attention, 0)
                    found |= {(kind_of(source, trace), source) for source in (*scores.of_queries, *scores.of_keys)}
    return found


def test_every_source_has_its_words() -> None:
    kinds = {kind for kind, _ in every_source()} | {EDIT}
    assert len(kinds) == 10
    words = catalogue("en")
    assert not [kind for kind in kinds for text in ("source.", "why.because.") if f"{text}{kind}" not in words]


def test_a_part_leads_to_the_page_on_which_it_was_computed() -> None:
    ways = {source: way_to(source, 2) for _, source in every_source()}
    assert {source for source, way in ways.items() if way is None} == {BIAS, DISTANCE}
    for source, way in ways.items():
        if way:
            page, chosen = way
            assert page in NAMES and chosen.get("layer", 0) == layer_of(source)
            assert chosen["tab"] is None or f"{page}.tab_{chosen['tab']}" in catalogue("en")
    assert ways["layers.1.ffn.output"] == ("feed_forward", {"tab": None, "stage": "output", "layer": 1, "token": 2})
    assert ways["decoder.layers.1.cross.output"][1]["block"] == "cross"
