"""A class that answers: the teacher's page, which stands on the projector; her notes; and what members see of it."""

from collections.abc import Mapping
from urllib.parse import urlencode

import streamlit as st

from model.pipeline import SPECIAL_TOKENS
from pages.school.classroom.store import UnavailableError, store
from pages.school.lessons.lesson import ENCODER
from pages.school.lessons.wording import seen_at
from pages.school.questions.case import Case, Truth
from pages.school.questions.question import Question
from pages.school.teaching import desk, notes, projector, start
from pages.school.teaching.asked import about, for_phones
from pages.school.teaching.cases import hidden_in, lesson_of, truth_here, with_a_gap
from pages.school.teaching.desk import Desk
from pages.school.teaching.lecture import Lecture
from pages.ui.components.kept import kept
from pages.ui.components.keys import listen
from pages.ui.frame.contents import PAGES
from pages.ui.page import Page, Parts
from pages.ui.picture import kind_of
from pages.ui.state.choice import OTHER, Choice
from pages.ui.text import t, texts_of

text, word = texts_of("class")


class Class(Page):
    chips = False
    reads = staticmethod(with_a_gap)

    def __init__(self, choice: Choice) -> None:
        #: As the reader has it, who may by now look at something else than his class is about.
        self.own_choice = choice
        self.desk: Desk | None = None
        self.unavailable = False
        try:
            self.desk = desk.desk(choice.of_class)
        except UnavailableError:
            self.unavailable = True
        about = self.desk.about(choice) if self.desk else choice
        self.lesson, self.unread = lesson_of(about, ENCODER)
        super().__init__(about.with_(edits=(), shown="changed", **dict.fromkeys(OTHER.values())))

    def parts(self) -> Parts:
        return {"class": self.fill}

    def _title(self) -> None:
        if self.desk is None:
            super()._title()

    def _close(self) -> None:
        """A class hands over its report, and no other files."""
        listen(self._keys)

    def fill(self) -> None:
        known = self.choice.of_class is None or desk.KEYS in st.session_state
        kept(desk.own(), st.session_state.get(desk.FORGOTTEN, ()), desk.hear, known=known)
        if not known:  # the browser says at once whether she teaches it
            return
        if problem := st.session_state.pop(desk.PROBLEM, "unavailable" if self.unavailable else None):
            st.warning(text(problem), icon=":material/warning:")
        if self.unavailable:
            return
        if self.desk is None:
            if self.choice.of_class:
                start.member(self.choice.of_class)
                return
            st.markdown(text("start_help"))
            if unread := self.unread:
                st.warning(t(f"lesson.error_{unread.reason}", **unread.values), icon=":material/broken_image:")
            clear, left_out = self._clear()
            start.draw(self, self.lesson, [question for question, *_ in clear.values()], left_out)
            return
        clear, left_out = self._clear()
        if (wanted := st.session_state.pop(projector.WANTED, None)) and wanted[1] == self.desk.room.version:
            self._ask(wanted[0], clear)
            st.rerun()
        asked = store().asked(self.desk.code, self.desk.key)
        lecture = Lecture(self, self.own_choice, self.desk, self.lesson, clear, left_out, asked)
        (notes if self.choice.role == "notes" else projector).draw(lecture)

    # -- the questions -----------------------------------------------------------------------------

    def _clear(self) -> tuple[dict[int, tuple[Question, Case, Truth]], list[Question]]:
        """The questions whose answer is clear here, with run and answer, by place; and the others."""
        found = {place: (one, truth_here(self, one)) for place, one in enumerate(self.lesson.questions)}
        clear = {place: (one, *here) for place, (one, here) in found.items() if here and here[1].answer is not None}
        return clear, [one for place, (one, _) in found.items() if place not in clear]

    def _ask(self, place: int, clear: Mapping[int, tuple[Question, Case, Truth]]) -> None:
        """Send a question to the phones."""
        assert self.desk is not None
        question, case, truth = clear[place]

        def there() -> tuple[Truth, str]:
            return (truth_here(self, question) or (case, truth))[1], about(self, question, case, truth)

        shown, true = for_phones(question, truth, there, self._reads(question, case), self._see(question, truth))
        self.desk.ask(place, shown, true)

    def _reads(self, question: Question, case: Case) -> str:
        """The input as the network reads it; nothing for a drawing."""
        trace = self.trace if question.measure else case.trace
        if kind_of(trace) != "words":
            return ""
        return " ".join(name for name in trace.tokens if name == "[MASK]" or name not in SPECIAL_TOKENS)

    def _see(self, question: Question, truth: Truth) -> str:
        """Where a member tries it himself: the page, with the input, at the place."""
        page, values = seen_at(question, truth)
        link = self.choice.with_(panel=None, stage=None, big=False, role=None, lesson=None, hidden=hidden_in(self))
        held = link.with_(**values).to_link()
        (path,) = (row.path for row in PAGES if row.name == page)
        return f"{path}?{urlencode({name: value for name, value in held.items() if name != 'lang'})}"
