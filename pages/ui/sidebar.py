"""The controls that all pages share. Their keys are the URL's query parameters: input, s, ink, layer, head, …"""

from dataclasses import dataclass

import streamlit as st

from model.config import PRESETS
from pages.ui import digits, link, session
from pages.ui.components.digit_pad import digit_pad
from pages.ui.text import LANGUAGES, plain, t

MOST_CHARACTERS = 400
#: Input kind -> the pipeline that reads it.
PIPELINES = {"sentence": "text", "digit": "digits", "flat": "flat"}
DEPTHS = ("story", "numbers", "formula", "code")
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
        "我 love 你 .",
    ),
}


@dataclass(frozen=True)
class Choice:
    """What the reader has chosen; every page draws from this. `layer` and `head` count from 0."""

    input: str
    sentence: str
    layer: int
    head: int
    lang: str
    depth: str
    big: bool
    ink: bytes | None = None  # digit and flat: the prepared 28×28 grey values
    drawing: bytes | None = None  # digit and flat: what was drawn, as digits.grey reads it
    paper: bool = False  # sentences: read by the paper's base size with random weights, not by the trained encoder

    @property
    def pipeline(self) -> str:
        """The name of the pipeline that reads this input."""
        return "untrained" if self.paper else PIPELINES[self.input]

    @property
    def subject(self) -> str | bytes:
        """What the pipeline is given."""
        return self.sentence if self.input == "sentence" else (self.ink or b"")

    def at_least(self, depth: str) -> bool:
        """True where the depth dial stands at `depth` or deeper."""
        return DEPTHS.index(self.depth) >= DEPTHS.index(depth)

    def key(self, stage: str) -> str:
        """The trace key of a STAGES key in the chosen layer."""
        return stage.replace("{l}", str(self.layer))


def default_language() -> None:
    """Before anything is drawn: the link's language, else the browser's."""
    if "lang" not in st.session_state:
        asked = st.query_params.get("lang")
        local = "zh" if (st.context.locale or "").startswith("zh") else "en"
        st.session_state["lang"] = asked if asked in LANGUAGES else local


def check_link() -> None:
    """Say so, once, when a link asks for something that does not exist."""
    if "link_checked" in st.session_state:
        return
    st.session_state["link_checked"] = True
    asked = st.query_params
    kind = asked.get("input", "sentence")
    wrong = [] if kind in PIPELINES else [("input", kind)]
    config = PRESETS[PIPELINES.get(kind, "text")]
    for name, most in (("layer", config.layers), ("head", config.heads)):
        value = asked.get(name)
        if value is not None and not (value.isascii() and value.isdigit() and 1 <= int(value[:6]) <= most):
            wrong.append((name, value))
    for name, allowed in (("lang", tuple(LANGUAGES)), ("depth", DEPTHS), ("model", ("paper", "trained"))):
        if name in asked and asked[name] not in allowed:
            wrong.append((name, asked[name]))
    for name, value in wrong:
        st.warning(t("error.link", name=name, value=value[:40]), icon=":material/link_off:")


def sidebar() -> Choice:
    """Draw the controls, keep the URL in step with them, and return the choice."""
    _worded("lang", tuple(LANGUAGES), "en", LANGUAGES.get, label_visibility="collapsed")
    kind = _worded("input", tuple(PIPELINES), "sentence", lambda kind: plain(f"sidebar.input_{kind}"))
    sentence, ink, drawing, paper = "", None, None, False
    if kind == "sentence":
        sentence, paper = _sentence(), _paper_base()
    else:
        ink, drawing = _drawing(PIPELINES[kind])
    link.put("model", ("paper" if paper else "trained") if kind == "sentence" else None)
    config = session.pipeline("untrained" if paper else PIPELINES[kind]).config
    layer, head = _number("layer", config.layers), _number("head", config.heads)
    depth = _worded(
        "depth",
        DEPTHS,
        "formula",
        lambda depth: plain(f"sidebar.depth_{depth}"),
        help=plain("sidebar.depth_help"),
    )
    if (asked := link.asked("big")) is not None:
        st.session_state["big"] = asked == "true"
    big = st.toggle(plain("sidebar.big"), key="big", persist_state="session")
    link.put("big", "true" if big else None)
    link.write()
    st.caption(t("untrained.honest" if paper else "sidebar.honest"))
    return Choice(kind, sentence, layer, head, st.session_state["lang"], depth, big, ink, drawing, paper)


def _worded(name: str, options: tuple[str, ...], default: str, words, **look) -> str:
    """A row of buttons whose value, not whose wording, stands in the URL: always, so that the back button finds it."""
    link.take(name, options, default)
    look |= {"format_func": words, "key": name, "required": True, "persist_state": "session"}
    st.pills(plain(f"sidebar.{name}"), options, **look)  # which stay whole where they take two lines
    value = st.session_state[name]
    link.put(name, value)
    return value


