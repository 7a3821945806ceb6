"""One choice: everything that decides what is on screen, as one frozen value that goes to a link and comes back.

A page is a function of the choice and its trace; a link is the choice written down. FIELDS says for each value how it
stands in a link. Links count from 1, as people count; code counts from 0. Nothing here knows Streamlit.
"""

import base64
import re
import zlib
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from operator import attrgetter
from typing import Any, Self, get_type_hints
from urllib.parse import unquote

from model import Edit
from model.changes import check
from model.config import DECODER, PRESETS, EncoderConfig
from model.graph import graph
from model.translator import Language
from pages.ui.drawing import pictures, sketch
from pages.ui.offered import of_pictures, offered, reads_pictures, sizes

LANGUAGES = ("en", "zh")
DEPTHS = ("story", "numbers", "formula", "code")
DEPTH = "story"  # where a new visitor begins
#: Input kind -> the pipeline that reads it.
PIPELINES = {"sentence": "text", "digit": "digits", "flat": "flat"}
#: Beside these, colour pictures, which only offered checkpoints read.
PICTURE = "picture"
#: Which field of Choice holds the other input that one of each kind is compared with.
OTHER = {"sentence": "other", "digit": "other_drawing", "flat": "other_drawing", PICTURE: "other_picture"}
MODELS = ("trained", "paper")
#: What pictures show: this run (with its edits); with edits also the run without, and what they change; with another
#: input also both beside each other, the run of that, and by how much this run differs from it.
SHOWN = ("changed", "original", "difference", "beside", "other", "against")
#: From which of two sentences to which attention is shown: A looks at A, A at B, …
BETWEEN = ("all", "AA", "AB", "BA", "BB")
MOST_CHARACTERS = 400  # of a sentence
MOST_EDITS = 16
MOST_CODE = 8000  # characters of any other value in a link
MOST_NUMBER = 999_999
MOST_BEAMS = 4  # of a translation
MOST_SHOWN = 40  # characters of a value that cannot be had
#: The sizes of an encoder that can be set in Shapes and cost, each with the largest value that its box takes.
SIZES = {"layers": 96, "heads": 128, "d_model": 16_384, "d_ff": 65_536, "vocab_size": 500_000}
MOST_TOKENS, MOST_INPUTS = 1_000_000, 4096


@dataclass(frozen=True)
class Problem:
    """What a link asks for and cannot be had: its name there, the value (its beginning), and the text `error.{reason}`.

    "link" and "drawing_code": the default stands instead; "link_long": the beginning of the sentence.
    """

    name: str
    value: str
    reason: str = "link"


class LinkError(ValueError):
    """A value that nobody can have chosen; `instead` is what stands in its place, if not the default."""

    def __init__(self, reason: str = "link", instead: object = None) -> None:
        super().__init__(reason)
        self.reason, self.instead = reason, instead


@dataclass(frozen=True)
class CostSettings:
    """What Shapes and cost computes for: a preset (`base`), or, where a size is given, an encoder of one's own."""

    base: str = "004"
    layers: int | None = None
    heads: int | None = None
    d_model: int | None = None
    d_ff: int | None = None
    vocab_size: int | None = None
    activation: str | None = None  # relu, gelu
    norm: str | None = None  # after, before
    n: int | None = None  # tokens, where `length` is "any"
    batch: int = 1
    written: str = "numbers"  # shapes in numbers or letters
    scale: str = "log"  # of the curves: log, linear
    length: str = "this"  # n is that of the present input, or any


