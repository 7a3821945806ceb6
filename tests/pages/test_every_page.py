"""Every page opens with every input and network; tabs and languages take turns."""

import gc
import json
import re
from collections.abc import Iterator
from itertools import pairwise
from random import Random
from time import process_time
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model import Trace
from model import pipeline as model_pipeline
from model.analysis import placed
from pages.drawing.text import LANGUAGES, catalogue, literal
from pages.screen.frame.contents import page, pages
from pages.screen.runs import pipelines
from pages.what_if.page import PARTS
from tests.links import LINKS, TABS, grown
from tests.links import PAGES as NAMES
from tests.pages.inputs import DIGIT, NETWORKS, OURS, bring
from tests.pages.opening import (
    at_page,
    charts,
    component,
    numbers,
    open_page,
    run_fine,
    run_of,
    shown_on,
    stands,
    stops,
    texts,
    turn_to,
    warnings,
    within,
    write,
)

#: The tabs (and blocks) of each page.
PLACES = {name: [{"tab": tab} if tab else {} for tab in tabs] for name, tabs in TABS.items()}
PLACES["what_if"] = [{"tab": tab, "block": kind} for tab, kinds in PARTS.items() for kind in kinds]
#: Pages whose pictures do not depend on the kind of answer; and pages that run a network of their own.
NO_ANSWER = {
    "tokens",
    "queries_keys_values",
    "attention",
    "add_and_norm",
    "translation",
    "flat",
    "shapes_and_cost",
    "class",
}
OWN_NETWORK = {"flat", "shapes_and_cost", "class"}
BROUGHT = [
    "MiniLM", "ViTForImageClassification", "DeiTForImageClassificationWithTeacher",
    *(name for name in NETWORKS if name not in ("translator apart", "MPNet", "Dinov2")),  # as others, T5 and registers
]  # fmt: skip
JUDGED = ("label", "labels", "numbers", "tags", "span")
#: A text that must be on every page of an input, except on these.
SAYS = {
    "paper": ("untrained.banner", {"flat", "translation"}),
    "twin": ("compare.twin_says", set()),
    "early": ("learned.badge", {"translation", "lesson", "class"}),
}
SHOWN = {"beside", "other", "against", "changed"}  # which every tab meets below
INPUTS = [*(name for name in OURS if name not in {"nothing chosen", *SHOWN}), "pre-norm text", "pre-norm digits"]
_PAIRS = [
    *(
        (input_, name) for input_ in INPUTS for name in NAMES
        if name not in OWN_NETWORK | {"translation"} or not input_.startswith("pre-norm")
    ),
    *(
        (network, name) for network in BROUGHT for name in NAMES
        if name not in (NO_ANSWER if network in JUDGED else OWN_NETWORK)
    ),
]  # fmt: skip
#: Our sentence on every page; every other input on every seventh page.
TABLE = [
    (input_, name) for input_, name in _PAIRS
    if input_ == "words" or ([*INPUTS, *BROUGHT].index(input_) + NAMES.index(name)) % 7 == 0
]  # fmt: skip
#: Type of each widget, by key. Two widgets of one key would take each other's values.
KINDS: dict[str, str] = {}


@pytest.mark.parametrize("name", NAMES)
def test_positions_count_from_0_on_every_page(name: str) -> None:
    """A repeated word is named with its position, as PE(pos) counts; in a picker, too, any other word by itself."""
    sentence = "the animal did not cross the street because the street was wet ."
    for place in PLACES[name]:
        app = open_page(name, **{"s": sentence, "layer": "2", "head": "3", "token": "7"} | place)
        tokens, named = run_of(app).tokens, []
        for box in app.selectbox:
            if box.key == "pick.token":
                assert list(box.options) == placed(tokens)
        if [*tokens[1:-1]] == sentence.split():  # a page may show another network
            sent = " ".join([texts(app), *(json.dumps(chart, ensure_ascii=False) for chart in charts(app))])
            named = re.findall(r"\b(the|street) \((\d+)\)", sent.replace("\\", ""))
        assert all(tokens[int(at)] == word for word, at in named), named


