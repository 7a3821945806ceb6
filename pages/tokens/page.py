"""Tokens: the vector of each token, its position, and their sum X⁰, which the first layer reads."""

from collections.abc import Callable, Sequence
from functools import partial

import streamlit as st

from model.checkpoints.images import CheckpointImageReader
from pages.tokens.order import word_order
from pages.tokens.pictures import (
    SCHEMES,
    colours,
    cut,
    drawing_steps,
    in_colour,
    nearest,
    pixels_of_one,
    read_embedding,
    summands,
    text,
)
from pages.tokens.tokenization import tokenization
from pages.ui.page import Page, Parts
from pages.ui.picture import Picture
from pages.ui.runs.worked_out import neighbours
from pages.ui.sections.cell_map import cell_maps

PARTS = {
    "words": ("vectors", "pieces", "order", "positions"),
    "drawing": ("vectors", "pieces", "positions"),
    "single": ("vectors", "pieces"),
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

    def parts(self) -> Parts:
        words = self.trace.picture is None
        pieces = partial(tokenization, self) if words else self.patches
        every: dict[str, Callable[[], object]] = {
            "vectors": self.vectors,
            "pieces": pieces,
            "order": partial(word_order, self),
        }
        every["positions"] = self.positions
        return {name: every[name] for name in PARTS["words" if words else self.kind]}

    def vectors(self) -> None:
        """All that is added up to X⁰, with the arithmetic of the chosen cell; of words, then the nearest rows of E."""
        named = summands(self.trace)
        looks = [{"title": name} for name in named.values()]
        below = self.nearest if self.trace.patches is None else None
        cell_maps(self, [*named], read_embedding(self.trace, self.at, brief=self.choice.big), looks, below=below)

    def nearest(self) -> None:
        found = neighbours(self.choice.pipeline, self.trace.ids[self.token])
        self.show("neighbours", partial(nearest, found=found, fixed=self.shows == "difference"))

    def positions(self) -> None:
        """The pictures of each way in which this network tells positions."""
        for scheme in SCHEMES:
            if scheme.used(self.config):
                columns = zip(st.columns(len(scheme.pictures)), scheme.pictures.items(), strict=True)
                for column, (name, make) in columns:
                    with column:
                        self.show(name, make)

    def patches(self) -> None:
        """From the picture to its patches, step by step, and the selected patch as a row of numbers."""
        drawn, reader = (
            self.choice.other_drawing if self.shows == "other" else self.choice.drawing,
            self.pipeline.reader,
        )
        if in_colour(self.seen) and isinstance(reader, CheckpointImageReader):
            steps = {"colours": colours(self.trace, reader)}
        else:
            steps = drawing_steps(self.trace, drawn)
        steps["patches"] = cut(self.trace, self.at, self.seen)
        for column, (name, picture) in zip(st.columns(len(steps)), steps.items(), strict=True):
            with column:
                self.still(name, picture)
        if self.trace.patches is not None and self.token >= self.config.tokens_in_front:
            self.still("pixels", pixels_of_one(self.trace, self.at, self.seen))
        if front := self.tokens[: self.config.tokens_in_front]:
            st.markdown(text("read_front", front=" ".join(front)))

    def still(self, name: str, picture: Picture) -> None:
        """A picture of the input, which no change of the run moves."""
        self.show(name, picture.with_(fixed=self.shows == "difference"))

    def code(self) -> Sequence[object]:
        embedding = self.pipeline.network.embedding
        placed = embedding.positions if self.config.places_added else self.pipeline.network.layers[0].attention
        return type(embedding), type(placed)
