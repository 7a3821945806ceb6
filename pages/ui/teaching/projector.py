"""What stands on the projector, phase by phase, and the buttons and keys with which the teacher goes on."""

from collections.abc import Callable
from urllib.parse import urlencode, urlsplit

import numpy as np
import segno
import streamlit as st

from pages.ui.classroom.phases import Phase
from pages.ui.classroom.store import store
from pages.ui.components.chart import chart
from pages.ui.components.live import live
from pages.ui.components.snap import snap
from pages.ui.figures import BLUE, ORANGE, Figure, bars_with_numbers
from pages.ui.frame.navigation import open_with
from pages.ui.frame.share import leads_nowhere
from pages.ui.lessons.asking import figure_of, seen_at, told
from pages.ui.sections.overlay import every_weight
from pages.ui.state.link import select
from pages.ui.teaching import as_head, pictures, report
from pages.ui.teaching.asked import why
from pages.ui.teaching.desk import INPUT, Plan
from pages.ui.teaching.lecture import Lecture
from pages.ui.teaching.start import not_asked, shorts_of
from pages.ui.text import catalogue, joined, language, listed, literal, plain, t, texts_of
from pages.ui.text.numbers import percent

#: In the session: the place of the question to ask next; how many hints were shown, and whether the words, of which.
WANTED, HINTS, WORDS = "class.wanted", "class.hints_of", "class.words_of"
SHOWING = (Phase.CLOSED, Phase.REVEALED, Phase.EXPLAINED)  # where there are pictures
KEYED = ("next", "pause")  # buttons that have a key as well
SHOWN_HEADS = 8  # beside the class, so that all can be read from the last row
#: In a presentation, in pixels: the least height of a picture, what stays free below it, and for the words about heads.
LEAST, MARGIN, BELOW_HEADS = 220, 44, 100
text, word = texts_of("class")


def draw(lecture: Lecture) -> None:
    """The whole screen."""
    controls(lecture)
    if lecture.desk.room.paused:
        with st.container(key="class_paused"):
            st.markdown(text("look_up"))
        count(lecture, "")
        return
    DRAWN[lecture.phase](lecture)
    other_input(lecture)
    if lecture.phase not in (Phase.LOBBY, Phase.OPEN, Phase.ENDED):
        count(lecture, "")


# -- what stands above, and goes on -----------------------------------------------------------------------------------


def controls(lecture: Lecture) -> None:
    """Where the class is, where late-comers come in, and what can be done now."""
    desk = lecture.desk
    with st.container(horizontal=True, vertical_alignment="center", key="class_bar"):
        st.markdown(_where(lecture), width="stretch")
        for name, icon, act, kind in _acts(lecture):
            helps = "last" if name == "next" and _is_the_last(lecture) else f"{name}_key" if name in KEYED else ""
            look = {"type": kind, "key": f"class.{name}", "help": word(helps) if helps else None}
            st.button(word(_label(lecture, name)), icon=f":material/{icon}:", on_click=act, **look)
        if lecture.page.choice.role is None:
            if lecture.phase in SHOWING and not desk.room.paused:
                snap(word("keep_picture"), desk.room.number, report.keep_pictures)
            notes = lecture.page.choice.with_(role="notes", big=False).to_link()
            st.link_button("", f"class?{urlencode(notes)}", icon=":material/speaker_notes:", help=word("open_notes"))
    if not _is_the_last(lecture):  # a remote is pressed once too often easily, and the end is the end
        lecture.page.on_key("PageDown", _next(lecture))
    for key in ("b", "B", "Shift+B"):
        lecture.page.on_key(key, lambda: desk.pause(not desk.room.paused))


def _where(lecture: Lecture) -> str:
    """ "Question 2 · the vote is open", and the code."""
    code = f"**{lecture.desk.code}**"
    if lecture.now is None:
        return code
    now = text("number", number=lecture.desk.room.number, phase=word(_of(lecture, f"phase_{lecture.phase}")))
    return f"{now}  \n:gray[{literal(join_address(False))} · {code}]"


def _acts(lecture: Lecture) -> list[tuple[str, str, Callable[[], None], str]]:
    """The buttons: (name, icon, what it does, how it looks)."""
    desk, phase = lecture.desk, lecture.phase
    acts: list[tuple[str, str, Callable[[], None], str]] = []
    if phase is Phase.ENDED:
        return acts
    acts.append(("next", "arrow_forward", _next(lecture), "primary"))
    if Phase.DISCUSS in lecture.next_phases:
        acts.append(("to_discuss", "forum", lambda: desk.go(Phase.DISCUSS), "secondary"))
    if (
        phase in (Phase.CLOSED, Phase.DISCUSS)
        and lecture.truth
        and lecture.question
        and _hints(lecture) < len(lecture.question.hints)
    ):
        acts.append(("give_hint", "lightbulb", lambda: _more_hints(lecture), "secondary"))
    icon = "play_arrow" if desk.room.paused else "pause"
    acts.append(("pause", icon, lambda: desk.pause(not desk.room.paused), "tertiary"))
    return acts


