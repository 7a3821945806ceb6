"""Home: the whole run on one screen."""

import streamlit as st

from model.encoder import Encoder, EncoderLayer
from pages.drawing.page import Page
from pages.drawing.screen import Screen
from pages.drawing.state.choice import PICTURE
from pages.drawing.text import plain, t
from pages.home.overview import as_file, run_on_one_screen
from pages.screen.frame.pen import Pen


def purpose_of(screen: Screen) -> str:
    kinds = {"sentence": "home.purpose", PICTURE: "home.purpose_picture"}
    return kinds.get(screen.choice.input, "home.purpose_digit")


def title(screen: Screen) -> None:
    """One line: what to do here, and what happens; changes replace it."""
    if not screen.choice.big and not screen.has_bar:
        with st.container(key="home_title"):
            st.subheader(f"{t(purpose_of(screen))} :gray[{t('home.computed')}]", anchor=False)


def downloads(screen: Screen, pen: Pen) -> None:
    """Buttons for the run as one file, and for its numbers."""
    page, numbers = st.columns(2)
    with page:
        file = f"{pen.file_name(plain('home.file'))}.html"
        st.download_button(plain("home.one_file"), as_file(screen), file, "text/html", on_click="ignore")
    with numbers:
        pen.whole_run()
    st.caption(t("home.one_file_help"))


PAGE = Page(
    name="home",
    tabs=lambda screen: {"run": run_on_one_screen},
    attention=True,  # layer and head are chosen in the picture
    chips=lambda screen: False,
    purpose=purpose_of,
    title=title,
    code=lambda screen: (Encoder, EncoderLayer),
    downloads=downloads,
)
