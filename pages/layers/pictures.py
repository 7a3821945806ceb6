"""The pictures of the residual stream: how alike its vectors are, whence they come, their way, and the logit lens."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from model import Trace
from model.analysis import cosine_similarity, largest_terms, placed, rollout
from model.operations.working import Table, terms_table
from model.overview.answers import altered
from model.translator import CHINESE
from pages.drawing.figures import Axis, Best, Figure, Paths, climb, heatmap, lines, paths
from pages.drawing.figures.curves import adding_up
from pages.drawing.figures.equations import COSINE, ROLLOUT
from pages.drawing.figures.latex import formula
from pages.drawing.figures.theme import big
from pages.drawing.picture import Moves, Numbers, Picture, carriers, of_both, one_plane, outputs_of, token_axis, touched
from pages.drawing.pictures.quantity_map import LEAST
from pages.drawing.place import Place
from pages.drawing.text import plain, texts_of
from pages.drawing.text.numbers import First, decimal, first, furthest, percent, signed, two

HIGH = 460  # pixels
BEST, FOLLOWED = 5, 4  # guesses shown for each layer; words whose ranks are drawn
MANY, STEP = 9, 28  # layers whose steps are only numbered; pixels that a step takes at least
text, word = texts_of("layers")


def steps(run: Trace) -> list[str]:
    """The name of each state: 1 + layers."""
    return [word("step_0"), *(word("step", layer=layer + 1) for layer in range(run.graph.layers()))]


def numbered(run: Trace) -> Axis:
    """The same along an axis, as numbers."""
    return Axis(word("axis_number"), [str(number) for number in range(1 + run.graph.layers())])


def strongest_other(row: np.ndarray, token: int) -> int:
    """The token with the largest value in a token's row, other than itself; itself where it is alone."""
    others = np.arange(len(row)) != token
    return int(np.where(others, row, -np.inf).argmax()) if len(row) > 1 else token


def others_than(token: int, count: int) -> list[int]:
    """All tokens but one."""
    return [other for other in range(count) if other != token]


def chosen_key(place: Place, row: np.ndarray) -> int:
    """The column of the chosen cell: the strongest other one, while none is chosen. row: of the selected token."""
    return strongest_other(row, place.token) if place.key is None else place.key


def token_map(
    run: Trace,
    place: Place,
    values: np.ndarray,
    axes: tuple[Axis, Axis],
    sentence: str,
    scale: str,
    equation: str,
    **more: Any,
) -> Picture:
    """Draw it. values: (query, key). more: as for `Picture`."""
    cell = place.token, chosen_key(place, values[place.token])

    def choose(row: int, column: int) -> dict[str, object]:
        return {"token": row, "key": column}

    def draw(drawn: Numbers) -> Figure:
        limit, (rows, columns) = None if drawn.differs else drawn.largest, drawn.axes
        corner = "" if rows.title == columns.title else f"{columns.title} →\n{rows.title} ↓"
        figure = heatmap(
            drawn.array, rows, columns, scale=drawn.scale(scale), limit=limit, cell=cell, clickable=True, corner=corner
        )
        return figure.tell(numbers=True, large=True, wide=True, grows=LEAST)

    numbers, moves = Numbers(values, ("query", "key"), axes=axes), Moves(cell, values.shape, choose)
    more |= {"shape": values.shape, "picks": choose, "moves": moves, "equation": "" if big() else equation}
    return Picture(draw, sentence, numbers, **more)


def similarity(run: Trace, place: Place) -> Picture:
    """The map, with what it says of the selected token and of all pairs."""
    alike = cosine_similarity(run.states())  # (1 + layers, token, token)
    now, n, token = alike[place.layer + 1], len(run.tokens), place.token
    pairs, nearest = ~np.eye(n, dtype=bool), strongest_other(now[token], token)
    names, axis = placed(run.tokens), token_axis(run, plain("axis.token"))
    said = {"layer": place.layer + 1, "token": names[token], "other": names[nearest]}
    sentence = text("alone_similarity", value=two(now[0, 0]))
    if n > 1:
        before, after = (two(alike[step][pairs].mean()) for step in (0, -1))
        most = first(now[token], among=others_than(token, n))
        sentence = text("read.similarity", value=most, before=before, after=after, **said)
    return token_map(run, place, now, (axis, axis), sentence, "signed", equation=COSINE)


