"""Content or position: each head's shares in this run beside its measured role, and whether the two agree."""

import re

import numpy as np
import pytest

from model import Trace
from model.measures.origins import KINDS, of_reads, shares
from model.measures.tables import Role, head_roles
from pages.attention import origins, why_there
from pages.attention.origins import agreement
from pages.drawing.text import catalogue
from pages.drawing.text.numbers import percents
from pages.screen.runs import pipelines
from tests.pages.opening import charts, numbers, open_page, pre_norm, run_of, said, texts, with_network

SENTENCE = "the dog chased the cat ."
LINK = {"s": SENTENCE, "tab": "origins"}
WHY = {"s": SENTENCE, "token": "4", "key": "6", "why": "1", "stage": "weights"}
#: Ten heads (layer, head) with a clear role over a corpus.
KNOWN = [(1, 6), (2, 1), (2, 3), (2, 4), (2, 8), (3, 2), (3, 7), (4, 1), (4, 3), (6, 6)]


def of(trace: Trace, layer: int, head: int) -> dict[str, float]:
    return shares(trace, trace.graph.sublayers(layer - 1)[0], head - 1, of_reads(trace))


def test_known_roles_stand_beside_shares_and_whether_they_agree() -> None:
    for i, (layer, head) in enumerate(KNOWN[1::5]):
        language = ("en", "zh")[i % 2]
        where = {"layer": str(layer), "head": str(head), "lang": language}
        read = {name: said(open_page(name, **link, **where)) for name, link in (("heads", LINK), ("attention", WHY))}
        trace, role = pipelines.run("text", SENTENCE), head_roles("text").of(layer - 1, head - 1)
        found = of(trace, layer, head)
        key = agreement(role, found)
        told = re.split(r"\{[^}]*\}", catalogue(language)[f"origins.{key}"])
        cancels = catalogue(language)["origins.cancel"]
        for text in read.values():
            assert (cancels in text) == (min(found.values()) < -0.5)
            assert f"{role.share:.0%}" in text or f"{role.share:.1%}" in text
            assert all(share.replace("−", "-") in text for share in percents(found.values()))
            assert all(piece in text for piece in told)


@pytest.mark.parametrize(
    ("name", "relation", "word", "place", "brought", "key"),
    [
        ("next", None, 0.1, 1.1, -0.2, "agree_place"),
        ("previous", None, 0.3, 0.5, 0.2, "agree_place"),
        ("next", None, 0.4, 0.3, 0.5, "instead_brought"),
        ("same", None, 0.9, 0.1, 0.0, "agree_word"),
        ("relation", "det", 0.1, 0.6, 0.3, "instead_place_relation"),
        ("punctuation", None, 0.1, 0.6, 0.3, "instead_place"),
        ("itself", None, 0.1, 0.6, 0.3, "either"),
        ("broad", None, 0.1, 0.6, 0.3, None),
        ("next", None, 0.1, 0.2, 0.1, None),
    ],
)
def test_neighbour_roles_agree_with_position_and_others_with_content(
    name: str, relation: str | None, word: float, place: float, brought: float, key: str | None
) -> None:
    found = {"word": word, "place": place, "brought": brought, "rest": 1 - word - place - brought}
    assert agreement(Role(name, 0.8, 0.2, 100, relation), found) == key
    assert agreement(Role(name, 0.1, 0.02, 100, relation), found) is None  # no clear role
    assert key is None or all(f"origins.{key}" in catalogue(language) for language in ("en", "zh"))


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
    assert "own patch" in said(app) and "over a corpus" not in said(app).lower()
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


def test_a_large_input_is_not_taken_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(origins, "MOST_BYTES", 1000)
    assert "too long to be taken apart" in texts(open_page("heads", **LINK))
    monkeypatch.setattr(why_there, "nbytes_of_origins", lambda trace: np.inf)
    app = open_page("attention", **WHY, layer="4", head="3")
    assert charts(app) and "row’s mean (" not in said(app)


def test_beside_the_network_before_training_each_head_has_both_places() -> None:
    app = open_page("heads", **LINK, layer="2", head="3", twin="true", shown="beside")
    drawn = charts(app)[0]["figure"]["data"]
    before = pipelines.run("text-untrained", run_of(app).subject)
    (hollow,) = [one for one in drawn if one.get("marker", {}).get("symbol") == "circle-open"]
    for layer, head in KNOWN[::5]:
        found, place = of(before, layer, head), 8 * (layer - 1) + head - 1
        assert numbers(hollow["x"])[place] == pytest.approx(found["place"], abs=1e-4)
        assert numbers(hollow["y"])[place] == pytest.approx(found["word"], abs=1e-4)
