"""The line on top of every page: the sentence, drawing or picture that the network reads."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from model import WeightsError
from model.analysis import spelled, whole_words
from model.examples import PROTEINS, READY
from model.measures.comparison import align
from model.pipeline import MOST_CHARACTERS
from pages.drawing.masks import guesses_words, hidden_places
from pages.drawing.screen import compares
from pages.drawing.state import images, sketch
from pages.drawing.state.choice import MODELS, PICTURE, Choice
from pages.drawing.state.first_sight import first_picture
from pages.drawing.state.offered import reads_proteins
from pages.drawing.text import plain, t
from pages.screen import link
from pages.screen.components.digit_pad import digit_pad
from pages.screen.components.sentence_line import Beside, Word, sentence_line
from pages.screen.frame.changes_bar import SMALL
from pages.screen.runs import pipelines
from pages.server.streamlit_private import read_upload

#: Values of Choice for a new translation, where old places and words mean nothing.
WRITTEN_AFRESH = {"step": None, "forced": (), "beam": 1}
#: In the session: the container for the pad or picture, which the page draws.
TO_SEE = "line.to_see"
#: In the session: the beginning of a sentence that was too long; the network reads it.
CUT = "line.cut"
#: In the session: the container under the pad for the verdict, which the page draws; missing if there is no digit.
READ = "line.read"
STROKES = 2, 2  # first layer and head for a drawing: there [CLS] attends to a shape
#: In the session, in a class: whether hidden words may still be asked for, so that none must be in sight.
COVERS = "line.covers"
#: Most words of a second text that a presentation shows whole; of more, those that differ and their neighbours.
MOST_BESIDE, REST = 12, Beside("…", differs=False, place="")


def afresh() -> dict[str, object]:
    """The values of Choice for another sentence. If all words were shown, they stay shown."""
    return {"hidden": () if link.chosen().hidden == () else None, "branch": (), **WRITTEN_AFRESH}


def line(asks: Callable[[Choice], Choice] | None, draws: bool) -> None:
    """Draw the reader's sentence, or make room for the drawing or picture, which the page draws.

    asks, draws: those of the open page.
    """
    with st.container(key="line"):
        st.session_state[TO_SEE] = st.container(horizontal=True, vertical_alignment="center")
    choice = st.session_state["choice"]
    if draws:
        return
    if choice.input in ("sentence", PICTURE) and choice.model not in MODELS:  # pages describe ours
        with st.session_state[TO_SEE]:
            st.markdown(f":small[:gray[{t('frame.network', name=choice.model)}]]", width="content")
    if choice.input == "sentence":
        with st.session_state[TO_SEE]:
            _sentence(link.chosen(), asks)


def begin() -> None:
    """Choose what a visitor sees first, as far as no link does."""
    if "s" in st.session_state:
        return
    layer_and_head = link.chosen().layer, link.chosen().head
    begin_with(st.session_state["lang"])
    asked = st.query_params.keys()
    if {"layer", "head", "input", "model"} & asked:
        drawn = link.chosen().input == "digit" and not {"layer", "head"} & asked
        layer, head = STROKES if drawn else layer_and_head
        link.select(layer=layer, head=head)
    if reads_proteins(st.session_state["model"]):
        st.session_state["s"] = PROTEINS[0]


def to_see(draws: bool) -> bytes | None:
    """Draw the pad or picture in the page's run, so that it redraws the page alone; return the drawing.

    draws: as in `Page`.
    """
    choice = st.session_state["choice"]
    st.session_state.pop(READ, None)
    if choice.input == "sentence" and not draws:
        return None
    with st.session_state[TO_SEE]:
        return _picture() if choice.input == PICTURE and not draws else _drawing()


def begin_with(lang: str) -> None:
    """Begin with our first sentence in this language, at a head with a measured role in it.

    The very first head would attend to all tokens alike.
    """
    first = first_picture(lang)
    st.session_state["s"] = first.text if first else READY[lang][0]
    if first:
        link.select(layer=first.layer, head=first.head)


def _sentence(choice: Choice, asks: Callable[[Choice], Choice] | None) -> None:
    """The reader's sentence. A click on a word hides it if the network guesses words, else selects its token. On a page
    that asks, clicks do nothing: a slip would change the sentence and lose the answers.
    """
    try:
        choice = asks(choice) if asks else choice
        if choice.input != "sentence":  # it is asked of a drawing
            return
        read = pipelines.read(choice)[1]
        tokens: list[str] = list(read.tokens)
        guesses = guesses_words(pipelines.pipeline(choice.pipeline))
        hidden, typed = hidden_places(choice, read) if guesses else (set(), set())
    except WeightsError:  # the page says so
        tokens, guesses, hidden, typed = [], False, set(), set()
    words = [
        Word(text, () if text == "[SEP]" else tuple(places), bool(hidden & set(places)))
        for text, places in _words_of(tokens)
    ]
    if asks or st.session_state.get(COVERS, choice.of_class is not None):
        words = [replace(word, text="[MASK]", hidden=False) if word.hidden else word for word in words]
    hides = guesses and not asks

    def picked(places: tuple[int, ...], hide: bool) -> None:
        if not hides or typed & set(places):
            link.select(token=places[0], key=None)
        elif not hide:
            link.select(hidden=tuple(sorted(hidden - typed - set(places))), token=places[0], output=None)
        else:
            kept = hidden - typed if choice.several else set()
            token = places[0] if kept or typed else None
            link.select(hidden=tuple(sorted({*kept, *places})), token=token, output=None)

    names = {name: plain(f"sentence_line.{name}") for name in ("label", "type", "run", "examples", "choose", "show")}
    names |= {"hide": plain("sentence_line.hide") if hides else "", "beside": plain("compare.badge")}
    names["offer"] = plain("sentence_line.offer") if hides else ""
    names["draw"] = "" if asks or choice.checkpoint else plain("sentence_line.draw")
    if asks:
        names["choose"] = ""
    ready = [sentence for lang in sorted(READY, key=choice.lang.__ne__) for sentence in READY[lang]]
    examples = PROTEINS if reads_proteins(choice.model) else ready
    beside = _beside(choice, tokens) if tokens and not asks else []
    sentence_line(words, choice.sentence, examples, names, beside, on_words=say, on_draw=_draw_one, on_pick=picked)
    if choice.sentence == st.session_state.get(CUT):
        st.warning(t("error.sentence_long", most=MOST_CHARACTERS), icon=":material/content_cut:")


def _words_of(tokens: Sequence[str]) -> list[tuple[str, list[int]]]:
    """The words of a text or of a pair, each with its places; a [SEP] between the two texts of a pair."""
    ends = [place for place, token in enumerate(tokens) if token == "[SEP]" and place and tokens[place - 1] != token]
    words = whole_words(tokens)
    words += [[place] for place in ends if words and place < words[-1][0]]
    return [(spelled([tokens[place] for place in places]), places) for places in sorted(words)]


def _beside(choice: Choice, tokens: Sequence[str]) -> list[Beside]:
    """The words of the text compared with. tokens: of this text, none hidden."""
    pipeline = pipelines.pipeline(choice.pipeline)
    if choice.other is None or not compares(choice, pipeline):
        return []
    there = pipeline.reader.read(choice.other).tokens
    pairs = align(tokens, there)
    shifted = any(pair.one != pair.other for pair in pairs)  # else counterparts have equal places
    differs = {pair.other: pair.one for pair in pairs if not pair.same}

    def differing(text: str, places: Sequence[int]) -> Beside:
        ones = [differs[place] for place in places if place in differs]
        own = [tokens[one] for one in ones if one is not None]
        return Beside(text, bool(ones), f"↔ {spelled(own)}" if own and shifted else "")

    words = [differing(text, places) for text, places in _words_of(there)]
    if not choice.big or len(words) <= MOST_BESIDE:
        return words
    near = [any(word.differs for word in words[max(at - 1, 0) : at + 2]) for at in range(len(words))]
    return [words[at] if near[at] else REST for at in range(len(words)) if near[at] or not at or near[at - 1]]


def say(sentence: str) -> None:
    beginning = sentence[:MOST_CHARACTERS]
    st.session_state[CUT] = beginning if beginning != sentence else None
    link.select(sentence=beginning, token=None, key=None, **afresh())


def _draw_one() -> None:
    layer, head = STROKES
    link.select(input="digit", layer=layer, head=head, token=None, key=None, output=None, against=None)


def _picture() -> bytes | None:
    """A ready picture, the pad, or the visitor's own file; return the drawing, if the pad is chosen."""
    chosen = st.session_state["picture"]
    if chosen != images.PAD:
        seen = st.session_state[link.PHOTO] if chosen == images.OWN else images.ready(chosen)
        st.image(seen, width=SMALL, alt=plain(f"sidebar.picture_{chosen}"))
    names = [name for name in images.PICTURES if name != images.OWN or link.PHOTO in st.session_state]
    look: dict[str, Any] = {"key": "picture", "required": True, "persist_state": "session"}
    look |= {"label_visibility": "collapsed", "format_func": lambda name: plain(f"sidebar.picture_{name}")}
    st.pills(plain("sidebar.picture"), names, **look)
    drawing = _pad() if chosen == images.PAD else None
    with st.popover(plain("sidebar.upload"), icon=":material/upload:"):
        st.file_uploader(plain("sidebar.upload_picture_help"), key="upload_picture", on_change=_take_picture)
    if problem := st.session_state.pop("upload_problem", None):
        st.warning(t(problem), icon=":material/broken_image:")
    return drawing