def likeness(run: Trace, place: Place) -> np.ndarray:
    """The selected token's row of the map."""
    found: np.ndarray = cosine_similarity(run.states()[place.layer + 1])[place.token]
    return found


def cosine_by_hand(run: Trace, place: Place, other: int) -> Sequence[str]:
    """The cosine of the selected token's vector and another one's, line by line."""
    a, b = pair = run.states()[place.layer + 1, [place.token, other]].astype(np.float64)
    dot, aa, bb, cosine = float(a @ b), float(a @ a), float(b @ b), float(cosine_similarity(pair)[0, 1])
    lines = (
        rf"a \cdot b = {dot:.4f}",
        rf"\lVert a \rVert = \sqrt{{{aa:.4f}}} = {aa**0.5:.4f}",
        rf"\lVert b \rVert = \sqrt{{{bb:.4f}}} = {bb**0.5:.4f}",
        rf"\cos(a, b) = \frac{{{dot:.4f}}}{{{aa**0.5:.4f} \cdot {bb**0.5:.4f}}} = {cosine:.4f}",
    )
    return [formula(line) for line in lines]


def origin(run: Trace, place: Place) -> Picture:
    """How much of each token is in each, after the chosen layer."""
    layer, token, n = place.layer, place.token, len(run.tokens)
    names, reached = placed(run.tokens), all_reached(run)[layer]
    source = strongest_other(reached[token], token)
    said = {"layer": layer + 1, "query": names[token], "own": percent(reached[token, token])}
    if n > 1:
        said |= {"key": names[source], "value": first(reached[token], percent, among=others_than(token, n))}
    axes = token_axis(run, word("axis_after")), token_axis(run, word("axis_input"))
    weights = [f"layers.{each}.attention.weights" for each in range(layer + 1)]
    look = {"equation": ROLLOUT, "reads": carriers(run, layer + 1), "shares": weights, "every_head": True}
    sentence = text("read.rollout" if n > 1 else "alone_rollout", **said)
    return token_map(run, place, reached, axes, sentence, "share", **look)


def all_reached(run: Trace) -> np.ndarray:
    """The rollout after each layer: (layer, token, token of the input)."""
    return rollout(run.over_layers("attention.weights"))


def rollout_by_hand(run: Trace, place: Place, reached: np.ndarray, key: int, most: int) -> Sequence[Table]:
    """Over all tokens on the way: half the mean weight (and half of the token itself) times R before.

    reached: of all layers. most: rows.
    """
    layer, n = place.layer, len(run.tokens)
    before = reached[layer - 1] if layer else np.eye(n, dtype=np.float32)
    mixed = run[place.of("layers.{l}.attention.weights")][:, place.token].mean(axis=0) / 2
    products = largest_terms(mixed + (np.arange(n) == place.token) / 2, before[:, key], most=most)
    return [terms_table(products, "token", "½(Ā + I)", word("hand_before"))]


def read_output(run: Trace, place: Place) -> str:
    """What Z, the output of the encoder, says of the selected token."""
    length = two(np.linalg.norm(run[run.graph.Z][place.token]))
    said = text("read.Z", token=placed(run.tokens)[place.token], length=length)
    if run.graph.stream(run.graph.layers() - 1)[-1] != run.graph.Z:
        said += " " + text("read.final")
    return said


Plane = tuple[list[np.ndarray], np.ndarray]


