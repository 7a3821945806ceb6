"""A token's attention over the picture: one head, all heads, all layers."""

import numpy as np
import pandas as pd

from model import Trace
from model.analysis import rollout
from model.digits import FAINTEST, hold_ink
from pages.drawing.at_once import of_every_head
from pages.drawing.figures import Axis, Figure, over_drawing, over_drawings, token_at
from pages.drawing.figures.equations import MEAN_WEIGHTS, ROLLOUT
from pages.drawing.figures.theme import big
from pages.drawing.picture import Moves, Numbers, Picture, carriers
from pages.drawing.place import Place
from pages.drawing.scales import weights_end
from pages.drawing.text import plain, t
from pages.drawing.text.numbers import first, percent, three

WEIGHTS = "layers.0.attention.weights"


def inked(run: Trace, seen: np.ndarray | None) -> np.ndarray | None:
    """Which patches hold ink; None if the input is no drawing. seen: the input as it looks."""
    return None if run.patches is None or seen is None or seen.ndim == 3 else hold_ink(run.patches)


def over_one(run: Trace, place: Place, key: str, seen: np.ndarray | None = None) -> Picture:
    """The selected token's row of weights over the drawing. A click on a patch, or on [CLS], selects it.

    seen: the input as it looks, if the network reads it otherwise.
    """
    tokens, side, front = run.tokens, run.config.patches_per_side, run.config.tokens_in_front
    seen, token = run.picture if seen is None else seen, place.token
    row = run[key][place.head, token]
    best = first(row, three)
    said = t(
        "overlay.read_one",
        query=tokens[token],
        where=place.where(),
        best=tokens[best.place],
        value=best,
        patches=three(row[front:].sum()),
    )
    if front and best.place:
        said += " " + t("overlay.by_itself" if token == 0 else "overlay.by_cls", value=three(row[0]))
    if placeless := list(run.config.placeless):
        said += " " + t("overlay.by_registers", value=three(row[placeless].sum()))
    if (ink := inked(run, seen)) is not None:
        masked = run[key.replace("weights", "masked")][place.head, token]
        read = ~np.isneginf(masked)  # an even share counts only visible tokens
        share, even = percent(row[front:][ink].sum()), percent((ink & read[front:]).sum() / max(1, read.sum()))
        said += " " + t("overlay.read_ink", inked=ink.sum(), ink=share, even=even, least=FAINTEST)

    def choose(row: int, column: int) -> dict[str, object]:
        return {"token": token_at(row, column, side, front)}

    def draw(weights: Numbers) -> Figure:
        look = {"front": front, "differs": weights.differs, "limit": None if weights.differs else weights_end(run, key)}
        look["height"] = 285 if big() else 420  # both end on a screen
        figure = over_drawing(seen, weights.array, tokens, token, plain("attention.weight"), **look)
        return figure.tell(ends=True)

    whole = Numbers.of(run, key, place.head, part=lambda weights: weights.less_nothing()[token].on(Axis("", tokens)))
    return Picture(
        draw,
        said,
        whole,
        quantity=run.quantity(key),
        shape=row.shape,
        table=lambda weights: pd.DataFrame(weights.array[None], index=[tokens[token]], columns=tokens),
        picks=choose,
        moves=Moves(divmod(max(token - front, 0), side), (side, side), choose),
        at_once=lambda: of_every_head(run, place, key, "patches", grid=[side, front]),
    )


