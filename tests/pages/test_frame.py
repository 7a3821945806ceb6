"""What all pages share: the catalogues, links, hostile input, broken files."""

import gc
import json
import re
from collections.abc import Iterator
from itertools import cycle, pairwise
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from model import Trace
from model import pipeline as model_pipeline
from model.pipeline import MOST_CHARACTERS
from model.tables import head_roles
from pages.ui.frame.contents import PAGES, ROWS, PageRow
from pages.ui.frame.line import EXAMPLES
from pages.ui.runs import pipelines
from pages.ui.server import assets
from pages.ui.state.choice import Choice
from pages.ui.text import LANGUAGES, catalogue, literal
from tests.pages.opening import APP, assert_fine, charts, in_html, open_page, stops, texts, turn_to, write

NAMES = [row.name for row in PAGES]


def test_both_catalogues_have_the_same_keys_and_placeholders() -> None:
    english, chinese = catalogue("en"), catalogue("zh")
    assert english.keys() == chinese.keys()
    for key in english:
        places = [sorted(set(re.findall(r"\{(\w+)\}", text))) for text in (english[key], chinese[key])]
        assert places[0] == places[1], key
        assert english[key].strip() and chinese[key].strip(), key


def _within(block: object) -> Iterator[Any]:
    """All parts of a page, in the order in which they stand on it."""
    for part in getattr(block, "children", {}).values():
        yield part
        yield from _within(part)


def test_the_bar_has_every_page_in_order_by_its_short_name() -> None:
    words = catalogue("en")
    for link in ({}, {"input": "digit"}, {"big": "true"}):
        on_map = stops(open_page("home", **link))["stops"]
        assert [(stop["name"], stop["part"]) for stop in on_map] == [
            (words[f"{row.name}.short"], row.group) for row in PAGES if not (row.words_only and "input" in link)
        ]


@pytest.mark.parametrize("name", ["layers", "attention", "answer"])
def test_the_way_on_stands_once_at_the_end_of_a_page(name: str) -> None:
    shown = list(_within(open_page(name).main))
    (way,) = (place for place, part in enumerate(shown) if _leads_on(part))
    pictures = [place for place, part in enumerate(shown) if _component(part) == "chart"]
    assert way > max(pictures)


def test_the_way_leads_through_all_pages_and_back_home() -> None:
    words = catalogue("en")
    for row, following in pairwise([*(row for row in PAGES if row.alone), None]):
        if row.name == "lesson":  # which leads from station to station
            continue
        (way,) = (part.proto for part in _within(open_page(row.name).main) if _leads_on(part))
        expected = (
            words["common.next"].format(page=words[f"{following.name}.title"]) if following else words["common.again"]
        )
        assert way.label.strip("*") == expected


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_visitor_begins_with_a_head_that_was_measured_to_do_something(language: str) -> None:
    first = head_roles().first(language)
    app = AppTest.from_file(str(APP), default_timeout=60)
    app.query_params.update({"lang": language})
    app.run()
    turn_to(app, "attention").run()
    choice = app.session_state["choice"]
    assert (choice.sentence, choice.layer, choice.head) == (first.text, first.layer, first.head)
    assert first.language == language and first.role.clear and first.role.relation
    tokens = pipelines.run("text", first.text).tokens
    said = texts(app).replace("\\", "")
    assert "“[MASK]”" in said and f"“{tokens[first.key]}”" in said, "the word that looks is hidden"


@pytest.mark.parametrize("name", NAMES)
def test_a_typed_sentence_is_run_as_typed_on_every_page(name: str) -> None:
    if ROWS[name].name in ("lesson", "class"):  # whose questions are about a hidden word
        return
    app = open_page(name, s="the dog chased the cat .")
    assert "[MASK]" not in texts(app) and app.session_state["choice"].hidden is None


def _component(part: Any) -> str:
    """The name of one of our components; of another part, nothing."""
    return getattr(getattr(part, "proto", None), "component_name", "")


def _leads_on(part: Any) -> bool:
    return part.type == "page_link" and "arrow_forward" in part.proto.icon


