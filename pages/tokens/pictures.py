"""The pictures of a token's vector: what is added up to it, the pixels of a patch, positions, the order of words."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from model import Trace
from model.analysis import cosine_similarity, placed
from model.checkpoints.images import CheckpointImageReader
from model.config import EncoderConfig
from model.digits import BOX, FAINTEST, MIDDLE, SIZE, hold_ink
from model.variants.patch_waves import are_waves
from pages.attention.overlay import pieces_of
from pages.drawing.figures import (
    Axis,
    Figure,
    colour_tiles,
    drawing,
    heatmap,
    lines,
    tiles,
    waves,
)
from pages.drawing.figures.base import on_screen
from pages.drawing.figures.equations import COSINE
from pages.drawing.figures.theme import big, scaled
from pages.drawing.picture import Make, Picture, sizes, touched
from pages.drawing.pictures.quantity_map import chosen_cell
from pages.drawing.pictures.strips import keyless, strips
from pages.drawing.place import Place
from pages.drawing.state import sketch
from pages.drawing.text import joined, plain, t, texts_of
from pages.drawing.text.numbers import first, percent, three, two, written

text, word = texts_of("tokens")


ADDED = ("embedding.segments", "embedding.positions")


def summands(run: Trace) -> dict[str, str]:
    """The keys of all that is added up to X⁰, and of that, with what they are called."""
    keys = [key for key in run if key.startswith("embedding.")]
    return {key: word(key.removeprefix("embedding.")) for key in keys[:-1]} | {keys[-1]: word("result")}


def about_root(run: Trace) -> str:
    """What the factor √d_model is for, where positions are longer than embeddings would be without it."""
    root = getattr(run.network.embedding, "scale", 1.0)
    means = {key: float(np.linalg.norm(run[key], axis=1).mean()) for key in run if key.startswith("embedding.")}
    bare, places = means["embedding.tokens"] / root, means.get("embedding.positions", 0.0)
    if bare >= places or root <= 1 or run.edits:
        return ""
    return text("read.root", d=run.config.embedded, root=f"{root:.4g}", bare=two(bare), places=two(places))


def about_twice(run: Trace) -> str:
    """How alike X⁰ is at two positions of the first repeated word; nothing where no word stands twice."""
    tokens = run.tokens
    again = next((name for name in tokens if tokens.count(name) > 1), None)
    if again is None or not run.config.places_added or run.patches is not None or run.edits:
        return ""
    first = tokens.index(again)
    second = tokens.index(again, first + 1)
    cosine = cosine_similarity(run[run.graph.embedded][[first, second]])[0, 1]
    return text("read.twice", token=again, first=run.rows[first], second=run.rows[second], cosine=f"{cosine:.4f}")


def one_sum(run: Trace, place: Place) -> Picture:
    """All that is added up to the selected token's row of X⁰, and that, on one scale."""
    named = summands(run) | {"embedding.tokens": placed(run.tokens)[place.token]}
    if "embedding.positions" in named:
        named["embedding.positions"] = word("position", place=counted(run, place))
    signs = {key: "+ " if key in ADDED else "= " for key in [*named][1:]}
    rows = {key: f"{signs.get(key, '')}{name}" for key, name in named.items()}
    notes = [word("length", length=f"{np.linalg.norm(run[key][place.token]):.1f}") for key in named]
    if run.patches is None and not touched(run, place.head, "embedding.tokens"):
        notes[0] = f"{word('row_of_E', id=run.ids[place.token])}<br>{notes[0]}"
    column = chosen_cell(run, place, [*named][-1])[-1]
    waves = {"order": in_waves(run), "across": word("axis_waves")} if in_waves(run) else {}
    return strips(run, place, rows, column, "", reads=[*named], notes=notes, **waves)


def counted(run: Trace, place: Place) -> str:
    """The position of the selected token as the formula counts it, from 0; "–" if it has none."""
    row = run.rows[place.token]
    return "–" if row is None else str(row)


