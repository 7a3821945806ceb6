"""The whole network as one drawing: boxes that open pages, and on each arrow the shape of what really passed.

`diagram` makes plain data from a run and its graph, in units of which the encoder is 400 wide; a decoder stands beside
it. `show` puts it on the page as an inline component, since nothing else in Streamlit gives an SVG whose boxes answer
to a keyboard.
"""

from collections.abc import Container, Iterator, Mapping
from dataclasses import asdict, dataclass, replace

import streamlit as st

from model import Trace
from model.config import ACTIVATIONS
from model.graph import SIDES, Graph, Quantity, Sublayer
from model.translator import TranslationTrace
from pages.ui.figures.equations import plain_math
from pages.ui.server.assets import script
from pages.ui.text import plain

WIDTH, BETWEEN = 400, 40  # of one side, and between encoder and decoder
STREAM = 200  # the residual stream runs straight down here …
BYPASS = 44  # … and round the sub-layers here
BOX, GAP = 34, 27  # the height of a box, and the room for an arrow and its shape
FORK = 14  # how far above Q, K and V the stream parts, …
MEMORY = 7  # … and what cross-attention looks at


@dataclass(frozen=True)
class Kind:
    """A kind of box: the page that it opens, and where it stands from left to right. beside: in the row of that one."""

    page: str
    x: float = 112
    width: float = 176
    beside: str | None = None


KINDS: dict[str, Kind] = {
    "tokens": Kind("tokens"),
    "embedding": Kind("tokens"),
    "sum": Kind("tokens", 187, 26),
    "positions": Kind("tokens", 278, 112, beside="sum"),
    "segments": Kind("tokens", 24, 112, beside="sum"),
    "embedding_norm": Kind("tokens"),
    "projection": Kind("tokens"),
    "Q": Kind("queries_keys_values", 70, 76),
    "K": Kind("queries_keys_values", 162, 76, beside="Q"),
    "V": Kind("queries_keys_values", 254, 76, beside="Q"),
    "Q_rotated": Kind("queries_keys_values", 70, 76),
    "K_rotated": Kind("queries_keys_values", 162, 76, beside="Q_rotated"),
    "distances": Kind("queries_keys_values", 116, 76),
    "scores": Kind("attention", 70, 168),
    "mask": Kind("attention", 70, 168),
    "softmax": Kind("attention", 70, 168),
    "heads": Kind("attention", 70, 260),
    "concat": Kind("heads"),
    "layer_scale": Kind("add_and_norm"),
    "add": Kind("add_and_norm"),
    "norm": Kind("add_and_norm"),
    "ffn": Kind("feed_forward"),
    "linear": Kind("answer"),
    "answer": Kind("answer"),
}
#: The last part of a key -> the kind of box in which its quantity is computed.
KIND_OF = {
    **dict.fromkeys(("input", "patches", "row"), "tokens"),
    **dict.fromkeys(("E", "W_E", "tokens"), "embedding"),
    **{name: name[-1] for name in ("W_Q", "W_K", "W_V")},
    **dict.fromkeys(("distance_norm", "W_Q_R", "W_K_R", "Q_distance", "K_distance"), "distances"),
    **dict.fromkeys(("scores", "scaled", "relative", "biased"), "scores"),
    **dict.fromkeys(("Q_R", "K_R", "content_to_content", "content_to_position", "position_to_content"), "scores"),
    **dict.fromkeys(("masked", "weights"), "softmax"),
    **dict.fromkeys(("concat", "output"), "concat"),
    **dict.fromkeys(("first", "second", "cls_logits", "distillation_logits", "logits"), "linear"),
    **dict.fromkeys(("patch_mean", "pooled", "cls_norm", "vector", "patch_logits"), "linear"),
    **dict.fromkeys(("labels", "tags", "of_bounds", "bounds"), "linear"),
}
#: What comes from the right instead of from the left where K and V are made of something else than Q.
MIRRORED = ("Q", "K", "V", "scores", "softmax")


