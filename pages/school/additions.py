"""What lessons and classes add to each page, as `pages.ui.page.School` has it."""

import streamlit as st

from pages.school.lessons.task import task_line
from pages.school.teaching import follow
from pages.school.teaching.follow import beside as beside
from pages.ui.frame.navigation import open_with
from pages.ui.page import Page
from pages.ui.text import plain

#: Page -> its station of the tour; from Home the tour begins.
STATIONS: dict[str, str | None] = {
    "home": None,
    "tokens": "places",
    "queries_keys_values": "fit",
    "attention": "weights",
    "heads": "blur",
    "add_and_norm": "residual",
    "feed_forward": "thinks",
    "layers": "layer",
    "answer": "word",
    "what_if": "causal",
    "translation": "source",
    "shapes_and_cost": "twice",
}


def under_title(page: Page) -> None:
    """The way to a class that runs; the task of a homework, where the link holds one, but before a class: it tells."""
    follow.way_back(page)
    if page.name != "class":
        task_line()


def beside_way_on(page: Page) -> None:
    """The way to the question of the tour that is about this page; back into a lesson that the link holds."""
    if page.name in STATIONS:
        to = {} if page.choice.lesson else {"question": STATIONS[page.name]}
        look = {"icon": ":material/school:", "type": "tertiary", "key": f"{page.name}.to_tour"}
        st.button(plain("lesson.title"), on_click=open_with, args=("lesson",), kwargs=to, **look)