def over_heads(run: Trace, place: Place, seen: np.ndarray | None = None) -> Picture:
    """The selected token's attention in every head of every layer. seen: as for `over_one`."""
    config, tokens, token = run.config, run.tokens, place.token
    side, front, sizes = config.patches_per_side, config.tokens_in_front, (config.layers, config.heads)
    seen = run.picture if seen is None else seen
    every, heads = every_weight(run), [*np.ndindex(*sizes)]
    weights, names = every[:, :, token, front:], [place.where((int(i), int(j))) for i, j in heads]
    strongest = first(weights, three)
    layer, head, best = (int(i) for i in np.unravel_index(strongest.place, weights.shape))

    def draw(drawn: Numbers) -> Figure:
        hover = [f"{name} · {_most(row, tokens, front)}" for name, row in zip(names, drawn.array, strict=True)]
        return over_drawings(
            seen,
            drawn.array[:, front:].reshape(*sizes, side, side),
            Axis.counted(plain("axis.layer"), config.layers),
            Axis.counted(plain("axis.head"), config.heads),
            chosen=(place.layer, place.head),
            differs=drawn.differs,
            limit=None if drawn.differs else weights_end(run, WEIGHTS),
            hover=hover,
            height=480 if config.layers <= 6 else 640,
        )

    def part(weights: Numbers) -> Numbers:
        return weights[:, :, token].flat(2).on(Axis("", names), Axis("", tokens))

    return Picture(
        draw,
        t(
            "overlay.read_heads",
            query=tokens[token],
            value=strongest,
            where=place.where((layer, head)),
            best=tokens[front + best],
        ),
        Numbers(every, ("", "", "query", "key"), part),
        title=plain("overlay.heads"),
        shape=(*sizes, len(tokens)),
        table=lambda drawn: pd.DataFrame(drawn.array, index=names, columns=tokens),
        picks=lambda row, column: {"layer": row, "head": column},
    )


def over_layers(run: Trace, place: Place, name: str, seen: np.ndarray | None = None) -> Picture:
    """Layer by layer, the "mean" of the heads, or the "rollout", which traces attention back to the input.

    seen: as for `over_one`.
    """
    config, tokens, query = run.config, run.tokens, place.token
    side, front = config.patches_per_side, config.tokens_in_front
    seen = run.picture if seen is None else seen
    steps = [plain("overlay.after_layer", layer=i + 1) for i in range(config.layers)]
    whole = every_weight(run).mean(axis=1) if name == "mean" else rollout(every_weight(run))
    last = whole[-1, query]
    # Rollout's sentence names the token's own share apart, so that its shares add up to 1.
    told = np.where(np.arange(len(tokens)) == query, 0, last) if name == "rollout" else last
    among = [i for i in range(front, len(tokens)) if name == "mean" or i != query]
    most = first(told, three, among=among)

    def draw(rows: Numbers) -> Figure:
        hover = [f"{step} · {_most(row, tokens, front)}" for step, row in zip(steps, rows.array, strict=True)]
        drawn = rows.array[None, :, front:].reshape(1, config.layers, side, side)
        look = {"differs": rows.differs, "hover": hover, "height": 240}
        return over_drawings(seen, drawn, Axis(""), Axis("", steps), **look)

    return Picture(
        draw,
        t(
            _key_of(name, query, front),
            query=tokens[query],
            layer=config.layers,
            best=tokens[most.place],
            value=most,
            own=three(last[query]),
            cls=three(last[0]),
            patches=three(told[front:].sum()),
        ),
        Numbers(whole, ("", "query", "key"), lambda every: every[:, query].on(Axis("", steps), Axis("", tokens))),
        title=plain(f"overlay.{name}"),
        equation=MEAN_WEIGHTS if name == "mean" else ROLLOUT,
        shape=(config.layers, len(tokens)),
        table=lambda rows: pd.DataFrame(rows.array, index=steps, columns=tokens),
        reads=carriers(run, config.layers) if name == "rollout" else (),
        shares=["layers.{l}.attention.weights"],
        every_head=True,
    )


def _key_of(name: str, query: int, front: int) -> str:
    """The key of the sentence about the mean or rollout of a row; it names [CLS] only if that is another token."""
    if name == "rollout":
        return "overlay.read_rollout_cls" if query < front or not front else "overlay.read_rollout"
    return "overlay.read_mean" if front else "overlay.read_mean_patches"


def pieces_of(run: Trace, seen: np.ndarray) -> np.ndarray:
    """The patches as they look: (patch, size, size), or (patch, size, size, 3) in colour."""
    size, side = run.config.patch_size, run.config.patches_per_side
    return seen.reshape(side, size, side, size, *seen.shape[2:]).swapaxes(1, 2).reshape(-1, size, size, *seen.shape[2:])


def every_weight(run: Trace) -> np.ndarray:
    return run.over_layers("attention.weights")


def _most(row: np.ndarray, tokens: list[str], front: int) -> str:
    """The patch with most of a row, and [CLS]: "r3c4 0.312 · [CLS] 0.004"."""
    best = front + int(np.abs(row[front:]).argmax())
    said = f"{tokens[best]} {three(row[best])}"
    return f"{said} · {tokens[0]} {three(row[0])}" if front else said
