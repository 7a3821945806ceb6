"""Token embeddings, positions and their sum side by side, and the rows of E nearest to the selected token's."""

from functools import partial

import numpy as np

from model.analysis import cosine_similarity
from pages.ui.figures import Axis, bars
from pages.ui.figures.equations import COSINE
from pages.ui.figures.theme import scaled
from pages.ui.runs.worked_out import neighbours
from pages.ui.sections.cell_map import cell_maps
from pages.ui.text import plain, texts_of
from pages.ui.view import View

SLATE = "#5B7083"  # of bars that are neither query, key nor value
text, word = texts_of("tokens")


def embedding(view: View) -> None:
    """All that is added up to X⁰, with the arithmetic of the chosen cell; of words, then the nearest rows of E."""
    keys = [key for key in view.trace if key.startswith("embedding.")]
    names = [word(key.removeprefix("embedding.")) for key in keys[:-1]] + [word("result")]
    drawn = zip(names, keys, strict=True)
    lengths = (f"{name} {np.linalg.norm(view.trace[key], axis=1).mean():.2f}" for name, key in drawn)
    said = [where_from(view), text("read_lengths", lengths=plain("common.comma").join(lengths)), about_twice(view)]
    looks = [{"title": name} for name in names]
    of_words = view.trace.patches is None
    cell_maps(view, keys, " ".join(filter(None, said)), looks, below=partial(nearest, view) if of_words else None)


def where_from(view: View) -> str:
    """Where the selected token's embedding comes from; nothing where the reader changed it."""
    if view.touched("embedding.tokens"):
        return ""
    if view.trace.patches is not None:
        return text("read_pixels_in", pixels=view.trace.patches.shape[1], d_model=view.config.embedded)
    return text("read_row", token=view.tokens[view.token], id=view.trace.ids[view.token])


def about_twice(view: View) -> str:
    """How alike X⁰ is at two positions of the first repeated word; nothing where no word stands twice."""
    tokens = view.tokens
    again = next((name for name in tokens if tokens.count(name) > 1), None)
    if again is None or not view.config.places_added or view.trace.patches is not None or view.trace.edits:
        return ""
    first = tokens.index(again)
    second = tokens.index(again, first + 1)
    cosine = cosine_similarity(view.trace[view.trace.graph.embedded][[first, second]])[0, 1]
    return text("read_twice", token=again, first=first + 1, second=second + 1, cosine=f"{cosine:.4f}")


def nearest(view: View) -> None:
    """The rows of E nearest to that of the selected token."""
    words, cosines, mean = neighbours(view.choice.pipeline, view.trace.ids[view.token])
    said = {"token": view.tokens[view.token], "nearest": words[0], "cosine": f"{cosines[0]:.2f}"}
    view.picture(
        "neighbours",
        bars(cosines, Axis(word("column_piece"), words), word("axis_cosine"), colours=SLATE, height=scaled(230)),
        text("read_neighbours", mean=f"{mean:.2f}", **said),
        equation=COSINE,
        still=view.shows == "difference",
    )
