"""Why a token attends where it does: a score as a sum over what each earlier part put into the key's token."""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from model.analysis import placed
from model.measures.origins import by_kind, by_place, of_reads
from model.measures.origins import nbytes as nbytes_of_origins
from model.measures.sources import DISTANCE, Scores, nbytes, of_attention
from model.rule import EVERY
from pages.attention import origins
from pages.attention.one_weight import one_weight
from pages.drawing.figures import Axis, heatmap
from pages.drawing.picture import Picture, names_of, touched
from pages.drawing.pictures.sources import MOST_BYTES, in_short, kind_of, layer_of, parts_picture, places_of
from pages.drawing.screen import Screen
from pages.drawing.text import plain, texts_of
from pages.drawing.text.numbers import First, first, furthest, last, percent, summands, two
from pages.screen.frame.pen import Pen
from pages.screen.frame.pickers import either
from pages.screen.sections.working import working

LEAST = 0.05  # share of the softmax's input; smaller pairs are not mentioned
SAME = 1e-4  # weights closer than this count as equal
text, word = texts_of("why")


def by_hand_or_why(
    screen: Screen, pen: Pen, key: str, cell: tuple[int, ...], beside: DeltaGenerator | None = None
) -> None:
    """The arithmetic of a cell. For weights and the softmax's input, the reader can switch to the sources, if they
    explain the weight.

    beside: the container for the switch, next to a picture of all steps, which the strips would only repeat.
    """
    prefix, _, step = key.rpartition(".")
    explained = not touched(screen.run, cell[0], f"{prefix}.weights", shares=[f"{prefix}.masked"])
    if explained and step in ("weights", score_of(screen, f"{prefix}.")) and screen.run[key].shape[-1] > 1:
        words = [word("by_hand"), word("title")]
        with beside or nullcontext():
            why = either("why", word("title"), (False, True), words, screen.choice.why, label_visibility="collapsed")
        if why:
            why_there(screen, pen, f"{prefix}.", cell)
            return
    if step == "weights":
        one_weight(screen, pen, key, cell, strips=beside is None)
    else:
        working(screen, pen, key, cell)


def score_of(screen: Screen, prefix: str) -> str:
    """The quantity that is taken apart: the softmax's input before the mask."""
    return "biased" if f"{prefix}biased" in screen.run.graph else "scaled"


def why_there(screen: Screen, pen: Pen, prefix: str, cell: tuple[int, ...]) -> None:
    """The parts of a score: by source of the key's token, as bars; and by pairs of sources, as a map.

    prefix: of the attention's keys, such as "layers.2.attention.". cell: head, query and key.
    """
    head, query, key = cell
    visible = np.isfinite(screen.run[f"{prefix}masked"][head])
    asked = Asked(screen, pen, prefix, head, query, key, visible)
    if max(nbytes(screen.run), asked.nbytes if screen.run.edited else 0) > MOST_BYTES:
        st.info(plain("source.too_large"), icon=":material/info:")
        return
    if not visible[query, key] or visible[query].sum() == 1:
        st.info(text("alone" if visible[query, key] else "hidden", **asked.names), icon=":material/info:")
        return
    asked.as_bars()
    asked.as_pairs()
    st.caption(text("held"))
    asked.from_the_start()