def kind_of(quantity: Quantity) -> str:
    """The kind of box in which a quantity is computed."""
    *path, name = quantity.key.split(".")
    if path[:1] == ["pool"]:
        return "linear"  # all that a probe does behind the layers is one box
    if KIND_OF.get(name) == "distances":
        return "distances"
    if quantity.layer is not None and quantity.operation in ("add", "norm", "layer_scale"):
        return quantity.operation
    if "ffn" in path:
        return "ffn"
    if name == "masked" and ((path[0] == "decoder" and path[-1] == "attention") or quantity.window is not None):
        return "mask"  # elsewhere nothing is hidden, and it is no step of its own
    if path[-1:] == ["embedding"] and name == "norm":
        return "embedding_norm"
    return "linear" if path in (["transform"], ["pooler"]) else KIND_OF.get(name, name)


def page_of(quantity: Quantity) -> str:
    """The page on which a quantity is shown; all of a decoder's layers is on one."""
    return "translation" if quantity.key.startswith("decoder.") else KINDS[kind_of(quantity)].page


@dataclass(frozen=True)
class Box:
    """One operation; it opens `page`, on Add & Norm at `sublayer`. `note` is a second, smaller line."""

    name: str
    kind: str
    page: str
    text: str
    x: float
    y: float
    width: float
    height: float = BOX
    note: str = ""
    sublayer: int | None = None

    @property
    def middle(self) -> float:
        return self.x + self.width / 2

    @property
    def bottom(self) -> float:
        return self.y + self.height


@dataclass(frozen=True)
class Arrow:
    """What one box hands to another: its key, symbol and shape, and where the line runs."""

    start: str
    end: str
    key: str
    symbol: str
    shape: str
    points: tuple[tuple[float, float], ...]
    label: tuple[float, float] | None = None  # where `written` stands; None: symbol and shape are in the hover only
    written: str = ""
    residual: bool = False


@dataclass(frozen=True)
class Frame:
    """Round the block of one side, which is passed N times."""

    x: float
    y: float
    width: float
    height: float

    @property
    def bottom(self) -> float:
        return self.y + self.height


@dataclass(frozen=True)
class Diagram:
    """All that is drawn."""

    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]
    frames: tuple[Frame, ...]
    width: float
    height: float

    def box(self, name: str) -> Box:
        return next(box for box in self.boxes if box.name == name)


def diagram(trace: Trace, layer: int, answer: str = "") -> Diagram:
    """The network that made this trace: its encoder, beside it its decoder if it has one, as its graph says.

    The repeated block carries the shapes of layer `layer` (from 0), or of the last that there is. answer: the best
    guess, written into the last box.
    """
    graph = trace.graph
    sides = [
        _Side(graph, side, min(layer, graph.layers(side) - 1), place * (WIDTH + BETWEEN))
        for place, side in enumerate(SIDES)
        if graph.layers(side)
    ]
    boxes: dict[str, Box] = {}
    arrows: list[Arrow] = []
    frames, times = [], []
    holders = {key: name for side in sides for key, name in side.holders().items()}
    for side in sides:
        unmasked = {edit.key for edit in trace.edits if edit.operation == "unmasked" and edit.head is None}
        placed, frame = _boxes(side, answer, unmasked)
        boxes |= placed
        frames.append(frame)
        times.append(_times(side, frame))
        arrows += _arrows(trace, side, frame, boxes, holders, frames[0].bottom)
    height = max(*(frame.bottom + 24 for frame in frames), *(box.bottom + 6 for box in boxes.values()))
    return Diagram((*boxes.values(), *times), tuple(arrows), tuple(frames), sides[-1].x + WIDTH, height)


