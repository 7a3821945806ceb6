"""The controls that all pages share. Their keys are the names that a link has for their values: s, layer, head, …"""

from collections.abc import Container
from typing import Any

import streamlit as st

from model.config import DECODER
from model.examples import PROTEINS
from model.graph import graph
from pages.ui.components.digit_pad import digit_pad
from pages.ui.frame.changes_bar import compare_box
from pages.ui.frame.contents import LAYER_AND_HEAD, ROWS
from pages.ui.frame.learned import step_slider
from pages.ui.frame.pickers import bound, either, sentence_box
from pages.ui.runs import pipelines
from pages.ui.state import link, pictures, sketch
from pages.ui.state.choice import MODELS, PICTURE, PIPELINES, SYMBOLS, Choice
from pages.ui.state.first_sight import first_picture
from pages.ui.state.offered import of_pictures, offered, reads_proteins, sizes, sizes_of_decoder
from pages.ui.text import LANGUAGES, joined, plain, t

#: Places in another translation mean nothing in this one; nor do, in another sentence, its words.
WRITTEN_AFRESH = {"step": None, "forced": (), "beam": 1}
#: In the session: the rooms for the controls that a page draws.
PLACES = "sidebar.places"
TO_SEE = "sidebar.to_see"
#: In the session: the room under the pad for what the network reads there, which a page draws; none where nothing is.
READ = "sidebar.read"
#: In the pipelines, for layer and head: the one that was chosen, and the one that stands in for it while a network has
#: fewer.
KEPT = "sidebar.kept"
#: In the pipelines, once one was asked for: what the page, which knows what it shows, opens over itself.
OVER = "sidebar.over"
SHARE_ICON = ":material/qr_code_2:"
EXAMPLES = {
    "en": (
        "the animal did not cross the street because it was too tired .",
        "i love you .",
        "the cat sat on the [MASK] .",
        "she sat by the river bank .",
        "he put the money in the bank .",
        "the dog chased the cat .",
        "the cat chased the dog .",
        "the unhappy children were playing .",
    ),
    "zh": (
        "今天天气很好，我们去公园玩吧。",
        "我爱你。",
        "你爱我。",
        "今天天气很[MASK]。",
        "我[MASK]你。",
        "他在银行工作。",
        "妈妈说她很喜欢这本书。",
        "我喜欢吃苹果。",
        "他用手机打电话。",
        "我 love 你 .",
    ),
}


def afresh() -> dict[str, object]:
    """What is chosen anew for another sentence. Who wants to see all words wants it of that, too."""
    return {"hidden": () if link.chosen().hidden == () else None, "branch": (), **WRITTEN_AFRESH}


def sidebar() -> Choice:
    """Draw the controls, and leave room for those that a page draws; returns the choice."""
    if "s" not in st.session_state:
        _begin()
    _worded("lang", tuple(LANGUAGES), LANGUAGES.get, label_visibility="collapsed")
    seers = of_pictures()
    with st.container(key="at_hand"):  # on a phone it stands over the page, and all the rest behind a button
        kinds = (*PIPELINES, *[PICTURE] * bool(seers))
        kind = _worded("input", kinds, lambda kind: plain(f"sidebar.input_{kind}"), on_change=_take_reader)
        if kind == "sentence":
            _sentence()
        else:
            st.session_state[TO_SEE] = st.container()
    if kind == "sentence":
        _who_reads([*MODELS, *(name for name in offered() if name not in seers)])
    elif kind == PICTURE:
        _who_reads(seers)
    now = link.chosen()
    if kind == "digit":
        step_slider(now.learned)
    st.session_state[PLACES] = st.container()
    notes = [plain(f"sidebar.symbols_{note}") for note in SYMBOLS]
    either("symbols", plain("sidebar.symbols"), SYMBOLS, notes, now.symbols, help=plain("sidebar.symbols_help"))
    st.toggle(plain("sidebar.big"), key="big", persist_state="session")
    choice = link.chosen()
    st.caption(t("untrained.honest" if choice.paper else "sidebar.honest"))
    return choice


def to_see() -> bytes | None:
    """The pad or the picture that is read; a page draws them, so that a stroke draws the page alone anew.

    Returns the drawing, if one is read.
    """
    choice = st.session_state["choice"]
    st.session_state.pop(READ, None)
    if choice.input == "sentence":
        return None
    with st.session_state[TO_SEE]:
        return _picture() if choice.input == PICTURE else _drawing()


