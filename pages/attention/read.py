"""The steps of attention, the names of its tokens, and a sentence for each step."""

from collections.abc import Sequence

import numpy as np

from model import Trace
from model.analysis import placed
from model.by_hand import strongest_cell
from pages.drawing.picture import names_of, touched
from pages.drawing.place import Place
from pages.drawing.text import joined, t
from pages.drawing.text.numbers import decimal, first, percent, three, two

#: The queries and the keys that a map shows; None: all.
Shown = tuple[Sequence[int] | None, Sequence[int] | None]


def steps_of(run: Trace, prefix: str) -> tuple[str, ...]:
    """The steps of attention in order of computation: q · k (after its parts, if words and distances have their own),
    ÷ √d_k, what distances add, mask, softmax, × V. prefix: of the keys, or the key of one step.
    """
    prefix = prefix.rpartition(".")[0] + "."
    own, pairs = [one for one in run.graph if one.key.startswith(prefix)], run.graph[prefix + "weights"].axes
    return tuple(one.key.removeprefix(prefix) for one in own if one.axes == pairs or one.key == prefix + "heads")


def queries_and_keys(run: Trace, key: str) -> tuple[list[str], list[str]]:
    """The names of queries and of keys in scores or weights; a decoder's queries are named as steps."""
    queries, keys = names_of(run, key)[-2:]
    assert queries is not None and keys is not None  # both axes are of tokens
    return list(queries), list(keys)


def attends_most(run: Trace, place: Place, key: str, shown: Shown = (None, None)) -> str:
    """ "“it” attends most to “animal”: 0.66", and the share of its row not shown."""
    queries, keys = queries_and_keys(run, key)
    rows, columns = shown
    token, places = place.row(key), [*range(len(keys))] if columns is None else [*columns]
    if rows is not None and token not in rows:
        return t("attention.no_row", query=placed(queries)[token])
    row = run[key][place.head, token]
    best, weights = first(row, decimal, among=places), row[places]
    even = len(places) > 1 and best.ties == best.of
    said = t(
        f"attention.read.{'even' if even else 'weights'}",
        where=place.where(),
        query=placed(queries)[token],
        key=placed(keys)[best.place],
        value=best.value if even else best,
    )
    rest = percent(1 - float(weights.sum()))
    sums = t("attention.rows_short", rest=rest) if len(places) < len(keys) else t("attention.rows_whole")
    return joined(f"{said} {sums}")


def read_step(run: Trace, place: Place, prefix: str, step: str, shown: Shown = (None, None)) -> str:
    """The sentence about the selected token's row in a step."""
    key, (rows, columns) = prefix + step, shown
    if step == "weights":
        return attends_most(run, place, key, shown)
    if step == "masked":
        return _read_mask(run, place, prefix)
    if touched(run, place.head, key, shares=[prefix + "weights"] * (step == "heads")):
        return t("change.no_law")
    queries, keys = map(placed, queries_and_keys(run, prefix + "weights"))
    if rows is not None and place.row(key) not in rows:
        return t("attention.no_row", query=queries[place.row(key)])
    of = prefix + ("weights" if step == "heads" else step)
    row, column = strongest_cell(run, of, place.head, place.row(of), columns)[1:]
    table = run[of][place.head]
    value = first(table[row], percent if step == "heads" else two, among=columns)
    parts, d_k = 1 + len(run.config.distance_terms), run.config.d_k
    said: dict[str, object] = {"query": queries[row], "key": keys[column], "value": value}
    said |= {"value": two(table[0, 0])} if step == "relative" else {}
    said |= {"d_k": f"({parts} · {d_k})" if parts > 1 else d_k, "root": three((d_k * parts) ** 0.5)}
    return t(f"attention.read.{step}", **said)


def _read_mask(run: Trace, place: Place, prefix: str) -> str:
    """The sentence about what the mask hides, if anything."""
    values = run[prefix + "masked"][place.head]
    hidden, window = int(np.isinf(values).sum()), run.graph[prefix + "masked"].window
    if hidden and touched(run, place.head, prefix + "weights"):
        return t("change.no_law")
    if window is not None and not touched(run, place.head, prefix + "masked"):
        return t("attention.read.window", window=window, hidden=hidden, cells=values.size)
    if hidden:
        return t("attention.read.masked", hidden=hidden, cells=values.size)
    kind = "cross" if ".cross." in prefix else "decoder" if prefix.startswith("decoder.") else "unmasked"
    return t(f"attention.read.{kind}")