def in_waves(run: Trace) -> list[int]:
    """The components of X⁰, all sines first, then all cosines; none where its positions are no such waves."""
    width = run["embedding.positions"].shape[1] if "embedding.positions" in run else 0
    waves = run.config.positions == "sinusoidal" and all(
        run[key].shape[1] == width for key in run if key.startswith("embedding.")
    )
    return [*range(0, width, 2), *range(1, width, 2)] if waves else []


MOST_FAR, MOST_OWN = 3, 9  # words of the sentence beside the nearest ones, and where there are none


def nearest(
    run: Trace,
    place: Place,
    found: tuple[list[str], np.ndarray, np.ndarray],
    others: Sequence[int] = (),
    fixed: bool = False,
) -> Picture:
    """The rows of E nearest to that of the selected token, their columns in the order of its own numbers: where rows
    are alike, its slope returns. Below them those of the sentence that are least so, of a token that is no word the
    most alike; a click chooses a word of it, and the component of that column.

    found: as `worked_out.neighbours` has them. others: the ids of the sentence's words. fixed: whether two runs have
    the same.
    """
    words, cosines, rows = found
    own = run.tokens[place.token]
    named = [own, *(f"{word} · {two(cosine)}" for word, cosine in zip(words, cosines, strict=True))]
    said = ""
    if words:
        most = first(cosines)
        said = text("read.neighbours", token=own, nearest=words[most.place], cosine=most)
    left = [i for i in dict.fromkeys(others) if run.tokens[run.ids.index(i)] not in (own, *words)]
    if left:
        E = run.network.embedding.E.weight.numpy()[left]
        alike = cosine_similarity(np.vstack([rows[:1], E]))[0, 1:]
        by_likeness = np.argsort(-alike, kind="stable")
        shown = by_likeness[-MOST_FAR:] if words else by_likeness[:MOST_OWN]
        if not words:
            most = first(alike)
            said = text("read.no_word", token=own, nearest=run.tokens[run.ids.index(left[most.place])], cosine=most)
        rows = np.vstack([rows, np.full_like(rows[:1], np.nan), E[shown]])
        named += [word("of_the_sentence")]
        named += [f"{run.tokens[run.ids.index(left[i])]} · {two(alike[i])}" for i in shown]
    order = np.argsort(-rows[0], kind="stable").tolist()
    sorted_rows = rows[:, order]
    columns, high = Axis(word("axis_sorted", token=own), [str(at + 1) for at in order]), scaled(76 + 20 * len(named))
    figure = heatmap(sorted_rows, Axis("", named), columns, square=False, clickable=True, height=high)
    keyless(figure)
    figure.layout["xaxis"]["showticklabels"] = False
    tokens = run.tokens  # and not the run: what a click calls is kept
    here = [name.split(" · ")[0] for name in named]
    own_columns = "embedding.projection" not in run  # else components are of wider rows

    def choose(row: int, column: int) -> dict[str, object]:
        token = {"token": tokens.index(here[row])} if row and here[row] in tokens else {}
        return token | ({"component": order[column]} if own_columns else {})

    title = "" if words else word("among")
    return Picture(figure, said, title=title, equation=COSINE if words else None, picks=choose, fixed=fixed)


MOST_ROWS = 15  # of their full height


def all_positions(run: Trace, place: Place) -> Picture:
    """The vectors of all positions of the input, of waves all sines, then all cosines; a click works out a number."""
    table = run["embedding.positions"]
    width, waves = table.shape[1], in_waves(run)
    order, first = waves or [*range(width)], 0 if waves else 1
    column = order.index(min(chosen_cell(run, place, "embedding.positions")[-1], width - 1))
    alike, away = cosine_similarity(table)[place.token], np.abs(np.arange(len(table)) - place.token)
    near, far = (two(alike[away == apart].mean()) for apart in (1, away.max()))
    across = Axis("", [str(at + 1) for at in order]) if waves else Axis(plain("axis.d_model"))
    look = {"square": False, "clickable": True, "cell": (place.token, column)}
    height = on_screen((20 if waves else 75) + 14 * min(len(table), MOST_ROWS))
    figure = heatmap(table[:, order], Axis("", run.tokens), across, **look, height=height)
    keyless(figure)
    if waves:
        figure.layout["xaxis"]["showticklabels"] = False
        figure.layout["margin"]["b"] = 8
    return Picture(
        figure,
        about_twice(run) or text("read.all_positions", place=counted(run, place), near=near, far=far),
        shape=table.shape,
        table=pd.DataFrame(table, index=run.tokens, columns=range(1, width + 1)),
        picks=lambda row, at: {"stage": "positions", "token": row, "component": order[at - first]},
        reads=["embedding.positions"],
        fixed=True,
    )