def places(page: str) -> None:
    """Layer and head, where they change what is shown: a page draws them, since its arrow keys move them, too.

    page: its name.
    """
    choice = link.chosen()
    config, decoder = pipelines.config(choice.pipeline), sizes_of_decoder(choice.model) or DECODER
    heeded = ROWS[page].heeds(choice, answers="logits" in graph(config))
    with st.session_state[PLACES]:
        st.empty()  # what a fragment alone would be the first to draw, Streamlit draws nowhere else
        for name in LAYER_AND_HEAD:
            most, in_decoder = getattr(config, f"{name}s"), getattr(decoder, f"{name}s")
            _fit(name, max(most, in_decoder) if _writes(page) else most)
            if name in heeded and _writes(page):
                _number_in_decoder(name, in_decoder)
            elif name in heeded:
                _number(name, most)


def which_keys(page: str, listened: Container[str]) -> None:
    """Say below layer and head which arrows do something: a page draws it, once it knows to what it listens."""
    moved = {"ArrowLeft": "step" if _writes(page) else "head", "ArrowUp": "layer", "Shift+ArrowUp": "cell"}
    said = [plain(f"frame.keys_{name}") for key, name in moved.items() if key in listened]
    if said:
        with st.session_state[PLACES], st.container(key="which_keys"):  # hidden where only fingers are (style.css)
            st.caption(t("frame.keys", keys=plain("common.semicolon").join(said)))


def aids(choice: Choice) -> None:
    """What helps on every page: another input to compare this one with, the glossary, and a link to share."""
    compare_box(choice)
    opener("glossary", ":material/dictionary:")
    opener("share", SHARE_ICON)


def opener(name: str, icon: str, **look: Any) -> None:
    """A button that opens the "glossary", or what there is to "share", over the page."""
    look = {"key": name, "width": "stretch"} | look
    st.button(plain(f"{name}.title"), icon=icon, on_click=lambda: st.session_state.update({OVER: name}), **look)


def _writes(page: str) -> bool:
    """Whether layers, heads and keys are those of a decoder."""
    return page == "translation" and st.session_state["input"] == "sentence"


def _begin() -> None:
    """What a visitor sees first: a sentence with a head that was measured to do something, where no link asks for one.

    Otherwise it would be the first head of all, which looks at everything alike.
    """
    lang = st.session_state["lang"]
    first = first_picture(lang)
    st.session_state["s"] = first.text if first else EXAMPLES[lang][0]
    if reads_proteins(st.session_state["model"]):
        st.session_state["s"] = PROTEINS[0]
    if first and not {"layer", "head", "input", "model"} & st.query_params.keys():
        link.select(layer=first.layer, head=first.head)


def _worded(name: str, options: tuple[str, ...], words, **look) -> str:
    """A row of buttons whose wording, not whose value, follows the language."""
    look |= {"format_func": words, "key": name, "required": True, "persist_state": "session"}
    return st.pills(plain(f"sidebar.{name}"), options, **look)  # pills stay whole where they take two lines


def _fit(name: str, most: int) -> None:
    """Keep a number within what this network has; with a network that has more, the one that was chosen comes back."""
    kept = st.session_state.setdefault(KEPT, {})
    chosen, instead = kept.get(name, (None, None))
    now = st.session_state[name]
    if now != instead:  # another one was chosen since
        chosen = now
    st.session_state[name] = min(chosen, most)
    kept[name] = chosen, st.session_state[name]


def _number(name: str, most: int) -> None:
    """A slider from 1 to `most`, or a remark where there is only one."""
    if most == 1:
        st.caption(t(f"sidebar.only_{name}"))
    else:
        st.slider(plain(f"sidebar.{name}"), 1, most, key=name, persist_state="session")


def _number_in_decoder(name: str, most: int) -> None:
    """The same for a decoder, which may have fewer: the reader's place in the encoder is kept until it is moved."""
    now = min(st.session_state[name], most)
    moves = bound(f"decoder.{name}", now, lambda place: st.session_state.update({name: place}))
    st.slider(plain(f"sidebar.{name}"), 1, most, **moves)


def _sentence() -> None:
    theirs = sizes(folder) if (folder := offered().get(st.session_state["model"])) else None
    said = plain("sidebar.sentence_help_theirs", most=theirs.max_len) if theirs else plain("sidebar.sentence_help")
    if theirs is None or theirs.head == "masked-word":
        said = joined(f"{said} {plain('sidebar.sentence_help_mask')}")
    look = {"help": said, "persist_state": "session"}
    sentence_box(plain("sidebar.sentence"), "s", lambda _: link.select(**afresh()), **look)
    here = st.session_state["lang"]
    ready = EXAMPLES[here] + EXAMPLES["zh" if here == "en" else "en"]
    st.selectbox(
        plain("sidebar.example"),
        PROTEINS if reads_proteins(st.session_state["model"]) else ready,
        index=None,
        key="example",
        on_change=_take_example,
        placeholder=plain("sidebar.example_hint"),
        label_visibility="collapsed",
    )


