"""Look up the words that a person reads, in two languages with the same keys.

Words stand beside the code that uses them: a page's in en.toml and zh.toml of its folder, the overview's in
model/overview, those of several pages here.
"""

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path

from model import overview
from model.analysis import SPACE
from pages.drawing.text.numbers import First, written

LANGUAGES = {"en": "English", "zh": "中文"}
#: The folder whose files hold the words.
PAGES = Path(__file__).parents[2]
INNER = str.maketrans("“”", "‘’")  # quotation marks within others
#: A matrix, a bias or a width with its index, such as W_O and d_model, not part of a longer word.
#: What closes a clause belongs to it, since a browser would begin a line with it.
SYMBOL = re.compile(r"(?<![\w$`{\\])(?:([Wb])_([A-Z\d])|(d)_(model|ff|k|E))(?![\w}`$])([,.;)]*)", re.ASCII)
#: A sentence, and the space behind it.
SENTENCE = re.compile(r"(.+?(?:[.?](?=\s|$)|[。？]|$))(\s*)", re.DOTALL)
#: What stands before it in a sentence says where, or of what: it stays where the winner behind it goes.
LEAD = "‖"
#: Where the picture looks, in brackets behind the winner: it goes to the end of the lead.
BRACKETED = re.compile(r" ?[(（]\{where\}[)）]")
#: A count such as "{n} of {all} heads", to be written in words where it is none, both or all.
COUNT = re.compile(r"(?<!first )(?<!word )(?<!Head )(?<!own )\{(\w+)\} of (?:the )?\{(\w+)\} (?=\w)|有 \{(\w+)\} 个")
COUNT_IN_CHINESE = re.compile(r"\{(\w+)\} (\w)(\w*)中有 \{(\w+)\} \w(?=[\u4e00-\u9fff])")
#: {=error.elsewhere} stands for the text of that name.
SHARED = re.compile(r"\{=([\w.]+)\}")
#: Markdown code, marks included.
CODE = re.compile(r"(`[^`]+`)")
#: The signs by which Markdown recognises an address.
ADDRESS = re.compile(r"\bwww(?=\.)|:(?=//)|(?<=\w)@(?=\w)", re.IGNORECASE)
#: The reader's language in this run, once known: reading session state takes its locks each time.
_spoken: ContextVar[str | None] = ContextVar("spoken", default=None)
#: Where else to ask for the language: the frame adds the visitor's session.
ELSEWHERE: list[Callable[[], str | None]] = []


@cache
def catalogue(language: str) -> dict[str, str]:
    """All texts of a language, flat: "attention.title" -> "Attention"."""
    flat: dict[str, str] = {}

    def walk(table: dict, prefix: str) -> None:
        for key, value in table.items():
            if isinstance(value, dict):
                walk(value, f"{prefix}{key}.")
            elif prefix + key in flat:
                raise KeyError(f"{prefix}{key} stands in two files")
            else:
                flat[prefix + key] = value

    for file in sorted(PAGES.rglob(f"{language}.toml")):
        walk(tomllib.loads(file.read_text(encoding="utf-8")), "")
    walk({"overview": overview.words_of(language)}, "")
    return {name: SHARED.sub(lambda hit: flat[hit[1]], text) for name, text in flat.items()}


def speak(language: str) -> None:
    """Set the language for the rest of this run."""
    _spoken.set(language)


@contextmanager
def speaking(language: str) -> Iterator[None]:
    """Use another language in this block, for texts sent to readers of both."""
    usual = _spoken.set(language)
    try:
        yield
    finally:
        _spoken.reset(usual)


def language() -> str:
    """The reader's language; English if unknown."""
    return _spoken.get() or next(filter(None, (ask() for ask in ELSEWHERE)), "en")


def plain(name: str, /, **values: object) -> str:
    """The text called `name` in the reader's language, with {name} filled in. For widgets, figures and tables.

    Numbers are written by `numbers.written`. A value in “{name}” is a token and stays as it is; see `quoted`.
    """
    return _filled(_text(name), values, str)


def t(name: str, /, **values: object) -> str:
    """Like `plain`, for Markdown: values are shown literally; W_O becomes a symbol."""
    pieces = enumerate(CODE.split(_text(name)))
    return "".join(
        _filled(piece, values, _in_code) if i % 2 else _filled(SYMBOL.sub(_symbol, piece), values, literal)
        for i, piece in pieces
    )


def _symbol(hit: re.Match[str]) -> str:
    *name, closing = hit.groups("")
    letter, index = filter(None, name)
    return f"${letter}_{index if len(index) == 1 else f'{{{index}}}'}{closing}$"


def in_symbols(formula: str) -> str:
    """A formula, for Markdown: d_k and the like become symbols, the rest is shown literally."""
    return SYMBOL.sub(_symbol, re.sub(r"(?<=[Wbd])\\_", "_", literal(formula)))


def typed(words: str, **values: object) -> str:
    """A visitor's own words, for Markdown: shown literally, with {name} filled in."""
    return literal(_filled(words, values, str))


def texts_of(table: str) -> tuple[Callable[..., str], Callable[..., str]]:
    """`t` and `plain` for the texts of one table: the first gives for "purpose" what `t` gives for "heads.purpose"."""

    def text(name: str, /, **values: object) -> str:
        return t(f"{table}.{name}", **values)

    def word(name: str, /, **values: object) -> str:
        return plain(f"{table}.{name}", **values)

    return text, word


