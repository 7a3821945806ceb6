"""Answer at another temperature, which its slider chooses."""

import numpy as np

from tests.pages.opening import charts, drawn_in, open_page


def test_a_drawing_has_classes_and_its_slider_is_in_the_link() -> None:
    app = open_page("answer", input="digit", lang="zh", tau="5", panel="temperature")  # once a part of its own
    assert len(np.ravel(drawn_in(app, "temperature"))) == 10
    app.slider(key="answer.tau").set_value(2.5).run()
    assert app.session_state["choice"].tau == 25
    app.slider(key="answer.tau").set_value(1.0).run()
    assert next(one["key"] for one in charts(app)) == "answer.guesses_0", "at 1 it is the answer itself"