SMALL = 300  # pixels: the height of a step
CHANNELS = ("red", "green", "blue")


def in_colour(seen: np.ndarray | None) -> bool:
    return seen is not None and seen.ndim == 3


def drawing_steps(run: Trace, drawn: bytes | None) -> dict[str, Picture]:
    """What was drawn, brought to the form of MNIST's digits. drawn: as the pad has it."""
    steps = sketch.steps(drawn)
    raw, cropped, image = steps.raw, steps.cropped, run.picture
    assert image is not None  # a drawing
    top, left = np.flatnonzero(raw.any(1))[0], np.flatnonzero(raw.any(0))[0]
    box = (top, left, top + cropped.shape[0], left + cropped.shape[1])
    row, column = (float((image.sum(1 - axis) * np.arange(SIZE)).sum() / image.sum()) for axis in (0, 1))
    scaled = {"before": sizes(cropped.shape), "after": sizes(steps.scaled.shape), "box": BOX}
    return {
        "raw": _step("raw", drawing(raw, box=box, height=SMALL), raw, share=percent(float((raw > 0).mean()))),
        "scaled": _step("scaled", drawing(steps.scaled, height=SMALL), steps.scaled, **scaled),
        "centred": _step("centred", drawing(image, cross=(row, column), height=SMALL), image, size=SIZE, middle=MIDDLE),
    }


def _step(name: str, figure: Figure, values: np.ndarray, **numbers: object) -> Picture:
    """A step of the preparation. numbers: of its sentence."""
    table = pd.DataFrame(values.reshape(len(values), -1))
    return Picture(figure, text(f"read.{name}", **numbers), shape=values.shape, table=table)


def colours(run: Trace, reader: CheckpointImageReader) -> Picture:
    """The three colours as the network reads them."""
    picture = run.picture
    assert picture is not None
    figure = tiles(picture[None], Axis("", [""]), Axis("", channels(run)), scale="signed", height=SMALL)
    return _step("colours", figure, picture, mean=in_a_row(reader.mean), deviation=in_a_row(reader.deviation))


def channels(run: Trace) -> list[str]:
    return [word(channel) for channel in CHANNELS][: run.config.channels]


def in_a_row(values: ArrayLike) -> str:
    """A number for each channel: "0.485, 0.456, 0.406"."""
    return ", ".join(written(f"{value:.3g}") for value in np.atleast_1d(values))