def test_a_presenters_remote_goes_on_and_back_and_ends_with_the_story() -> None:
    def keys(name: str, **link: str) -> set[str]:
        (part,) = (part for part in _within(open_page(name, **link)._tree) if _component(part) == "page_keys")
        return {"PageDown", "PageUp"} & set(json.loads(part.proto.json)[0])

    assert keys("heads", big="true") == {"PageDown", "PageUp"}
    assert keys("heads") == set()  # there it scrolls
    assert keys("home", big="true") == {"PageDown"} and keys("shapes_and_cost", big="true") == {"PageUp"}


@pytest.mark.parametrize(
    ("name", "shows"),
    [("home", True), ("attention", True), ("translation", True), ("tokens", False), ("shapes_and_cost", False)],
)
def test_that_attention_is_no_explanation_is_said_where_attention_is_shown(name: str, shows: bool) -> None:
    said = catalogue("en")["common.not_explanation"]
    assert (said in [caption.value for caption in open_page(name).caption]) == shows


def test_no_style_asks_for_a_colour_that_only_components_are_told() -> None:
    rules = re.sub(r"/\*.*?\*/", "", assets.STYLE.read_text("utf-8"), flags=re.DOTALL).split("}")
    asking = [rule for rule in rules if "var(--st-" in rule]
    assert asking and all(
        rule.partition("{")[0].strip().startswith((".navbar ", ".lit ", ".sentence", ".chart, .arithmetic", ".facts "))
        for rule in asking
    )


@pytest.mark.parametrize(("name", "language"), [*zip(NAMES, cycle(LANGUAGES), strict=False)])
def test_every_page_opens_and_has_the_glossary(name: str, language: str) -> None:
    app = open_page(name, lang=language)
    assert app.sidebar.button(key="glossary")


def test_what_a_link_asks_for_is_not_what_visitors_begin_with() -> None:
    for link in ({"s": "i love you ."}, {"layer": "2"}, {"head": "1"}, {"model": "paper"}, {"input": "digit"}):
        choice = open_page("attention", **link).session_state["choice"]
        wanted = int(link.get("layer", 1)) - 1, int(link.get("head", 1)) - 1
        assert (choice.layer, choice.head) == wanted


@pytest.mark.parametrize("sentence", [*EXAMPLES["en"], *EXAMPLES["zh"]])
def test_an_example_is_read_as_it_stands(sentence: str) -> None:
    assert not pipelines.pipeline("text").reader.read(sentence).notes


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("typed", "reason"),
    [("", "empty"), ("   ", "empty"), ("\x00\x07", "empty"), ("😀😀", "unknown_only"), ("שלום", "unknown_only")],
)
def test_what_cannot_be_read_gets_a_sentence_and_the_last_picture_stays(typed: str, reason: str, language: str) -> None:
    app = open_page("attention", s="you love me .", lang=language)
    before = specs(app)
    write(app, typed)
    assert_fine(app)
    assert [warning.value for warning in app.warning] == [catalogue(language)[f"error.input_{reason}"]]
    assert before and specs(app) == before
    assert app.session_state["s"] == typed


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("typed", ["", "=1+1 😀 <b>x</b> $x$ `x` :smile: [link](x) a\u202eb \u0000 c", "word " * 100])
def test_hostile_sentences_break_no_page(name: str, typed: str) -> None:
    open_page(name, s=typed)


def test_what_is_cut_or_unknown_is_said() -> None:
    app = open_page("attention", s="the cat 😀 " + "runs " * 70)
    said = [note.value for note in app.info]
    assert any("😀" in text and "UNK" in text for text in said)
    assert any("64" in text for text in said)


def specs(app: AppTest) -> list[str]:
    """What Plotly is given, chart by chart."""
    return [json.dumps(chart["figure"]) for chart in charts(app)]


def test_names_in_the_arithmetic_are_no_html() -> None:
    app = open_page("attention", s="<b>x</b> & y", token="2", key="2")
    (arithmetic,) = [body for body in in_html(app) if 'class="formula"' in body]
    assert "“&lt; (2)” → “&lt; (2)”" in arithmetic and "“<" not in arithmetic