@dataclass(frozen=True)
class Choice:
    """What the reader has chosen; every page draws from this. Places count from 0; None: not chosen, so a default."""

    # the run
    input: str = "sentence"
    model: str = "trained"  # who reads a sentence: our encoder, the paper's base size untrained, or a folder's by name;
    # or who reads a picture: always a folder's
    sentence: str = ""
    drawing: bytes | None = None  # digit and flat: what was drawn, as sketch.grey reads it
    picture: str = pictures.READY[0]  # of pictures.PICTURES
    photo: bytes | None = None  # the visitor's own picture, a file's bytes; in no link
    edits: tuple[Edit, ...] = ()
    into: Language | None = None  # the language to translate into
    other: str | None = None  # a second sentence to compare with, and to take vectors from
    other_drawing: bytes | None = None  # the same for a drawing
    other_picture: str | None = None  # and for a picture: a ready one
    # the place
    layer: int = 0
    head: int = 0
    token: int | None = None  # the selected token: a row of a map, the one that looks
    key: int | None = None  # the token looked at: a column
    component: int | None = None  # along d_model
    part: int | None = None  # along d_k, within a head
    neuron: int | None = None
    hidden: tuple[int, ...] | None = None  # words put behind [MASK]; (): none shall be
    output: int | None = None  # the id of a word, or a class: its logit is worked out
    against: int | None = None  # a second one: by how much the first logit leads this one
    step: int | None = None  # of the writing of a translation: a place in what the decoder reads
    forced: tuple[int, ...] = ()  # the pieces that a translation begins with, by their ids
    beam: int = 1  # which translation is on screen: the best of the beam, the second, …; 0 is the greedy one
    panel: str | None = None  # the part of a page that is on the screen
    stage: str | None = None  # the quantity in focus, of those that a page shows: "scores", "Q", …
    block: str | None = None  # the part of the decoder whose quantities are shown: "cross", "ffn", …
    # the look
    lang: str = "en"
    depth: str = DEPTH
    big: bool = False
    shown: str = "changed"  # of SHOWN: which run the pictures show
    range: str = "head"  # what a colour scale covers: this head, this layer, all layers
    as_: str | None = None  # attention as a map, a row, or lines
    least: int = 2  # hundredths: as lines, what gets less is not drawn
    between: str = "all"  # of BETWEEN: which part of attention is shown where there are two sentences
    hide_special: bool = False  # leave [CLS] and [SEP] out of the pictures
    sublayer: int = 1  # of Add & Norm: 1 after attention, 2 after the FFN
    order: str = "most"  # which neurons: the most active, all, all sorted
    subset: tuple[tuple[int, int], ...] = ()  # (layer, head) pairs whose average Heads shows
    every_layer: bool = False  # Heads: those of all layers
    penalty: int = 60  # hundredths: how much a longer translation is favoured
    decoder: bool = False  # Home: draw the decoder, too
    cost: CostSettings = CostSettings()

    def with_(self, **changes: object) -> Self:
        """A copy with these values changed."""
        return replace(self, **changes)

    # -- what follows from it ----------------------------------------------------------------------

    @property
    def paper(self) -> bool:
        """Whether the paper's base size, untrained, reads the sentence."""
        return self.input == "sentence" and self.model == "paper"

    @property
    def checkpoint(self) -> bool:
        """Whether somebody else's encoder reads the sentence or the picture."""
        return self.input == PICTURE or (self.input == "sentence" and self.model not in MODELS)

    @property
    def pipeline(self) -> str:
        """The name of the pipeline that reads this input."""
        if self.checkpoint:
            return self.model
        return "untrained" if self.paper else PIPELINES[self.input]

    @property
    def ink(self) -> bytes | None:
        """What was drawn, prepared as 28 × 28 grey values; None where there is no digit."""
        return ink_of(self.drawing)

    @property
    def subject(self) -> str | bytes:
        """What the pipeline is given."""
        if self.input == PICTURE:
            return self._seen(self.picture)
        return self.sentence if self.input == "sentence" else (self.ink or b"")

    @property
    def other_subject(self) -> str | bytes | None:
        """The other input, as the pipeline is given it; None where there is none."""
        if self.input == PICTURE:
            return self.other_picture and self._seen(self.other_picture)
        return (self.other or None) if self.input == "sentence" else ink_of(self.other_drawing)

    def _seen(self, picture: str) -> bytes:
        """A picture by its name, as a file's bytes; without a file of the visitor's own, the first ready one."""
        if picture == pictures.OWN:
            return self.photo or pictures.ready(pictures.READY[0])
        if picture == pictures.PAD:
            return pictures.of_drawing(self.drawing or sketch.example())
        return pictures.ready(picture)

    def at_least(self, depth: str) -> bool:
        """True where the depth dial stands at `depth` or deeper."""
        return DEPTHS.index(self.depth) >= DEPTHS.index(depth)

    def at(self, stage: str) -> str:
        """A key like "layers.{l}.attention.Q" in the chosen layer."""
        return stage.replace("{l}", str(self.layer))

    def with_a_reader(self) -> Self:
        """The same choice with a model that reads such an input; who names a model of pictures means a picture."""
        if self.input == "sentence" and reads_pictures(self.model):
            return replace(self, input=PICTURE)
        if self.input == PICTURE and not reads_pictures(self.model):
            return replace(self, model=of_pictures()[0])
        return self

    def fitted(self, config: EncoderConfig, tokens: int, target: int | None = None) -> Self:
        """The same choice with no place outside a run of `tokens` tokens through an encoder of that configuration.

        Of a translation: a decoder's configuration, and how many tokens of the target it reads.
        """

        def last(place: int | None, count: int) -> int | None:
            return None if place is None else min(place, count - 1)

        outputs = config.classes if config.head == "classifier" else config.vocab_size
        return replace(
            self,
            layer=min(self.layer, config.layers - 1),
            head=min(self.head, config.heads - 1),
            token=last(self.token, tokens),
            key=last(self.key, max(tokens, target or 0)),
            component=last(self.component, max(config.d_model, config.embedded)),
            part=last(self.part, config.d_k),
            neuron=last(self.neuron, config.d_ff),
            hidden=None if self.hidden is None else tuple(place for place in self.hidden if place < tokens),
            step=self.step if target is None else last(self.step, target),
            output=self.output if self.output is not None and self.output < outputs else None,
            against=self.against if self.against is not None and self.against < outputs else None,
            subset=tuple((layer, head) for layer, head in self.subset if layer < config.layers and head < config.heads),
        )

    # -- to a link and back ------------------------------------------------------------------------

    def to_link(self) -> dict[str, str]:
        """Name -> value, in the order of FIELDS; what is at its default is left out, except where a field says not."""
        values = ((field, field.of(self)) for field in FIELDS)
        return {field.name: field.kind.write(v) for field, v in values if field.always or v != field.default}

    @classmethod
    def from_link(cls, link: Mapping[str, str]) -> tuple[Self, tuple[Problem, ...]]:
        """The choice that a link holds, and what in it cannot be had. Whatever a link holds, nothing is raised."""
        values: dict[str, object] = {}
        problems: list[Problem] = []

        def refuse(name: str, reason: str = "link") -> None:
            problems.append(Problem(name, link[name][:MOST_SHOWN], reason))

        for field in FIELDS:
            if (text := link.get(field.name)) is None:
                continue
            try:
                if len(text) > MOST_CODE and field.name != "s":
                    raise LinkError
                values[field.path] = field.kind.read(text)
            except LinkError as error:
                refuse(field.name, error.reason)
                if error.instead is not None:
                    values[field.path] = error.instead
            except ValueError:
                refuse(field.name)
        choice = built(cls, values).with_a_reader()
        if choice.checkpoint:
            config = sizes(offered()[choice.model]) or PRESETS["text"]
        else:
            config = PRESETS["004" if choice.paper else choice.pipeline]
        for name, most in (("layer", config.layers), ("head", config.heads)):
            if getattr(choice, name) >= most:
                refuse(name)
                choice = replace(choice, **{name: 0})
        return choice, tuple(problems)