def _who_reads(readers: list[str]) -> None:
    """Our encoder, the paper's base size untrained (`model=paper` in a link), or an offered checkpoint by its name."""
    if st.session_state["model"] not in readers:  # it reads another kind of input
        st.session_state["model"] = readers[0]
    if readers != list(MODELS):
        names = {"trained": plain("sidebar.model_trained"), "paper": plain("untrained.toggle")}
        st.selectbox(
            plain("sidebar.model"),
            readers,
            format_func=lambda name: names.get(name, name),
            key="model",
            persist_state="session",
            help=plain("sidebar.model_help"),
            on_change=_take_reader,
        )
        return
    st.session_state["paper"] = st.session_state["model"] == "paper"
    st.toggle(plain("untrained.toggle"), key="paper", help=plain("untrained.help"), on_change=_take_model)


def _take_model() -> None:
    st.session_state["model"] = "paper" if st.session_state["paper"] else "trained"


def _take_reader() -> None:
    """Another network's answers have other numbers: class 7 of the digits is no word."""
    link.select(output=None, against=None)


def _take_example() -> None:
    if st.session_state["example"]:
        link.select(sentence=st.session_state["example"], **afresh())
        st.session_state["example"] = None


def _picture() -> bytes | None:
    """A ready picture, the pad, or the visitor's own file; returns what is drawn where that is the picture."""
    names = [name for name in pictures.PICTURES if name != pictures.OWN or link.PHOTO in st.session_state]
    name = _worded("picture", tuple(names), lambda name: plain(f"sidebar.picture_{name}"))
    drawing = None
    if name == pictures.PAD:
        drawing = _pad()
    else:
        st.image(st.session_state[link.PHOTO] if name == pictures.OWN else pictures.ready(name), width=180)
    with st.popover(plain("sidebar.upload"), icon=":material/upload:"):
        st.file_uploader(plain("sidebar.upload_picture_help"), key="upload_picture", on_change=_take_picture)
    if problem := st.session_state.pop("upload_problem", None):
        st.warning(t(problem), icon=":material/broken_image:")
    return drawing


def _take_picture() -> None:
    if (file := st.session_state["upload_picture"]) is None:
        return
    try:
        st.session_state[link.PHOTO] = pictures.from_file(file.getvalue())
        link.select(picture=pictures.OWN)
    except sketch.DrawingError as error:
        st.session_state["upload_problem"] = f"error.picture_{error.reason}"


def _pad() -> bytes:
    """The pad with what is drawn on it."""
    if st.session_state["drawing"] is None:
        st.session_state["drawing"] = sketch.example()
    drawing = st.session_state["drawing"]
    if drawing != st.session_state.get("drawing.on_pad"):  # it comes from a link, an example or a file
        st.session_state["drawing.epoch"] = st.session_state.get("drawing.epoch", 0) + 1
        st.session_state["drawing.on_pad"] = drawing
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
    return drawing


def _drawing() -> bytes:
    """The pad with its examples and upload; returns the drawing, or the last one that could be read."""
    drawing = _pad()
    verdict_place = st.container()
    with st.container(key="pad_tools"):
        st.segmented_control(
            plain("sidebar.pen"),
            ["thin", "medium", "thick"],
            default="medium",
            required=True,
            format_func=lambda width: plain(f"sidebar.pen_{width}"),
            key="pen",
            persist_state="session",
        )
        st.pills(plain("sidebar.example_digit"), range(10), key="example_digit", on_change=_take_example_digit)
        with st.popover(plain("sidebar.upload"), icon=":material/upload:"):
            st.file_uploader(plain("sidebar.upload_help"), key="upload", on_change=_take_upload)
    if problem := st.session_state.pop("upload_problem", None):
        verdict_place.warning(t(problem), icon=":material/broken_image:")

    try:
        sketch.ink(drawing)
        st.session_state["last_drawing"] = drawing
    except sketch.DigitError as error:
        # Right under the pad; on the page it would push away what a hurried reader is about to touch.
        verdict_place.warning(t(f"error.digit_{error.reason}"), icon=":material/edit_off:")
        return st.session_state.get("last_drawing", sketch.example())  # not on the pad, and so without a verdict
    st.session_state[READ] = verdict_place
    return drawing


def _take_drawing(drawing: bytes) -> None:
    st.session_state["drawing"] = st.session_state["drawing.on_pad"] = drawing


def _take_example_digit() -> None:
    if (which := st.session_state["example_digit"]) is not None:
        link.select(drawing=sketch.example(which))
        st.session_state["example_digit"] = None  # so that the same one may be taken again


def _take_upload() -> None:
    if (file := st.session_state["upload"]) is None:
        return
    try:
        link.select(drawing=sketch.from_file(file.getvalue()))
    except sketch.DrawingError as error:
        st.session_state["upload_problem"] = f"error.drawing_{error.reason}"
    except sketch.DigitError as error:
        blank = error.reason == "blank"
        st.session_state["upload_problem"] = "error.upload_blank" if blank else f"error.digit_{error.reason}"