def _number(name: str, most: int) -> int:
    """A slider from 1 to `most`, or a remark where there is only one; returns the choice counted from 0."""
    asked = link.asked(name) or ""
    if asked.isascii() and asked.isdigit() and 1 <= int(asked[:6]) <= most:
        st.session_state[name] = int(asked)
    st.session_state[name] = min(st.session_state.get(name, 1), most)
    if most == 1:
        st.caption(t(f"sidebar.only_{name}"))
        link.put(name, None)
        return 0
    value = st.slider(plain(f"sidebar.{name}"), 1, most, key=name, persist_state="session")
    link.put(name, str(value))  # always, so that the back button finds the 1 again
    return value - 1


def _sentence() -> str:
    if (asked := link.asked("s")) is not None:
        st.session_state["s"] = asked[:MOST_CHARACTERS]
        if len(asked) > MOST_CHARACTERS:
            st.warning(t("error.link_long", most=MOST_CHARACTERS), icon=":material/content_cut:")
    st.session_state.setdefault("s", EXAMPLES[st.session_state["lang"]][0])
    sentence = st.text_input(
        plain("sidebar.sentence"),
        key="s",
        max_chars=MOST_CHARACTERS,
        help=plain("sidebar.sentence_help"),
        persist_state="session",
    )
    link.put("s", sentence)  # always, since the first example differs between languages
    here = st.session_state["lang"]
    st.selectbox(
        plain("sidebar.example"),
        EXAMPLES[here] + EXAMPLES["zh" if here == "en" else "en"],
        index=None,
        key="example",
        on_change=_take_example,
        placeholder=plain("sidebar.example_hint"),
        label_visibility="collapsed",
    )
    return sentence


def _paper_base() -> bool:
    """Whether the paper's base size, untrained, reads the sentence: `model=paper` in a link."""
    if (asked := link.asked("model")) is not None:
        st.session_state["paper"] = asked == "paper"
    return st.toggle(plain("untrained.toggle"), key="paper", help=plain("untrained.help"), persist_state="session")


def _take_example() -> None:
    if st.session_state["example"]:
        st.session_state["s"] = st.session_state["example"]
        st.session_state["example"] = None


def _new_drawing(drawing: bytes) -> None:
    """Put a drawing on the pad from outside: a link, an example, a file."""
    st.session_state["drawing"] = drawing
    st.session_state["drawing_epoch"] = st.session_state.get("drawing_epoch", 0) + 1


def _drawing(pipeline: str) -> tuple[bytes, bytes]:
    """The pad with its examples and upload; returns the prepared ink and the drawing, the last good ones if need be."""
    if code := link.asked("ink"):
        try:
            _new_drawing(digits.from_code(code))
        except digits.DrawingError:
            st.warning(t("error.drawing_code"), icon=":material/link_off:")
    if "drawing" not in st.session_state:
        _new_drawing(digits.example())

    drawn = digit_pad(
        "pad",
        st.session_state["drawing"],
        st.session_state["drawing_epoch"],
        {"thin": 16, "medium": 28, "thick": 44}[st.session_state.get("pen", "medium")],
        label=plain("sidebar.pad"),
        undo=plain("sidebar.undo"),
        clear=plain("sidebar.clear"),
    )
    if drawn and len(drawn) == len(st.session_state["drawing"]):
        st.session_state["drawing"] = drawn
    verdict = st.empty()
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
        st.file_uploader(plain("sidebar.upload_help"), ["png", "jpg", "jpeg"], key="upload", on_change=_take_upload)
    if problem := st.session_state.pop("upload_problem", None):
        st.warning(t(problem), icon=":material/broken_image:")

    drawing = st.session_state["drawing"]
    try:
        good = (digits.ink(drawing), drawing)
        st.session_state["last_drawing"] = good
    except digits.DigitError as error:
        st.warning(t(f"error.digit_{error.reason}"), icon=":material/edit_off:")
        good = st.session_state.get("last_drawing", (digits.ink(digits.example()), digits.example()))
    link.put("ink", digits.to_code(drawing))
    (guess,) = session.run(pipeline, good[0]).answer
    names = {"even": plain("sidebar.even"), "odd": plain("sidebar.odd")}
    verdict.markdown(
        t("sidebar.verdict", label=names.get(guess.best, guess.best), probability=f"{max(guess.probabilities):.0%}")
    )
    return good


def _take_example_digit() -> None:
    if (which := st.session_state["example_digit"]) is not None:
        _new_drawing(digits.example(which))
        st.session_state["example_digit"] = None  # so that the same one may be taken again


def _take_upload() -> None:
    if (file := st.session_state["upload"]) is None:
        return
    try:
        _new_drawing(digits.from_file(file.getvalue()))
    except digits.DrawingError as error:
        st.session_state["upload_problem"] = f"error.drawing_{error.reason}"
    except digits.DigitError as error:
        st.session_state["upload_problem"] = f"error.digit_{error.reason}"