def _label(lecture: Lecture, name: str) -> str:
    """The text on a button."""
    if name == "pause" and lecture.desk.room.paused:
        return "go_on"
    if name != "next":
        return name
    if lecture.phase is Phase.LOBBY:
        return "to_first"
    to = lecture.next_phases[0]
    return "to_open_again" if lecture.phase is Phase.DISCUSS else _of(lecture, f"to_{to}")


def _of(lecture: Lecture, name: str) -> str:
    """A text about the answer, where there are two: of the network's, or a teacher's own."""
    return f"{name}_own" if lecture.is_own and name.endswith(Phase.REVEALED) else name


def _next(lecture: Lecture) -> Callable[[], None]:
    """What the first button does, and PageDown but for the end."""
    desk = lecture.desk
    if lecture.phase is Phase.ENDED:
        return lambda: None
    to = lecture.next_phases[0]
    if to is Phase.QUESTION:
        place, version = next(iter(lecture.coming), None), desk.room.version
        return lambda: None if place is None else st.session_state.update({WANTED: (place, version)})
    return lambda: desk.go(to)


def _is_the_last(lecture: Lecture) -> bool:
    """Whether only the end can follow."""
    return lecture.next_phases[:1] in ((), (Phase.ENDED,))


def _hints(lecture: Lecture) -> int:
    number, shown = st.session_state.get(HINTS, (0, 0))
    return shown if number == lecture.desk.room.number else 0


def _more_hints(lecture: Lecture) -> None:
    st.session_state[HINTS] = lecture.desk.room.number, _hints(lecture) + 1


def other_input(lecture: Lecture) -> None:
    """Between two questions: a button that goes on about what now stands in the sidebar, if that is another input."""
    plan, own = lecture.desk.plan, lecture.own_choice
    if lecture.phase not in (Phase.LOBBY, Phase.EXPLAINED) or not plan.differs(own):
        return
    about = own.sentence if own.input == "sentence" else plain(f"sidebar.input_{own.input}")
    other = Plan.of(plan.minutes, own.with_(lesson=lecture.page.choice.lesson))
    look = {"icon": ":material/swap_horiz:", "type": "tertiary", "key": "class.replan"}
    st.button(word("replan", about=literal(about)), on_click=lecture.desk.replan, args=(other,), **look)


def join_address(whole: bool = True) -> str:
    """Where phones come in; not the whole of it is what people type."""
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
        if leads_nowhere(address):
            st.warning(t("share.own_name"), icon=":material/router:")
    with right, st.container(key="class_qr"):
        st.image(segno.make(address, error="m", micro=False).svg_inline(light="white"), width="stretch")
    if not lecture.page.choice.big:
        _plan(lecture)


def _plan(lecture: Lecture) -> None:
    """What will be asked, and what will not."""
    st.caption(text("will_ask", names=shorts_of(question for question, _ in lecture.clear.values())))
    not_asked(lecture.left_out)


def _ask(lecture: Lecture, *, small: bool = False) -> None:
    """The question, and the input as the network reads it."""
    assert lecture.now is not None
    shown = lecture.now.shown
    with st.container(key="class_ask_small" if small else "class_ask"):
        reads = f"  \n:gray[{t('lesson.reads')}] {literal(shown['reads'])}" if "reads" in shown else ""
        st.markdown(literal(shown["ask"][language()]) + reads)


def _question(lecture: Lecture) -> None:
    _ask(lecture)
    st.markdown(f":gray[{text('read_first')}]")


def _open(lecture: Lecture) -> None:
    _ask(lecture)
    left, right = st.columns([2, 3], vertical_alignment="center")
    with left:
        _options(lecture)
    with right, st.container(key="class_curtain"):
        count(lecture, "answered")


def _options(lecture: Lecture) -> None:
    """What the question can be answered with."""
    assert lecture.now is not None
    shown = lecture.now.shown
    gesture = shown["gesture"]
    if names := shown.get("names", {}).get(language()):
        if gesture == "beans":
            st.markdown(text("by_beans"))
        with st.container(horizontal=True, gap="small", key="class_options"):
            for name in names:
                st.markdown(literal(name), width="content")
    elif span := shown.get("span"):
        st.markdown(text(f"by_{gesture}", low=figure_of(span[0]), high=figure_of(span[1])))
    else:
        st.markdown(text(f"by_{gesture}"))


