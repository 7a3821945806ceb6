"""The pictures of heads: every one as a tile, what each writes into the residual stream, and what W_O makes of them."""

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from model import Trace
from model.analysis import placed
from model.measures.tables import HeadRoles
from model.measures.without import Answers
from pages.attention.overlay import every_weight
from pages.attention.pictures import attention_map
from pages.drawing.at_once import AtOnce, where
from pages.drawing.cache import once_a_run
from pages.drawing.figures import ACCENT, AFTER, GREY, Axis, Figure, block_of, grouped_bars, heatmap, on_screen, tiles
from pages.drawing.figures.theme import big, font_size, scaled
from pages.drawing.picture import Numbers, Picture, outputs_of, token_axis, told_where
from pages.drawing.pictures.answers import probabilities
from pages.drawing.pictures.band import Column, band
from pages.drawing.place import Place
from pages.drawing.scales import weights_end
from pages.drawing.text import plain, texts_of
from pages.drawing.text.numbers import decimal, first, three, two
from pages.heads.head_patterns import HeadName, head_names

AXES = ("layer", "head", "query", "key")  # of all weights
MOST_CALLED = 12  # heads of a layer whose names have room below their tiles
ROOM, APART = 600, 3  # pixels, that all tiles side by side have on a desk, and between their names
#: Pixels: how wide the letters of such a name are, at least; a Chinese character or an arrow.
NARROW, LETTER, BROAD, SIGN = 3.6, 6.2, 10, 12
ROW, HIGH = 24, 500  # pixels of a token's row, and of all rows at most
STRETCH = 1.8  # width ÷ height that the browser gives a tile at most, if it shall be square
LOW = 42  # pixels that a row of tiles takes at least, but in a presentation, which fits on one screen
text, word = texts_of("heads")
part, part_word = texts_of("contribution")


def chosen_head(run: Trace, place: Place, *, called: str = "", **look: Any) -> Picture:
    """The map of the chosen head. called: its role over a corpus. look: as for `quantity_map`."""
    title = place.where()[:1].upper() + place.where()[1:]
    made = attention_map(run, place, title=title, **look)
    return replace(made, sentence=f"{made.sentence} {text('read_corpus', role=called)}") if called else made


def unit(run: Trace) -> str:
    """What a distance is counted in."""
    return word("tokens" if run.picture is None else "patches")


def all_heads(run: Trace, place: Place, roles: HeadRoles | None = None) -> Picture:
    """Every head of every layer as a tile over what it does; a click chooses one. roles: as for `head_names`."""
    every = every_weight(run)
    layers, heads, n, _ = every.shape
    called, names = head_names(run, roles), [plain("axis.layer"), plain("axis.head")]
    block, high = block_of(every.shape), _tall(layers)
    least = min(high, 66 + layers * LOW)
    below = [] if big() or heads > MOST_CALLED or n == 1 else [fitting(name, ROOM / heads) for name in called.values()]
    brief = [name.brief for name in called.values()]
    widest, narrow = (round(heads * max(map(wide, words), default=0)) for words in (below, brief))

    def draw(shown: Numbers) -> Figure:
        largest = shown.array.max(axis=(2, 3))
        figure = tiles(
            shown.array,
            *map(Axis.titled, names, (layers, heads)),
            scale=shown.scale("share"),
            chosen=(place.layer, place.head),
            limit=None if shown.differs else weights_end(run, "layers.0.attention.weights"),
            hover=[
                f"{Place().where((at[0], at[1]))} · {name} · {word('largest', value=f'{largest[at]:.2g}')}"
                for at, name in called.items()
            ],
            words=[] if shown.differs else below,
            brief=brief,
            height=high,
            least=least,
            square=widest <= heads * STRETCH * LOW,  # else tiles are as wide as there is room
            above=True,
        )
        return figure.tell(
            grows=least,
            large=True,
            wide=True,
            roomy=widest,
            called=narrow,
        )

    def table(shown: Numbers) -> pd.DataFrame:
        rows = pd.MultiIndex.from_product([range(1, count + 1) for count in shown.array.shape[:3]])
        return pd.DataFrame(shown.array.reshape(-1, n), index=rows, columns=run.tokens)

    many = Counter(name.kind for name in called.values())
    kinds = [f"{kind} {many[kind]}" for kind in sorted(filter(None, many), key=lambda kind: -many[kind])]
    kinds += [f"{HeadName()} {many['']}"] * ("" in many)
    said = [text("read_all", count=len(called), kinds=plain("common.comma").join(kinds))]
    said += [text("read_blocks", block=block)] * (block > 1)
    axes = *map(Axis, names), token_axis(run, ""), Axis("", run.tokens)
    return Picture(
        draw,
        " ".join(said),
        Numbers(every, AXES, lambda weights: weights.less_nothing().on(*axes)),
        title=word("all" if not below else "all_by_run" if roles is None else "all_by_role"),
        shape=every.shape,
        table=table,
        picks=lambda row, column: {"layer": row, "head": column},
        at_once=lambda: AtOnce("frame", **where(run, place)),
    )


def fitting(name: HeadName, most: float) -> str:
    """What a head does, in at most so many pixels: its token, else its kind, with the figure, else without."""
    token = name.name if name.name.startswith(plain("common.quoted", token="")[0]) else name.kind
    every = (f"{token} {name.figure}", f"{name.kind} {name.figure}", name.kind)
    return next((words.strip() for words in every if wide(words) <= most), name.brief)


