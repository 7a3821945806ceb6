"""What the pictures of attention say: the steps, the tokens shown, and a reading sentence for each step."""

from collections.abc import Sequence

import numpy as np

from model import Trace
from model.analysis import placed
from pages.ui.picture import names_of, touched
from pages.ui.place import Place
from pages.ui.text import t

#: The quantities in order of computation: q · k, ÷ √d_k, mask, softmax, × V.
STEPS = ("scores", "scaled", "masked", "weights", "heads")
BY_DISTANCE = ("relative", "biased")  # in front of the mask, where a number for each distance is added
#: What the scores are the sum of, where words and distances are told apart.
TOLD_APART = ("content_to_content", "content_to_position", "position_to_content")
EVEN = 1e-6  # closer together, all weights of a row are the same


def steps_of(run: Trace, prefix: str) -> tuple[str, ...]:
    """The steps of an attention, in order of computation. prefix: of its keys, or the key of one of them."""
    prefix, before = prefix.rpartition(".")[0] + ".", STEPS.index("masked")
    steps = *TOLD_APART, *STEPS[:before], *BY_DISTANCE, *STEPS[before:]
    return tuple(step for step in steps if prefix + step in run.graph)


def queries_and_keys(run: Trace, key: str) -> tuple[list[str], list[str]]:
    """The tokens that attend and those that are attended to, of scores or weights; a decoder's steps as its maps do."""
    queries, keys = names_of(run, key)[-2:]
    assert queries is not None and keys is not None  # both axes are of tokens
    return list(queries), list(keys)


def shown_places(run: Trace, place: Place, key: str) -> tuple[list[int], list[int]]:
    """The queries and the keys that are shown; all where nothing else would be left."""
    rows, columns = ([*range(len(side))] for side in queries_and_keys(run, key))
    sentence_of = run.sentence_of
    if place.between == "all" or 1 not in sentence_of or not key.startswith("layers."):
        return rows, columns
    looks, looked_at = ("AB".index(name) for name in place.between)
    kept = [at for at in rows if sentence_of[at] == looks]
    kept_keys = [at for at in columns if sentence_of[at] == looked_at]
    return (kept, kept_keys) if kept and kept_keys else (rows, columns)


def attends_most(run: Trace, place: Place, key: str, columns: Sequence[int] | None = None) -> str:
    """ "“it” attends most to “animal”: 0.66", and how much of its row is not shown. columns: the keys shown, or all."""
    queries, keys = queries_and_keys(run, key)
    token, places = place.row(key), [*range(len(keys))] if columns is None else [*columns]
    row = run[key][place.head, token]
    best, weights = max(places, key=lambda one: row[one]), row[places]
    even = len(places) > 1 and float(weights.max() - weights.min()) < EVEN
    said = t(
        f"attention.read_{'even' if even else 'weights'}",
        where=place.where(),
        query=placed(queries)[token],
        key=placed(keys)[best],
        value=f"{row[best]:.2f}",
    )
    rest = 1 - float(weights.sum())
    return f"{said} {t('attention.rows_short', rest=f'{rest:.0%}')}" if len(places) < len(keys) else said


def read_step(
    run: Trace, place: Place, prefix: str, step: str, rows: Sequence[int] | None = None,
    columns: Sequence[int] | None = None,
) -> str:  # fmt: skip
    """What the picture of a step says. rows, columns: the queries and keys shown, or all."""
    key = prefix + step
    if step == "weights":
        return attends_most(run, place, key, columns)
    if step == "masked":
        return _read_mask(run, place, prefix)
    if touched(run, place.head, key, *[prefix + "weights"] * (step == "heads")):
        return t("change.no_law")
    values = run[key][place.head]
    queries, keys = map(placed, queries_and_keys(run, prefix + "weights"))
    if step == "heads":
        row = place.row(prefix + "weights")
        weights = run[prefix + "weights"][place.head, row]
        column = int(weights.argmax())
        value = f"{weights[column]:.0%}"
    elif step == "relative":
        row, column, value = 0, 0, f"{values[0, 0]:.2f}"
    else:
        rows, columns = rows or [*range(len(queries))], columns or [*range(len(keys))]
        at, along = np.unravel_index(values[np.ix_(rows, columns)].argmax(), (len(rows), len(columns)))
        row, column = rows[at], columns[along]
        value = f"{values[row, column]:.2f}"
    parts, d_k = 1 + len(run.config.distance_terms), run.config.d_k
    said: dict[str, object] = {"query": queries[row], "key": keys[column], "value": value}
    said |= {"d_k": f"({parts} · {d_k})" if parts > 1 else d_k, "root": f"{(d_k * parts) ** 0.5:.3f}"}
    return t(f"attention.read_{step}", **said)


def _read_mask(run: Trace, place: Place, prefix: str) -> str:
    """What the mask hides, if anything."""
    values = run[prefix + "masked"][place.head]
    hidden, window = int(np.isinf(values).sum()), run.graph[prefix + "masked"].window
    if hidden and touched(run, place.head, prefix + "weights"):
        return t("change.no_law")
    if window is not None and not touched(run, place.head, prefix + "masked"):
        return t("attention.read_window", window=window, hidden=hidden, cells=values.size)
    if hidden:
        return t("attention.read_masked", hidden=hidden, cells=values.size)
    kind = "cross" if ".cross." in prefix else "decoder" if prefix.startswith("decoder.") else "unmasked"
    return t(f"attention.read_{kind}")
