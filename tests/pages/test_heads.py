"""The Heads page."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from model import Pipeline
from model.analysis import bright_end, head_table
from model.config import PRESETS
from model.heads import network_for
from model.measures.tables import head_roles
from model.pipeline import ImageReader
from pages.drawing.figures import Figure
from pages.drawing.place import Place
from pages.drawing.state import sketch
from pages.drawing.state.choice import TWIN
from pages.drawing.text import catalogue, plain, speaking
from pages.drawing.text.numbers import percent
from pages.heads.head_patterns import HeadName, head_names, head_patterns
from pages.heads.pictures import LETTER, ROOM, _fitting, all_heads
from pages.screen.runs import pipelines
from tests.pages.opening import charts, figure, open_page, said, with_network

SENTENCE = "the dog chased the cat ."
TABS = ("overview", "roles", "contribution", "origins")


def open_part(tab: str, **link: str):
    return open_page("heads", **{"s": SENTENCE, "layer": "2", "head": "3", "tab": tab, **link})


def cells(drawn: Figure, rows: int, columns: int, n: int) -> np.ndarray:
    """Tiles of the picture of all heads: (row, column, n, n)."""
    sheet = np.asarray(drawn.data[0]["z"], float)
    assert sheet.shape == (rows * (n + 1) - 1, columns * (n + 1) - 1), "a byte for each weight, and gaps"
    picked = np.pad(sheet, (0, 1)).reshape(rows, n + 1, columns, n + 1)[:, :n, :, :n]
    return (picked.transpose(0, 2, 1, 3) - 1) / 254


def test_what_is_measured_of_the_chosen_head_stands_beside_the_tiles() -> None:
    trace, read = pipelines.run("text", SENTENCE), said(open_part("overview"))
    measures = head_table(trace.over_layers("attention.weights"), trace.tokens, trace.places)
    assert f"Entropy {measures['entropy'][1, 2]:.2f} of {np.log2(len(trace.tokens)):.2f} bits" in read
    assert f"mean distance {measures['distance'][1, 2]:.2f} tokens" in read
    length = np.linalg.norm(trace["layers.1.attention.contributions"], axis=-1).mean(axis=1)
    assert f"output length {length[2]:.2f}" in read


def test_of_a_network_without_measured_roles_and_of_one_token_there_are_fewer_tabs() -> None:
    for link, tabs in (({"s": SENTENCE}, TABS), ({"input": "flat"}, ("overview", "contribution"))):
        assert open_page("heads", **link).pills(key="heads.tabs").options == [
            catalogue("en")[f"heads.tab_{tab}"] for tab in tabs
        ]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_all_heads_are_named_by_their_roles_with_shares_or_all_by_this_run(lang: str) -> None:
    trace, roles = pipelines.run("text", SENTENCE), head_roles()
    assert roles is not None
    by_run = head_patterns(trace)[1]
    with speaking(lang):
        names, own = head_names(trace, roles), head_names(trace, None)
        tiles = {named: all_heads(trace, Place(), named).drawn().data[-1]["text"] for named in (roles, None)}
    for place, name in names.items():
        role, weight = roles.of(*place), f"{by_run[place].figure:.2f}".removeprefix("0")
        assert name.figure == percent(role.share)
        assert own[place].figure in (weight, "")
        if role.relation:  # the arrow leads to the word that is attended to
            assert name.name[:: -1 if role.direction == "to_head" else 1].startswith("→")
    for word, name in zip(tiles[roles], names.values(), strict=True):
        assert word.endswith(f" {name.figure}"), "each tile has its figure"
    assert not any("%" in word for word in tiles[None])
    assert {name.kind for name in names.values()} >= {
        catalogue(lang)[f"heads.kind_{kind}"] for kind in ("previous", "itself", "next", "broad", "relation")
    }


@pytest.mark.parametrize(("other", "model"), [({"twin": "true"}, "text" + TWIN), ({"other": "i love you ."}, "text")])
def test_heading_above_the_other_runs_map_is_its_own_heads_role(other: dict[str, str], model: str) -> None:
    run = pipelines.run(model, other.get("other", SENTENCE))
    role = plain("heads.read_corpus", name=str(head_names(run, head_roles())[1, 2]))
    read = said(open_part("overview", shown="beside", **other))
    assert plain("compare.there", title="Layer 2, head 3") in read
    assert role in read


@pytest.mark.parametrize(("link", "measured"), [({}, True), ({"edits": "layers.5.ffn.output~zero"}, False)])
def test_tiles_of_an_edited_run_show_no_corpus_measures(link: dict[str, str], measured: bool) -> None:
    words = figure(open_part("overview", **link))["data"][-1]["text"]
    assert len(words) == 48 and all(words) and any("%" in word for word in words) == measured


def test_a_token_that_stands_twice_is_named_with_its_number() -> None:
    assert str(head_names(pipelines.run("text", "我我我我"), None)[1, 1]) == "“我 (1)” .48"


@pytest.mark.parametrize("heads", [2, 8, 12])
def test_names_below_tiles_take_no_more_room_than_these_have(heads: int) -> None:
    name = HeadName("grammar", "clause that is its object →", "52%")
    fitting = _fitting(name, ROOM / heads)
    assert len(fitting) * LETTER <= ROOM / heads
    assert _fitting(HeadName("next", "next", "99%"), ROOM / 8) == "next 99%"
    assert _fitting(HeadName("grammar", "determiner →", "78%"), ROOM / 8).endswith(" 78%")
    assert _fitting(HeadName("grammar", "determiner →", "78%", "det"), ROOM / 8) == "det 78%"


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_no_role_below_a_tile_is_cut(lang: str) -> None:
    words = figure(open_part("overview", lang=lang))["data"][-1]["text"]
    assert len(words) == 48 and not [name for name in words if "…" in name]


def test_nearly_uniform_weight_names_no_token() -> None:
    run = pipelines.run("digits", sketch.ink(sketch.example()))
    broad = catalogue("en")["heads.kind_broad"]
    for place, does in head_patterns(run)[1].items():
        if does.name != "near" and does.figure < min(0.4, 3 * does.reference):
            assert str(head_names(run, None)[place]) == broad
    assert any(does.name == "token" and does.figure < 3 * does.reference for does in head_patterns(run)[1].values())


def test_experts_of_the_notes_stand_beside_heads_with_that_role() -> None:
    lang = "zh"
    roles = head_roles()
    assert roles is not None
    near = [
        (role.margin, layer, head)
        for layer in range(6)
        for head in range(8)
        for role in (roles.of(layer, head), *roles.of(layer, head).others)
        if role.name in ("next", "previous")
    ]
    _, layer, head = max(near)
    rows = said(open_page("heads", tab="roles", lang=lang)).splitlines()
    (row,) = [row for row in rows if catalogue(lang)["roles.expert_distance"] in row]
    assert catalogue(lang)["common.where"].format(layer=layer + 1, head=head + 1) in row


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_examples_of_a_role_are_in_the_readers_language_as_far_as_there_are_some(lang: str) -> None:
    roles = head_roles()
    assert roles is not None
    every, own = roles.of(3, 4), roles.of(3, 4, lang)
    assert (every.name, every.relation, every.direction) == (own.name, own.relation, own.direction)
    shown = [
        [
            row
            for row in said(open_page("heads", tab="roles", lang=lang, layer="4", head=head)).splitlines()
            if "**]" in row
        ]
        for head in ("5", "1")
    ]
    assert len(shown[0]) == sum(map(len, own.examples.values()))
    assert all(row.isascii() == (lang == "en") for row in (*shown[0], shown[1][0])), "of one that does not, some first"


def test_of_a_network_with_one_head_nothing_is_said_of_several(monkeypatch: pytest.MonkeyPatch) -> None:
    trained = pipelines.pipeline("text")
    alone = Pipeline("text", network_for(replace(trained.config, heads=1, layers=2)), trained.reader)
    with_network(monkeypatch, alone)
    assert [chart["key"] for chart in charts(open_part("contribution"))] == [
        "heads.norms",
        "heads.mixed",
    ]


def one_that_stares(layers: int) -> Pipeline:
    """A digit network in which one head attends to one token and all others attend almost uniformly."""
    torch.manual_seed(0)
    network = network_for(replace(PRESETS["digits"], layers=layers, d_ff=64)).eval()
    for number, layer in enumerate(network.layers):
        for W in (layer.attention.W_Q, layer.attention.W_K):
            W.weight.data *= 0.3
            W.weight.data[:16] *= 60 if number == 1 else 1
    return Pipeline("digits", network, ImageReader(network.config, [str(digit) for digit in range(10)]))


def test_one_sharp_head_does_not_fade_the_other_tiles() -> None:
    trace = one_that_stares(12)(sketch.ink(sketch.example()))
    weights, drawn = trace.over_layers("attention.weights"), all_heads(trace, Place(2, 1)).drawn()
    largest, end = weights.max(axis=(2, 3)), max(map(bright_end, weights))
    assert largest.max() > 0.9 and np.median(largest) < 0.1
    np.testing.assert_allclose(cells(drawn, 12, 4, 50), np.minimum(weights / end, 1), atol=1.1 / 254)
    assert drawn.layout["height"] >= 12 * 38  # each tile is seen
    assert drawn.data[0]["colorbar"]["ticktext"][-1] == f"{end:.2g}" + "+" * bool(largest.max() > end)
    assert all(f"{value:.2g}" in hover for value, hover in zip(largest.ravel(), drawn.data[1]["text"], strict=True))
