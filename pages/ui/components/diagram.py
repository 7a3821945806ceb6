"""The whole encoder as one drawing: boxes that open pages, and on each arrow the shape of what really passed.

`diagram` makes plain data, in units of which the drawing is 400 wide. `show` puts it on the page as an inline
component, since nothing else in Streamlit gives an SVG whose boxes answer to a keyboard.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass

import streamlit as st

from model import Trace
from model.config import EncoderConfig
from pages.ui.text import plain

WIDTH = 400
STREAM = 200  # the residual stream runs straight down here …
BYPASS = 44  # … and round the sub-layers here
BOX, GAP = 34, 29  # the height of a box, and the room for an arrow and its shape
FORK = 14  # how far above Q, K and V the stream parts

#: Where each box stands from left to right (left edge, width), and the page that it opens.
PLACES = {
    "tokens": ("tokens", 112, 176),
    "embedding": ("tokens", 112, 176),
    "sum": ("tokens", 187, 26),
    "positions": ("tokens", 278, 112),
    "Q": ("queries_keys_values", 70, 76),
    "K": ("queries_keys_values", 162, 76),
    "V": ("queries_keys_values", 254, 76),
    "scores": ("attention", 70, 168),
    "softmax": ("attention", 70, 168),
    "heads": ("attention", 70, 260),
    "concat": ("heads", 112, 176),
    "norm_1": ("add_and_norm", 112, 176),
    "add_1": ("add_and_norm", 112, 176),
    "norm_2": ("add_and_norm", 112, 176),
    "ffn": ("feed_forward", 112, 176),
    "add_2": ("add_and_norm", 112, 176),
    "norm": ("add_and_norm", 112, 176),
    "linear": ("answer", 112, 176),
    "answer": ("answer", 112, 176),
}


@dataclass(frozen=True)
class Box:
    """One operation; it opens `page`. `note` is a second, smaller line."""

    name: str
    page: str
    text: str
    x: float
    y: float
    width: float
    height: float = BOX
    note: str = ""

    @property
    def middle(self) -> float:
        return self.x + self.width / 2

    @property
    def bottom(self) -> float:
        return self.y + self.height


@dataclass(frozen=True)
class Arrow:
    """What one box hands to another: its trace key, symbol and shape, and where the line runs."""

    start: str
    end: str
    key: str | None  # None: what the embedding reads, before any quantity is recorded
    symbol: str
    shape: str
    points: tuple[tuple[float, float], ...]
    label: tuple[float, float] | None  # where the shape is written; None: only in the hover text
    residual: bool = False


@dataclass(frozen=True)
class Diagram:
    """All that is drawn. `top` and `bottom`: the frame round the block that is repeated N times."""

    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]
    top: float
    bottom: float
    height: float

    def box(self, name: str) -> Box:
        return next(box for box in self.boxes if box.name == name)


def diagram(trace: Trace, layer: int, answer: str = "") -> Diagram:
    """The encoder that made this trace; the repeated block carries the shapes of layer `layer` (from 0).

    The order is the model's own: LayerNorm after each sum, or (norm_first) before each sub-layer.
    answer: the best guess, written into the last box.
    """
    boxes, top, bottom = _boxes(trace.config, answer)
    links = [*INTO_BLOCK, *_block(trace.config, layer), *_out_of_block(trace.config)]
    arrows = tuple(_arrow(trace, boxes, top, *link) for link in links)
    times = Box("layers", "layers", plain("diagram.times", N=trace.config.layers), WIDTH - 110, bottom - 14, 94, 28)
    height = max(bottom + 14, *(box.bottom for box in boxes.values())) + 6
    return Diagram((*boxes.values(), times), arrows, top, bottom, height)


def _boxes(config: EncoderConfig, answer: str) -> tuple[dict[str, Box], float, float]:
    """Every box by its name, row under row, and the upper and lower edge of the repeated block."""
    attention = ["Q K V", "scores", "softmax", "heads", "concat"]
    if config.norm_first:
        block = ["norm_1", *attention, "add_1", "norm_2", "ffn", "add_2"]
    else:
        block = [*attention, "add_1", "ffn", "add_2"]
    norm, head = ["norm"] * config.final_norm, ["linear", "answer"] * (config.head != "none")
    rows = ["tokens", "embedding", "sum positions", *block, *norm, *head]
    notes = {"ffn": f"{config.d_model} → {config.d_ff} → {config.d_model}", "answer": answer}
    words = {
        **{name: f"{name}_{config.input}" for name in ("tokens", "embedding")},
        **{name: name.split("_")[0] if config.norm_first else "add_norm" for name in ("add_1", "add_2")},
        **dict.fromkeys(("norm_1", "norm_2"), "norm"),
    }
    activation = {"relu": "ReLU", "gelu": "GELU"}[config.activation]
    boxes: dict[str, Box] = {}
    y, top, bottom = 6.0, 0.0, 0.0
    for row in rows:
        if row == block[0]:
            top = y - 5
            y += 2 * FORK + FORK // 2 + 2
        elif row in ("Q K V", "norm_2"):
            y += 8  # room for the fork, or for the residual stream to leave
        for name in row.split():
            page, x, width = PLACES[name]
            height = 26 if name == "sum" else 44 if notes.get(name) else BOX
            below = (BOX - height) / 2 if name == "sum" else 0
            text = plain("diagram." + words.get(name, name), activation=activation)
            boxes[name] = Box(name, page, text, x, y + below, width, height, notes.get(name, ""))
        y = max(boxes[name].bottom for name in row.split()) + GAP
        if row == block[-1]:
            bottom = y - GAP + 23
            y += 12
    return boxes, top, bottom


Link = tuple[str, str, str | None, str, bool]  # start, end, trace key, symbol, is it a residual arrow?

INTO_BLOCK: list[Link] = [
    ("tokens", "embedding", None, "x", False),
    ("embedding", "sum", "embedding.tokens", "X_embed", False),
    ("positions", "sum", "embedding.positions", "E_pos", False),
]


def _block(config: EncoderConfig, layer: int) -> list[Link]:
    """One layer: both sub-layers, each with the stream that runs round it."""
    here = f"layers.{layer}."
    stream = ("embedding.sum" if layer == 0 else f"layers.{layer - 1}.{_last(config)}", "X")
    links: list[Link] = []
    source = "sum"
    for number, first, last, output in ((1, "Q K V", "concat", "attention.output"), (2, "ffn", "ffn", "ffn.output")):
        add, norm = f"add_{number}", f"norm_{number}"
        enters = (source, *stream)
        if config.norm_first:
            links.append((source, norm, *stream, False))
            enters = (norm, here + norm, "LN(X)" if number == 1 else "LN(X′)")
        links += [(enters[0], name, *enters[1:], False) for name in first.split()]
        if number == 1:
            links += [
                ("Q", "scores", here + "attention.Q", "Q", False),
                ("K", "scores", here + "attention.K", "K", False),
                ("V", "heads", here + "attention.V", "V", False),
                ("scores", "softmax", here + "attention.scaled", "Ŝ", False),
                ("softmax", "heads", here + "attention.weights", "A", False),
                ("heads", "concat", here + "attention.heads", "A V", False),
            ]
        links.append((last, add, here + output, "O" if number == 1 else "F", False))
        links.append((source, add, *stream, True))
        source, stream = add, (here + (add if config.norm_first else norm), "X′")
    return links


def _out_of_block(config: EncoderConfig) -> list[Link]:
    """From the last layer to the answer, where there is a head to give one."""
    source, key, links = "add_2", f"layers.{config.layers - 1}.{_last(config)}", []
    if config.final_norm:
        links.append((source, "norm", key, "X", False))
        source, key = "norm", "norm"
    if config.head != "none":
        links += [(source, "linear", key, "Z", False), ("linear", "answer", "logits", "y", False)]
    return links


def _last(config: EncoderConfig) -> str:
    """What a layer puts out last."""
    return "add_2" if config.norm_first else "norm_2"


def _arrow(
    trace: Trace, boxes: Mapping[str, Box], top: float, start: str, end: str, key: str | None, symbol: str, loop: bool
) -> Arrow:
    """A link with its shape and its way: straight down, parting to Q and V, from the side, or round a sub-layer."""
    a, b = boxes[start], boxes[end]
    a_level, b_level = a.y + a.height / 2, b.y + b.height / 2
    straight = min(a, b, key=lambda box: box.width).middle
    label = None
    if loop:
        tap = top + FORK if start == "sum" else a.bottom + FORK
        points = ((STREAM, tap), (BYPASS, tap), (BYPASS, b_level), (b.x, b_level))
        label = (BYPASS + 7, b_level - 9)
    elif a_level == b_level:
        points = ((a.x, a_level), (b.x + b.width, b_level))
        label = (b.x + b.width + 10, b_level - 9)
    elif a.x <= straight <= a.x + a.width and b.x <= straight <= b.x + b.width:
        points = ((straight, a.bottom), (straight, b.y))
        label = (straight + 8, a.bottom + 13)
    else:
        points = ((STREAM, a.bottom), (STREAM, b.y - FORK), (b.middle, b.y - FORK), (b.middle, b.y))
    shape = _shape(trace, key)
    return Arrow(start, end, key, symbol, shape, points, label, loop)


def _shape(trace: Trace, key: str | None) -> str:
    """(8, 12, 12) as people write it: 8 × 12 × 12; for the input, its pieces, patches or pixels."""
    if key is not None:
        sides = trace[key].shape
    else:
        config, n = trace.config, len(trace.tokens)
        sides = {
            "words": (n,),
            "patches": (n - 1, config.channels * config.patch_size**2),
            "flat": (1, config.image_size**2),
        }[config.input]
    return " × ".join(map(str, sides))


def show(drawing: Diagram, colours: Mapping[str, str], description: str, key: str) -> str | None:
    """Put the drawing on the page. Returns the page that a click or Enter asks for in this very run, else None.

    colours: of Q, K and V. description: what a screen reader says for the whole drawing.
    """
    boxes = [
        asdict(box) | {"colour": colours.get(box.name), "hint": plain("diagram.opens", page=plain(f"{box.page}.title"))}
        for box in drawing.boxes
    ]
    arrows = [asdict(arrow) | {"colour": colours.get(arrow.start)} for arrow in drawing.arrows]
    frame = {"x": 14, "y": drawing.top, "width": WIDTH - 28, "height": drawing.bottom - drawing.top}
    data = {
        "width": WIDTH,
        "height": drawing.height,
        "boxes": boxes,
        "arrows": arrows,
        "frame": frame,
        "label": description,
    }
    # A trigger, not a state: it is gone after one run, so the same box opens its page again after coming back.
    return _component(key=key, data=data, on_open_change=lambda: None).open


CSS = """
.diagram { font-family: var(--st-font); }
svg { display: block; width: 100%; max-width: 27rem; height: auto; margin: auto; }
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