def count(lecture: Lecture, what: str) -> None:
    """How many are there, or have answered, as it grows; and whether another window of hers has gone on."""
    room = lecture.desk.room
    answered, there = store().count(room.code) if what else (0, 0)
    words = word(f"{what}_count") if what else ""
    live(room.code, room.ticket, room.version, room.led, words=words, answered=answered, there=there)


def _closed(lecture: Lecture) -> None:
    """What was answered. Who of them was wrong is not said before the talk: it would tell what is right."""
    _ask(lecture, small=True)
    if lecture.last is None:
        st.info(text("nobody"), icon=":material/info:")
        return
    with st.container(key="class_said"):
        if proposed := lecture.proposal:
            st.markdown(f":blue-background[{text(f'propose_{proposed}')}]")
    _hints_given(lecture)
    if _words_are_hidden(lecture):
        st.markdown(text("words_hidden", count=len(lecture.bars), all=lecture.last.answers))
        shown = lecture.desk.room.number
        st.button(word("show_words"), key="class.words", on_click=lambda: st.session_state.update({WORDS: shown}))
        return
    _answers(lecture, revealed=False)


def _words_are_hidden(lecture: Lecture) -> bool:
    """Free words are shown when the teacher lets them."""
    word = lecture.now is not None and lecture.now.shown["gesture"] == "word"
    return word and st.session_state.get(WORDS) != lecture.desk.room.number


def _answers(lecture: Lecture, *, revealed: bool) -> None:
    """How the answers are spread over what could be answered."""
    assert lecture.now is not None and lecture.last is not None
    shown = lecture.now.shown
    if shown["gesture"] == "beans":
        before = lecture.tallies[1].mean if len(lecture.tallies) > 1 else None
        own = np.array(lecture.now.truth["answer"], dtype=np.float32) if revealed else None
        names = shown["names"][language()]
        figure = pictures.beans_over_each_other(lecture.last.rows, names, before=before, own=own)
    else:
        rounds = sorted(lecture.tallies)
        figure = pictures.distribution(shown, lecture.bars, rounds, revealed=revealed)
    _picture(lecture, "said", figure, text("said_alt", all=lecture.last.answers))


def _picture(lecture: Lecture, name: str, figure: Figure, alt: str, *, below: int = 0) -> None:
    """A picture that, in a presentation, ends with the screen. below: pixels that stay free for words under it."""
    if lecture.page.choice.big:
        figure.layout |= {"height": LEAST, "meta": {"below": MARGIN + below}}
    chart(figure, f"class.{name}", alt=alt)


def _discuss(lecture: Lecture) -> None:
    _ask(lecture)
    with st.container(key="class_discuss"):
        st.markdown(text("talk"))
    _hints_given(lecture)


def _hints_given(lecture: Lecture) -> None:
    if lecture.question and lecture.truth:
        last = _hints(lecture)
        for number in range(1 if lecture.phase is Phase.DISCUSS else max(1, last), last + 1):
            said = t(f"lesson.{lecture.question.row}.hint_{number}", **told(lecture.truth))
            st.markdown(f":material/lightbulb: **{t('lesson.hint', number=number)}** {said}")


def _revealed(lecture: Lecture) -> None:
    _ask(lecture, small=True)
    _right(lecture)
    left, right = st.columns(2)
    with left:
        st.markdown(text("you_said"))
        if lecture.last is None:
            st.markdown(text("nobody"))
        elif _words_are_hidden(lecture):
            st.markdown(text("words_hidden", count=len(lecture.bars), all=lecture.last.answers))
        else:
            _answers(lecture, revealed=True)
    with right:
        _network(lecture)


def _right(lecture: Lecture) -> None:
    """How many were right, in the first vote and in the second; and how many sure, and wrong."""
    votes = [word("share", share=percent(one.right), all=one.answers) for one in lecture.tallies.values()]
    parts = [text("right", shares=" → ".join(votes))] if votes else []
    parts += said_of_sure(lecture, named=not _words_are_hidden(lecture))
    with st.container(key="class_said"):
        st.markdown(joined(" ".join(parts)))


def said_of_sure(lecture: Lecture, *, named: bool = True) -> list[str]:
    """How many were sure, and wrong; `named`, with what they answered most often. Nothing where nobody was."""
    if lecture.now is None or lecture.last is None or not (wrong := lecture.last.sure_and_wrong):
        return []
    if not (named and lecture.sure_and_wrong):  # beans are no single answer
        return [text("sure_and_wrong", wrong=wrong, all=lecture.last.answers)]
    (name,) = pictures.names_of(lecture.now.shown, [lecture.sure_and_wrong])
    return [text("most_sure_of", wrong=wrong, answer=name)]


