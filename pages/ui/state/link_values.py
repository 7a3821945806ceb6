"""How values stand in a link: each kind of them is written in one way, and read again with care.

Links count from 1, as people count; code counts from 0. Nothing here knows Streamlit.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, get_type_hints
from urllib.parse import unquote

from model import Edit
from model.changes import check
from model.config import DECODER, PRESETS
from model.graph import graph
from pages.ui.state import pictures, sketch

MOST_CHARACTERS = 400  # of a sentence
MOST_EDITS = 16
MOST_CODE = 8000  # characters of any other value in a link
MOST_NUMBER = 999_999
MOST_AMOUNT = 100.0


class LinkError(ValueError):
    """A value that nobody can have chosen; `instead` is what stands in the place of the whole, if not the default."""

    def __init__(self, reason: str = "link", instead: object = None) -> None:
        super().__init__(reason)
        self.reason, self.instead = reason, instead


@dataclass(frozen=True)
class Kind:
    """How values of one kind are written and read; `first` is what place 0 is called."""

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
    """Values of one kind, at most so many, with a sign between. twice: one may come again."""

    def read(text: str) -> tuple:
        values = tuple(map(one.read, text.split(between, most)))
        if len(values) > most or not (twice or len(set(values)) == len(values)):
            raise LinkError
        return values

    return Kind(lambda values: between.join(map(one.write, values)), read, one.first)


def up_to(most: int, least: int = 1) -> Kind:
    return Kind(str, lambda text: whole(text, least, most))


def moved(value: Any, by: int) -> Any:
    """Places, single or in tuples, counted from `by` more; anything else as it is where `by` is 0."""
    if by == 0 or value is None:
        return value
    return tuple(moved(part, by) for part in value) if isinstance(value, tuple) else value + by


# -- numbers, words, drawings ------------------------------------------------------------------------------


def whole(text: str, least: int = 0, most: int = MOST_NUMBER) -> int:
    """A whole number in these limits. Raises LinkError."""
    if not (text.isascii() and text.isdigit() and len(text) <= len(str(most)) and least <= int(text) <= most):
        raise LinkError
    return int(text)


def read_place(text: str) -> int:
    """A place, counted from 1 in the text and from 0 here."""
    return whole(text, 1) - 1


def read_pair(text: str) -> tuple[int, int]:
    """Two places: 2.5 is head 5 of layer 2."""
    first, _, second = text.partition(".")
    return read_place(first), read_place(second)


def read_sentence(text: str) -> str:
    """A sentence as long as one may be; of a longer one its beginning, with the LinkError."""
    if len(text) > MOST_CHARACTERS:
        raise LinkError("link_long", text[:MOST_CHARACTERS])
    return text


def read_amount(text: str) -> float:
    """A number by which something is multiplied, or at which it is held."""
    if not abs(value := float(text)) <= MOST_AMOUNT:  # NaN neither
        raise LinkError
    return value


def read_name(text: str) -> str:
    """The name of a part of a page or of a quantity; a page that has no such part takes its first."""
    if not re.fullmatch(r"[\w.]{1,40}", text, re.ASCII):
        raise LinkError
    return text


def read_class(text: str) -> str:
    """The code of a class, as people type it: small letters will do."""
    if not re.fullmatch(r"[A-HJ-NP-Z]{6}", code := text.strip().upper(), re.ASCII):
        raise LinkError
    return code


def read_code(text: str) -> str:
    """A name, or a code in which something longer is packed."""
    if not re.fullmatch(r"[\w-]+", text, re.ASCII):
        raise LinkError
    return text


def read_drawing(code: str) -> bytes:
    """A drawing of its code."""
    try:
        return sketch.from_code(code)
    except sketch.DrawingError as error:
        raise LinkError("drawing_code") from error


TEXT = Kind(str, read_sentence)
NAME = Kind(str, read_name)
CLASS = Kind(str, read_class)
CODE = Kind(str, read_code)
AMOUNT = Kind(str, read_amount)
FLAG = Kind(  # 1 and 0 are what people type by hand
    lambda value: str(value).lower(), lambda text: one_of("true", "false", "1", "0").read(text) in ("true", "1")
)
PLACE = Kind(lambda place: str(place + 1), read_place, first=1)
PLACES = several(PLACE, ".")
NAMES = several(NAME, "~")
HIDDEN = Kind(
    lambda places: PLACES.write(places) or "none", lambda text: () if text == "none" else PLACES.read(text), 1
)
IDS = several(Kind(str, whole), ".", twice=True)  # of pieces, which count from 0 everywhere
PAIRS = several(Kind(PLACES.write, read_pair, first=1), "_")
DRAWING = Kind(sketch.to_code, read_drawing)


# -- edits -----------------------------------------------------------------------------------------------

EDIT_TYPES = get_type_hints(Edit)


def edit_code(edit: Edit) -> str:
    """An edit as it stands in a link: `layers.2.attention.heads~zero~head.4`; heads and tokens are counted from 1.

    The key and the operation, then each other field that is not at its default.
    """
    parts = [edit.key, edit.operation]
    for field in fields(edit)[2:]:
        if (value := getattr(edit, field.name)) != field.default:
            parts.append(f"{field.name}.{_part_code(EDIT_TYPES[field.name], value)}")
    return "~".join(part.replace("%", "%25").replace("~", "%7E") for part in parts)


def edit_from_code(code: str) -> Edit:
    """The way back. Raises ValueError for what `edit_code` does not write, and for what fits into no decoder.

    What fits into an encoder is seen when it runs: they differ, while the decoder is one, and waits for its page.
    """
    key, operation, *parts = [unquote(part) for part in code.split("~")] if "~" in code else [code, ""]
    if not (re.fullmatch(r"[\w{}]+(\.[\w{}]+)*", key, re.ASCII) and re.fullmatch(r"\w+", operation, re.ASCII)):
        raise LinkError
    values: dict[str, Any] = {}
    for name, _, text in (part.partition(".") for part in parts):
        if name not in EDIT_TYPES or name in ("key", "operation", *values):
            raise LinkError
        values[name] = _part_from_code(EDIT_TYPES[name], text)
    edit = Edit(key, operation, **values)
    if key.startswith("decoder."):
        check(edit, graph(PRESETS["text"], DECODER))
    return edit


def _part_code(kind: object, value: Any) -> str:
    if kind == int | None:
        return PLACE.write(value)
    if kind in (int, float):
        return str(value)
    if isinstance(value, bytes):  # another picture: a ready one by its name, else the file, or the ink of a drawing
        if (name := next((name for name in pictures.READY if pictures.ready(name) == value), None)) is not None:
            return f"picture.{name}"
        return f"ink.{sketch.to_code(value)}"
    return f"text.{value}"


def _part_from_code(kind: object, text: str) -> Any:
    if kind == int | None:
        return read_place(text)
    if kind is int:
        return whole(text)
    if kind is float:
        if not abs(value := float(text)) <= MOST_NUMBER:  # NaN neither
            raise LinkError
        return value
    written_as, _, text = text.partition(".")
    if written_as == "text":
        if len(text) > MOST_CHARACTERS:  # of a part of a value, the beginning is of no use
            raise LinkError
        return text
    if written_as == "picture" and text in pictures.READY:
        return pictures.ready(text)
    if written_as != "ink":
        raise LinkError
    return sketch.bytes_of(text, MOST_CODE)


EDITS = several(Kind(edit_code, edit_from_code), "~~", twice=True, most=MOST_EDITS)