def ink_of(drawing: bytes | None) -> bytes | None:
    """A drawing as 28 × 28 grey values; None where there is no digit."""
    try:
        return sketch.ink(drawing) if drawing else None
    except sketch.DigitError:
        return None


def built(cls: type, values: Mapping[str, object]) -> Any:
    """The dataclass with these values; "cost.n" is the `n` of its `cost`."""
    own = {path: value for path, value in values.items() if "." not in path}
    inner: dict[str, dict[str, object]] = defaultdict(dict)
    for path in values.keys() - own.keys():
        name, _, rest = path.partition(".")
        inner[name][rest] = values[path]
    return cls(**own, **{name: built(type(getattr(cls, name)), parts) for name, parts in inner.items()})


def moved(value: Any, by: int) -> Any:
    """Places, single or in tuples, counted from `by` more; anything else as it is where `by` is 0."""
    if by == 0 or value is None:
        return value
    return tuple(moved(part, by) for part in value) if isinstance(value, tuple) else value + by


# -- how values of one kind are written and read ---------------------------------------------------------


def whole(text: str, least: int = 0, most: int = MOST_NUMBER) -> int:
    """A whole number in these limits. Raises LinkError."""
    if not (text.isascii() and text.isdigit() and len(text) <= len(str(most)) and least <= int(text) <= most):
        raise LinkError
    return int(text)


