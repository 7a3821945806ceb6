"""The projector, phase by phase, with the teacher's buttons and keys."""

from collections.abc import Callable
from functools import partial
from typing import Any
from urllib.parse import urlencode, urlsplit

import segno
import streamlit as st

from pages.drawing.text import language, literal, plain, t, texts_of
from pages.drawing.text.numbers import bound
from pages.school.classroom.phases import Phase
from pages.school.classroom.store import store
from pages.school.lessons.goals import TASKS
from pages.school.lessons.task import in_words
from pages.school.study.answers import as_table
from pages.school.teaching import report, results
from pages.school.teaching.desk import Desk
from pages.school.teaching.follow import lead_to, view_of
from pages.school.teaching.homework import given_out, task_address
from pages.school.teaching.lecture import Lecture
from pages.school.teaching.results import ask, hints_so_far, picture, show_hints
from pages.screen.components.live import live
from pages.screen.frame import exports
from pages.screen.frame.share import code, leads_nowhere
from pages.screen.link import select

#: Session state: index of the next question.
WANTED = "class.wanted"
SECONDS = 60  # of a countdown, as the style sheet has it
text, word = texts_of("class")


def draw(lecture: Lecture) -> None:
    """The whole screen."""
    controls(lecture)
    if lecture.desk.room.paused:
        with st.container(key="class_paused"):
            st.markdown(text("look_up"))
        count(lecture, "")
        return
    if lecture.picture is None or lecture.phase in (Phase.LOBBY, Phase.ENDED):
        DRAWN[lecture.phase](lecture)
    else:
        results.reads(lecture)
        left, right = st.columns((3, 5))
        with left, st.container(key="class_beside"):
            DRAWN[lecture.phase](lecture)
        with right, st.container(key="class_picture"):
            st.caption(literal(lecture.now.shown.get("about", {}).get(language(), "")) if lecture.now else "")
            picture(lecture, lecture.picture)
            results.chosen_since(lecture)
    if lecture.phase not in (Phase.LOBBY, Phase.OPEN):
        count(lecture, "")


# -- what stands above, and goes on -----------------------------------------------------------------------------------


def controls(lecture: Lecture) -> None:
    """The state of the class, how to join, and the possible actions."""
    with st.container(horizontal=True, vertical_alignment="center", key="class_bar"):
        st.markdown(_where(lecture), width="stretch")
        if lecture.phase is not Phase.ENDED:
            _buttons(lecture)
        if lecture.screen.choice.role is None:
            notes = lecture.screen.choice.with_(role="notes", big=False).to_link()
            icon, said = ":material/speaker_notes:", word("open_notes")
            st.link_button(said, f"class?{urlencode(notes)}", icon=icon, help=said, key="icon.notes")
    desk = lecture.desk  # callbacks must not keep a run in memory
    for key in ("b", "B", "Shift+B"):
        lecture.pen.on_key(key, lambda: desk.pause(not desk.room.paused))


def _where(lecture: Lecture) -> str:
    """ "Question 2 · the vote is open", and the code; "The end"."""
    if lecture.phase is Phase.ENDED:  # nobody comes in any more
        return f"**{word('phase_ended')}**"
    code = f"**{lecture.desk.code}**"
    if lecture.now is None:
        return code
    now = text("number", number=lecture.desk.room.number, phase=word(_of(lecture, f"phase_{lecture.phase}")))
    return f"{now}  \n:gray[{literal(join_address(False))} · {code}]"


def _buttons(lecture: Lecture) -> None:
    """The possible actions, the next step first."""
    desk, paused = lecture.desk, lecture.desk.room.paused
    if lecture.phase is Phase.OPEN:
        _button("countdown", "timer", lambda: desk.count_down(SECONDS))
    if lecture.next_phases[0] is Phase.ENDED:
        confirm(word("to_ended"), "end_sure", _next(lecture), "class.next")
    else:  # the end has no key, since a remote is easily pressed once too often
        lecture.pen.on_key("PageDown", _next(lecture))
        to = "to_open_again" if lecture.phase is Phase.DISCUSS else _of(lecture, f"to_{lecture.next_phases[0]}")
        label = word(to if lecture.asked else "to_first")
        _button("next", "arrow_forward", _next(lecture), label, type="primary", help=word("next_key"))
    if lecture.is_told:
        results.offer_page(lecture)
    if Phase.DISCUSS in lecture.next_phases:
        _button("to_discuss", "forum", lambda: desk.go(Phase.DISCUSS))
    asked, waits = lecture.question, lecture.phase in (Phase.CLOSED, Phase.DISCUSS)
    if waits and lecture.truth and asked and hints_so_far(lecture) < asked.hints:
        _button("give_hint", "lightbulb", partial(show_hints, desk.room.number, hints_so_far(lecture) + 1))
    icon, label = ("play_arrow", word("go_on")) if paused else ("pause", word("pause"))
    _button("pause", icon, lambda: desk.pause(not paused), label, type="tertiary", help=word("pause_key"))
    if lecture.next_phases[0] is not Phase.ENDED:
        confirm(word("to_ended"), "end_sure", partial(desk.go, Phase.ENDED), "class.to_end", type="tertiary")


def _button(name: str, icon: str, act: Callable[[], None], label: str = "", **look: Any) -> None:
    st.button(label or word(name), icon=f":material/{icon}:", on_click=act, key=f"class.{name}", **look)


def _of(lecture: Lecture, name: str) -> str:
    """A text about the answer, for the network's or a teacher's own."""
    return f"{name}_own" if lecture.is_own and name.endswith(Phase.REVEALED) else name


