"""Home: the whole run on one screen, alive."""

from collections.abc import Sequence

import streamlit as st

from model.encoder import Encoder, EncoderLayer
from pages.home.overview import as_file, run_on_one_screen
from pages.ui.frame import exports
from pages.ui.page import Page, Parts
from pages.ui.runs import pipelines
from pages.ui.state.choice import PICTURE
from pages.ui.text import plain, t


class Home(Page):
    chips = False

    @property
    def purpose(self) -> str:
        kinds = {"sentence": "home.purpose", PICTURE: "home.purpose_picture"}
        return kinds.get(self.choice.input, "home.purpose_digit")

    def _title(self) -> None:
        """One line: what to do, and what one sees then."""
        if not self.choice.big:
            with st.container(key="home_title"):
                st.subheader(f"{t(self.purpose)} :gray[{t('home.computed')}]", anchor=False)

    def parts(self) -> Parts:
        return {"run": self.run}

    def run(self) -> None:
        run_on_one_screen(self)

    def code(self) -> Sequence[object]:
        return Encoder, EncoderLayer

    def _downloads(self) -> None:
        """The run as one file, and its numbers."""
        page, numbers = st.columns(2)
        look = {"on_click": "ignore"}
        with page:
            file = f"{self.file_name(plain('home.file'))}.html"
            st.download_button(plain("home.one_file"), as_file(self), file, "text/html", **look)
        run = self.screen.network, self.subject, self.trace.edits
        with numbers:
            file = f"{self.file_name('trace')}.npz"
            st.download_button(plain("common.npz"), lambda: exports.npz(pipelines.run(*run)), file, **look)
        st.caption(t("home.one_file_help"))