@dataclass(frozen=True)
class _Side:
    """The encoder, or the decoder: one of its layers, and what comes before and after them."""

    graph: Graph
    prefix: str  # of its keys
    layer: int
    x: float

    @property
    def sublayers(self) -> tuple[Sublayer, ...]:
        return self.graph.sublayers(self.layer, self.prefix)

    def quantities(self) -> Iterator[Quantity]:
        """Those of the layer, and those outside the layers, in order. The answer stands at the end of all."""
        for quantity in self.graph:
            last = self.graph.decoder is not None and kind_of(quantity) in ("linear", "answer")
            own = (last or quantity.key.startswith("decoder.")) == bool(self.prefix)
            if own and quantity.layer in (None, self.layer):
                yield quantity

    def sublayer(self, key: str) -> Sublayer | None:
        """The sub-layer to which a key belongs."""
        return next((s for s in self.sublayers if key.startswith(s.prefix) or key in (s.output, s.sum, s.norm)), None)

    def name(self, quantity: Quantity) -> str:
        """The box in which a quantity is computed: "tokens", "attention.Q", "decoder.cross.add", …"""
        sublayer, kind = self.sublayer(quantity.key), kind_of(quantity)
        if sublayer is None:
            return self.prefix + kind
        if quantity.key == sublayer.norm and not sublayer.norm_first:
            kind = "add"  # a sum that is normalised at once is one box with its LayerNorm
        return f"{self.prefix}{sublayer.name}.{kind}"

    def holders(self) -> dict[str, str]:
        """Key -> the box that hands it on. One layer stands for all: it reads what the first one reads, and hands on
        what the last one does."""
        held = {quantity.key: self.name(quantity) for quantity in self.quantities()}
        into, *_, out = self.graph.stream(self.layer, self.prefix)
        last = self.graph.stream(self.graph.layers(self.prefix) - 1, self.prefix)[-1]
        return {into: held[self.graph.stream(0, self.prefix)[0]], last: held[out]} | held


def _boxes(side: _Side, answer: str, unmasked: Container[str]) -> tuple[dict[str, Box], Frame]:
    """Every box by its name, row under row, and the frame round the repeated block.

    unmasked: the masks that were taken away in all heads, as edits call them.
    """
    held: dict[str, list[Quantity]] = {}
    for quantity in side.quantities():
        held.setdefault(side.name(quantity), []).append(quantity)
    rows: dict[str, list[str]] = {}
    for name in held:
        stem, dot, kind = name.rpartition(".")
        rows.setdefault(stem + dot + (KINDS[kind].beside or kind), []).append(name)
    boxes: dict[str, Box] = {}
    y, top, bottom = 6.0, 0.0, 0.0  # of the block, 0 until it is reached
    for names in rows.values():
        quantities = held[names[0]]
        if quantities[0].layer is None and bottom:
            y = max(y, bottom + 16)
        elif quantities[0].layer is not None and not top:
            top = y - 5
            y += 2 * FORK + FORK // 2 + 2
        elif kind_of(quantities[0]) in ("Q", "norm"):
            y += 8  # room for the fork, or for the residual stream to leave
            sublayer = side.sublayer(quantities[0].key)
            y += 8 if sublayer and sublayer.memory else 0  # and for what the encoder hands over
        for name in names:
            boxes[name] = _box(side, name, held[name], y, answer, unmasked)
        y = max(boxes[name].bottom for name in names) + GAP
        if quantities[0].layer is not None:
            bottom = y - GAP + 23
    return boxes, Frame(side.x + 14, top, WIDTH - 28, bottom - top)


def _box(side: _Side, name: str, held: list[Quantity], y: float, answer: str, unmasked: Container[str]) -> Box:
    """One box, named by what is computed in it."""
    kind = name.rpartition(".")[2]
    place, sublayer = KINDS[kind], side.sublayer(held[0].key)
    config = side.graph.decoder if side.graph.decoder and side.prefix else side.graph.config
    text, note, number = kind, "", None
    if kind in ("tokens", "embedding"):
        text = f"{kind}_{held[-1].operation}"
    elif kind == "scores" and held[0].reads[0].endswith("_rotated"):
        text = "scores_turned"
    elif kind == "scores" and not config.divided:
        text = "scores_undivided"
    elif kind == "scores" and held[0].key.endswith("content_to_content"):
        text = "scores_told_apart"
    elif kind == "ffn":
        text = "ffn_gated" if config.ffn == "gated" else text
        note = f"{config.d_model} → {config.d_ff} → {config.d_model}"
    elif kind == "answer":
        note = answer
    elif kind == "embedding_norm":
        text = "norm"
    elif kind == "mask" and (held[0].key in unmasked or held[0].row in unmasked):
        text = "no_mask"
    elif kind == "mask" and held[0].window is not None:
        text = "window"
    elif kind == "projection":
        text = "embedding_linear"
    elif kind in ("add", "norm") and sublayer:
        text = kind if sublayer.norm_first else "add_norm"
        number = None if side.prefix else side.sublayers.index(sublayer) + 1
    text += "_rms" * (text == "norm" and config.norm == "rms")
    said = {"activation": ACTIVATIONS[config.activation], "window": held[0].window}
    text = plain(f"diagram.{text}", **said, parts=1 + len(config.distance_terms))
    height = 26 if kind == "sum" else 44 if note else BOX
    x = WIDTH - place.x - place.width if sublayer and sublayer.memory and kind in MIRRORED else place.x
    y += (BOX - height) / 2 if kind == "sum" else 0
    page = "translation" if side.prefix else place.page
    return Box(name, kind, page, text, side.x + x, y, place.width, height, note, number)


