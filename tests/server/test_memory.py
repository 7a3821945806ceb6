"""A session does not grow with the number of clicks."""

import weakref

import pytest

from model import Trace
from pages.screen.runs import pipelines
from tests.pages.opening import charts, open_page


def kept(app) -> int:
    """Number of widgets with a callback in the session."""
    return len(app._session_state._state._new_widget_state.widget_metadata)


@pytest.mark.parametrize("name", ["attention", "add_and_norm"])
def test_clicking_for_long_leaves_nothing_behind(name: str) -> None:
    app = open_page(name, s="the cat sat .")
    after = []
    for layer in (2, 3, 4, 5, 6):
        app.button_group(key="either.layer").set_value(layer - 1).run()
        assert not app.exception and not app.error
        after.append(kept(app))
    assert after[-1] == after[1]


@pytest.mark.parametrize(
    ("name", "tab"),
    [
        ("heads", "all"),
        ("layers", "origin"),
        ("feed_forward", "neuron"),
        ("add_and_norm", "maps"),
    ],
)
def test_what_a_page_made_of_a_large_run_is_gone_when_it_is_drawn(
    name: str, tab: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []

    def watched(function):
        def call(*given):
            value = function(*given)
            made.append(weakref.ref(value))
            return value

        return call

    monkeypatch.setattr("model.pipeline.MOST_INSIDE", 0)
    pipelines.run.cache_clear()
    for method in ("over_layers", "states", "__getitem__"):
        monkeypatch.setattr(Trace, method, watched(getattr(Trace, method)))
    app = open_page(name, s="the cat sat .", tab=tab)
    pipelines.run.cache_clear()
    assert len(charts(app)) and made and not any(array() is not None for array in made)
