"""Origin: attention rollout, which follows the vectors after the chosen layer back to the input."""

from collections.abc import Sequence

import numpy as np

from model.analysis import largest_terms, placed, rollout
from model.by_hand import terms_table
from pages.layers.token_map import strongest_other, token_map
from pages.ui.figures import Axis
from pages.ui.figures.equations import ROLLOUT
from pages.ui.sections.cell_map import cell_maps
from pages.ui.sections.working import MOST, terms
from pages.ui.text import texts_of
from pages.ui.view import View

text, word = texts_of("layers")


def origin(view: View) -> None:
    """The rollout; after the last layer, Z below it."""
    layer, token, n = view.layer, view.token, len(view.tokens)
    weights, names = view.trace.over_layers("attention.weights"), placed(view.tokens)
    reached = rollout(weights)
    source = strongest_other(view, reached[layer, token])
    said = {"layer": layer + 1, "query": names[token], "own": f"{reached[layer, token, token]:.0%}"}
    said |= {"key": names[source], "value": f"{reached[layer, token, source]:.0%}"}
    before = reached[layer - 1] if layer else np.eye(n, dtype=np.float32)

    def by_hand(key: int) -> Sequence[str]:
        """Over all tokens on the way: half the mean weight (and half of the token itself) times R before."""
        mixed = weights[layer, :, token].mean(axis=0) / 2 + (np.arange(n) == token) / 2
        products = largest_terms(mixed, before[:, key], most=MOST)
        return [terms(view, terms_table(products, "token", "½(Ā + I)", word("hand_before")))]

    token_map(
        view,
        "rollout",
        lambda run: rollout(run.over_layers("attention.weights"))[layer],
        (Axis(word("axis_after"), view.named), Axis(word("axis_input"), view.named)),
        source,
        text("read_rollout" if n > 1 else "alone_rollout", **said),
        by_hand,
        equation=ROLLOUT,
        scale="share",
        law_of=["layers.{l}.attention.weights"],
    )
    if layer + 1 == view.trace.graph.layers() and not view.choice.big:
        _output(view)


def _output(view: View) -> None:
    """Z, the output of the encoder."""
    Z = view.trace.graph.Z
    length = f"{np.linalg.norm(view.trace[Z][view.token]):.2f}"
    said = text("read_Z", token=placed(view.tokens)[view.token], length=length)
    if view.trace.graph.stream(view.layer)[-1] != Z:
        said += " " + text("read_final")
    cell_maps(view, [Z], [said], [{"title": "Z"}])