def digits_hidden(numbers: object) -> str:
    """What ≈ means, where it stands among these written numbers."""
    return " " + t("words.read.approximate") if "≈" in str(numbers) else ""


def _text(name: str) -> str:
    return catalogue(language())[name]


def _without_winner(text: str, name: str, found: First) -> str:
    """A text whose sentence with {name} is replaced, from LEAD on, by one that says that no value is ahead."""
    kind = {1: "alone", 2: "tied_both"}.get(found.of, "tied_all") if found.ties == found.of else found.tie
    said = {"value": found.value, "n": f"{found.ties:,}", "of": f"{found.of:,}"}

    def instead(sentence: str) -> str:
        if not (hit := re.search(rf"{{{name}(?::([^}}]*))?}}", sentence)):
            return sentence
        one, _, several = (hit[1] or "").partition("/")
        tie = _filled(_text(f"common.{kind}"), said | {"what": (kind != "alone" and several) or one}, str)
        lead, mark, rest = sentence.partition(LEAD)
        return (
            f"{lead}{''.join(BRACKETED.findall(rest))}{_text('common.colon')}{tie[0].lower()}{tie[1:]}" if mark else tie
        )

    return "".join(instead(one) + space for one, space in SENTENCE.findall(text))


def _filled(text: str, values: Mapping[str, object], shown: Callable[[str], str]) -> str:
    """A text with its values filled in. “{value:key/keys}” names what ties, in singular and plural."""

    def in_words(hit: re.Match) -> str:
        count = str(values.get(hit[1] or hit[3], hit[0]))  # a later call fills in the others
        every, all_ = count == str(values.get(hit[2])) and "." not in count, f"{{{hit[2]}}} " if hit[2] else ""
        many = _text("common.both_of") if count == "2" else _text("common.all_of") + all_
        said = _text("common.none_of") + all_ if count == "0" else many if every else hit[0]
        return said if hit.start() else said[:1].upper() + said[1:]

    def in_chinese(hit: re.Match) -> str:
        whole, count = (str(values.get(name, name)) for name in hit.group(1, 4))
        one, of = hit.group(2, 3)
        if count == "0":
            return f"{{{hit[1]}}} {one}{of}中没有一{one}"
        both = f"两{one}{of}都"
        return both if count == whole == "2" else f"{{{hit[1]}}} {one}{of}都" if count == whole != "1" else hit[0]

    if not values:
        return text
    text = COUNT.sub(in_words, COUNT_IN_CHINESE.sub(in_chinese, text))
    for name, value in values.items():
        if isinstance(value, First) and not value.ahead:
            text = _without_winner(text, name, value)
    text = text.replace(LEAD, "")

    def filled(hit: re.Match) -> str:
        opening, place, closing = hit.groups()
        if place not in values:
            return hit[0]
        value = str(values[place])
        return shown(quoted(value)) if opening and closing else opening + shown(written(value)) + closing

    return re.sub(r"(“?)\{(\w+)(?::[^}]*)?\}(”?)", filled, text)


def quoted(text: str) -> str:
    """“it”; “who ‘it’ is”; but ‘”’ for a token that is itself a quotation mark, “ ' ” apart, and “␣” for a space."""
    if text and set(text) <= set('"“”'):
        return f"‘{text}’"
    if text and set(text) <= set("'‘’"):
        return f"“\xa0{text}\xa0”"
    if text.isspace():
        return f"“{SPACE}”"
    return f"“{text.translate(INNER)}”"


def listed(names: Iterable[str]) -> str:
    """“one”, “two”"""
    return plain("common.comma").join(plain("common.quoted", token=name) for name in names)


def with_length(name: str, length: float) -> str:
    """The name of a vector with its length: “X⁰: 0.3”, lest it read as a product."""
    return plain("common.with_length", name=name, length=f"{length:.1f}")


def class_label(name: str) -> str:
    """The name of a class: "even" and "odd" in the reader's language, a digit as it is."""
    return plain(f"common.{name}") if name in ("even", "odd") else name


def literal(text: str) -> str:
    """Escape text so that Markdown shows it as typed: `<b>`, `$x$`, `` `x` ``, `:smile:`, `[MASK]`.

    An invisible sign keeps addresses from becoming links.
    """
    unlinked = ADDRESS.sub("\\g<0>\u200b", re.sub(r"[^\S\xa0]+", " ", text).strip())  # products stay on a line
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", unlinked)


def _in_code(text: str) -> str:
    """Like `literal`, inside code, where escapes would be visible."""
    return " ".join(text.replace("`", "'").split())


def unmarked(text: str) -> str:
    """Markdown without its marks and without the escapes of `literal`, to be read aloud."""
    uncoloured = re.sub(r"(?<!\\):[\w-]+\[((?:\\.|[^\]\\])*)\]", r"\1", text)
    without = re.sub(r"(?<!\\)(\*\*|[*`$])|&\w+;", "", re.sub(r"(?<=\$d_)\{(\w+)\}", r"\1", uncoloured))
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", without)


def joined(sentences: str) -> str:
    """Sentences without a space after a Chinese full stop."""
    return sentences.replace("。 ", "。")
