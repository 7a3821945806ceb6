"""How values are written in a link, and read back with care, kind by kind.

Links count from 1, code counts from 0. Nothing here knows Streamlit.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, get_type_hints
from urllib.parse import unquote

from model import Edit
from model.changes import check
from model.config import DECODER, PRESETS
from model.edits import OPERATIONS
from model.graph import graph
from model.pipeline import MOST_CHARACTERS
from pages.drawing.state import images, sketch

MOST_EDITS = 16
MOST_CODE = 8000  # characters of any other value in a link
MOST_NUMBER = 999_999


class LinkError(ValueError):
    """A value that nobody can have chosen. instead: replaces the whole value, if not the default does."""

    def __init__(self, reason: str = "link", instead: object = None) -> None:
        super().__init__(reason)
        self.reason, self.instead = reason, instead


@dataclass(frozen=True)
class Kind:
    """How values of one kind are written and read. first: the number of place 0 in a link."""

    write: Callable[[Any], str]
    read: Callable[[str], Any]  # raises ValueError
    first: int = 0


def one_of(*words: str) -> Kind:
    def read(text: str) -> str:
        if text not in words:
            raise LinkError
        return text

    return Kind(str, read)


def several(one: Kind, between: str, *, twice: bool = False, most: int = MOST_CODE) -> Kind:
    """At most `most` values of one kind, joined by `between`. twice: whether a value may repeat."""

    def read(text: str) -> tuple:
        values = tuple(map(one.read, text.split(between, most)))
        if len(values) > most or not (twice or len(set(values)) == len(values)):
            raise LinkError
        return values

    return Kind(lambda values: between.join(map(one.write, values)), read, one.first)


def matching(pattern: str, flags: int = re.ASCII) -> Kind:
    """A text that fully matches a regular expression."""

    def read(text: str) -> str:
        if not re.fullmatch(pattern, text, flags):
            raise LinkError
        return text

    return Kind(str, read)


def limited(most: float) -> Kind:
    """A number from −most to most."""

    def read(text: str) -> float:
        if not abs(value := float(text)) <= most:  # refuses NaN, too
            raise LinkError
        return value

    return Kind(str, read)


def up_to(most: int, least: int = 1) -> Kind:
    return Kind(str, lambda text: whole(text, least, most))


def moved(value: Any, by: int) -> Any:
    """A place, or places in tuples, plus `by`; None, or any value if `by` is 0, unchanged."""
    if by == 0 or value is None:
        return value
    return tuple(moved(part, by) for part in value) if isinstance(value, tuple) else value + by


# -- numbers, words, drawings ------------------------------------------------------------------------------


def whole(text: str, least: int = 0, most: int = MOST_NUMBER) -> int:
    """A whole number within limits. Raises LinkError."""
    if not (text.isascii() and text.isdigit() and len(text) <= len(str(most)) and least <= int(text) <= most):
        raise LinkError
    return int(text)


def read_place(text: str) -> int:
    """A place, counted from 1 in the text and from 0 here."""
    return whole(text, 1) - 1


def read_sentence(text: str) -> str:
    """A sentence. Raises LinkError for one that is too long, with its beginning as `instead`."""
    if len(text) > MOST_CHARACTERS:
        raise LinkError("link_long", text[:MOST_CHARACTERS])
    return text


def read_class(text: str) -> str:
    """The code of a class; small letters will do."""
    if not re.fullmatch(r"[A-HJ-NP-Z]{6}", code := text.strip().upper(), re.ASCII):
        raise LinkError
    return code


def read_drawing(code: str) -> bytes:
    """The drawing of a code. Raises LinkError."""
    try:
        return sketch.from_code(code)
    except sketch.DrawingError as error:
        raise LinkError("drawing_code") from error


TEXT = Kind(str, read_sentence)
NAME = matching(r"[\w.]{1,40}")  # of a part of a page or a quantity; pages replace unknown names by a default
CLASS = Kind(str, read_class)
CODE = matching(r"[\w-]+")  # a name, or a packed code
FLAG = Kind(  # people type 1 and 0
    lambda value: str(value).lower(), lambda text: one_of("true", "false", "1", "0").read(text) in ("true", "1")
)
PLACE = Kind(lambda place: str(place + 1), read_place, first=1)
PLACES = several(PLACE, ".")
HIDDEN = Kind(
    lambda places: PLACES.write(places) or "none", lambda text: () if text == "none" else PLACES.read(text), 1
)
NUMBER = Kind(str, whole)
IDS = several(NUMBER, ".", twice=True)  # of pieces; ids count from 0 everywhere
DRAWING = Kind(sketch.to_code, read_drawing)


# -- edits -----------------------------------------------------------------------------------------------


def source_code(source: str | bytes) -> str:
    """The code of an edit's source: a sentence, the name of a ready picture, or the bytes of a file or drawing."""
    if isinstance(source, str):
        return f"text.{source}"
    if (name := next((name for name in images.READY if images.ready(name) == source), None)) is not None:
        return f"picture.{name}"
    return f"ink.{sketch.to_code(source)}"


def read_source(code: str) -> str | bytes:
    """The source of a code. Raises LinkError, or DrawingError for a damaged code."""
    written_as, _, text = code.partition(".")
    if written_as == "text" and len(text) <= MOST_CHARACTERS:  # an edit cannot use the beginning of a sentence
        return text
    if written_as == "picture" and text in images.READY:
        return images.ready(text)
    if written_as != "ink":
        raise LinkError
    return sketch.bytes_of(text, MOST_CODE)


#: Type of a field of Edit -> how it is written.
KINDS = {int | None: PLACE, int: NUMBER, float | None: limited(MOST_NUMBER)}
PARTS = {name: KINDS.get(kind, Kind(source_code, read_source)) for name, kind in get_type_hints(Edit).items()}


def edit_code(edit: Edit) -> str:
    """The code of an edit: `layers.2.attention.heads~zero~head.4`; heads and tokens count from 1.

    Key and operation, then each other field that is not at its default.
    """
    parts = [edit.key, str(edit.operation)]
    for field in fields(edit)[2:]:
        if (value := getattr(edit, field.name)) != field.default:
            parts.append(f"{field.name}.{PARTS[field.name].write(value)}")
    return "~".join(part.replace("%", "%25").replace("~", "%7E") for part in parts)


def edit_from_code(code: str) -> Edit:
    """The edit of a code. Raises ValueError for codes that `edit_code` does not write, and edits that fit no decoder.

    Encoders differ, so their edits are checked when they run.
    """
    key, operation, *parts = [unquote(part) for part in code.split("~")] if "~" in code else [code, ""]
    if not (re.fullmatch(r"[\w{}]+(\.[\w{}]+)*", key, re.ASCII) and re.fullmatch(r"\w+", operation, re.ASCII)):
        raise LinkError
    values: dict[str, Any] = {}
    for name, _, text in (part.partition(".") for part in parts):
        if name not in PARTS or name in ("key", "operation", *values):
            raise LinkError
        values[name] = PARTS[name].read(text)
    needed = operation in OPERATIONS and "value" in OPERATIONS[operation].needs
    values["value"] = values.get("value") or (0.0 if needed else None)  # old links leave 0 out, or write it needlessly
    edit = Edit(key, operation, **values)
    if key.startswith("decoder."):
        check(edit, graph(PRESETS["text"], DECODER))
    return edit


EDITS = several(Kind(edit_code, edit_from_code), "~~", twice=True, most=MOST_EDITS)