def read_place(text: str) -> int:
    """A place, counted from 1 in the text and from 0 here."""
    return whole(text, 1) - 1


def read_model(text: str) -> str:
    """Who reads a sentence."""
    if text not in (*MODELS, *offered()):
        raise LinkError("link_model" if re.fullmatch(r"[\w.-]+", text, re.ASCII) else "link")
    return text


def read_input(text: str) -> str:
    """A kind of input; of pictures only where there is somebody to read them."""
    if text not in PIPELINES and not (text == PICTURE and of_pictures()):
        raise LinkError
    return text


def read_pair(text: str) -> tuple[int, int]:
    """Two places: 2.5 is head 5 of layer 2."""
    first, _, second = text.partition(".")
    return read_place(first), read_place(second)


def read_sentence(text: str) -> str:
    """A sentence as long as one may be; of a longer one its beginning, with the LinkError."""
    if len(text) > MOST_CHARACTERS:
        raise LinkError("link_long", text[:MOST_CHARACTERS])
    return text


def read_name(text: str) -> str:
    """The name of a part of a page or of a quantity; a page that has no such part takes its first."""
    if not re.fullmatch(r"\w{1,40}", text, re.ASCII):
        raise LinkError
    return text


def read_drawing(code: str) -> bytes:
    """A drawing of its code."""
    try:
        return sketch.from_code(code)
    except sketch.DrawingError as error:
        raise LinkError("drawing_code") from error


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
        return "ink." + base64.urlsafe_b64encode(zlib.compress(value, 9)).decode().rstrip("=")
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
        return read_sentence(text)
    if written_as == "picture" and text in pictures.READY:
        return pictures.ready(text)
    if written_as != "ink":
        raise LinkError
    try:
        packed = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        return zlib.decompressobj().decompress(packed, MOST_CODE)
    except zlib.error as error:
        raise LinkError from error


# -- what stands in a link --------------------------------------------------------------------------------


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


TEXT = Kind(str, read_sentence)
NAME = Kind(str, read_name)
FLAG = Kind(lambda value: str(value).lower(), lambda text: one_of("true", "false").read(text) == "true")
PLACE = Kind(lambda place: str(place + 1), read_place, first=1)
PLACES = several(PLACE, ".")
HIDDEN = Kind(
    lambda places: PLACES.write(places) or "none", lambda text: () if text == "none" else PLACES.read(text), 1
)
IDS = several(Kind(str, whole), ".", twice=True)  # of pieces, which count from 0 everywhere
PAIRS = several(Kind(PLACES.write, read_pair, first=1), "_")
DRAWING = Kind(sketch.to_code, read_drawing)
EDITS = several(Kind(edit_code, edit_from_code), "~~", twice=True, most=MOST_EDITS)


