"""Queries, keys and values: their products, the matrices that make them, and both in one plane."""

import numpy as np
import pandas as pd

from model import Trace
from model.analysis import head_slice, placed
from pages.drawing.figures import Axis, Figure, heatmap, queries_and_keys, role_colours, stairs
from pages.drawing.figures.base import text_width
from pages.drawing.figures.curves import adding_up
from pages.drawing.figures.equations import plain_math
from pages.drawing.figures.theme import font_size, scaled
from pages.drawing.picture import Moves, Numbers, Picture, of_both, one_plane
from pages.drawing.pictures.quantity_map import chosen_cell, quantity_map
from pages.drawing.place import Place
from pages.drawing.text import plain, texts_of
from pages.drawing.text.numbers import decimal, first, gives, percent, summands, three, two

PREFIX = "layers.{l}.attention."
PASSED = 145  # pixels of three strips
text, word = texts_of("queries_keys_values")


def met(run: Trace, place: Place, role: str) -> str:
    """The key of the queries ("Q") or keys ("K") that make scores: rotated, if there are such."""
    rotated = place.of(f"{PREFIX}{role}_rotated")
    return rotated if rotated in run else place.of(PREFIX + role)


def vectors(run: Trace, place: Place, role: str) -> np.ndarray:
    """The chosen head's queries or keys that make scores: (token, d_k)."""
    return run[met(run, place, role)][place.head]


def paired_with(run: Trace, place: Place) -> int:
    """The key token multiplied with the selected query: the chosen cell's."""
    return chosen_cell(run, place, place.of(f"{PREFIX}scores"))[-1]


def scores(run: Trace, place: Place) -> Picture:
    """The selected token's row of scores."""
    key, names = place.of(f"{PREFIX}scores"), placed(run.tokens)
    best = first(run[key][place.head, place.token]).named(names)
    said = text("read_scores", token=names[place.token], best=best)
    room = int(1.35 * font_size() * max(map(text_width, names)))  # of upright names, in bold
    row = quantity_map(run, place, key, said, rows=[place.token], height=scaled(85) + room, keys=False, large=True)
    return row.with_(at_once=None)  # the browser cannot draw a single row for another head


def products(run: Trace, place: Place) -> Picture:
    """A query, a key (see `paired_with`), and their products as stairs up to the score. Shift and an arrow choose
    another key.
    """
    key, names = paired_with(run, place), placed(run.tokens)
    q, k = vectors(run, place, "Q")[place.token], vectors(run, place, "K")[key]
    symbols = [plain_math(run.graph[met(run, place, role)].symbol) for role in "QK"]
    called = [f"{symbols[0]} · {names[place.token]}", f"{symbols[1]} · {names[key]}"]
    found = (q * k).astype(np.float64)
    sums = dict(zip(("up", "down"), summands([found[found > 0].sum(), found[found < 0].sum()]), strict=True))
    score = two(float(found.sum()))
    pair = [(name, vector, role_colours()[role]) for name, vector, role in zip(called, (q, k), "QK", strict=True)]
    figure, said = (
        stairs(pair, plain("axis.d_model"), f"q · k = {score}"),
        text("read_products", score=score, agree=int((found > 0).sum()), differ=int((found < 0).sum()), **sums),
    )
    return Picture(
        figure.tell(fills=True),
        said,
        moves=Moves((0, key), (1, len(names)), lambda _, key: {"token": place.token, "key": key}),
        table=lambda: pd.DataFrame({called[0]: q, called[1]: k, word("strip_product"): q * k}),
        reads=[place.of(f"{PREFIX}scores")],
    )


