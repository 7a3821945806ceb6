"""A session stays as small as it was, however long its visitor clicks."""

import pytest

from tests.pages.opening import open_page


def kept(app) -> int:
    """The widgets that a session knows how to call."""
    return len(app._session_state._state._new_widget_state.widget_metadata)


@pytest.mark.parametrize("name", ["attention", "heads", "answer"])
def test_clicking_for_long_leaves_nothing_behind(name: str) -> None:
    app = open_page(name, s="the cat sat .")
    after = []
    for layer in (2, 3, 4, 5, 6, 1, 2, 3):
        app.sidebar.slider(key="layer").set_value(layer).run()
        assert not app.exception and not app.error
        after.append(kept(app))
    assert after[-1] == after[1]


def test_a_callback_still_answers_after_many_runs() -> None:
    app = open_page("attention", s="the cat sat .")
    for layer in (2, 3, 4):
        app.sidebar.slider(key="layer").set_value(layer).run()
    app.sidebar.selectbox(key="example").select_index(1).run()
    assert app.sidebar.text_input(key="s").value != "the cat sat ."
