"""The choice: everything that decides what is on the screen, as one frozen value, written to links and read from them.

A page is a function of the choice and its trace. Each field says how it is written in a link, by a kind of
`link_values.py`. Nothing here knows Streamlit.
"""

import dataclasses
import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any, Self

from model import Edit
from model.activations import OF_LAYERS
from model.config import PRESETS, EncoderConfig
from model.decoder import TARGET_LANGUAGES
from model.measures.learning import SNAPSHOTS
from model.measures.scaling import WIDTHS
from model.translator import Language
from pages.drawing.state import images, sketch
from pages.drawing.state.goal import GOAL, Goal
from pages.drawing.state.link_values import (
    CLASS,
    CODE,
    DRAWING,
    EDITS,
    FLAG,
    HIDDEN,
    IDS,
    MOST_CODE,
    MOST_NUMBER,
    NAME,
    PLACE,
    PLACES,
    TEXT,
    Kind,
    LinkError,
    one_of,
    several,
    up_to,
)
from pages.drawing.state.offered import could_add, of_pictures, offered, reads_pictures, sizes, sizes_of_decoder
from pages.drawing.text import LANGUAGES

SYMBOLS = ("ours", "000", "001", "004")  # for equations: ours, or those of a lecture note
#: Input kind -> the pipeline that reads it.
PIPELINES = {"sentence": "text", "digit": "digits", "flat": "flat"}
OUR_TRANSLATOR = "translation"
#: Suffix of a pipeline's name: the same network before training.
TWIN = "-untrained"
#: Suffix before the number of a snapshot of the digits' training.
AFTER = "-after-"
#: Suffix for all of an offered translator; its name alone means its encoder.
TRANSLATOR = "-translator"
#: Another input kind: colour pictures, which only offered checkpoints read.
PICTURE = "picture"
#: Input kind -> the field of Choice with the other input, to compare with.
OTHER = {"sentence": "other", "digit": "other_drawing", "flat": "other_drawing", PICTURE: "other_picture"}
MODELS = ("trained", "paper")
#: What pictures show: this run with its edits ("changed"). With edits also: the run without them, and the difference.
#: With another input also: both runs, the other run, and the difference from it.
WITH_EDITS, WITH_OTHER = ("original", "difference"), ("beside", "other", "against")
SHOWN = ("changed", *WITH_EDITS, *WITH_OTHER)
#: Which part of attention is shown for two sentences: from A to A, from A to B, …
BETWEEN = ("all", "AA", "AB", "BA", "BB")
#: How a change is measured: how much probability it moves, or by how much one output leads another.
MEASURES = ("moved", "lead")
MOST_BEAMS = 4  # of a translation
MOST_SHOWN = 40  # characters of a value that a link cannot have
#: What a link can hide on each page; "bare" hides all.
HIDEABLE = ("strip", "chips", "controls", "input", "layer", "head", "depth", "parts", "next", "downloads", "bare")
#: The sizes that can be set in Shapes and cost -> the largest value that the box takes.
SIZES = {"layers": 96, "heads": 128, "d_model": 16_384, "d_ff": 65_536, "vocab_size": 500_000}
MOST_TOKENS, MOST_INPUTS = 1_000_000, 4096
#: Names in old links -> names now.
FORMER = {"panel": "tab"}


@dataclass(frozen=True)
class Problem:
    """A value of a link that cannot be used: its name, its beginning, and the reason, for the text `error.{reason}`.

    The default replaces it; for "link_long", the beginning of the sentence.
    """

    name: str
    value: str
    reason: str = "link"


def read_model(text: str) -> str:
    """The name of a model. Raises LinkError for one that is not offered."""
    if text not in (*MODELS, *offered()) and not could_add(text):
        raise LinkError("link_model" if re.fullmatch(r"[\w.-]+", text, re.ASCII) else "link")
    return text


def read_input(text: str) -> str:
    """A kind of input. Raises LinkError, also for pictures where no model reads them."""
    if text not in PIPELINES and not (text == PICTURE and of_pictures()):
        raise LinkError
    return text


def linked(kind: Kind, default: Any = None, name: str | None = None, *, always: bool = False) -> Any:
    """A field that is written in a link. name: there, if another. always: written even at its default."""
    return dataclasses.field(default=default, metadata={"kind": kind, "name": name, "always": always})