@pytest.mark.parametrize(("input_", "name"), TABLE)
def test_every_page_opens_with_everything(input_: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    number = [*INPUTS, *BROUGHT].index(input_)
    turn, place = divmod(number, len(PLACES[name]))
    language = tuple(LANGUAGES)[(turn + NAMES.index(name)) % 2]
    link = bring(monkeypatch, input_)
    if input_ in BROUGHT:
        monkeypatch.delattr("model.measures.gradients.network_for")  # an untrained twin of theirs may be large
        link |= {"twin": "true", "shown": "beside"}
    app = open_page(name, **{"lang": language, "layer": "2", "head": "3", **link, **PLACES[name][place]})
    for part in within(app._tree):
        if key := getattr(part, "key", None):
            assert KINDS.setdefault(key, part.type) == part.type, key
        if input_ not in (*BROUGHT, "hostile"):  # which may call a class so
            raw = [option for option in map(str, getattr(part, "options", [])) if re.search(r"\w_\w", option)]
            assert all("$" in option for option in raw), "a symbol as it is typed"
    bar = stops(app)
    assert bar["here"] in [stop["path"] for stop in bar["stops"]]
    assert bar["words"]["glossary"]
    for chart in charts(app):  # hoverdistance=0 would break clicks on bars
        answer = [trace for trace in chart["figure"]["data"] if trace.get("hoverinfo") != "skip"]
        if {trace["type"] for trace in answer} & {"bar", "box"}:
            assert chart["figure"]["layout"].get("hoverdistance", 20) > 0
        assert chart["file"].startswith("glass-encoder-") or input_ != "words" or name in ("lesson", "class")
    if input_ == "words":
        assert not stands(app, "change.no_law"), "which is for what was changed"
    if "shown" in link:
        assert not re.search(r"\bnan\b", texts(app))
    if input_ in BROUGHT:
        assert app.session_state["choice"].pipeline == link["model"] and not warnings(app)
    named = catalogue(language)["frame.network"]
    said = [part.value for part in app.markdown if part.value.startswith(f":small[:gray[{named.partition('{')[0]}")]
    ours = input_ not in BROUGHT
    assert said == ([] if ours else [f":small[:gray[{named.format(name=literal(link['model']))}]]"]), "whose it is"
    if input_ in SAYS:
        key, but = SAYS[input_]
        assert name in but or stands(app, key)


@pytest.mark.parametrize(("page", "link"), LINKS)
def test_every_tab_opens_with_changes_and_other_runs_in_both_languages(page: str, link: dict[str, str]) -> None:
    app = open_page(page, **link)
    assert not re.search(r"\bnan\b", texts(app))
    pressed = {group.label: group.value for group in app.button_group if str(group.key).startswith("either.")}
    assert None not in pressed.values(), f"no button of {pressed} is down"
    assert {*warnings(app)} <= {catalogue(link["lang"])["error.edits"]}, "not every change fits a drawing"


@pytest.mark.parametrize("seed", range(len(NAMES)))
def test_any_link_opens_and_the_next_page_opens_too(seed: int) -> None:
    """Without a message for an unexpected error, and in less than 5 s of CPU time."""
    excuses = [catalogue(name)[f"error.{key}"] for name in LANGUAGES for key in ("unexpected", "link_unread")]
    app = at_page(NAMES[seed % len(NAMES)], **grown(Random(seed)))
    for name in (NAMES[seed % len(NAMES)], NAMES[-1 - seed % len(NAMES)]):
        begun = process_time()
        turn_to(app, name).run()
        assert not app.exception and process_time() - begun < 5
        assert not [part.value for part in [*app.error, *app.warning] if part.value in excuses]


# -- a bare link -----------------------------------------------------------------------------------------------------


def leads_on(part: Any) -> bool:
    return part.type == "page_link" and "arrow_forward" in part.proto.icon


def filled(figure: dict) -> bool:
    """Whether a figure shows numbers: cells of a heatmap, lengths of bars, positions of points."""
    for trace in figure["data"]:
        for side in ("z", "x", "y"):
            values = trace.get(side)
            values = numbers(values) if isinstance(values, dict) else np.array(values if values is not None else [])
            if values.size > 4 and values.dtype.kind in "fiu" and np.isfinite(values).any() and np.ptp(values) > 0:
                return True
    return False


@pytest.mark.parametrize("link", [{}, {"input": "digit"}], ids=["sentence", "digit"])
@pytest.mark.parametrize("name", NAMES)
def test_bare_link_shows_a_filled_picture_no_question_and_the_next_page(name: str, link: dict[str, str]) -> None:
    language = tuple(LANGUAGES)[(NAMES.index(name) + len(link)) % 2]
    app, words = open_page(name, lang=language, **link), catalogue(language)
    shown = list(within(app.main))
    if page(name).group in ("way", "layer"):
        overview = any(component(part) == "overview" for part in shown)
        assert overview or any(filled(chart["figure"]) for chart in charts(app)[:2])
        assert words["lesson.send"] not in [button.label for button in app.button]
        asked = [key for key in words if key.startswith("lesson.") and key.endswith(".ask")]
        assert asked and not [key for key in asked if "{" not in words[key] and words[key] in texts(app)]
    if link:
        return
    assert (words["common.not_explanation"] in [caption.value for caption in app.caption]) == page(name).attention
    following = dict(pairwise([*(row.name for row in pages() if row.alone), None]))
    if name in following and name != "lesson":  # which leads from station to station
        (way,) = (place for place, part in enumerate(shown) if leads_on(part))
        assert not [part for part in shown[way:] if component(part) == "chart"]
        on = following[name]
        told = words["common.next"].format(page=words[f"{on}.title"]) if on else words["common.again"]
        assert shown[way].proto.label.strip("*") == told


# -- a visit ---------------------------------------------------------------------------------------------------------


def traces_alive() -> set[int]:
    gc.collect()
    return {id(thing) for thing in gc.get_objects() if type(thing) is Trace}


@pytest.mark.parametrize("name", NAMES[::2])
def test_visit_runs_each_sentence_once_as_typed_and_keeps_no_run(name: str, monkeypatch) -> None:
    """Visitors share one cache of runs; callbacks kept in a session must not hold more."""
    pipelines.run.cache_clear()  # a full cache evicts at random
    before, app = traces_alive(), open_page(name, s=f"nobody else sees {name} .")
    if name not in ("lesson", "class"):  # their questions are about a hidden word
        assert "[MASK]" not in texts(app) and app.session_state["choice"].hidden is None
    runs = []
    original = model_pipeline.record
    monkeypatch.setattr(model_pipeline, "record", lambda *a, **k: runs.append(1) or original(*a, **k))
    for layer, head in [(3, 8), (1, 2)]:
        app.session_state["layer"], app.session_state["head"] = layer, head
        run_fine(app)
    assert not runs, "another layer or head is another look at the same run"
    write(app, f"a sentence that nobody typed on {name} before .")
    assert runs
    pipelines.run.cache_clear()
    assert traces_alive() - before == set()
    assert app.session_state["s"]


# -- what there is to choose -----------------------------------------------------------------------------------------


def at(app: AppTest, layer: int, head: int) -> list[object]:
    """Content of the page at this layer and head."""
    app.session_state["layer"], app.session_state["head"] = layer, head
    run_fine(app)
    return shown_on(app)


def at_token(app: AppTest, token: int) -> list[object]:
    """Content of the page at this token, which the box chooses; less that box."""
    run_fine(app.selectbox(key="pick.token").set_value(token))
    label = catalogue("en")["common.selected_token"]
    return [one for one in shown_on(app) if label not in str(one)]


#: Streamlit's widgets that choose something.
CONTROLS = {
    "slider", "select_slider", "number_input", "selectbox", "button_group", "toggle", "checkbox", "radio",
}  # fmt: skip
FEW = 4  # up to this many options are all tried; of more, the ends
TYPED = ("pen", "example_digit", "picture")  # on top of every page: tried on Home


def controls(app: AppTest, name: str) -> list[Any]:
    """All enabled controls of a page, including its tabs."""
    every = (part for part in within(app.main) if part.type in CONTROLS and not part.disabled)
    return [one for one in every if name == "home" or one.key not in TYPED]


def options(control: Any) -> list[Any]:
    """Values to try: all of few options, the ends of a range."""
    if control.type in ("toggle", "checkbox"):
        return [True, False]
    if control.type in ("slider", "number_input"):
        return [end for end in (control.min, control.max) if end is not None]
    return control.options if len(control.options) <= FEW else [control.options[0], control.options[-1]]


def move_from_end_to_end(app: AppTest, name: str) -> None:
    """Move all controls of a tab at once until every option was tried, also of controls that appear meanwhile."""
    tried: set[tuple[str, str]] = set()
    while new := {
        control.key: (control, option)
        for control in controls(app, name) if control.key != f"{name}.tabs"
        for option in options(control) if (control.key, str(option)) not in tried
    }:  # fmt: skip
        for control, option in new.values():
            several = control.type == "button_group" and not control._is_single_select
            control.set_value([option] if several else option)
        moved = {key: option for key, (_, option) in new.items()}
        tried |= {(key, str(option)) for key, option in moved.items()}
        app.run()
        wrong = [error.value for error in [*app.exception, *app.error]]
        assert not wrong, (moved, wrong)


def tabs(app: AppTest, name: str) -> Iterator[str]:
    """Open the tabs of a page one after another."""
    pills = [control for control in controls(app, name) if control.key == f"{name}.tabs"]
    for tab in pills[0].options if pills else [""]:
        if pills:
            app.button_group(key=f"{name}.tabs").set_value(tab).run()
        yield tab


CHOSEN = {"words": {"s": "the cat sat on the [MASK] ."}, "digit": DIGIT}
CHOSEN["paper"] = {"s": "the cat sat on the mat .", "model": "paper"}


@pytest.mark.parametrize(
    ("name", "about"),
    [
        *((name, "words") for name in NAMES if name not in ("lesson", "class")),
        *((name, "digit") for name in ("tokens", "heads", "feed_forward", "what_if")),
        ("answer", "paper"),
    ],
)
def test_layer_and_head_can_be_chosen_just_where_they_change_what_is_shown(name: str, about: str) -> None:
    """Then move every control of every tab from end to end."""
    app = open_page(name, **CHOSEN[about])
    for tab in tabs(app, name):
        app.run()  # a new widget is sent its value once
        before = at(app, 2, 1)
        there = {one for one in ("layer", "head") if f"either.{one}" in [box.key for box in app.get("button_group")]}
        moving = {one for one, place in (("layer", (3, 1)), ("head", (2, 2))) if at(app, *place) != before}
        assert there == moving, tab
        (keys,) = [json.loads(part.proto.json)[0] for part in within(app._tree) if component(part) == "page_keys"]
        assert ("ArrowUp" in keys) == ("layer" in there)
        if any(box.key == "pick.token" for box in app.selectbox):
            assert at_token(app, 1) != at_token(app, 3), tab
        move_from_end_to_end(app, name)


#: The pages of drawings and of Flat that are not in the table above; of all others, one in ten of the table.
MOVED = [
    *(("digit", name) for name in NAMES if name not in ("tokens", "attention", "heads", "layers", "what_if")),
    *(("flat", name) for name in NAMES if name not in OWN_NETWORK | {"translation"}),
    *(row for place, row in enumerate(TABLE) if row[0] not in (*CHOSEN, "flat") and place % 10 == 0),
]


@pytest.mark.parametrize(("input_", "name"), MOVED)
def test_every_control_of_every_tab_moves_from_end_to_end(
    input_: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = open_page(name, **{"lang": "zh", **bring(monkeypatch, input_)})
    for _ in tabs(app, name):
        move_from_end_to_end(app, name)


@pytest.mark.parametrize("words", [True, False])
def test_the_bar_has_every_page_in_order_by_its_short_name(words: bool) -> None:
    link = {} if words else {"input": "digit"}
    shown = [(stop["name"], stop["part"]) for stop in stops(open_page("home", **link))["stops"]]
    kept = [row for row in pages() if words or not row.words_only]
    assert shown == [(catalogue("en")[f"{row.name}.short"], row.group) for row in kept]
