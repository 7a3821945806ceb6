"""Content or position: each head's shares in this run, and its measured role."""

import re

import numpy as np
import pytest

from model import Edit, Trace
from model.measures.origins import KINDS, of_reads, shares
from model.measures.tables import head_roles
from pages.attention import origins, why_there
from pages.attention.shares import of_heads
from pages.drawing.text import catalogue
from pages.drawing.text.numbers import percent, percents
from pages.screen.runs import pipelines
from tests.pages.opening import charts, numbers, open_page, pre_norm, run_of, said, texts, with_network

SENTENCE = "the dog chased the cat ."
LINK = {"s": SENTENCE, "tab": "origins"}
WHY = {"s": SENTENCE, "token": "4", "key": "6", "why": "1", "stage": "weights"}
#: Ten heads (layer, head) with a clear role over a corpus.
KNOWN = [(1, 6), (2, 1), (2, 3), (2, 4), (2, 8), (3, 2), (3, 7), (4, 1), (4, 3), (6, 6)]


def of(trace: Trace, layer: int, head: int) -> dict[str, float]:
    return shares(trace, trace.graph.sublayers(layer - 1)[0], head - 1, of_reads(trace))


def test_known_roles_stand_beside_the_shares_of_a_head() -> None:
    for i, (layer, head) in enumerate(KNOWN[1::5]):
        language = ("en", "zh")[i % 2]
        read = said(open_page("attention", **WHY, layer=str(layer), head=str(head), lang=language))
        role = head_roles("text").of(layer - 1, head - 1)
        found = of(pipelines.run("text", SENTENCE), layer, head)
        assert (catalogue(language)["origins.cancel"] in read) == (min(found.values()) < -0.5)
        assert percent(role.share) in read
        assert all(share.replace("−", "-") in read for share in percents(found.values()))


def test_the_tab_of_all_heads_has_a_picture_and_no_paragraphs() -> None:
    app = open_page("heads", **LINK, layer="3", head="7")
    own = of(run_of(app), 3, 7).values()
    for part, bars in zip(own, charts(app)[0]["figure"]["data"], strict=True):
        found, told = numbers(bars["x"]), [text.replace("−", "-").strip("%") for text in bars["text"]]
        assert found[22] == pytest.approx(part, abs=1e-4)
        assert any(told) == (np.abs(found).max() > 0.45)
        for text, one in zip(told, found, strict=True):
            assert not text or int(text) == pytest.approx(100 * one, abs=2)
    assert "finds tokens by" not in said(app) and "ver a corpus" not in said(app)


def test_sources_of_a_score_add_up_to_its_excess_over_the_row() -> None:
    app = open_page("attention", **WHY, layer="4", head="3")
    scaled = run_of(app)["layers.3.attention.scaled"][2, 3]
    (told,) = re.findall(r"row’s mean \(([-+.\d]+)\) comes from: (.*?)\.(?:\s|$)", said(app))
    parts = [float(part) for part in re.findall(r"[-+]\d+\.\d+", told[1])]
    assert float(told[0]) == pytest.approx(scaled[5] - scaled.mean(), abs=0.006)
    assert sum(parts) == pytest.approx(float(told[0]), abs=0.021) and len(parts) == len(KINDS)
    assert "row’s mean (" not in said(open_page("attention", **WHY, layer="1", head="3"))


def test_no_roles_for_drawings_and_other_networks(monkeypatch: pytest.MonkeyPatch) -> None:
    app = open_page("heads", tab="origins", input="digit")
    assert charts(app)[0]["figure"]["data"][0]["name"] == "own patch" and "over a corpus" not in said(app).lower()
    with_network(monkeypatch, pre_norm("text"))
    assert charts(open_page("heads", **LINK))


@pytest.mark.parametrize(("block", "where"), [("attention", (1, 5)), ("cross", (1, 1))])
def test_translator_heads_have_roles(block: str, where: tuple[int, int]) -> None:
    layer, head = where
    link = WHY | {"s": "i love you .", "tab": "inside", "step": "3", "token": "3", "key": "2", "block": block}
    app = open_page("translation", **link, layer=str(layer), head=str(head))
    role = head_roles("translation").at(f"decoder.layers.{layer - 1}.{block}", head - 1)
    assert f"layer {layer}, head {head} finds tokens by" in said(app)
    assert "Over a corpus: attends to" in said(app) and f"{role.share:.0%}" in said(app)


def test_a_head_whose_scores_differ_by_rounding_alone_finds_nothing_and_has_no_shares() -> None:
    """Without the residual sums, later layers get the same vector for every token."""
    code = "layers.{l}.add_1~without"
    run = pipelines.run("text", SENTENCE, (Edit("layers.{l}.add_1", "without"),))
    found = of_heads(run)
    differ = np.array([np.ptp(run[f"layers.{layer}.attention.scaled"], axis=2).max(1) for layer in range(6)])
    assert not found[differ < 1e-5].any() and found[differ > 1e-2].any(1).all()
    layer, head = np.argwhere(differ < 1e-5)[-1] + 1
    read = said(open_page("attention", **WHY, layer=str(layer), head=str(head), edits=code))
    assert "above the mean" in read and "finds tokens by" not in read and "Over all rows" not in read


def test_a_large_input_is_not_taken_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(origins, "MOST_BYTES", 1000)
    assert "too long to be taken apart" in texts(open_page("heads", **LINK))
    monkeypatch.setattr(why_there, "nbytes_of_origins", lambda trace: np.inf)
    app = open_page("attention", **WHY, layer="4", head="3")
    assert charts(app) and "row’s mean (" not in said(app)


def test_beside_the_network_before_training_each_head_has_both_bars() -> None:
    app = open_page("heads", **LINK, layer="2", head="3", twin="true", shown="beside")
    drawn = charts(app)[0]["figure"]["data"]
    before = pipelines.run("text-untrained", run_of(app).subject)
    hollow = dict(zip(KINDS, drawn[len(KINDS) :], strict=True))
    for layer, head in KNOWN[::5]:
        found, place = of(before, layer, head), 8 * (layer - 1) + head - 1
        for kind, bars in hollow.items():
            assert numbers(bars["x"])[place] == pytest.approx(found[kind], abs=1e-4)