@dataclass(frozen=True)
class CostSettings:
    """The encoder that Shapes and cost computes for: the network of the other pages ("here") or a preset (`base`), with
    any sizes that are given.
    """

    base: str | None = linked(one_of("here", *PRESETS))
    layers: int | None = linked(up_to(SIZES["layers"]), name="N")
    heads: int | None = linked(up_to(SIZES["heads"]), name="h")
    d_model: int | None = linked(up_to(SIZES["d_model"]))
    d_ff: int | None = linked(up_to(SIZES["d_ff"]))
    vocab_size: int | None = linked(up_to(SIZES["vocab_size"]), name="vocab")
    activation: str | None = linked(one_of(*OF_LAYERS))
    norm: str | None = linked(one_of("after", "before"))
    n: int | None = linked(up_to(MOST_TOKENS))  # tokens; None: as many as the present input has
    batch: int = linked(up_to(MOST_INPUTS), 1)

    @property
    def of(self) -> str:
        """The base. Old links with sizes but no base mean note 004."""
        return self.base or ("here" if self == CostSettings() else "004")


@dataclass(frozen=True)
class Choice:
    """What the reader chose; every page draws from it. Places count from 0; None: not chosen, so a default.

    A link holds the values in this order.
    """

    lang: str = linked(one_of(*LANGUAGES), "en", always=True)
    # the run
    # Our encoder, the paper's base size untrained, or an offered folder by name. Pictures need a folder, which a link
    # must name before the input.
    model: str = linked(Kind(str, read_model), "trained")
    input: str = linked(Kind(str, read_input), "sentence", always=True)
    sentence: str = linked(TEXT, "", "s", always=True)
    drawing: bytes | None = linked(DRAWING, name="ink")  # digit and flat: what was drawn, as sketch.grey reads it
    picture: str = linked(one_of(*images.PICTURES), images.READY[0])
    photo: bytes | None = None  # the visitor's own picture, a file's bytes; in no link
    edits: tuple[Edit, ...] = linked(EDITS, ())
    into: Language | None = linked(one_of(*TARGET_LANGUAGES))  # the language to translate into
    other: str | None = linked(TEXT)  # a second sentence to compare with, and to take vectors from
    other_drawing: bytes | None = linked(DRAWING, name="other_ink")  # the same for a drawing
    other_picture: str | None = linked(one_of(*images.READY, images.PAD))  # and for a picture: a ready one
    # Digits: the snapshot of training that reads them, from 1; None: the finished network
    learned: int | None = linked(up_to(SNAPSHOTS - 1))
    twin: bool = linked(FLAG, False)  # compare with the untrained network in place of another input
    # the place
    layer: int = linked(PLACE, 0, always=True)
    head: int = linked(PLACE, 0, always=True)
    token: int | None = linked(PLACE)  # the selected token: a row of a map, the query
    key: int | None = linked(PLACE)  # the token attended to: a column
    distance: int | None = linked(PLACE)  # between two tokens: 0 is the furthest before
    component: int | None = linked(PLACE)  # along d_model
    part: int | None = linked(PLACE)  # along d_k, within a head
    neuron: int | None = linked(PLACE)
    # Hidden words; None: only the one that our first sentence hides
    hidden: tuple[int, ...] | None = linked(HIDDEN)
    output: int | None = linked(up_to(MOST_NUMBER, least=0))  # the id of a word, or a class, whose logit is shown
    against: int | None = linked(up_to(MOST_NUMBER, least=0))  # another one, over which `output` leads
    branch: tuple[int, ...] = linked(PLACES, ())  # Answer: the path from the whole lead to its open part
    # Translation: a step of the decoder
    step: int | None = linked(PLACE)
    forced: tuple[int, ...] = linked(IDS, ())  # ids of the pieces that the translation must begin with
    # The translation on the screen: 0 the greedy one, 1 the best of the beam, 2 the second, …
    beam: int = linked(up_to(MOST_BEAMS, least=0), 1)
    tab: str | None = linked(NAME)  # the open one
    stage: str | None = linked(NAME)  # the quantity in focus: "scores", "Q", …
    block: str | None = linked(NAME)  # the part of the decoder shown: "cross", "ffn", …
    # the look
    big: bool = linked(FLAG, False)  # a presentation
    # Parts that are hidden. Only a link sets it; only the browser heeds it (start.js, style.css).
    hide: tuple[str, ...] = linked(several(one_of(*HIDEABLE), ","), ())
    symbols: str = linked(one_of(*SYMBOLS), "ours")  # of equations
    shown: str = linked(one_of(*SHOWN), "changed")  # which run the pictures show
    as_: str | None = linked(NAME, name="as")  # attention
    d_k: int = linked(
        Kind(str, lambda text: int(one_of(*map(str, WIDTHS)).read(text))), 64
    )  # Attention: of random vectors
    between: str = linked(one_of(*BETWEEN), "all")  # which part of attention is shown for two sentences
    why: bool = linked(FLAG, False)  # explain a score's size in place of its arithmetic
    sublayer: int = linked(up_to(2), 1)  # Add & Norm: 1 after attention, 2 after the FFN
    tau: int = linked(up_to(50), 10)  # Answer: the temperature of softmax, in tenths
    several: bool = linked(FLAG, False)  # Answer: hide more than one word
    # What if: how changes are measured, by the answer or by the lead of `output` over `against`
    measure: str | None = linked(one_of(*MEASURES))
    walk: int | None = linked(PLACE)  # Shapes and cost: the step worked out by hand
    lesson: str | None = linked(CODE)  # the name of one of ours, or all of a teacher's own
    question: str | None = linked(NAME)  # of the lesson: the open one; "end" after the last
    goal: Goal | None = linked(GOAL)  # a homework task: each page says how far this link is from it
    of_class: str | None = linked(CLASS, name="class")  # the code of the class that the reader teaches or attends
    role: str | None = linked(one_of("notes"))  # of Class: the teacher's second window
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
        """Whether an offered checkpoint reads the input."""
        return self.input == PICTURE or (self.input == "sentence" and self.model not in MODELS)

    @property
    def beside_twin(self) -> bool:
        """Whether this run is compared with the untrained twin's, which only our trained networks have."""
        return self.twin and not (self.paper or self.checkpoint)

    @property
    def pipeline(self) -> str:
        """The name of the pipeline that reads this input."""
        if self.checkpoint:
            return self.model
        if self.learning is not None:
            return f"{PIPELINES[self.input]}{AFTER}{self.learning}"
        return "untrained" if self.paper else PIPELINES[self.input]

    @property
    def translator(self) -> str:
        """The pipeline that translates: the checkpoint that reads the sentence, if it can; else ours."""
        writes = self.input == "sentence" and self.checkpoint and sizes_of_decoder(self.model)
        return f"{self.model}{TRANSLATOR}" if writes else OUR_TRANSLATOR

    @property
    def learning(self) -> int | None:
        """The snapshot of training that reads a digit, from 0; None: the finished network."""
        return self.learned - 1 if self.input == "digit" and self.learned else None

    @property
    def ink(self) -> bytes | None:
        """The drawing as 28 × 28 grey values; None where there is no digit."""
        return ink_of(self.drawing)

    @property
    def subject(self) -> str | bytes:
        """The input as the pipeline takes it."""
        if self.input == PICTURE:
            return self._seen(self.picture)
        return self.sentence if self.input == "sentence" else (self.ink or b"")

    @property
    def other_subject(self) -> str | bytes | None:
        """The other input as the pipeline takes it; None where there is none."""
        if self.input == PICTURE:
            return self.other_picture and self._seen(self.other_picture)
        return (self.other or None) if self.input == "sentence" else ink_of(self.other_drawing)

    def _seen(self, picture: str) -> bytes:
        """The file of a picture by its name; for the visitor's own, if it is missing, the first ready one."""
        if picture == images.OWN:
            return self.photo or images.ready(images.READY[0])
        if picture == images.PAD:
            return images.of_drawing(self.drawing or sketch.example())
        return images.ready(picture)

    def with_a_reader(self) -> Self:
        """A copy whose model reads its input: a model of pictures changes the input to a picture."""
        if self.input == "sentence" and reads_pictures(self.model):
            return replace(self, input=PICTURE)
        if self.input == PICTURE and not reads_pictures(self.model):
            return replace(self, model=next(iter(of_pictures()), self.model))
        return self

    def fitted(self, config: EncoderConfig, tokens: int, target: int | None = None) -> Self:
        """A copy with all places inside a run of `tokens` tokens through this encoder.

        For a translation: config is the decoder's, `target` how many target tokens it reads.
        """

        def last(place: int | None, count: int) -> int | None:
            return None if place is None else min(place, count - 1)

        outputs = config.classes or config.vocab_size
        return replace(
            self,
            layer=min(self.layer, config.layers - 1),
            head=min(self.head, config.heads - 1),
            token=last(self.token, tokens),
            key=last(self.key, max(tokens, target or 0)),
            distance=last(self.distance, 2 * tokens - 1),
            component=last(self.component, max(config.d_model, config.embedded)),
            part=last(self.part, config.d_k),
            neuron=last(self.neuron, config.d_ff),
            hidden=None if self.hidden is None else tuple(place for place in self.hidden if place < tokens),
            step=self.step if target is None else last(self.step, target),
            output=self.output if self.output is not None and self.output < outputs else None,
            against=self.against if self.against is not None and self.against < outputs else None,
        )

    # -- to a link and back ------------------------------------------------------------------------

    def to_link(self) -> dict[str, str]:
        """Name -> value, in the order of FIELDS, without defaults but for fields that are `always` written."""
        values = ((field, field.of(self)) for field in FIELDS)
        return {field.name: field.kind.write(v) for field, v in values if field.always or v != field.default}

    @classmethod
    def from_link(cls, link: Mapping[str, str]) -> tuple[Self, tuple[Problem, ...]]:
        """The choice in a link, and the values that cannot be used. Never raises, whatever the link holds."""
        link, values = renamed(link), dict[str, object]()
        problems: list[Problem] = []

        def refuse(name: str, reason: str = "link") -> None:
            problems.append(Problem(name, link.get(name, "")[:MOST_SHOWN], reason))

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
        folder = offered().get(choice.model)
        if choice.checkpoint and folder is None:  # withdrawn since `read_model`, for another visitor
            refuse("model", "link_model")
            choice = replace(choice, model="trained", input="sentence")
        if choice.checkpoint and folder:
            config = sizes(folder) or PRESETS["text"]
        else:
            config = PRESETS["004" if choice.paper else PIPELINES[choice.input]]
        decoder = (choice.checkpoint and sizes_of_decoder(choice.model)) or config  # a decoder may be deeper
        for name in ("layer", "head"):
            if getattr(choice, name) >= max(getattr(config, f"{name}s"), getattr(decoder, f"{name}s")):
                refuse(name)
                choice = replace(choice, **{name: 0})
        return choice, tuple(problems)