def test_tokens_are_shown_literally() -> None:
    app = open_page("attention", s="<b>x</b> $x$ `x`")
    drawn = "".join(specs(app))
    assert "&lt;" in drawn and '"<"' not in drawn  # Plotly would read a bare tag
    assert not re.search(r"(?<!\\)[<$`]", re.sub(r"\$[^$ ]+\$", "", texts(app).split("attends most")[1].split(":")[0]))


def test_literal_escapes_every_sign_that_markdown_reads() -> None:
    assert literal("<b>$x$`y`:z:[w](v)*u*") == r"\<b\>\$x\$\`y\`\:z\:\[w\]\(v\)\*u\*"
    assert literal("it 我 é 5") == "it 我 é 5"
    assert literal("7 @ 50 : 2 // 3, wwww") == r"7 \@ 50 \: 2 \/\/ 3\, wwww"
    for address in ("www.evil.example", "https://evil.example", "a@evil.example"):  # Markdown sees links in words
        assert literal(address).count("\u200b") == 1


@pytest.mark.parametrize(
    ("link", "word"),
    [({"layer": "99"}, "99"), ({"head": "abc"}, "abc"), ({"shown": "deep"}, "deep"), ({"input": "smell"}, "smell")],
)
def test_a_link_to_nowhere_is_answered_with_a_sentence(link: dict[str, str], word: str) -> None:
    app = AppTest.from_file(str(APP), default_timeout=60)
    app.query_params.update({"lang": "en", **link})
    app.run()
    assert_fine(app)
    assert any(word in warning.value for warning in app.warning)


def test_a_good_link_opens_exactly_that() -> None:
    app = open_page("attention", s="i love you .", layer="2", head="3", lang="zh")
    choice = app.session_state["choice"]
    assert (choice.sentence, choice.layer, choice.head, choice.lang) == ("i love you .", 1, 2, "zh")
    assert not app.warning


def address(app: AppTest) -> dict[str, str]:
    """The query; AppTest gives what it was told as text and what the app wrote as lists."""
    return {name: value[0] if isinstance(value, list) else value for name, value in app.query_params.items()}


def test_a_choice_that_no_link_can_hold_ends_no_visit() -> None:
    app = open_page("attention", s="i love you .")
    app.session_state["at"] = {"edits": "no edits", "token": 2}
    turn_to(app, "heads").run()
    assert_fine(app)
    assert [warning.value for warning in app.warning] == [catalogue("en")["error.link_unread"]]
    assert "edits" not in address(app) and app.session_state["choice"].sentence
    assert_fine(turn_to(app, "home").run())
    assert not app.warning


def test_an_address_that_nobody_thought_of_ends_no_visit(monkeypatch) -> None:
    app = AppTest.from_file(str(APP), default_timeout=60)
    app.query_params["s"] = "i love you ."
    with monkeypatch.context() as broken:
        broken.setattr(Choice, "from_link", lambda link: {}["nobody thought of it"])
        assert_fine(app.run())
    assert [warning.value for warning in app.warning] == [catalogue("en")["error.link_unread"]]
    assert_fine(turn_to(app, "attention").run())


def test_every_place_of_a_link_is_chosen_and_stays_in_the_address() -> None:
    link = {"token": "2", "key": "4", "component": "256", "neuron": "7", "hidden": "2", "as": "row", "n": "77"}
    app = open_page("attention", s="i love you .", **link)
    assert address(app).items() >= link.items()
    choice = app.session_state["choice"]
    assert (choice.token, choice.key, choice.component, choice.neuron, choice.hidden) == (1, 3, 255, 6, (1,))
    assert (choice.as_, choice.cost.n) == ("row", 77)


def test_what_was_typed_wins_over_the_older_sentence_of_a_page_link() -> None:
    app = open_page("attention", s="i love you .")
    write(app, "you love me .")
    app.query_params["s"] = "i love you ."
    assert_fine(turn_to(app, "heads").run())
    assert app.session_state["choice"].sentence == app.session_state["s"] == "you love me ."
    assert address(app)["s"] == "you love me ."


def test_edits_in_a_link_change_the_run_and_those_that_do_not_fit_are_named() -> None:
    plain_run = specs(open_page("attention", s="i love you ."))
    assert specs(open_page("attention", s="i love you .", edits="layers.0.attention.K~scale~value.3")) != plain_run
    app = open_page("attention", s="i love you .", edits="layers.0.attention.K~zero~head.99")
    assert specs(app) == plain_run
    assert [warning.value for warning in app.warning] == [catalogue("en")["error.edits"]]


