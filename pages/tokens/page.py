"""Tokens: the vector of each token, its position, and their sum X⁰, which the first layer reads."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from pages.tokens.embedding import embedding
from pages.tokens.order import word_order
from pages.tokens.patches import patches
from pages.tokens.positions import positions
from pages.tokens.tokenization import tokenization
from pages.ui.page import Page

PARTS = {
    "words": {"vectors": embedding, "pieces": tokenization, "order": word_order, "positions": positions},
    "drawing": {"vectors": embedding, "pieces": patches, "positions": positions},
    "single": {"vectors": embedding, "pieces": patches},
}
#: Parts of before -> where they are shown now.
FORMER = {"prepared": "pieces", "waves": "positions", "compare": "positions", "maps": "positions"}


class Tokens(Page):
    former = FORMER

    @property
    def rows(self) -> tuple[str, ...]:  # type: ignore[override]
        result = "embedding.sum" if "embedding.sum" in self.trace else self.trace.graph.stream(0)[0]
        return tuple(dict.fromkeys(("embedding.tokens", result)))

    @property
    def purpose(self) -> str:
        return super().purpose if self.config.places_added else "tokens.purpose_unplaced"

    def parts(self) -> Mapping[str, Callable[[], None]]:
        kind = "words" if self.trace.picture is None else self.kind
        return {name: partial(draw, self) for name, draw in PARTS[kind].items()}

    def code(self) -> Sequence[object]:
        embedding = self.pipeline.network.embedding
        placed = embedding.positions if self.config.places_added else self.pipeline.network.layers[0].attention
        return type(embedding), type(placed)