def _sent(uploader: str) -> bytes | None:
    """The content of an uploaded file, once; None if there is none, or if it is lost, with a message."""
    if (file := st.session_state[uploader]) is None:
        return None
    if (content := read_upload(file)) is None:
        st.session_state["upload_problem"] = "error.picture_lost"
    return content


def _take_picture() -> None:
    if (content := _sent("upload_picture")) is None:
        return
    try:
        st.session_state[link.PHOTO] = images.from_file(content)
        link.select(picture=images.OWN)
    except sketch.DrawingError as error:
        st.session_state["upload_problem"] = f"error.picture_{error.reason}"


def _pad() -> bytes:
    """The drawing, small, and a popover with the pad and its pens; return the drawing."""
    if st.session_state["drawing"] is None:
        st.session_state["drawing"] = sketch.example()
    drawing = st.session_state["drawing"]
    if drawing != st.session_state.get("drawing.on_pad"):  # it comes from a link, an example or a file
        st.session_state["drawing.epoch"] = st.session_state.get("drawing.epoch", 0) + 1
        st.session_state["drawing.on_pad"] = drawing
    st.image(sketch.grey(drawing), width=SMALL, alt=plain("sidebar.picture_drawing"))
    with st.popover(plain("sidebar.draw"), icon=":material/draw:", key="draw"):
        digit_pad(
            "pad",
            drawing,
            st.session_state["drawing.epoch"],
            {"thin": 16, "medium": 28, "thick": 44}[st.session_state.get("pen", "medium")],
            drawing in map(sketch.example, range(10)),
            on_draw=_take_drawing,
            label=plain("sidebar.pad"),
            undo=plain("sidebar.undo"),
            clear=plain("sidebar.clear"),
        )
        st.segmented_control(
            plain("sidebar.pen"),
            ["thin", "medium", "thick"],
            default="medium",
            required=True,
            format_func=lambda width: plain(f"sidebar.pen_{width}"),
            key="pen",
            persist_state="session",
        )
    return drawing