@pytest.mark.parametrize("name", NAMES)
def test_choosing_a_layer_or_head_runs_no_forward_pass(name: str, monkeypatch) -> None:
    pipelines.run.cache_clear()  # where it is full, one goes by chance
    app = open_page(name)
    runs = []
    original = model_pipeline.record
    monkeypatch.setattr(model_pipeline, "record", lambda *a, **k: runs.append(1) or original(*a, **k))
    last = 3 if name == "translation" else 5
    for layer, head in [(2, 1), (last, 8), (1, 2)]:
        app.session_state["layer"], app.session_state["head"] = layer, head
        assert_fine(app.run())
    assert not runs
    write(app, f"a sentence that nobody typed on {name} before .")
    assert runs


def test_layer_and_head_come_back_with_a_network_that_has_them() -> None:
    app = open_page("attention", s="i love you .", layer="6", head="7")
    seen = []
    for kind in ("flat", "digit", "sentence"):
        app.pills(key="input").set_value(kind).run()
        assert_fine(app)
        seen.append((app.session_state["choice"].layer + 1, app.session_state["choice"].head + 1))
    flat, digits = (pipelines.config(name) for name in ("flat", "digits"))
    assert seen == [(flat.layers, flat.heads), (digits.layers, digits.heads), (6, 7)]
    app.pills(key="input").set_value("digit").run()
    app.button_group(key="either.head").set_value(1).run()
    app.pills(key="input").set_value("sentence").run()
    assert app.session_state["choice"].head == 1, "what was chosen meanwhile counts"


def test_bold_chinese_is_bold() -> None:
    # Markdown does not close ** between a full-width stop and a character: the stop belongs outside.
    for key, text in catalogue("zh").items():
        parts = text.split("**")
        assert len(parts) % 2, key
        for bold, after in zip(parts[1::2], parts[2::2], strict=True):
            assert not (re.search(r"[。，：；？！）”]$", bold) and re.match(r"\w", after)), key


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_sentence_too_long_for_a_link_is_cut_and_it_is_said(language: str) -> None:
    app = AppTest.from_file(str(APP), default_timeout=60)
    app.query_params.update({"s": "word " * 500, "lang": language})
    assert_fine(app.run())
    expected = catalogue(language)["error.link_long"].format(most=MOST_CHARACTERS)
    assert expected in [warning.value for warning in app.warning]
    assert len(app.session_state["s"]) == MOST_CHARACTERS


def test_of_a_second_sentence_too_long_for_its_box_the_beginning_is_read_and_it_is_said() -> None:
    app = open_page("attention")
    app.text_input(key="compare.other").set_value("word " * 500).run()
    assert_fine(app)
    assert app.text_input(key="compare.other").value == ("word " * 500)[:MOST_CHARACTERS]
    said = catalogue("en")["error.sentence_long"].format(most=MOST_CHARACTERS)
    assert said in [warning.value for warning in app.warning]
    assert said not in [warning.value for warning in app.run().warning]


@pytest.mark.parametrize("name", NAMES)
def test_a_page_that_is_drawn_keeps_no_run_in_the_visitors_session(name: str) -> None:
    """Sixty visitors share one cache of runs; what their clicks will call must not hold sixty more."""
    before = traces_alive()
    app = open_page(name, s=f"nobody else sees {name} .")
    pipelines.run.cache_clear()
    assert traces_alive() - before == set()
    assert app.session_state["s"]


def traces_alive() -> set[int]:
    gc.collect()
    return {id(thing) for thing in gc.get_objects() if type(thing) is Trace}


@pytest.mark.parametrize(
    ("name", "panel"),
    [
        ("feed_forward", "neuron"),
        ("add_and_norm", "ways"),
        ("add_and_norm", "values"),
        ("answer", ""),
        ("tokens", "neighbours"),
    ],
)
def test_bars_and_boxes_answer_with_what_is_under_the_mouse_and_can_be_saved_as_a_picture(
    name: str, panel: str
) -> None:
    app = open_page(name, s="the dog chased the cat .", panel=panel)
    for chart in charts(app):
        figure = chart["figure"]
        if {trace["type"] for trace in figure["data"]} & {"bar", "box"}:
            assert figure["layout"].get("hoverdistance", 20) > 0  # -1 would answer with the last of them
        assert chart["file"].startswith("glass-encoder-")