def cut(run: Trace, place: Place, seen: np.ndarray | None) -> Picture:
    """The patches of the picture, the selected one framed; a click selects another. seen: the input as it looks."""
    pixels, front, config = run.patches, run.config.tokens_in_front, run.config
    assert pixels is not None  # a picture
    side, size = math.isqrt(len(pixels)), math.isqrt(pixels.shape[1] // config.channels)
    chosen = divmod(place.token - front, side) if place.token >= front and side > 1 else None
    if seen is not None and in_colour(seen):
        draw, looks = colour_tiles, pieces_of(run, seen)
    else:
        draw, looks = partial(tiles, square=True), pixels.reshape(-1, size, size)
    figure = draw(
        looks.reshape(side, side, *looks.shape[1:]),
        Axis.counted("", side),
        Axis.counted("", side),
        chosen=chosen,
        hover=run.tokens[front:],
        height=SMALL,
    )
    said = text("read.patches", patches=" + ".join([str(len(pixels)), *run.tokens[:front]]), size=size)
    if not in_colour(seen):
        said += " " + text("read.inked", inked=int(hold_ink(pixels).sum()), least=FAINTEST)
    return Picture(
        figure,
        said,
        shape=pixels.shape,
        table=pd.DataFrame(pixels, index=run.tokens[front:], columns=range(1, pixels.shape[1] + 1)),
        picks=(lambda row, column: {"token": front + row * side + column}) if side > 1 else None,
    )


def pixels_of_one(run: Trace, place: Place, seen: np.ndarray | None) -> Picture:
    """The numbers of the selected patch as they are read, of a picture in colour a row for each colour."""
    assert run.patches is not None  # a picture
    values, name = run.patches[place.token - run.config.tokens_in_front], run.tokens[place.token]
    axes = Axis("", channels(run) if in_colour(seen) else [name]), Axis(word("axis_pixel"))
    scale = "signed" if in_colour(seen) else "share"
    figure = heatmap(values.reshape(run.config.channels, -1), *axes, scale=scale, square=False, height=170)
    keyless(figure)
    said = text("read.pixels", token=name, pixels=len(values), d_model=run.config.embedded)
    if len(run.patches) > 1:
        said = joined(f"{said} {text('read.pixels_place')}")
    return Picture(figure, said, shape=(1, len(values)), equation="p")


SINES = (
    r"\begin{aligned} PE(pos, 2i) &= \sin\left(pos / 10000^{2i/d_{model}}\right) \\"
    r" PE(pos, 2i+1) &= \cos\left(pos / 10000^{2i/d_{model}}\right) \end{aligned}"
)
LEAST_PLACES = 64  # that are drawn, however short the input
LEAST_APART = 32  # positions to either side for which numbers of distances are drawn
FEWEST_APART = 5  # tokens whose distances are compared
FAR = 20  # positions
ROOM = 0.99  # of the variance of the position vectors


# -- vectors that are added ----------------------------------------------------------------------------------


def table_of(run: Trace) -> np.ndarray:
    """The vectors of all positions: (position, d_model)."""
    return run.network.embedding.positions.table.numpy()


def how_made(run: Trace) -> str:
    """Who made the vectors: a formula, or training."""
    fixed = run.patches is not None and are_waves(run.network.embedding.positions.table, run.config.patches_per_side)
    return text(f"made_{'patch_waves' if fixed else run.config.positions}")


def directions(table: np.ndarray) -> int:
    """In how many directions the vectors have all but a hundredth of their variance."""
    most = np.cumsum(np.linalg.svd(table - table.mean(axis=0), compute_uv=False) ** 2)
    return 1 + int(np.searchsorted(most, ROOM * most[-1]))


def read_room(table: np.ndarray) -> str:
    """In how few directions the vectors differ, so that they can be added; nothing where those are most of all."""
    few, d_model = directions(table), table.shape[1]
    return text("read.room", few=few, d_model=d_model, share=percent(ROOM)) if 2 * few <= d_model else ""


def similarity_of_words(run: Trace, place: Place) -> Picture:
    """How alike the vectors of two positions are."""
    alike = cosine_similarity(table_of(run)[: max(len(run.tokens), LEAST_PLACES)])
    near, far = (np.diagonal(alike, min(apart, len(alike) - 1)).mean() for apart in (1, FAR))
    axis = Axis(word("axis_place"))
    said = text("read.similarity", near=two(near), far=two(far), apart=min(FAR, len(alike) - 1))
    return Picture(
        heatmap(alike, axis, axis, limit=1.0, height=480),
        f"{said} {read_room(table_of(run)[: len(alike)])}".rstrip(),
        shape=alike.shape,
        equation=COSINE,
        fixed=True,
    )


def similarity_of_patches(run: Trace, place: Place) -> Picture:
    """How alike the vectors of two positions are: a small map for each patch."""
    side, front = run.config.patches_per_side, run.config.tokens_in_front
    names, stands = run.tokens[front:], run.places[front:]
    alike = cosine_similarity(table_of(run)[-(side**2) :])
    others = np.where(np.eye(len(names), dtype=bool), -np.inf, alike)
    apart = np.abs(stands[:, None] - stands[None]).sum(-1)
    shown = max(place.token - front, 0)
    nearest = first(alike[shown], among=[other for other in range(len(names)) if other != shown])
    best = [(names[j], two(others[i, j])) for i, j in enumerate(others.argmax(axis=1))]
    figure = tiles(
        alike.reshape(side, side, side, side),
        Axis.counted(word("axis_row"), side),
        Axis.counted(word("axis_column"), side),
        scale="signed",
        limit=1.0,
        chosen=divmod(shown, side),
        hover=[f"{name}: {other} {cosine}" for name, (other, cosine) in zip(names, best, strict=True)],
        height=560,
    )
    figure.layout["xaxis"] |= {"constrain": "domain"}
    figure.layout["yaxis"] |= {"constrain": "domain", "scaleanchor": "x"}
    said = {"patch": names[shown], "nearest": names[nearest.place], "cosine": nearest}
    said |= {"near": two(alike[apart == 1].mean()), "far": two(alike[apart > 1].mean())}
    return Picture(
        figure,
        f"{text('read.position_maps', **said)} {read_room(table_of(run)[-(side**2) :])}".rstrip(),
        shape=(side, side, side, side),
        equation=COSINE,
        table=pd.DataFrame(alike, index=names, columns=names),
        picks=lambda row, column: {"token": front + row * side + column},
        fixed=True,
    )


def components(run: Trace, place: Place) -> Picture:
    """A few components of the vectors as curves over the positions; the band marks those of the input."""
    table, row = table_of(run), run.rows[place.token]
    width, chosen = table.shape[1], place.component
    drawn = [0, width // 16, width // 8, width // 4, width // 2]  # even: sines
    marked = chosen is not None and chosen < width
    if marked and chosen not in drawn:
        drawn.append(chosen)
    called = {word("component", number=j + 1): j for j in drawn}
    sines = run.config.positions == "sinusoidal"
    periods = {"fast": f"{2 * math.pi:.1f}", "slow": f"{2 * math.pi * 10_000 ** (drawn[4] / width):,.0f}"}
    said = [how_made(run), *([text("read.periods", last=drawn[4] + 1, **periods)] if sines else [])]
    said += [text("read.pairs")] if sines and not big() else []
    moved = touched(run, place.head, "embedding.positions")
    used = sum(one is not None for one in run.rows)
    return Picture(
        waves(
            table,
            called,
            Axis(word("axis_place")),
            word("axis_value"),
            used=None if moved else used,
            chosen=(row, chosen) if marked and row is not None else None,
        ).tell(fills=True),
        " ".join(said + [text("read.band", last=used - 1)] * (not moved)),
        table=pd.DataFrame(table[:, drawn], columns=[*called]),
        equation=SINES if sines else None,
        fixed=True,
    )


# -- positions that come in within the layers ----------------------------------------------------------------


def turns(run: Trace, place: Place) -> Picture:
    """How far some pairs of components of queries and keys have turned at each position, as cosines."""
    layer = place.layer
    speeds = run.network.layers[layer].attention.speeds.numpy()
    n, half = max(len(run.tokens), LEAST_PLACES), len(speeds)
    drawn = list(dict.fromkeys([0, half // 4, half // 2, half - 1]))
    table = np.cos(np.arange(n)[:, None] * speeds)
    called = {word("pair", one=pair + 1, other=pair + half + 1): pair for pair in drawn}
    fast, slow = (f"{2 * math.pi / float(speeds[pair]):,.3g}" for pair in (0, half - 1))
    return Picture(
        waves(table, called, Axis(word("axis_place")), word("axis_turned"), used=len(run.tokens)),
        text("read.turns", layer=layer + 1, fast=fast, slow=slow),
        table=pd.DataFrame(table[:, drawn], columns=[*called]),
        equation=r"\cos\left(pos / base^{2c/d_k}\right)",
        fixed=True,
    )


def biases(run: Trace, place: Place) -> Picture:
    """What the distance of two tokens adds to their score, in some heads."""
    attention, heads = run.network.layers[0].attention, run.config.heads
    n = 1 + max(len(run.tokens) - 1, LEAST_APART)
    added = attention.added(n, n)[0].numpy()
    table = np.append(added[:, -1, :-1], added[:, 0], axis=1).T  # from n − 1 before to n − 1 behind
    drawn = list(dict.fromkeys([min(place.head, heads - 1), 0, heads // 2, heads - 1]))
    called, away = [plain("heads.head", head=head + 1) for head in drawn], distances(n)
    return Picture(
        lines(table[:, drawn].T, called, Axis(word("axis_apart"), away), word("axis_added")),
        text("read.slopes" if run.config.sloped else "read.distances", farthest=attention.farthest),
        table=pd.DataFrame(table[:, drawn], columns=called, index=away),
        equation=run.graph["layers.0.attention.relative"].terms[0],
        fixed=True,
    )


def vectors_of_distances(run: Trace, place: Place) -> Picture:
    """How alike the vectors of two distances are, of all that this input has."""
    n = max(len(run.tokens), FEWEST_APART)
    alike = cosine_similarity(run.network.layers[0].attention.vectors(n)[0].numpy())
    away = distances(n)
    axis = Axis(word("axis_apart"), away)
    said = {"near": two(np.diagonal(alike, 1).mean()), "far": two(alike[0, -1])}
    return Picture(
        heatmap(alike, axis, axis),
        text("read.alike_distances", first=away[0], last=away[-1], **said),
        shape=alike.shape,
        equation=COSINE,
        fixed=True,
    )


def distances(n: int) -> list[str]:
    """All distances between n tokens, from the furthest before: "−2", "−1", "0", "+1", "+2"."""
    return [f"{away:+d}".replace("-", "−") if away else "0" for away in range(1 - n, n)]


@dataclass(frozen=True)
class Scheme:
    """One way to tell positions: whether a network uses it, and the pictures that show it, side by side."""

    used: Callable[[EncoderConfig], bool]
    pictures: Mapping[str, Make]


SCHEMES = (
    Scheme(
        lambda config: config.places_added and config.input == "words",
        {"similarity": similarity_of_words, "waves": components},
    ),
    Scheme(
        lambda config: config.places_added and config.input != "words",
        {"position_maps": similarity_of_patches, "waves": components},
    ),
    Scheme(lambda config: config.positions == "rotary", {"turns": turns}),
    Scheme(lambda config: config.by_distance, {"distances": biases}),
    Scheme(lambda config: bool(config.distance_terms), {"alike_distances": vectors_of_distances}),
)


MOST_LINES = 3  # words with a line of their own


def order(run: Trace, cosines: np.ndarray, bare: np.ndarray, token: int | None = None) -> Picture:
    """How alike each token stays to itself: the chosen one, the words that change most, and, without positions, all."""
    words = [place for place, name in enumerate(run.tokens) if name not in ("[CLS]", "[SEP]")]
    moved = sorted(words, key=lambda place: (place != token, cosines[-1, place]))[:MOST_LINES]
    if token is not None and token not in moved:
        moved = [token, *moved[:-1]]
    steps = [plain("order.word"), "X⁰", *(str(layer + 1) for layer in range(len(cosines) - 2))]
    first, lowest = moved[0], bare[:, words].min(axis=1)
    tokens = placed(run.tokens)
    names = [tokens[place] for place in moved]
    names.insert(1, plain("order.without"))
    series = np.insert(cosines[:, moved].T, 1, lowest, axis=0)
    numbers = {"start": three(cosines[1, first]), "end": three(cosines[-1, first]), "bare": f"{lowest.min():.6f}"}
    return Picture(
        lines(
            series, names, Axis(plain("order.axis"), steps), plain("order.cosine"), height=260 if big() else 440
        ).tell(fills=True),
        t("order.read", token=tokens[first], layers=len(cosines) - 2, **numbers),
        title=plain("order.title"),
        table=pd.DataFrame(series.T, index=steps, columns=names),
        fixed=True,
    )