def path(run: Trace, place: Place, plane: Callable[..., Plane] = one_plane) -> Picture:
    """The way of each token in a plane; of two runs that of both. plane: what finds it, as `one_plane` does."""
    states, token = run.states(), place.token
    walked = np.linalg.norm(np.diff(states[:, token], axis=0), axis=-1)
    longest = first(walked, "{:.1f}".format)

    def flat(drawn: Numbers) -> Plane:
        points, shares = plane(drawn.array, *([] if drawn.other is None else [drawn.other]))
        return points, adding_up(shares)

    def draw(drawn: Numbers) -> Figure:
        (points, *others), shares = flat(drawn)
        titles = [word("axis_pca", number=i + 1, share=percent(share)) for i, share in enumerate(shares)]
        before = others[0] if others else None
        return paths(points, run.tokens, numbered(run), (titles[0], titles[1]), chosen=token, before=before).tell(
            fills=True
        )

    def says(drawn: Numbers) -> str:
        said = {"token": placed(run.tokens)[token], "share": percent(flat(drawn)[1].sum())}
        said["d_model"] = str(states.shape[-1])
        return text("read.path", layer=longest.place + 1, step=longest, **said)

    def as_table(points: np.ndarray) -> pd.DataFrame:
        rows = pd.MultiIndex.from_product([steps(run), placed(run.tokens)])
        return pd.DataFrame(points.reshape(-1, 2), index=rows, columns=["PCA 1", "PCA 2"])

    def table(drawn: Numbers) -> pd.DataFrame:
        points, *others = flat(drawn)[0]
        return of_both(as_table(points), as_table(others[0]) if others else None)

    numbers = Numbers(states, ("", "token", "d_model"), token=token)
    return Picture(draw, says, numbers, table=table, two="over", fixed=True)


def by_layers(run: Trace, place: Place, curves: Mapping[str, np.ndarray], other: str = "") -> Picture:
    """How alike things are after each layer. curves: cosines, (1 + layers,): "vector", with what it is in the
    end; "inputs", of the vectors of two inputs; "token", of the selected one and that in its place, called `other`.
    """
    about = {"token": placed(run.tokens)[place.token], "other": other}
    names, said = [word(f"line_{name}", **about) for name in curves], []
    for name, values in curves.items():
        ends = {"before": two(values[0]), "after": two(values[-1])}
        most = furthest(np.diff(values), signed)
        said.append(text(f"read.{name}", **about, **ends, layer=most.place + 1, value=most))
    every = np.stack([*curves.values()])
    table = pd.DataFrame(every.T, index=steps(run), columns=names)
    figure = lines(every, names, numbered(run), word("axis_cosine"), height=HIGH).tell(fills=True)
    return Picture(figure, " ".join(said), table=table, equation=COSINE, fixed=True)


def lengths_on_the_way(run: Trace, place: Place) -> Picture:
    """The length of the selected token's vector after each layer, and of what each sub-layer added to it."""
    subs, token, every = run.graph.sublayers(0), place.token, lengths(run)
    own = every[..., token]
    names = [word("line_state"), *(word(f"line_{sub.name}") for sub in subs)]
    said = [text("read.norms", token=placed(run.tokens)[token], before=f"{own[0, 0]:.1f}", after=f"{own[0, -1]:.1f}")]
    for sub, added in zip(subs, own[1:], strict=True):
        most = first(added, "{:.1f}".format)
        said.append(text(f"adds_{sub.name}", layer=most.place, value=most))
    if not touched(run, place.head, *run.graph.norms):
        said.append(text("norms_before" if subs[0].norm_first else "norms_after"))
    axes = Axis("", names), Axis("", steps(run))

    def part(series: Numbers) -> Numbers:
        return series[..., token].on(*axes, upwards=True)

    def draw(drawn: Numbers) -> Figure:
        return lines(drawn.array, names, numbered(run), word("axis_length"), there=drawn.other, height=HIGH).tell(
            fills=True
        )

    return Picture(
        draw,
        " ".join(filter(None, said)),
        Numbers(every, ("", "", "token"), part, token),
        table=lambda drawn: pd.DataFrame(drawn.array.T, index=steps(run), columns=names),
        two="beside",
    )