ABOUT = {"sentence": {"s": "the cat sat on the [MASK] ."}, "digit": {"input": "digit"}}
ABOUT["unanswered"] = {"s": "the cat sat on the mat .", "model": "paper"}


def _shown(app: AppTest) -> list[object]:
    """All that stands on the page but its ways to others, the map, and what listens."""
    components = {part.proto.id: part for part in app.get("bidi_component")}
    shown: list[object] = []
    for part in _within(app.main):
        proto = getattr(part, "proto", None)
        if part.type in ("page_link", "button", "download_button"):
            shown.append(proto.label)
        elif _component(part) == "chart":
            chart = json.loads(components[proto.id].bytes)
            shown.append((chart["figure"], chart["alt"]))
        elif _component(part) == "arithmetic":
            shown.append(components[proto.id].bytes)
        elif not _component(part) and proto is not None:  # a widget is told its value only when that changes
            shown.append(re.sub(r"\s*\b(id|styler_uuid|set_value|raw_values|value): .*", "", str(proto)))
    return shown


def _at(app: AppTest, layer: int, head: int) -> list[object]:
    """What the page shows of another layer and head."""
    app.session_state["layer"], app.session_state["head"] = layer, head
    assert_fine(app.run())
    return _shown(app)


def _boxes_that_count(app: AppTest) -> None:
    """There is a box for the layer where another changes what is shown, and only there; so for the head."""
    app.run()  # what is new on the page is told its value once
    before = _at(app, 2, 1)
    there = {name for name in ("layer", "head") if f"either.{name}" in [one.key for one in app.get("button_group")]}
    changes = {name for name, place in (("layer", (3, 1)), ("head", (2, 2))) if _at(app, *place) != before}
    assert there == changes
    (keys,) = [json.loads(part.proto.json)[0] for part in _within(app._tree) if _component(part) == "page_keys"]
    assert ("ArrowUp" in keys) == ("layer" in changes)


@pytest.mark.parametrize(
    ("name", "about"),
    [(name, about) for about in ("sentence", "digit") for name in NAMES if name not in ("lesson", "class")]
    + [(name, "unanswered") for name in ("home", "heads", "answer", "what_if")],
)
def test_the_layer_and_the_head_can_be_chosen_just_where_they_change_what_is_shown(name: str, about: str) -> None:
    app = open_page(name, **ABOUT[about])
    _boxes_that_count(app)
    buttons, (first, *_) = f"{name}.panel", [one.value for one in app.pills if one.key == f"{name}.panel"] or [None]
    for key in catalogue("en") if first else ():
        part = key.removeprefix(f"{buttons}_")
        if part not in (key, first):
            app.session_state["at"] = app.session_state["at"] | {"panel": part}
            if app.run().pills(key=buttons).value == part:  # of another input it is none
                _boxes_that_count(app)


@pytest.mark.parametrize("row", PAGES, ids=lambda row: row.name)
def test_the_bar_has_the_page_that_is_open_also_where_that_has_nothing_to_say_of_a_drawing(row: PageRow) -> None:
    bar = stops(open_page(row.name, input="digit"))
    assert bar["here"] in [stop["path"] for stop in bar["stops"]]


def test_another_language_brings_its_own_first_sentence_and_leaves_one_that_was_typed() -> None:
    english, chinese = (head_roles().first(language) for language in ("en", "zh"))
    app = open_page("attention", lang="en")
    app.pills(key="lang").set_value("zh").run()
    choice = app.session_state["choice"]
    assert (choice.sentence, choice.layer, choice.head) == (chinese.text, chinese.layer, chinese.head)
    app.pills(key="lang").set_value("en").run()
    assert app.session_state["choice"].sentence == english.text
    app = open_page("attention", lang="en", s="i love you .", layer="2")
    app.pills(key="lang").set_value("zh").run()
    assert (app.session_state["choice"].sentence, app.session_state["choice"].layer) == ("i love you .", 1)
