"""Where a reader looks in a run."""

from dataclasses import dataclass

from pages.drawing.text import plain


@dataclass(frozen=True)
class Place:
    """Where a reader looks in a run, counted from 0; None: not chosen, so a picture finds a cell to show.

    step: the step of a translation; None outside translations. source: the token of the source sentence that the reader
    chose in a translation. sublayer: from 1. between: which of two sentences attends to which. marked: whether
    the cell is outlined; False where another run has no counterpart of it.
    """

    layer: int = 0
    head: int = 0
    token: int = 0
    key: int | None = None
    component: int | None = None
    part: int | None = None
    neuron: int | None = None
    distance: int | None = None
    output: int | None = None
    step: int | None = None
    source: int | None = None
    sublayer: int = 1
    between: str = "all"
    marked: bool = True

    def of(self, row: str) -> str:
        """The trace key, in this layer, of a row of the graph ("layers.{l}.attention.Q")."""
        return row.replace("{l}", str(self.layer))

    def row(self, key: str) -> int:
        """The place along a quantity's axis of tokens: the token, or the step in a decoder."""
        source = not key.startswith("decoder.") or key.endswith((".cross.K", ".cross.V"))
        return self.token if self.step is None or (source and key != "logits") else self.step

    def where(self, of: tuple[int, int] | None = None) -> str:
        """ "layer 2, head 3" in the reader's language. of: another layer and head; −1 leaves one out."""
        layer, head = of or (self.layer, self.head)
        if layer >= 0 and head >= 0:
            return plain("common.where", layer=layer + 1, head=head + 1)
        named = ("layer", layer), ("head", head)
        return next((plain(f"change.{name}", number=place + 1) for name, place in named if place >= 0), "")
