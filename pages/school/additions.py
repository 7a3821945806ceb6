"""What lessons and classes add to each page: see `pages.drawing.page.School`."""

import streamlit as st

from pages.drawing.screen import Screen
from pages.drawing.text import plain
from pages.school.lessons.task import task_line
from pages.school.teaching import follow
from pages.school.teaching.follow import beside as beside
from pages.screen.frame.navigation import open_with
from pages.screen.frame.pen import Pen

#: Page -> its station of the tour; the tour starts on Home.
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


def under_title(screen: Screen, pen: Pen) -> None:
    """Link to a running class, and the task of a homework link, which is for home: not before the class has ended."""
    follow.way_back(screen, pen)
    if not follow.goes_on(screen.choice):
        task_line(pen.name)


def beside_way_on(screen: Screen, pen: Pen) -> None:
    """Link to the tour's question about this page, or back to the lesson of the link."""
    if pen.name in STATIONS:
        to = {} if screen.choice.lesson else {"question": STATIONS[pen.name]}
        look = {"icon": ":material/school:", "type": "tertiary", "key": f"{pen.name}.to_tour"}
        st.button(plain("lesson.title"), on_click=open_with, args=("lesson",), kwargs=to, **look)