def renamed(link: Mapping[str, str]) -> dict[str, str]:
    """A link with old names replaced by those of now."""
    return {FORMER.get(name, name): text for name, text in link.items()}


def ink_of(drawing: bytes | None) -> bytes | None:
    """A drawing as 28 × 28 grey values; None where there is no digit."""
    try:
        return sketch.ink(drawing) if drawing else None
    except sketch.DigitError:
        return None


def built(cls: type, values: Mapping[str, object]) -> Any:
    """A dataclass from values by path; "cost.n" is the `n` of its `cost`."""
    own = {path: value for path, value in values.items() if "." not in path}
    inner: dict[str, dict[str, object]] = defaultdict(dict)
    for path in values.keys() - own.keys():
        name, _, rest = path.partition(".")
        inner[name][rest] = values[path]
    return cls(**own, **{name: built(type(getattr(cls, name)), parts) for name, parts in inner.items()})


@dataclass(frozen=True)
class Field:
    """One value of Choice in a link.

    path: in Choice; "cost.n" is the n of its cost. name: in the link. always: written even at its default.
    """

    path: str
    name: str
    kind: Kind
    always: bool
    default: Any

    def of(self, choice: Choice) -> Any:
        return attrgetter(self.path)(choice)


def _fields(of: type, path: str = "") -> list[Field]:
    """The linked fields of a dataclass, including those of dataclasses in it."""
    found = []
    for field in dataclasses.fields(of):
        name, about = field.name, field.metadata
        if about:
            found.append(Field(path + name, about["name"] or name, about["kind"], about["always"], field.default))
        elif dataclasses.is_dataclass(field.default):
            found += _fields(type(field.default), f"{name}.")
    return found


FIELDS = _fields(Choice)
