"""The frame round every page: the table of pages, the shared sidebar, and `choice()`, a page's first act."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from model import WeightsError
from pages.ui import session
from pages.ui.text import LANGUAGES, plain, t

PAGES_FOLDER = Path(__file__).parents[1]
MOST_CHARACTERS = 400
INPUTS = ("sentence", "digit", "flat")
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
class PageRow:
    """One page: its name (file, URL and text keys), icon, the STAGES keys it shows, and its shape in the strip."""

    name: str
    icon: str
    stages: tuple[str, ...] = ()
    shape_of: str | None = None  # the key whose shape stands under its name in the stage strip


_ATTENTION = "layers.{l}.attention."


def _of(prefix: str, names: str) -> tuple[str, ...]:
    return tuple(prefix + name for name in names.split())


PAGES: tuple[PageRow, ...] = (
    PageRow("home", ":material/home:"),
    PageRow("tokens", ":material/abc:", _of("embedding.", "tokens positions sum"), "embedding.sum"),
    PageRow("queries_keys_values", ":material/key:", _of(_ATTENTION, "Q K V"), _ATTENTION + "Q"),
    PageRow(
        "attention",
        ":material/grid_on:",
        _of(_ATTENTION, "scores scaled masked weights heads"),
        _ATTENTION + "weights",
    ),
    PageRow("heads", ":material/apps:", _of(_ATTENTION, "concat output"), _ATTENTION + "concat"),
    PageRow("add_and_norm", ":material/add:", _of("layers.{l}.", "add_1 norm_1 add_2 norm_2"), "layers.{l}.norm_1"),
    PageRow(
        "feed_forward", ":material/bolt:", _of("layers.{l}.ffn.", "hidden activation output"), "layers.{l}.ffn.hidden"
    ),
    PageRow("layers", ":material/layers:", ("norm",), "layers.{l}.norm_2"),
    PageRow("answer", ":material/lightbulb:", ("logits",), "logits"),
    PageRow("shapes_and_cost", ":material/straighten:"),
)


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
    ink: bytes | None = None  # a prepared drawing: 28×28 grey values

    @property
    def pipeline(self) -> str:
        """The name of the pipeline that reads this input."""
        return {"sentence": "text", "digit": "digits", "flat": "flat"}[self.input]

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


def choice() -> Choice:
    """The reader's choice. A page's first act.

    While a folder called pages/ lies beside app.py, the first visitor of a fresh server who opens /attention
    gets that page without app.py. Calling st.navigation ends that old mode for good; then we start over.
    """
    if "frame_is_drawn" not in st.session_state:
        st.navigation(_navigation(), position="hidden")
        st.rerun()
    return st.session_state["choice"]


def page_path(name: str) -> str:
    """A page's file, as st.page_link and st.switch_page want it."""
    return str(PAGES_FOLDER / f"{name}.py")


def _navigation() -> list:
    return [
        st.Page(
            page_path(row.name),
            title=plain(f"{row.name}.title"),
            url_path="" if row.name == "home" else row.name,
            default=row.name == "home",
        )
        for row in PAGES
    ]


def frame() -> None:
    """Everything that app.py does: page set-up, language, navigation, sidebar, then the page itself."""
    st.set_page_config(page_title="Glass Encoder", page_icon="🔎", layout="wide")
    _default_language()
    page = st.navigation(_navigation(), position="hidden")
    try:
        _link_check()
        with st.sidebar:
            st.session_state["choice"] = _sidebar()
        if st.session_state["choice"].big:
            # Streamlit sizes everything in rem; figures read Choice.big themselves.
            st.html("<style>:root{font-size:21px!important}</style>")
        st.session_state["frame_is_drawn"] = True
        page.run()
    except WeightsError as error:
        st.error(t(f"error.weights_{error.reason}", file=f"model/weights/{error.file}"), icon=":material/error:")
    except Exception:
        logging.getLogger(__name__).exception("page %s failed", page.title)
        st.error(t("error.unexpected"), icon=":material/error:")
    finally:
        st.session_state.pop("frame_is_drawn", None)  # the next run must draw its own


def _default_language() -> None:
    """Before anything is drawn: the link's language, else the browser's."""
    if "lang" not in st.session_state:
        asked = st.query_params.get("lang")
        local = "zh" if (st.context.locale or "").startswith("zh") else "en"
        st.session_state["lang"] = asked if asked in LANGUAGES else local


