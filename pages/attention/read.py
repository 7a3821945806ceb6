"""What the pictures of attention say: the steps, the tokens shown, and a reading sentence for each step."""

import numpy as np

from model.analysis import placed
from pages.attention.sentences import of_sentences
from pages.ui.text import t
from pages.ui.view import View

#: The quantities in order of computation: q · k, ÷ √d_k, mask, softmax, × V.
STEPS = ("scores", "scaled", "masked", "weights", "heads")
BY_DISTANCE = ("relative", "biased")  # in front of the mask, where a number for each distance is added
#: What the scores are the sum of, where words and distances are told apart.
TOLD_APART = ("content_to_content", "content_to_position", "position_to_content")
SPECIAL = ("[CLS]", "[SEP]")
EVEN = 1e-6  # closer together, all weights of a row are the same


def steps_of(view: View, prefix: str) -> tuple[str, ...]:
    """The steps of an attention, in order of computation. prefix: of its keys, or the key of one of them."""
    prefix, before = prefix.rpartition(".")[0] + ".", STEPS.index("masked")
    steps = *TOLD_APART, *STEPS[:before], *BY_DISTANCE, *STEPS[before:]
    return tuple(step for step in steps if prefix + step in view.trace.graph)


def queries_and_keys(view: View, key: str) -> tuple[list[str], list[str]]:
    """The tokens that attend and those that are attended to, of scores or weights."""
    queries, keys = view.trace.names(key)[-2:]
    assert queries is not None and keys is not None  # both axes are of tokens
    return queries, keys


def shown(view: View, names: list[str]) -> list[int]:
    """The places of the tokens that are shown: all, or all but [CLS] and [SEP]."""
    return [place for place, name in enumerate(names) if not (view.choice.hide_special and name in SPECIAL)]


def shown_places(view: View, key: str) -> tuple[list[int], list[int]]:
    """The queries and the keys that are shown; all where nothing else would be left."""
    queries, keys = queries_and_keys(view, key)
    rows, columns = shown(view, queries) or list(range(len(queries))), shown(view, keys) or list(range(len(keys)))
    return of_sentences(view, rows, columns) if key.startswith("layers.") else (rows, columns)


def attends_most(view: View, key: str) -> str:
    """ "“it” attends most to “animal”: 0.66", and how much of its row is not shown."""
    queries, keys = queries_and_keys(view, key)
    token = view.place(key)
    row, (_, places) = view.trace[key][view.head, token], shown_places(view, key)
    best, weights = max(places, key=lambda place: row[place]), row[places]
    even = len(places) > 1 and float(weights.max() - weights.min()) < EVEN
    said = t(
        f"attention.read_{'even' if even else 'weights'}",
        where=view.where(),
        query=placed(queries)[token],
        key=placed(keys)[best],
        value=f"{row[best]:.2f}",
    )
    rest = 1 - float(weights.sum())
    return f"{said} {t('attention.rows_short', rest=f'{rest:.0%}')}" if len(places) < len(keys) else said


def read_step(view: View, prefix: str, step: str) -> str:
    """What the picture of a step says."""
    key = prefix + step
    if step == "weights":
        return attends_most(view, key)
    if step == "masked":
        return _read_mask(view, prefix)
    if view.touched(key, *[prefix + "weights"] * (step == "heads")):
        return t("change.no_law")
    values = view.trace[key][view.head]
    queries, keys = map(placed, queries_and_keys(view, prefix + "weights"))
    if step == "heads":
        weights = view.trace[prefix + "weights"][view.head, view.place(prefix + "weights")]
        row, column = view.place(prefix + "weights"), int(weights.argmax())
        value = f"{weights[column]:.0%}"
    elif step == "relative":
        row, column, value = 0, 0, f"{values[0, 0]:.2f}"
    else:
        rows, columns = shown_places(view, prefix + "weights")
        row, column = np.unravel_index(values[np.ix_(rows, columns)].argmax(), (len(rows), len(columns)))
        row, column = rows[row], columns[column]
        value = f"{values[row, column]:.2f}"
    parts, d_k = 1 + len(view.config.distance_terms), view.config.d_k
    said: dict[str, object] = {"query": queries[row], "key": keys[column], "value": value}
    said |= {"d_k": f"({parts} · {d_k})" if parts > 1 else d_k, "root": f"{(d_k * parts) ** 0.5:.3f}"}
    return t(f"attention.read_{step}", **said)


def _read_mask(view: View, prefix: str) -> str:
    """What the mask hides, if anything."""
    values = view.trace[prefix + "masked"][view.head]
    hidden, window = int(np.isinf(values).sum()), view.trace.graph[prefix + "masked"].window
    if hidden and view.touched(prefix + "weights"):
        return t("change.no_law")
    if window is not None and not view.touched(prefix + "masked"):
        return t("attention.read_window", window=window, hidden=hidden, cells=values.size)
    if hidden:
        return t("attention.read_masked", hidden=hidden, cells=values.size)
    kind = "cross" if ".cross." in prefix else "decoder" if prefix.startswith("decoder.") else "unmasked"
    return t(f"attention.read_{kind}")