def wide(name: str) -> float:
    """How many pixels a name takes below a tile, with the room beside it; 0 for none."""
    kinds = (("fijlrt .,:-“”[]", NARROW), ("mwMW%", BROAD))
    own = sum(
        next((size for signs, size in kinds if sign in signs), LETTER if sign.isascii() else SIGN) for sign in name
    )
    return own + APART if name else 0


def _tall(layers: int) -> int:
    """The height of the tiles: on one screen, if their rows do not become too low for that."""
    height = on_screen(scaled(66 + layers * 78))
    return height if big() else max(height, 66 + layers * LOW)


def lengths(run: Trace, prefix: str) -> np.ndarray:
    """Length of what each head writes into each token: (head, token). prefix: of the attention's keys."""
    kept = _lengths(run)
    if prefix not in kept:
        kept[prefix] = np.linalg.norm(run[prefix + "contributions"], axis=-1)
    return kept[prefix]


@once_a_run
def _lengths(run: Trace) -> dict[str, np.ndarray]:
    return {}


def written(run: Trace, place: Place) -> Picture:
    """How much each head writes, token by token."""
    prefix = place.of("layers.{l}.attention.")
    own = lengths(run, prefix)
    axes = token_axis(run, plain("axis.token")), Axis.counted(plain("axis.head"), len(own))
    loudest = first(own[:, place.token], three)

    def draw(drawn: Numbers) -> Figure:
        cell, scale = (place.token, place.head), drawn.scale("positive")
        high, corner = min(on_screen(80 + scaled(ROW * len(drawn.array))), HIGH), part_word("corner")
        look = {"cell": cell, "clickable": True, "square": False, "height": high, "corner": corner}
        return heatmap(drawn.array, *drawn.axes, scale=scale, **look).tell(numbers=True, fills=True)

    return Picture(
        draw,
        part("read_norms", token=placed(run.tokens)[place.token], head=loudest.place + 1, value=loudest),
        Numbers(own.T, ("token", "head"), axes=axes),
        title=part_word("norms"),
        shape=own.T.shape,
        picks=lambda row, column: {"token": row, "head": column},
        reads=[prefix + "output"],  # where that is changed, nothing of this is written
    )


def needed(run: Trace, place: Place, found: Answers) -> Picture:
    """How likely the first guess stays without each head of the layer, and with each as the only one.

    found: the answers of `without.one_against_all`, at the token there.
    """
    heads, every, guess, layer, head = run.config.heads, outputs_of(run), found.best[0], place.layer, place.head
    p = found.p[:, found.outputs.index(guess)]
    names = [part_word("without"), part_word("only")]
    best = {"without": found.best[1 + head], "only": found.best[1 + heads + head]}
    said = {"head": head + 1, "layer": layer + 1, "heads": heads, "best": every[guess]}
    said["p"] = guessed = first(probabilities(run, place.token), decimal)
    said |= {"p_without": decimal(p[1 + head]), "p_only": decimal(p[1 + heads + head])}
    said |= {name: every[output] for name, output in best.items()}
    said["spared"], said["enough"] = (
        sum(output == guess for output in some) for some in (found.best[1 : 1 + heads], found.best[1 + heads :])
    )
    sentences = [part("read_as_it_is", **said)]
    writes = np.any(run[place.of("layers.{l}.attention.heads")], axis=(1, 2))  # what is off already cannot be missed
    if not writes[head]:
        sentences.append(part("read_silent", **said))
    elif guessed.ahead:
        sentences += [part(f"read_{name}_{'same' if best[name] == guess else 'other'}", **said) for name in best]
    if guessed.ahead and writes.any():
        sentences.append(part("read_count", **said))
    series = {names[0]: p[1 : 1 + heads], names[1]: p[1 + heads :]}
    axes = Axis.counted(plain("axis.head"), heads), part_word("axis_p", best=every[guess])
    figure = grouped_bars(series, *axes, (AFTER, ACCENT), value_range=(0, 1.1), number=two)
    as_it_is = {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": p[0], "y1": p[0]}
    chosen = {"type": "rect", "yref": "paper", "x0": head - 0.5, "x1": head + 0.5, "y0": 0, "y1": 1}
    figure.layout["shapes"] = [
        as_it_is | {"line": {"color": GREY, "width": 2, "dash": "dot"}},
        chosen | {"fillcolor": "#7F7F7F", "opacity": 0.15, "line": {"width": 0}, "layer": "below"},
    ]
    return Picture(
        figure.tell(fills=True, roomy=round(4.5 * font_size() * heads)),
        told_where(run, place.token, " ".join(sentences)),
        title=part_word("needed", layer=layer + 1),
        table=pd.DataFrame(series, index=range(1, 1 + heads)),
        picks=lambda _, head: {"head": head},
        fixed=True,
    )


def mixed(run: Trace, place: Place, focus: str) -> Picture:
    """Concat and the output side by side. focus: the key of one of them."""
    prefix, d_k = place.of("layers.{l}.attention."), run.config.d_k
    output = run[prefix + "output"]
    longest, begin = first(np.linalg.norm(output, axis=1)), place.head * d_k
    said: dict[str, object] = {"head": place.head + 1, "first": begin + 1, "last": begin + d_k}
    said |= {"token": placed(run.tokens)[longest.place], "value": longest}
    columns = [Column(prefix + name, part_word(name)) for name in ("concat", "output")]
    look: dict[str, Any] = {"title": part_word("mixed"), "focus": focus, "reads": [column.key for column in columns]}
    framed = {prefix + "concat": range(begin, begin + d_k)}
    return band(run, place, columns, part("read_mixed", **said), framed=framed, **look)
