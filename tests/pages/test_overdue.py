"""A page that takes too long, or gets no slot, says so, still leads on, and frees what it held."""

import gc
import weakref
from collections.abc import Callable, Iterator
from threading import Timer
from unittest.mock import Mock

import pytest
from streamlit.delta_generator import DeltaGenerator
from streamlit.runtime.scriptrunner import StopException

from model import Edit, deadline
from model.config import PRESETS
from model.measures.cost import multiply_adds, total
from pages.drawing.state.link_values import EDITS
from pages.drawing.text import catalogue
from pages.screen.frame import contents
from pages.screen.runs import pipelines
from pages.screen.sections import patience
from pages.server import in_flight
from pages.what_if.experiment import Experiment
from tests.pages.opening import open_page, warnings

LONG = "the cat sat on the big red box and then the dog ran to the sea with the old man ."


@pytest.fixture(autouse=True)
def nothing_kept() -> Iterator[None]:
    pipelines.run.cache_clear()
    yield
    pipelines.run.cache_clear()


@pytest.mark.parametrize(("page", "language"), [("attention", "en"), ("translation", "zh")])
def test_a_page_that_takes_too_long_says_so_and_can_be_asked_again(
    page: str, language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as slow:
        slow.setattr(in_flight, "MOST_SECONDS", 0.0)
        app = open_page(page, s=LONG, lang=language)
    assert warnings(app) == [catalogue(language)["error.overdue"]]
    bars = [one for one in app.get("bidi_component") if one.proto.component_name == "bar"]
    assert bars, "other pages can be opened"
    app.button(key="again").click().run()
    assert not warnings(app) and not app.exception and not app.error


def test_first_visitor_may_wait_longer_for_shared_results(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0

    def slow(what: Callable) -> Callable:
        def act(*told):
            nonlocal now
            now += 2 * in_flight.MOST_SECONDS
            return what(*told)

        return act

    monkeypatch.setattr(deadline, "monotonic", lambda: now)
    for module, name in ((contents, "import_module"), (pipelines, "load"), (pipelines, "give_back")):
        monkeypatch.setattr(module, name, slow(getattr(module, name)))
    contents.page.cache_clear()
    pipelines.pipeline.cache_clear()
    assert not open_page("attention", s=LONG).warning
    assert now > 0


def test_a_page_that_finds_no_room_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_flight, "LONGEST_WAIT", 0.0)
    monkeypatch.setattr(in_flight, "small", busy := in_flight.Room(0))
    busy.enter(in_flight.Drawing(), 1)
    app = open_page("attention", s="one that nobody has asked for .")
    assert warnings(app) == [catalogue("en")["error.crowded"]]


def test_a_page_that_breaks_off_in_the_middle_holds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Callbacks of the widgets drawn so far stay in the session."""
    screens = []

    def too_long(lab: Experiment, _: object) -> None:
        screens.append(weakref.ref(lab.screen))
        assert lab.screen.run.edits
        raise in_flight.OverdueError

    monkeypatch.setattr(Experiment, "changes", too_long)
    edits = EDITS.write((Edit("layers.0.attention.heads", "zero", head=0),))
    app = open_page("what_if", s=LONG, edits=edits)
    assert warnings(app) == [catalogue("en")["error.overdue"]]
    gc.collect()
    assert [screen() for screen in screens] == [None]


def test_a_long_experiment_says_how_many_of_how_many_and_when_it_is_broken_off_it_is_asked_for_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    language = "zh"
    monkeypatch.setattr(patience, "MOST_PRODUCTS", 1)
    said: list[tuple[float, str]] = []
    monkeypatch.setattr(DeltaGenerator, "progress", lambda _, share, text: said.append((share, text)))
    link = {"s": f"{LONG} {language}", "tab": "heads", "lang": language}
    app = open_page("what_if", **link)
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(patience, "give_way", Mock(side_effect=[None] * 3 + [StopException]))
        app.button(key="what_if.work_out").click().run()
    assert len(said) == 3 and not app.exception  # nothing after it is drawn
    app.run()
    app.button(key="what_if.work_out").click().run()
    shares = [share for share, _ in said[3:]]
    assert shares == sorted(shares) and shares[0] == 0 and shares[-1] == 1
    counted = catalogue(language)["what_if.progress"]
    assert (said[3][1], said[-1][1]) == (counted.format(done=0, n=48), counted.format(done=48, n=48))
    assert not [button for button in app.button if button.key == "what_if.work_out"]


def test_experiment_may_take_as_long_as_its_button_said() -> None:
    config = PRESETS["bert-base"]
    runs = config.layers * config.heads
    said = runs * total(multiply_adds(config, 100)).number / patience.PER_SECOND
    assert said > in_flight.MOST_SECONDS
    assert patience.seconds_for(config, 100, runs) > 2 * said
    assert patience.seconds_for(PRESETS["flat"], 1, 9) == pytest.approx(in_flight.MOST_SECONDS, abs=0.1)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_visitor_without_a_slot_queues_and_sees_his_place(language: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What he typed is computed as soon as there is a slot."""
    room, other = in_flight.Room(1), in_flight.Drawing()
    monkeypatch.setattr(in_flight, "small", room)
    monkeypatch.setattr(in_flight, "LOOK", 0.05)
    room.enter(other, 1)
    leaves = Timer(2, room.leave, [other])
    leaves.start()
    app = open_page("attention", s=LONG, lang=language)
    leaves.join()
    assert {toast.value for toast in app.toast} == {catalogue(language)["frame.waits"].format(before=1)}
    assert len(app.toast) == 1 and not warnings(app) and app.session_state["choice"].sentence == LONG