def _network(lecture: Lecture) -> None:
    """The network's own numbers, with the class's over them."""
    truth, question = lecture.truth, lecture.question
    st.markdown(text("teacher_says" if lecture.is_own else "network_does"))
    if truth is None or question is None or not truth.bars:
        assert lecture.now is not None
        st.markdown(
            text(pictures.answer_is(lecture.now.truth), answer=pictures.answer_of(lecture.now.shown, lecture.now.truth))
        )
        return
    if question.gesture == "beans" and lecture.last is not None:
        _class_as_head(lecture)
        return
    if f"lesson.{question.row}.axis" in catalogue(language()):
        st.caption(t(f"lesson.{question.row}.axis"))
    _picture(lecture, "network", _own_bars(lecture), why(question, truth))


def _own_bars(lecture: Lecture) -> Figure:
    """The figures of the truth; with a bar for the middle of the class, or how many of the class said each."""
    assert lecture.truth is not None and lecture.question is not None
    truth, question, last = lecture.truth, lecture.question, lecture.last
    names, values = map(list, zip(*truth.bars, strict=True))
    if not truth.literal:
        names = [plain(f"lesson.{question.row}.bar_{name}") for name in names]
    colours, there = [BLUE] * len(names), None
    if last is not None and question.gesture == "slide" and last.numbers:
        middle = float(np.median(last.numbers))
        names, values, colours = [*names, word("class_middle")], [*values, middle], [*colours, ORANGE]
    elif last is not None and question.gesture == "word" and not _words_are_hidden(lecture):
        said = {str(bar.guess): bar.counts.get(max(lecture.tallies), 0) / last.answers for bar in lecture.bars}
        there = np.array([said.get(name.casefold(), 0.0) for name in names], dtype=np.float32)
    elif str(truth.answer) in names:
        colours[names.index(str(truth.answer))] = ORANGE
    numbers = [figure_of(float(value)) for value in values]
    figure = bars_with_numbers(np.array(values), names, numbers, colours=colours, there=there)
    return figure


def _class_as_head(lecture: Lecture) -> None:
    """The mean of all beans as one more head, beside those of the run."""
    truth, last = lecture.truth, lecture.last
    assert truth is not None and last is not None
    every = every_weight(lecture.page.trace)[:, :, truth.place["token"]]
    order, names = as_head.alike(last.mean, every), list(truth.options)
    best, heads = order[0], len(order)
    said = text("most_like", layer=best.layer + 1, head=best.head + 1, shared=f"{best.shared:.0f}", heads=heads)
    if alone := as_head.where_no_head_looked(last.mean, every):
        said += " " + text("no_head_looked", names=listed(names[place] for place in alone))
    shown = order[:SHOWN_HEADS] if lecture.page.choice.big else order
    figure = pictures.class_beside_heads(last.mean, every, shown, names)
    _picture(lecture, "as_head", figure, joined(said), below=BELOW_HEADS)
    st.markdown(joined(said))


def _explained(lecture: Lecture) -> None:
    _ask(lecture, small=True)
    _right(lecture)
    truth, question = lecture.truth, lecture.question
    left, right = st.columns(2)
    with left:
        _network(lecture)
    with right, st.container(key="class_why"):
        st.markdown(literal(lecture.now.truth.get("why", {}).get(language(), "")) if lecture.now else "")
        if truth is None or question is None:
            return
        if question.measure:
            st.markdown(t(f"lesson.{question.row}.otherwise", **told(truth)))
        _to(lecture, *seen_at(question, truth))


def _to(lecture: Lecture, page: str, values: dict[str, object]) -> None:
    """A button that opens the page on which it can be seen."""
    values = {"panel": None, "stage": None, **values} | input_of(lecture)
    look = {"icon": ":material/arrow_forward:", "key": "class.see"}
    st.button(plain("lesson.see"), on_click=open_with, args=(page,), kwargs=values, **look)


def input_of(lecture: Lecture) -> dict[str, object]:
    """The input of the class, as values of a Choice."""
    return {name: getattr(lecture.page.choice, name) for name in INPUT} | {"hidden": lecture.page.hidden, "edits": ()}  # type: ignore[attr-defined]


def _ended(lecture: Lecture) -> None:
    st.subheader(word("ended"), anchor=False)
    st.markdown(text("ended_help"))
    report.offer(lecture)
    with st.container(horizontal=True):
        st.button(word("delete"), icon=":material/delete:", on_click=_end, args=(lecture,), key="class.delete")


def _end(lecture: Lecture) -> None:
    lecture.desk.end()
    select(of_class=None, role=None, big=False)


DRAWN: dict[Phase, Callable[[Lecture], None]] = {
    Phase.LOBBY: _lobby,
    Phase.QUESTION: _question,
    Phase.OPEN: _open,
    Phase.CLOSED: _closed,
    Phase.DISCUSS: _discuss,
    Phase.REVEALED: _revealed,
    Phase.EXPLAINED: _explained,
    Phase.ENDED: _ended,
}