def _next(lecture: Lecture) -> Callable[[], None]:
    """Action of the first button and of PageDown, except for the end."""
    desk = lecture.desk
    to = lecture.next_phases[0]
    if to is Phase.QUESTION:
        place, version = next(iter(lecture.coming), None), desk.room.version
        return lambda: None if place is None else st.session_state.update({WANTED: (place, version)})
    return lambda: desk.go(to)


def join_address(whole: bool = True) -> str:
    """Address for phones; whole=False: the part that people type."""
    here = urlsplit(st.context.url or "http://localhost/class")
    address = f"{here.netloc}{here.path.rpartition('/')[0]}/join"
    return f"{here.scheme}://{address}" if whole else address


# -- phase by phase ---------------------------------------------------------------------------------------------------


def _lobby(lecture: Lecture) -> None:
    address = f"{join_address()}?c={lecture.desk.code}"
    left, right = st.columns([3, 2], vertical_alignment="center")
    with left, st.container(key="class_lobby"):
        st.markdown(text("open_on_your_phone"))
        st.markdown(f"**{literal(join_address(False))}**")
        with st.container(key="class_code"):
            st.markdown(" ".join(lecture.desk.code))
        count(lecture, "there")
        if lecture.is_between:
            st.markdown(t("study.between"))
            where = view_of("lesson", lecture.own_choice.with_(edits=(), goal=None))
            lead_to(store(), lecture.desk.code, lecture.desk.key, where)
        elif lecture.lesson.twice:
            st.markdown(t("study.told"))
        if leads_nowhere(address):
            st.warning(t("share.own_name"), icon=":material/router:")
        results.chosen_since(lecture)
    with right, st.container(key="class_qr"):
        code = segno.make(address, error="m", micro=False).svg_inline(light="white")
        st.image(code, width="stretch", alt=address)


def _question(lecture: Lecture) -> None:
    ask(lecture)
    with st.container(key="class_how"):
        _options(lecture)
    st.markdown(f":gray[{text('read_first')}]")


def _open(lecture: Lecture) -> None:
    ask(lecture)
    left, right = st.columns((2, 3), vertical_alignment="center")
    with left, st.container(key="class_how"):
        _options(lecture)
    with right, st.container(key="class_curtain"):
        count(lecture, "answered")
        if (seconds := lecture.desk.room.left) is not None:
            st.html(f'<p class="countdown" style="animation-delay:-{SECONDS - seconds:.0f}s" role="timer"></p>')


def _options(lecture: Lecture) -> None:
    """The options of the question."""
    assert lecture.now is not None
    shown = lecture.now.shown
    gesture = shown["gesture"]
    if names := shown.get("names", {}).get(language()):
        if gesture == "chips":
            st.markdown(text("by_chips"))
        with st.container(horizontal=True, gap="small", key="class_options"):
            for name in names:
                st.markdown(literal(name), width="content")
    else:
        low, high = map(bound, shown.get("span", (0, 1)))
        st.markdown(text(f"by_{gesture}", low=low, high=high))


def count(lecture: Lecture, what: str) -> None:
    """Live count of phones or answers; also notices when another window of hers has gone on."""
    room = lecture.desk.room
    answered, there = store().count(room.code) if what else (0, 0)
    words = word(f"{what}_count") if what else ""
    more = word("more_than_there") if what == "answered" else ""
    live(room.code, room.ticket, room.version, room.led, words=words, more=more, answered=answered, there=there)


def _ended(lecture: Lecture) -> None:
    left, right = st.columns(2)
    with left:
        st.subheader(word("ended"), anchor=False)
        st.markdown(text("ended_help"))
        afterwards(lecture)
    if goal := lecture.own_choice.goal:
        opened = given_out(lecture.own_choice, goal, lecture.desk.task)
        if opened:
            lead_to(store(), lecture.desk.code, lecture.desk.key, view_of(TASKS[goal.name].page, opened))
        with right:
            st.markdown(f"**{plain('homework.title')}** · {literal(in_words(goal))}")
            if opened:
                code(task_address(opened, goal))
            else:
                st.warning(t("homework.about_another"))


def afterwards(lecture: Lecture) -> None:
    """Actions for an ended class: report, continue, delete."""
    report.offer(lecture)
    desk = lecture.desk
    if lecture.lesson.twice:
        table = as_table(lecture.asked, *store().linked(desk.code, desk.key))
        look = {"on_click": "ignore", "icon": ":material/download:", "key": "class.study"}
        st.download_button(t("study.csv"), exports.csv(table), "study.csv", "text/csv", **look)
    with st.container(horizontal=True):
        _button("reopen", "undo", lambda: desk.go(desk.room.resumes))
        confirm(word("delete"), "delete_sure", partial(_end, desk), "class.delete")


def confirm(label: str, sure: str, act: Callable[[], None], key: str, **look: Any) -> None:
    """A button that asks for confirmation. sure: the question."""
    with st.popover(label, **look):
        st.markdown(text(sure))
        st.button(label, on_click=act, key=key, type="primary")


def _end(desk: Desk) -> None:
    desk.end()
    select(of_class=None, role=None)


DRAWN: dict[Phase, Callable[[Lecture], None]] = {
    Phase.LOBBY: _lobby,
    Phase.QUESTION: _question,
    Phase.OPEN: _open,
    Phase.CLOSED: results.closed,
    Phase.DISCUSS: results.discuss,
    Phase.REVEALED: results.revealed,
    Phase.EXPLAINED: results.explained,
    Phase.ENDED: _ended,
}
