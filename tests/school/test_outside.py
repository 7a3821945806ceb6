"""The school stands beside the pages: they know nothing of it, but for the four files that put it there."""

import pytest

from pages.school.additions import STATIONS
from pages.ui.frame.contents import ROWS
from tests.model.test_imports import IMPORTS

#: Who may import the school: the app with its routes, the frame's script, and the school's own two pages.
DOORS = {"app", "pages.every_page", "pages.lesson.page", "pages.class.page"}


def test_the_school_is_imported_by_its_four_doors_only() -> None:
    outside = {module for module in IMPORTS if not module.startswith("pages.school")}
    found = {module for module in outside if any(name.startswith("pages.school") for name in IMPORTS[module])}
    assert found == DOORS


@pytest.mark.parametrize("module", [module for module in IMPORTS if module.startswith("pages.school.questions")])
def test_questions_know_neither_streamlit_nor_the_rest_of_the_school(module: str) -> None:
    assert not any(name.partition(".")[0] == "streamlit" for name in IMPORTS[module])
    ours = {name for name in IMPORTS[module] if name.startswith("pages.school")}
    assert all(name.startswith("pages.school.questions") for name in ours)


def test_stations_belong_to_pages_that_there_are() -> None:
    assert STATIONS.keys() <= ROWS.keys()
