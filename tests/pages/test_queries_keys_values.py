"""The Q · K · V page."""

import pytest

from pages.drawing.figures.base import text_width
from pages.drawing.figures.theme import font_size
from pages.drawing.place import Place
from pages.queries_keys_values.pictures import scores
from pages.screen.runs import pipelines
from tests.pages.opening import open_page, steps


def test_the_chosen_cell_survives_a_smaller_head() -> None:
    app = open_page("queries_keys_values", part="32", s="the animal did not cross the street .")
    app.button_group(key="input").set_value("digit").run()
    assert not app.exception and not app.error
    assert "_{0,16} =" in steps(app)[0]


@pytest.mark.parametrize("sentence", ["i love you .", "the understanding of an incomprehensible extraordinariness ."])
def test_the_strip_of_scores_has_room_for_its_cells_below_upright_names(sentence: str) -> None:
    run = pipelines.run("text", sentence)
    upright = max(map(text_width, run.tokens)) * font_size()
    height = scores(run, Place(layer=1)).drawn().layout["height"]
    assert height - upright >= 90, "title, colour bar and the cells"
