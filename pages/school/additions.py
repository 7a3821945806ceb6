"""What lessons and classes add to each page, as `pages.ui.page.School` has it."""

import streamlit as st

from pages.school.lessons.rows import STORY
from pages.school.lessons.task import task_line
from pages.school.teaching.follow import beside as beside
from pages.ui.frame.navigation import open_with
from pages.ui.page import Page
from pages.ui.text import plain


def under_title(page: Page) -> None:
    """The task of a homework, where the link holds one."""
    task_line()


def beside_way_on(page: Page) -> None:
    """The way to the question of the tour that is about this page."""
    if questions := STORY.get(page.name):
        look = {"icon": ":material/school:", "type": "tertiary", "key": f"{page.name}.to_tour"}
        st.button(
            plain("lesson.to_tour"), on_click=open_with, args=("lesson",), kwargs={"question": questions[0].key}, **look
        )