def lengths(run: Trace) -> np.ndarray:
    """Lengths of the vectors after each layer, and of what each of its sub-layers added: (line, 1 + layers, token)."""
    states = run.states()
    series = np.full((1 + len(run.graph.sublayers(0)), *states.shape[:2]), np.nan, dtype=np.float32)
    series[0] = np.linalg.norm(states, axis=-1)
    for layer in range(run.graph.layers()):  # one after the other: a large run computes them again
        series[1:, 1 + layer] = [np.linalg.norm(run[each.output], axis=-1) for each in run.graph.sublayers(layer)]
    return series


MOST_CLASSES = 16  # with a column of their own
#: What reads the states of a run at a token: (1 + layers, word or class).
Lens = Callable[[Trace, int], np.ndarray]


class Guesses(NamedTuple):
    """What the head would guess after each layer.

    best, shares: the likeliest words and how likely they are, (1 + layers, BEST). followed: some words: one, another
    that it is compared with, and what is likeliest in the end. ranks: where they stand among all words,
    from 1, (1 + layers, word). likeliest: in the end. mapped: whether by the calibrated lens.
    """

    best: np.ndarray
    shares: np.ndarray
    followed: list[int]
    ranks: np.ndarray
    likeliest: First
    mapped: bool = False

    @property
    def hint(self) -> str:
        """What is to be thought of a reading before the last layer."""
        return text("lens_mapped" if self.mapped else "lens")


def guesses(probabilities: np.ndarray, output: int | None = None) -> Guesses:
    """Of the probabilities after each layer, (1 + layers, word). output: the word to follow, if not the answer.

    The word to compare with is the likeliest other one in the end; the last other one that led after a layer is among
    the followed.
    """
    best = np.argpartition(-probabilities, BEST, axis=1)[:, :BEST]  # in any order, without sorting them all
    order = np.argsort(-np.take_along_axis(probabilities, best, axis=1), axis=1)
    best = np.take_along_axis(best, order, axis=1)
    own = int(best[-1, 0]) if output is None else output
    followed = [*dict.fromkeys([own, *best[-1, :2].tolist(), *best[:0:-1, 0].tolist(), *best[-1].tolist()])][:FOLLOWED]
    ranks = 1 + (probabilities[:, None] > probabilities[:, followed, None]).sum(axis=2)
    likeliest = first(probabilities[-1], decimal)
    return Guesses(best, np.take_along_axis(probabilities, best, axis=1), followed, ranks, likeliest)


def _scripts(words: Iterable[str]) -> set[bool]:
    """Whether Chinese, of those words that are made of letters."""
    return {bool(CHINESE.search(word)) for word in words if word.strip("#▁Ġ").isalpha()}


def words(run: Trace, place: Place, found: Guesses, to_hide: str = "") -> Picture:
    """The likeliest words after each layer, and how some of them rise. A click follows a word.

    to_hide: what to do so that a copied word is guessed.
    """
    every, own = outputs_of(run), _scripts(run.tokens)
    *early, last = (_scripts(every[i] for i in row) for row in found.best.tolist())
    strange = bool(own) and bool(set().union(*early) - own - last)
    hint = " ".join([found.hint, *[text("lens_script")] * (strange and not found.mapped)])
    if place.output is None:
        copied = found.best[-1, 0] == run.ids[place.token] and place.token not in altered(run)
        said = _read(
            run,
            place,
            "read.copied" if copied else "read.guess",
            found.best[:, 0],
            found.likeliest,
            f"{to_hide} {hint}" if copied and to_hide else hint,
        )
    else:
        said = f"{followed(run, found)} {hint}"
    return _race(run, found, said)