@dataclass
class Asked:
    """One score that is taken apart. visible: (query, key), False where the mask hides."""

    screen: Screen
    pen: Pen
    prefix: str
    head: int
    query: int
    key: int
    visible: np.ndarray

    @cached_property
    def keys(self) -> Sequence[str]:
        """The tokens that can be attended to."""
        return placed(self.screen.run.names(f"{self.prefix}weights")[2] or ())

    @cached_property
    def names(self) -> dict[str, str]:
        """The two tokens, for texts."""
        queries = placed(names_of(self.screen.run, f"{self.prefix}weights")[1] or ())
        return {"query": queries[self.query], "key": self.keys[self.key]}

    @property
    def what(self) -> str:
        """The name of the number that is taken apart, as on its map, unless a change of the reader has made it."""
        step = score_of(self.screen, self.prefix)
        made = touched(self.screen.run, self.head, *(f"{self.prefix}{one}" for one in ("scores", "scaled", step)))
        return word(f"score_{'changed' if made else step}")

    @property
    def nbytes(self) -> int:
        """The approximate bytes of the pairs of sources in all rows."""
        return 8 * (4 + 3 * self.screen.run.graph.layers()) ** 2 * self.visible.size

    @cached_property
    def rows(self) -> slice:
        """The queries to compute: all, or only this one if all take too much memory."""
        return slice(None) if self.nbytes <= MOST_BYTES else slice(self.query, self.query + 1)

    @cached_property
    def row(self) -> int:
        """The index of this query among `rows`."""
        return self.query - (self.rows.start or 0)

    @cached_property
    def scores(self) -> Scores:
        attention = self.screen.run.graph.sublayer(self.prefix)
        return of_attention(self.screen.run, attention, self.head, queries=self.rows)

    @cached_property
    def above(self) -> tuple[float, np.ndarray]:
        """The mean of the row, and what each pair of sources adds to it: (query's source, key's source)."""
        return self.scores.above_mean(self.row, self.key, self.visible[self.rows])

    def as_bars(self) -> None:
        """The mean of the row plus the contributions to the key's token: together the score."""
        mean, pairs = self.above
        parts = pairs.sum(axis=0)
        said = " ".join([self.read_largest(parts, mean + float(parts.sum())), *self.read_without(parts)])
        terms = len(self.screen.run.config.distance_terms)
        axis = "axis_told_apart" if terms else "axis_distance" if DISTANCE in self.scores.of_keys else "axis"
        axis += "_undivided" * (not self.screen.run.config.divided)
        axis = self.what if self.what == word("score_changed") else word(axis, parts=1 + terms)
        look = {"title": word("chart", **self.names), "axis": axis, "total": self.what}
        if terms:
            said += " " + self.read_products()
        places = places_of(self.scores.of_keys, self.screen.run, self.key)
        self.pen.show("why_there", parts_picture(places, parts, said, begin=(word("mean"), mean), **look))

    def read_products(self) -> str:
        """The sentence that splits the score into words with words, and words with distances."""
        asks, answers = (
            np.array([of == DISTANCE for of in side]) for side in (self.scores.of_queries, self.scores.of_keys)
        )
        parts = self.scores.parts[:, :, self.row, self.key]
        found = {"content": parts[~asks][:, ~answers], "query": parts[:, answers], "key": parts[asks]}
        said = dict(zip(found, summands(part.sum() for part in found.values()), strict=True))
        terms = self.screen.run.config.distance_terms
        kind = "" if len(terms) > 1 else "_query" if terms == ("content_to_position",) else "_key"
        return text(f"read_products{kind}", **said, **{"from": self.names["query"], "to": self.names["key"]})

    def largest(self, parts: np.ndarray) -> First:
        """The part that raises the score most; for a score below the mean of its row, the one that lowers it most."""
        return (first if parts.sum() > 0 else last)(parts)

    def read_largest(self, parts: np.ndarray, total: float) -> str:
        largest, above = self.largest(parts), float(parts.sum())
        source = self.scores.of_keys[largest.place]
        kind = kind_of(source, self.screen.run)
        kind = "word" if kind == "patch" and self.key < self.screen.run.config.tokens_in_front else kind  # [CLS]
        reason = word(f"because.{kind}", layer=layer_of(source) + 1, **self.names)
        said: dict[str, object] = {"what": self.what, "score": two(total), "above": two(abs(above))}
        said |= {"part": largest, "reason": reason}
        return text("read_above" if above > 0 else "read_below", **said, **self.names)

    def read_without(self, parts: np.ndarray) -> list[str]:
        """The sentence about the row without the largest part in all tokens; [] where no part is ahead, or edits
        changed the weights.
        """
        largest = self.largest(parts)
        now = self.screen.run[f"{self.prefix}weights"][self.head, self.query]
        moved = np.abs(self.scores.weights(self.row, self.visible[self.rows]) - now).max() > SAME
        if moved or not largest.ahead:
            return []
        without = self.scores.weights(self.row, self.visible[self.rows], without=self.scores.of_keys[largest.place])
        best = int(without.argmax())
        said = {"now": percent(float(now[self.key])), "weight": percent(float(without[self.key]))}
        if best == self.key:
            return [text("read_without", **said, **self.names)]
        return [text("read_without_other", **said, best=self.keys[best], most=first(without, percent), **self.names)]

    def as_pairs(self) -> None:
        """The pairs of a source of the query and a source of the key, above the mean of the row, as a map."""
        _, pairs = self.above
        rows, columns = (
            [in_short(source, self.screen.run) for source in of] for of in (self.scores.of_queries, self.scores.of_keys)
        )
        a, b = np.unravel_index(int(np.abs(pairs).argmax()), pairs.shape)
        sentence = text("read_pair", asks=rows[a], answers=columns[b], value=furthest(pairs), **self.names)
        if self.rows == slice(None) and (shares := self.scores.shares(self.visible)).any():
            c, d = np.unravel_index(int(shares.argmax()), shares.shape)
            largest = {"asks": rows[c], "answers": columns[d], "share": first(shares, percent)}
            sentence += f" {text('read_rows', **largest)}{self.read_alone(shares)}"
        figure = heatmap(pairs, Axis("", rows), Axis("", columns), square=False)
        self.pen.show("pairs", Picture(figure, sentence, title=word("pairs", **self.names)))

    def from_the_start(self) -> None:
        """The score followed back to words and positions; and the whole head, beside its role."""
        if not by_place(self.screen.run.graph) or nbytes_of_origins(self.screen.run) > MOST_BYTES:
            return
        attention = self.screen.run.graph.sublayer(self.prefix)
        known = of_reads(self.screen.run, attention)
        of = of_attention(self.screen.run, attention, self.head, queries=self.rows, known=known)
        _, above = of.above_mean(self.row, self.key, self.visible[self.rows])
        cell = by_kind(of, above)
        if cell["brought"]:  # else the bars say it
            st.markdown(origins.of_cell(self.screen, self.names["key"], cell))
        if self.rows == EVERY:
            shares = by_kind(of, of.shares(self.visible))
            if any(shares.values()):
                st.markdown(origins.of_head(self.screen, self.prefix, self.head, shares))
        st.caption(origins.text("held"))

    def read_alone(self, shares: np.ndarray) -> str:
        """Where positions alone, or words alone, would attend, if they have a large enough share in this head."""
        said, of = "", self.scores
        if of.of_queries != of.of_keys:  # cross-attention: no source is on both sides
            return said
        for place, source in enumerate(of.of_keys):
            if source.endswith((".tokens", ".positions")) and shares[place, place] >= LEAST:
                row = np.where(self.visible[self.query], of.parts[place, place, self.row], -np.inf)
                kind = kind_of(source, self.screen.run)
                said += " " + text(f"alone_{kind}", best=first(row).named(self.keys))
        return said