@dataclass(frozen=True)
class Field:
    """One value of Choice as it stands in a link.

    path: in Choice; "cost.n" is the n of its cost. name: in the link. always: written at its default too.
    """

    path: str
    name: str
    kind: Kind
    always: bool = False

    @property
    def default(self) -> Any:
        return self.of(NOTHING_CHOSEN)

    def of(self, choice: Choice) -> Any:
        return attrgetter(self.path)(choice)


NOTHING_CHOSEN = Choice()

#: Every value of Choice, in the order in which a link holds them.
FIELDS: tuple[Field, ...] = (
    Field("lang", "lang", one_of(*LANGUAGES), always=True),
    Field("input", "input", Kind(str, read_input), always=True),
    Field("model", "model", Kind(str, read_model)),
    Field("sentence", "s", TEXT, always=True),
    Field("drawing", "ink", DRAWING),
    Field("picture", "picture", one_of(*pictures.PICTURES)),
    Field("edits", "edits", EDITS),
    Field("into", "into", one_of(*LANGUAGES)),
    Field("other", "other", TEXT),
    Field("other_drawing", "other_ink", DRAWING),
    Field("other_picture", "other_picture", one_of(*pictures.READY, pictures.PAD)),
    Field("layer", "layer", PLACE, always=True),
    Field("head", "head", PLACE, always=True),
    Field("token", "token", PLACE),
    Field("key", "key", PLACE),
    Field("component", "component", PLACE),
    Field("part", "part", PLACE),
    Field("neuron", "neuron", PLACE),
    Field("hidden", "hidden", HIDDEN),
    Field("output", "output", up_to(MOST_NUMBER, least=0)),
    Field("against", "against", up_to(MOST_NUMBER, least=0)),
    Field("step", "step", PLACE),
    Field("forced", "forced", IDS),
    Field("beam", "beam", up_to(MOST_BEAMS, least=0)),
    Field("panel", "panel", NAME),
    Field("stage", "stage", NAME),
    Field("block", "block", NAME),
    Field("depth", "depth", one_of(*DEPTHS), always=True),
    Field("big", "big", FLAG),
    Field("shown", "shown", one_of(*SHOWN)),
    Field("range", "range", one_of("head", "layer", "all")),
    Field("as_", "as", one_of("map", "row", "lines")),
    Field("least", "least", up_to(100, least=0)),
    Field("between", "between", one_of(*BETWEEN)),
    Field("hide_special", "hide_special", FLAG),
    Field("sublayer", "sublayer", up_to(2)),
    Field("order", "order", one_of("most", "all", "sorted")),
    Field("subset", "subset", PAIRS),
    Field("every_layer", "every_layer", FLAG),
    Field("penalty", "penalty", up_to(200, least=0)),
    Field("decoder", "decoder", FLAG),
    Field("cost.base", "base", one_of(*PRESETS)),
    Field("cost.layers", "N", up_to(SIZES["layers"])),
    Field("cost.heads", "h", up_to(SIZES["heads"])),
    Field("cost.d_model", "d_model", up_to(SIZES["d_model"])),
    Field("cost.d_ff", "d_ff", up_to(SIZES["d_ff"])),
    Field("cost.vocab_size", "vocab", up_to(SIZES["vocab_size"])),
    Field("cost.activation", "activation", one_of("relu", "gelu")),
    Field("cost.norm", "norm", one_of("after", "before")),
    Field("cost.n", "n", up_to(MOST_TOKENS)),
    Field("cost.batch", "batch", up_to(MOST_INPUTS)),
    Field("cost.written", "written", one_of("numbers", "letters")),
    Field("cost.scale", "scale", one_of("log", "linear")),
    Field("cost.length", "length", one_of("this", "any")),
)