def _link_check() -> None:
    """Say so, once, when a link asks for something that does not exist."""
    if "link_checked" in st.session_state:
        return
    st.session_state["link_checked"] = True
    asked = st.query_params
    kind = asked.get("input", "sentence")
    wrong = []
    if kind not in INPUTS:
        wrong.append(("input", kind))
        kind = "sentence"
    config = session.pipeline({"sentence": "text", "digit": "digits", "flat": "flat"}[kind]).config
    for name, most in (("layer", config.layers), ("head", config.heads)):
        value = asked.get(name)
        if value is not None and not (value.isascii() and value.isdigit() and 1 <= int(value[:6]) <= most):
            wrong.append((name, value))
    for name, allowed in (("lang", tuple(LANGUAGES)), ("depth", DEPTHS)):
        if name in asked and asked[name] not in allowed:
            wrong.append((name, asked[name]))
    for name, value in wrong:
        st.warning(t("error.link", name=name, value=value[:40]), icon=":material/link_off:")


def _url_choice(name: str, options: Sequence[str], default: str) -> None:
    """Before a widget with key `name` is drawn: take its value from the URL when the URL has changed.

    `bind="query-params"` would put the translated label into the URL; a link must mean the same in each language.
    """
    asked = st.query_params.get(name)
    if asked in options and asked != st.session_state.get(f"url_{name}"):
        st.session_state[name] = asked
    if st.session_state.get(name) not in options:
        st.session_state[name] = default


def _write_url(name: str, default: str | None) -> None:
    """After the widget: put its value into the URL, unless it is the default."""
    value = st.session_state[name]
    st.session_state[f"url_{name}"] = value
    if value != default:
        st.query_params[name] = value
    elif name in st.query_params:
        del st.query_params[name]


def _take_example() -> None:
    if st.session_state["example"]:
        st.session_state["s"] = st.session_state["example"]
        st.session_state["example"] = None


def _sidebar() -> Choice:
    """The controls that all pages share. Their keys are the URL's query parameters."""
    _url_choice("lang", tuple(LANGUAGES), "en")
    st.segmented_control(
        plain("sidebar.language"),
        list(LANGUAGES),
        format_func=LANGUAGES.get,
        key="lang",
        required=True,
        label_visibility="collapsed",
    )
    _write_url("lang", None)
    kind = _input_kind()
    sentence, ink = "", None
    if kind == "sentence":
        sentence = _sentence()
    config = session.pipeline({"sentence": "text", "digit": "digits", "flat": "flat"}[kind]).config
    layer = _number("layer", config.layers)
    head = _number("head", config.heads)

    _url_choice("depth", DEPTHS, "formula")
    st.segmented_control(
        plain("sidebar.depth"),
        DEPTHS,
        format_func=lambda depth: plain(f"sidebar.depth_{depth}"),
        key="depth",
        required=True,
        help=plain("sidebar.depth_help"),
    )
    _write_url("depth", "formula")
    big = st.toggle(plain("sidebar.big"), key="big", bind="query-params")
    st.caption(t("sidebar.honest"))
    return Choice(kind, sentence, layer, head, st.session_state["lang"], st.session_state["depth"], big, ink)


def _input_kind() -> str:
    return "sentence"


def _sentence() -> str:
    if (asked := st.query_params.get("s")) is not None and asked != st.session_state.get("url_s"):
        st.session_state["s"] = asked[:MOST_CHARACTERS]
    st.session_state.setdefault("s", EXAMPLES[st.session_state["lang"]][0])
    sentence = st.text_input(
        plain("sidebar.sentence"), key="s", max_chars=MOST_CHARACTERS, help=plain("sidebar.sentence_help")
    )
    _write_url("s", None)  # always, since the first example differs between languages
    both = EXAMPLES[st.session_state["lang"]] + EXAMPLES["zh" if st.session_state["lang"] == "en" else "en"]
    st.selectbox(
        plain("sidebar.example"),
        both,
        index=None,
        key="example",
        on_change=_take_example,
        placeholder=plain("sidebar.example_hint"),
        label_visibility="collapsed",
    )
    return sentence


def _number(name: str, most: int) -> int:
    """A slider from 1 to `most`, or nothing where there is only one; returns the choice counted from 0."""
    if st.session_state.get(name, 1) > most:
        st.session_state[name] = most
    if most == 1:
        st.caption(t(f"sidebar.only_{name}"))
        return 0
    return st.slider(plain(f"sidebar.{name}"), 1, most, key=name, bind="query-params") - 1