def _drawing() -> bytes:
    """The pad with examples and upload; return the drawing, or the last one that could be read."""
    drawing = _pad()
    if st.session_state["input"] == "digit" and not st.session_state["big"]:
        back = {"icon": ":material/notes:", "key": "line.sentence", "on_click": lambda: link.select(input="sentence")}
        st.button(plain("sidebar.input_sentence"), **back)
    look: dict[str, Any] = {"label_visibility": "collapsed", "key": "example_digit", "on_change": _take_example_digit}
    st.pills(plain("sidebar.example_digit"), range(10), width="content", **look)
    with st.popover(plain("sidebar.upload"), icon=":material/upload:"):
        st.file_uploader(plain("sidebar.upload_help"), key="upload", on_change=_take_upload)
    verdict_place = st.container()
    if problem := st.session_state.pop("upload_problem", None):
        verdict_place.warning(t(problem), icon=":material/broken_image:")
    try:
        sketch.ink(drawing)
        st.session_state["last_drawing"] = drawing
    except sketch.DigitError as error:
        # Beside the pad: on the page it would move things from under a reader's finger.
        verdict_place.warning(t(f"error.digit_{error.reason}"), icon=":material/edit_off:")
        return st.session_state.get("last_drawing", sketch.example())  # not on the pad, so without a verdict
    st.session_state[READ] = verdict_place
    return drawing


def _take_drawing(drawing: bytes) -> None:
    st.session_state["drawing"] = st.session_state["drawing.on_pad"] = drawing


def _take_example_digit() -> None:
    if (which := st.session_state["example_digit"]) is not None:
        link.select(drawing=sketch.example(which))
        st.session_state["example_digit"] = None  # so that the same one may be taken again


def _take_upload() -> None:
    if (content := _sent("upload")) is None:
        return
    try:
        link.select(drawing=sketch.from_file(content))
    except sketch.DrawingError as error:
        st.session_state["upload_problem"] = f"error.picture_{error.reason}"
    except sketch.DigitError as error:
        blank = error.reason == "blank"
        st.session_state["upload_problem"] = "error.upload_blank" if blank else f"error.digit_{error.reason}"
