"""The Q · K · V page."""

from tests.pages.opening import open_page, steps


def test_the_chosen_cell_survives_a_smaller_head() -> None:
    app = open_page("queries_keys_values", part="32", s="the animal did not cross the street .")
    app.button_group(key="input").set_value("digit").run()
    assert not app.exception and not app.error
    assert "_{0,16} =" in steps(app)[0]