def _times(side: _Side, frame: Frame) -> Box:
    """How often the block is passed."""
    text = plain("diagram.times", N=side.graph.layers(side.prefix))
    page = "translation" if side.prefix else "layers"
    return Box(f"{side.prefix}layers", "layers", page, text, frame.x + 12, frame.bottom - 14, 94, 28)


def _arrows(
    trace: Trace, side: _Side, frame: Frame, boxes: Mapping[str, Box], holders: Mapping[str, str], below: float
) -> Iterator[Arrow]:
    """What the boxes of one side read from other boxes. below: where the encoder's frame ends."""
    drawn = set()
    into, first = (trace.graph.stream(layer, side.prefix)[0] for layer in (side.layer, 0))
    for quantity in side.quantities():
        end, sublayer = side.name(quantity), side.sublayer(quantity.key)
        for key in quantity.reads:
            start = holders[key]
            if start == end or (start, end, key) in drawn:
                continue
            drawn.add((start, end, key))
            residual = quantity.operation == "add" and sublayer is not None and key == sublayer.before
            # What comes from the embedding is X⁽⁰⁾, whichever layer stands for all.
            symbol, shape = _symbol(trace.graph, first if key == into else key), _shape(trace, key)
            arrow = Arrow(start, end, key, symbol, shape, (), residual=residual)
            a, b = boxes[start], boxes[end]
            if residual and sublayer:
                yield _round(arrow, a, b, side, frame, right=sublayer.memory is not None)
            elif sublayer is not None and key == sublayer.memory:
                yield _from_memory(arrow, a, b, side, below)
            else:
                yield _down(arrow, a, b, side, fork=FORK + 10 if sublayer and sublayer.memory else FORK)


def _round(arrow: Arrow, a: Box, b: Box, side: _Side, frame: Frame, right: bool) -> Arrow:
    """The residual stream round a sub-layer, on its left or right."""
    tap = max(a.bottom, frame.y) + FORK
    bypass, edge = (WIDTH - BYPASS, b.x + b.width) if right else (BYPASS, b.x)
    x, middle = side.x + bypass, b.y + b.height / 2
    points = ((side.x + STREAM, tap), (x, tap), (x, middle), (edge, middle))
    return replace(arrow, points=points, label=(edge + 6 if right else x + 7, middle - 9), written=arrow.shape)


def _from_memory(arrow: Arrow, a: Box, b: Box, side: _Side, below: float) -> Arrow:
    """What the encoder hands to the cross-attention beside it."""
    leave, gutter, enter = max(a.bottom + FORK, below + 20), side.x - BETWEEN / 2, b.y - MEMORY
    points = (
        (a.middle, a.bottom), (a.middle, leave), (gutter, leave), (gutter, enter), (b.middle, enter), (b.middle, b.y),
    )  # fmt: skip
    if b.kind != "V":
        return replace(arrow, points=points)
    return replace(arrow, points=points, label=(side.x + 18, enter - 9), written=_written(arrow))