def passed_on(run: Trace, place: Place) -> Picture:
    """The value of the key token (see `paired_with`) times its weight, what the other keys add, and the output."""
    key, at = paired_with(run, place), (place.head, place.token)
    prefix, names = place.of(PREFIX), placed(run.tokens)
    weight, value = run[f"{prefix}weights"][(*at, key)], run[f"{prefix}V"][place.head, key]
    output = run[f"{prefix}heads"][at]
    rows = np.stack([weight * value, output - weight * value, output])
    symbol, share = plain_math(run.graph[f"{prefix}V"].symbol), decimal(float(weight))
    called = [f"{share} · {symbol} · {names[key]}", f"+ {word('strip_rest')}", f"= {word('strip_output')}"]
    said = {"token": names[place.token], "key": names[key], "weight": share}
    score = float(run[f"{prefix}scores"][(*at, key)])
    said |= {"score": two(score)}
    seen = float(run[f"{prefix}masked"][(*at, key)])
    said |= {"seen": "−∞" if seen == -np.inf else two(seen)}
    if scaled_one := f"{prefix}scaled" in run and seen == run[f"{prefix}scaled"][(*at, key)]:
        factor = run.graph[f"{prefix}scaled"].factor
        said |= {"root": str(round(factor**-2)), "seen": gives(round(score, 2) * factor, seen)}

    def draw(drawn: Numbers) -> Figure:
        figure = heatmap(drawn.array, *drawn.axes, square=False, height=scaled(PASSED))
        figure.data[0]["showscale"] = False  # the strips are compared, not measured
        return figure

    return Picture(
        draw,
        text("read_passed_scaled" if scaled_one else "read_passed", **said),
        Numbers(rows, axes=(Axis("", called), Axis(plain("axis.d_model")))),
        reads=[f"{prefix}{name}" for name in ("scaled", "weights", "heads") if f"{prefix}{name}" in run],
    )


def matrix(run: Trace, place: Place, role: str) -> Picture:
    """The slice of W_Q, W_K or W_V that belongs to the chosen head."""
    attention = run.network.layers[place.layer].attention
    weights = head_slice(getattr(attention, f"W_{role}").weight.numpy(), run.config.heads, place.head)
    axes = Axis(word("axis_input")), Axis(plain("axis.d_model"))
    return Picture(
        heatmap(weights, *axes, square=False, line_colour=role_colours()[role], height=440).tell(fills=True),
        text("read_weights", numbers=f"{weights.size:,}", size=three(np.abs(weights).mean())),
        shape=weights.shape,
        equation=rf"W_{role}^{{({place.head + 1})}}",
        fixed=True,
    )


def plane(run: Trace, place: Place) -> Picture:
    """Queries and keys as points of one plane; a line joins the selected query to its highest scoring key."""
    both, tokens = np.stack([vectors(run, place, role) for role in "QK"]), placed(run.tokens)
    scores = both[0] @ both[1].T
    most = first(scores[place.token])
    best = most.place

    def flat(drawn: Numbers) -> tuple[list[np.ndarray], np.ndarray]:
        points, shares = one_plane(drawn.array, *([] if drawn.other is None else [drawn.other]))
        return points, adding_up(shares)

    def draw(drawn: Numbers) -> Figure:
        (points, *others), shares = flat(drawn)
        titles = tuple(word("axis_pc", n=i + 1, share=percent(shares[i])) for i in range(2))
        legend = plain("axis.query"), plain("axis.key")
        look = {"link": (place.token, best), "before": tuple(others[0]) if others else None, "height": 520}
        return queries_and_keys(points[0], points[1], tokens, legend, titles, **look).tell(fills=True)

    def table(drawn: Numbers) -> pd.DataFrame:
        (points, *others), _ = flat(drawn)
        x, y = points.reshape(-1, 2).T
        n = len(tokens)
        mine = pd.DataFrame({"token": tokens * 2, "vector": ["q"] * n + ["k"] * n, "1": x, "2": y})
        return of_both(mine, pd.DataFrame(others[0].reshape(-1, 2), columns=["1", "2"]) if others else None)

    def says(drawn: Numbers) -> str:
        points, shares = flat(drawn)
        apart = np.linalg.norm(points[0][0][:, None] - points[0][1][None], axis=-1)  # (query, key)
        agree = int((scores.argmax(axis=1) == apart.argmin(axis=1)).sum())
        said = {"share": percent(shares.sum()), "token": tokens[place.token], "best": tokens[best], "agree": agree}
        said |= {"N": len(tokens), "score": most}
        sentence = text("read_plane", d_k=run.config.d_k, **said)
        return f"{sentence} {text('read_agree', **said)}" if most.ahead else sentence

    return Picture(
        draw,
        says,
        Numbers(both, ("", "token", "d_k")),
        table=table,
        two="over",
        fixed=True,
        equation=r"[Q;\, K] \approx \mu + c_1 u_1 + c_2 u_2",
    )
