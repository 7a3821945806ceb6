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
from pages.drawing.text import catalogue, plain, speaking
from pages.drawing.text.numbers import percent
from pages.drawing.text.roles import measured_role
from pages.heads.head_patterns import HeadName, head_names, head_patterns
from pages.heads.pictures import ROOM, all_heads, fitting, wide
from pages.screen.runs import pipelines
from tests.pages.opening import charts, figure, numbers, open_page, run_of, said, with_network

SENTENCE = "the dog chased the cat ."
TABS = ("overview", "roles", "contribution", "mixed", "origins")


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
    assert (
        f"Averages of all rows: entropy {measures['entropy'][1, 2]:.2f} of {np.log2(len(trace.tokens)):.2f} bits"
        in read
    )
    assert f"distance {measures['distance'][1, 2]:.2f} tokens" in read
    length = np.linalg.norm(trace["layers.1.attention.contributions"], axis=-1).mean(axis=1)
    assert f"output length {length[2]:.2f}" in read


def test_of_a_network_without_measured_roles_and_of_one_token_there_are_fewer_tabs() -> None:
    for link, tabs in (({"s": SENTENCE}, TABS), ({"input": "flat"}, ("overview", "contribution", "mixed"))):
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
        role, does, most = roles.of(*place), by_run[place], trace.over_layers("attention.weights")[place].argmax(-1)
        assert name.figure == (percent(role.share) if role.clear else "")
        if role.clear and role.relation:  # the arrow leads to the word that is attended to
            assert name.name[:: -1 if role.direction == "to_head" else 1].startswith("→")
        if does.name == "next":
            share = np.mean(most[:-1] == np.arange(1, len(most))) * (1 - 1 / len(most))
            assert own[place].figure == (percent(share) if share >= 1 / 3 else "")
    for word, name in zip(tiles[roles], names.values(), strict=True):
        assert word == f"{name.kind} {name.figure}".strip(), "each tile has its role and its figure"
    assert {name.kind for name in names.values()} == {""} | {
        catalogue(lang)[f"heads.kind.{kind}"] for kind in ("previous", "itself", "next", "broad", "relation")
    }


@pytest.mark.parametrize("named", [True, False])
def test_a_head_is_named_only_by_what_it_does_in_a_third_of_all_places(named: bool) -> None:
    for name in head_names(pipelines.run("text", SENTENCE), head_roles() if named else None).values():
        assert not name.figure or float(name.figure.strip("<> %")) >= 33
    assert HeadName() in head_names(pipelines.run("text", SENTENCE), head_roles() if named else None).values()


@pytest.mark.parametrize("other", [{"twin": "true"}, {"other": "i love you ."}])
def test_heading_above_the_other_runs_map_is_its_own_heads_role(other: dict[str, str]) -> None:
    role = plain("heads.read_corpus", role=measured_role(head_roles().of(1, 2)))
    read = said(open_part("overview", shown="beside", **other))
    assert plain("compare.there", title="Layer 2, head 3") in read
    assert role in read


@pytest.mark.parametrize(("link", "measured"), [({}, True), ({"edits": "layers.5.ffn.output~zero"}, False)])
def test_tiles_of_an_edited_run_show_no_corpus_measures(link: dict[str, str], measured: bool) -> None:
    app = open_part("overview", **link)
    words, titles = figure(app)["data"][-1]["text"], [catalogue("en")[f"heads.all_by_{by}"] for by in ("run", "role")]
    assert len(words) == 48 and [title in said(app) for title in titles] == [not measured, measured]
    roles = [f"{one.kind} {one.figure}".strip() for one in head_names(run_of(app), head_roles()).values()]
    assert (words == roles) == measured


def test_a_token_that_stands_twice_is_named_with_its_number() -> None:
    assert str(head_names(pipelines.run("text", "我我我我"), None)[1, 1]) == "“我 (1)” 67%"


@pytest.mark.parametrize(
    ("name", "heads", "words"),
    [
        (HeadName("next", "next", "next", "99%"), 8, "next 99%"),
        (HeadName("grammar", "gram.", "determiner →", "78%"), 8, "grammar 78%"),
        (HeadName("grammar", "gram.", "determiner →", "78%"), 12, "grammar"),
        (HeadName("punctuation", "punct.", "punctuation", "78%"), 12, "punct."),
        (HeadName("one token", "one", "“it”", "78%"), 8, "“it” 78%"),
        (HeadName("one token", "one", "“nevertheless”", "78%"), 8, "one token"),
    ],
)
def test_names_below_tiles_are_whole_and_take_no_more_room_than_these_have(
    name: HeadName, heads: int, words: str
) -> None:
    assert fitting(name, ROOM / heads) == words and wide(words) <= ROOM / heads


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_words_below_tiles_are_legible_and_shorter_ones_fit_on_a_phone(lang: str) -> None:
    below = figure(open_part("overview", lang=lang))["data"][-1]
    assert below["textfont"]["size"] >= 12 and len(below["text"]) == len(below["meta"]["short"]) == 48
    assert max(map(wide, below["meta"]["short"])) <= 35


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
    shown = {tab: [chart["key"] for chart in charts(open_part(tab))] for tab in ("contribution", "mixed")}
    assert shown == {"contribution": ["heads.norms"], "mixed": ["heads.mixed"]}


def test_what_heads_contribute_is_written_as_numbers_in_cells_and_on_bars() -> None:
    drawn = charts(open_part("contribution", token="4"))
    assert drawn[0]["figure"]["layout"]["meta"]["numbers"]
    for bars in drawn[1]["figure"]["data"]:
        np.testing.assert_allclose([float(text) for text in bars["text"]], numbers(bars["y"]), atol=0.0051)


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