def _down(arrow: Arrow, a: Box, b: Box, side: _Side, fork: float) -> Arrow:
    """Straight down, parting to what stands beside the stream, or from the side."""
    level, straight = a.y + a.height / 2, min(a, b, key=lambda box: box.width).middle
    if level == b.y + b.height / 2 and a.x < b.x:
        points = ((a.x + a.width, level), (b.x, level))
        return replace(arrow, points=points, label=(a.x + a.width + 6, level - 9))
    if level == b.y + b.height / 2:
        points = ((a.x, level), (b.x + b.width, level))
        return replace(arrow, points=points, label=(b.x + b.width + 10, level - 9), written=arrow.shape)
    if a.x <= straight <= a.x + a.width and b.x <= straight <= b.x + b.width:
        points = ((straight, a.bottom), (straight, b.y))
        written = arrow.shape if a.kind in ("Q", "K", "V", "distances") else _written(arrow)  # the box says it
        return replace(arrow, points=points, label=(straight + 8, a.bottom + 13), written=written)
    stream, level = side.x + STREAM, b.y - fork
    return replace(arrow, points=((stream, a.bottom), (stream, level), (b.middle, level), (b.middle, b.y)))


def _written(arrow: Arrow) -> str:
    return f"{arrow.symbol}\u2002{arrow.shape}"


def _symbol(graph: Graph, key: str) -> str:
    """The symbol of a quantity in plain letters; X^(l+1) with its number."""
    if key == graph.Z:
        return "Z"
    quantity = graph[key]
    return plain_math(quantity.numbered(quantity.symbol)).replace("'", "′")


def _shape(trace: Trace, key: str) -> str:
    """(8, 12, 12) as people write it: 8 × 12 × 12; for the input, its pieces, patches or pixels."""
    sides: tuple[int, ...] = (len(trace.tokens),)
    if key in trace:
        sides = trace[key].shape
    elif trace.patches is not None:
        sides = trace.patches.shape
    elif isinstance(trace, TranslationTrace) and key.startswith("decoder."):
        sides = (len(trace.target_tokens),)
    return " × ".join(map(str, sides))


def show(drawing: Diagram, colours: Mapping[str, str], description: str, key: str) -> Box | None:
    """Put the drawing on the page. Returns the box that a click or Enter asks for in this very run, else None.

    colours: of Q, K and V. description: what a screen reader says for the whole drawing.
    """
    data = asdict(drawing) | {"label": description}
    for box in data["boxes"]:
        hint = plain("diagram.opens", page=plain(f"{box['page']}.title"))
        box |= {"colour": colours.get(box["kind"]), "hint": hint}
    for arrow in data["arrows"]:
        arrow["colour"] = colours.get(arrow["start"].rpartition(".")[2])
    # A trigger, not a state: it is gone after one run, so the same box opens its page again after coming back.
    opened = _component(key=key, data=data, on_open_change=lambda: None).open
    return drawing.box(opened) if opened else None


CSS = """
.diagram { font-family: var(--st-font); }
svg { display: block; width: 100%; height: auto; margin: auto; }
text { fill: var(--st-text-color); font-size: 14px; text-anchor: middle; dominant-baseline: central; }
.note { font-size: 11.5px; }
.shape { font-size: 12.5px; text-anchor: start; font-variant-numeric: tabular-nums; paint-order: stroke;
         stroke: var(--st-background-color); stroke-width: 4px; stroke-linejoin: round; }
.frame { fill: none; stroke: var(--st-text-color); stroke-opacity: .35; stroke-width: 1.5; stroke-dasharray: 6 4; }
.arrow { fill: none; stroke: var(--line, var(--st-text-color)); stroke-width: 1.5; stroke-opacity: .75; }
.residual { stroke-width: 3; stroke-opacity: .4; }
.head { fill: var(--st-text-color); }
.box { cursor: pointer; outline: none; }
.box rect { fill: var(--st-secondary-background-color); stroke: var(--line, var(--st-border-color)); }
.box rect { stroke-width: 1.5; }
.box:hover rect { stroke: var(--st-primary-color); }
.box:focus-visible rect { stroke: var(--st-primary-color); stroke-width: 3.5; }
.coloured text { fill: var(--line); font-weight: 600; }
"""

_component = st.components.v2.component(
    "encoder_diagram", html='<div class="diagram"></div>', css=CSS, js=script("diagram")
)
