"""The Q · K · V page."""

import re

from tests.pages.opening import figure, open_page, said, steps

ANIMAL = "the animal did not cross the street because it was too tired ."


def test_the_chosen_cell_survives_a_smaller_head() -> None:
    app = open_page("queries_keys_values", part="32", s="the animal did not cross the street .")
    app.button_group(key="input").set_value("digit").run()
    assert not app.exception and not app.error
    assert "_{0,16} =" in steps(app)[0]


def test_the_variance_of_a_plane_is_that_of_its_two_axes_as_displayed() -> None:
    app = open_page("queries_keys_values", tab="plane", layer="3", head="7", hidden="4", s=ANIMAL)
    layout = figure(app)["layout"]
    parts = [int(re.search(r"(\d+)%", layout[axis]["title"]["text"])[1]) for axis in ("xaxis", "yaxis")]
    assert sum(parts) == int(re.search(r"\*\*(\d+)%\*\*", said(app))[1])