JS = """
export default function ({ data, parentElement, setTriggerValue }) {
  const add = (parent, name, attributes, text) => {
    const node = parent.appendChild(document.createElementNS("http://www.w3.org/2000/svg", name));
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    (text ?? "").split(/_(\\w+)/).forEach((part, i) => {  // W_O: the O stands lower
      if (!text || !part) return;
      if (name === "text" && i % 2) {
        add(node, "tspan", { dy: "0.3em", "font-size": "75%" }, part);
        add(node, "tspan", { dy: "-0.225em" }, "\\u200b");
      } else node.append(part);
    });
    return node;
  };
  const colour = (thing) => (thing.colour ? `--line: ${thing.colour}` : "");
  const root = parentElement.querySelector(".diagram");
  root.replaceChildren();
  const svg = root.appendChild(document.createElementNS("http://www.w3.org/2000/svg", "svg"));
  svg.setAttribute("viewBox", `0 0 ${data.width} ${data.height}`);
  svg.setAttribute("role", "group");
  svg.setAttribute("aria-label", data.label);

  const size = { viewBox: "0 0 10 10", markerWidth: 9, markerHeight: 9, markerUnits: "userSpaceOnUse" };
  const head = add(add(svg, "defs", {}), "marker", { id: "head", orient: "auto", refX: 9, refY: 5, ...size });
  add(head, "path", { d: "M0 0L10 5L0 10z", class: "head" });
  add(svg, "rect", { ...data.frame, rx: 14, class: "frame" });

  for (const arrow of data.arrows) {
    const kind = arrow.residual ? "arrow residual" : "arrow";
    const line = { d: "M" + arrow.points.map((point) => point.join(" ")).join("L"), class: kind, style: colour(arrow) };
    const path = add(svg, "path", { ...line, "marker-end": "url(#head)" });
    add(path, "title", {}, `${arrow.symbol} ${arrow.shape}`);
  }
  for (const arrow of data.arrows.filter((arrow) => arrow.label)) {
    const [x, y] = arrow.label;
    const named = arrow.residual || arrow.colour || arrow.start === "positions";  // the box says it, or an arrow before
    const symbol = named ? "" : arrow.symbol + "\\u2002";
    add(svg, "text", { x, y, class: "shape" }, symbol + arrow.shape);
  }
  for (const box of data.boxes) {
    const names = { tabindex: 0, role: "link", "aria-label": `${box.text.replace("_", " ")}. ${box.hint}` };
    const group = add(svg, "g", { ...names, class: box.colour ? "box coloured" : "box", style: colour(box) });
    group.dataset.box = box.name;
    add(group, "title", {}, box.hint);
    const { x, y, width, height } = box;
    add(group, "rect", { x, y, width, height, rx: Math.min(10, width / 2) * (width === height ? 1.3 : 1) });
    const middle = x + width / 2;
    add(group, "text", { x: middle, y: y + height * (box.note ? 0.34 : 0.5) }, box.text);
    if (box.note) add(group, "text", { x: middle, y: y + height * 0.74, class: "note" }, box.note);
    const open = () => setTriggerValue("open", box.page);
    group.onclick = open;
    group.onkeydown = (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      open();
    };
  }
}
"""

_component = st.components.v2.component("encoder_diagram", html='<div class="diagram"></div>', css=CSS, js=JS)