def _race(run: Trace, found: Guesses, said: str) -> Picture:
    """The likeliest outputs after each layer as cells, and the ranks of some as paths. said: the sentence."""
    every, most = outputs_of(run), BEST - big()  # a projected row has room for two lines of letters
    named = [[every[i] for i in row[:most]] for row in found.best]
    paths = Paths([every[word] for word in found.followed], found.ranks)
    short = [word("step_start"), *(word("step_short", layer=layer + 1) for layer in range(run.graph.layers()))]
    axis = Axis(word("axis_step"), short) if run.graph.layers() < MANY else numbered(run)
    figure = climb(paths, Best(named, found.shares[:, :most]), axis, (word("axis_path"), word("axis_rank")), HIGH)
    figure.tell(fills=True, least=STEP * len(named))

    def choose(row: int, step: int | None = None) -> dict[str, object]:
        """A click on a cell, or on the path of that number."""
        return {"output": found.followed[row] if step is None else int(found.best[step, row])}

    def table() -> pd.DataFrame:
        best = pd.DataFrame(named, index=steps(run), columns=range(1, len(named[0]) + 1))
        return best.join(
            pd.DataFrame(found.ranks, index=steps(run), columns=[f"{word('axis_path')}: {one}" for one in paths.words])
        )

    return Picture(figure, said, table=table, picks=choose)


def followed(run: Trace, found: Guesses) -> str:
    """Where the word that is followed stands before the first layer and after the last."""
    name, (before, after) = outputs_of(run)[found.followed[0]], (f"{rank:,}" for rank in found.ranks[[0, -1], 0])
    return text("read.followed", word=name, before=before, after=after, count=f"{len(outputs_of(run)):,}")


def classes(run: Trace, place: Place, lens: Lens) -> Picture:
    """How likely each class is after each layer, few as a map, many as words are. lens: see Lens."""
    found, every = lens(run, place.token), outputs_of(run)
    said = _read(run, place, "read.guess_class", found.argmax(axis=1), first(found[-1], decimal), text("lens"))
    if len(every) > BEST:
        led = guesses(found, place.output)
        return _race(run, led, said if place.output is None else f"{followed(run, led)} {led.hint}")
    axes = Axis(word("axis_step"), steps(run)), Axis(plain("axis.class"), every)
    figure = heatmap(found, *axes, scale="share", square=False, height=HIGH)
    return Picture(
        figure.tell(fills=True, numbers=True),
        said,
        table=lambda: pd.DataFrame(found, index=steps(run), columns=every),
    )


def _read(run: Trace, place: Place, read: str, best: np.ndarray, top: First, hint: str) -> str:
    """The answer, and from which layer on it is the first guess. best: of each state, (1 + layers,). hint: the end."""
    leads, answer = best == best[-1], outputs_of(run)[best[-1]]
    since = int(np.flatnonzero(~leads).max(initial=-1)) + 1
    said = [text(read, token=placed(run.tokens)[place.token], answer=answer, value=top)]
    if not top.ahead:
        return f"{said[0]} {hint}"
    said.append(text("known" if since else "known_first", answer=answer, layer=since))
    if earlier := [steps(run)[step] for step in np.flatnonzero(leads[:since])]:
        said.append(text("known_before", earlier=plain("common.comma").join(earlier)))
    return " ".join([*said, hint])


def difference(run: Trace, place: Place, lens: Lens) -> Picture:
    """The words or classes whose probabilities differ most between two runs, after each layer. lens: see Lens."""
    every = outputs_of(run)

    def part(probabilities: Numbers) -> Numbers:
        most = np.sort(np.argsort(-np.abs(probabilities.array).max(axis=0), kind="stable")[:MOST_CLASSES])
        outputs = Axis(plain(f"axis.{run.axes('logits')[-1]}"), [every[i] for i in most])
        return probabilities[:, most].on(Axis(word("axis_step"), steps(run)), outputs)

    def draw(drawn: Numbers) -> Figure:
        return heatmap(drawn.array, *drawn.axes, square=False, height=HIGH).tell(fills=True)

    return Picture(draw, "", Numbers(lens(run, place.token), part=part))
