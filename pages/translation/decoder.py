"""The inside of the decoder, part by part: each quantity as a map, beside it the arithmetic of its chosen cell."""

from functools import partial

from model import Edit
from model.operations import Quantity
from pages.attention.maps import attention_step
from pages.attention.read import steps_of
from pages.drawing.pictures.quantity_map import quantity_map
from pages.drawing.text import joined, plain, t
from pages.screen.frame.changes_bar import quantity_in_words
from pages.screen.frame.glossary import name_of
from pages.screen.frame.pen import Pen
from pages.screen.frame.pickers import either
from pages.screen.sections.cell_map import cell_map
from pages.screen.sections.working import working
from pages.translation.pictures import SIDE, without_mask
from pages.translation.writing import Written, next_words

BLOCKS = ("embedding", "attention", "cross", "ffn", "next")


def inside(screen: Written, pen: Pen) -> None:
    """One part of the decoder at a time, and one quantity of it; a presentation shows its map alone."""
    block = screen.choice.block if screen.choice.block in BLOCKS else "cross"
    words = [plain(f"translation.block_{name}") for name in BLOCKS]
    with pen.places:
        either(
            "block",
            plain("translation.block"),
            BLOCKS,
            words,
            block,
            brief=True,
            width=200,
            label_visibility="collapsed",
        )
    if block == "next":
        next_word(screen, pen)
        return
    named = {quantity.key.rpartition(".")[2]: quantity for quantity in quantities_of(screen, block)}
    usual = "weights" if "weights" in named else [*named][-1]
    labels = [title(screen, quantity) for quantity in named.values()]
    stage = screen.choice.stage if screen.choice.stage in named else usual
    with pen.places:
        look = {"key": f"stage.{block}", "brief": True, "width": 240, "label_visibility": "collapsed"}
        name = either("stage", plain("translation.quantity"), [*named], labels, stage, **look)
    if "weights" in named and name in steps_of(screen.run, named["weights"].key):
        attention_step(screen, pen, named[name].key.removesuffix(name), name)
        if (block, name) == ("attention", "masked") and screen.step + 1 < screen.steps and not screen.choice.big:
            pen.show("leak", without_mask)
    else:
        key, said = named[name].key, meaning(screen, named[name])
        cell_map(
            screen,
            pen,
            key,
            partial(quantity_map, key=key, sentence=said, title=title(screen, named[name]), fills=True),
        )


def quantities_of(screen: Written, block: str) -> list[Quantity]:
    """The recorded quantities of a part of the decoder, in order; of a sub-layer with its sum and its LayerNorm."""
    graph = screen.run.graph
    if block == "embedding":
        return [quantity for quantity in graph if quantity.traced and quantity.key.startswith(f"{SIDE}{block}.")]
    (sub,) = (sub for sub in graph.sublayers(screen.choice.layer, SIDE) if sub.name == block)
    return [
        quantity
        for quantity in graph
        if quantity.traced and (quantity.key.startswith(sub.prefix) or quantity.key in (sub.sum, sub.norm))
    ]


def title(screen: Written, quantity: Quantity) -> str:
    return quantity_in_words(Edit(quantity.key, "zero"), screen.run.graph)


def meaning(screen: Written, quantity: Quantity) -> str:
    """What a quantity is, as the glossary has it, as a sentence. It knows one layer and one attention."""
    graph = screen.run.graph
    name = name_of(graph, graph[quantity.row.replace("{l}", "0")]).replace("cross_output", "attention_output")
    said = t(f"glossary.{name}")
    return f"{said[:1].upper()}{said[1:].rstrip('。.')}{plain('translation.stop')}"


def next_word(screen: Written, pen: Pen) -> None:
    """From the last vector to the likeliest next pieces; a click works out another one."""
    piece = screen.run.written_ids[screen.step] if screen.choice.output is None else screen.choice.output
    decoder = screen.run.graph.decoder
    matrix = t("translation.tied_apart" if decoder and decoder.own_words else "translation.tied")
    left, *right = pen.columns(3, 2)
    with left:
        said = joined(f"{t('translation.read.logits')} {matrix}")
        next_words(screen, pen, lambda number: {"output": number}, said)
    for column in right:
        with column:
            working(screen, pen, "logits", (screen.step, piece))
