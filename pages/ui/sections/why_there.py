"""Why a token looks where it looks: a score as the sum of what each earlier part put into the token looked at."""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import streamlit as st

from model import Trace
from model.sources import Scores, of_attention
from pages.ui.figures import Axis, heatmap, waterfall
from pages.ui.frame.navigation import open_with
from pages.ui.frame.pickers import either
from pages.ui.sections.working import working
from pages.ui.text import texts_of
from pages.ui.text.numbers import percent
from pages.ui.view import View

STEPS = ("scores", "scaled", "weights")  # of a cell of these it can be asked
MOST = 6  # parts with a bar of their own
SAME = 1e-4  # closer together, two weights read as one
SOURCE = re.compile(
    r"(?P<decoder>decoder\.)?(embedding\.(?P<part>\w+)|layers\.(?P<layer>\d+)\.(?P<sublayer>\w+)\.output)"
)
text, word = texts_of("why")


def by_hand_or_why(view: View, key: str, cell: tuple[int, ...]) -> None:
    """The arithmetic of a cell; of a score or a weight also why it is so large, where the reader asks for that."""
    prefix, _, step = key.rpartition(".")
    if step in STEPS and view.trace[key].shape[-1] > 1:
        words = [word("by_hand"), word("title")]
        if either("why", word("title"), (False, True), words, view.choice.why, label_visibility="collapsed"):
            why_there(view, f"{prefix}.", cell)
            return
    working(view, key, cell)


def why_there(view: View, prefix: str, cell: tuple[int, ...]) -> None:
    """What a score is made of: by what was put into the token looked at, as bars; and by pairs of sources, as a map.

    prefix: of the keys of the attention, "layers.2.attention." and the like. cell: head, query and key.
    """
    head, query, key = cell
    visible = np.isfinite(view.trace[f"{prefix}masked"][head])
    asked = Asked(view, prefix, head, query, key, visible)
    if not visible[query, key] or visible[query].sum() == 1:
        st.info(text("alone" if visible[query, key] else "hidden", **asked.names), icon=":material/info:")
        return
    asked.as_bars()
    asked.as_pairs()
    st.caption(text("held"))


@dataclass
class Asked:
    """One score, about which it is asked why it is so large. visible: where queries may look, (query, key)."""

    view: View
    prefix: str
    head: int
    query: int
    key: int
    visible: np.ndarray

    @cached_property
    def names(self) -> dict[str, str]:
        """The two tokens, as texts name them."""
        _, queries, keys = self.view.trace.names(f"{self.prefix}weights")
        assert queries is not None and keys is not None  # both axes are of tokens
        return {"query": queries[self.query], "key": keys[self.key]}

    @cached_property
    def scores(self) -> Scores:
        return of_attention(self.view.trace, self.view.trace.graph.sublayer(self.prefix), self.head)

    @cached_property
    def above(self) -> tuple[float, np.ndarray]:
        """The mean of the row, and what each pair of sources adds to it."""
        return self.scores.above_mean(self.query, self.key, self.visible)

    def as_bars(self) -> None:
        """The mean of the row, and what was put into the token looked at: together the score. A click goes there."""
        mean, pairs = self.above
        parts, of_keys = pairs.sum(axis=0), self.scores.of_keys
        order = np.argsort(-np.abs(parts), kind="stable").tolist()
        few = order if len(order) <= MOST + 1 else order[:MOST]
        labels, values = [self.in_short(of_keys[i]) for i in few], [round(float(parts[i]), 2) for i in few]
        if rest := order[len(few) :]:
            labels.append(word("rest", n=len(rest)))
            values.append(round(float(parts[rest].sum()), 2))
        total = round(mean + float(parts.sum()), 2)
        values.insert(0, round(total - sum(values), 2))  # it takes up what the roundings leave
        ways = [way_to(of_keys[i], self.key) for i in few]

        def go(bar: int, _: int) -> None:
            """To where the part of this bar was computed; the first bar is the mean."""
            if 0 < bar <= len(ways) and (way := ways[bar - 1]):
                open_with(way[0], **way[1])

        axis, grey = Axis("", [word("mean"), *labels, word("total")]), [0, *[1 + len(few)] * bool(rest)]
        said = " ".join([self.read_largest(parts, total), *self.read_without(parts), text("click")])
        self.view.picture(
            "why_there",
            waterfall(np.array(values), axis, word("axis"), grey=grey),
            said,
            title=word("chart", **self.names),
            on_pick=go,
        )

    def largest(self, parts: np.ndarray) -> int:
        """The part that makes the score large; of one below the mean of its row, that which makes it small."""
        return int(parts.argmax() if parts.sum() > 0 else parts.argmin())

    def read_largest(self, parts: np.ndarray, total: float) -> str:
        place, above = self.largest(parts), float(parts.sum())
        source = self.scores.of_keys[place]
        reason = word(f"because_{kind_of(source, self.view.trace)}", layer=layer_of(source) + 1, **self.names)
        said = {"score": f"{total:.2f}", "above": f"{abs(above):.2f}", "part": f"{parts[place]:.2f}", "reason": reason}
        return text("read_above" if above > 0 else "read_below", **said, **self.names)

    def read_without(self, parts: np.ndarray) -> list[str]:
        """What the row would be without the largest part, in all its tokens; nothing where edits made other weights."""
        source, names = (
            self.scores.of_keys[self.largest(parts)],
            self.view.trace.names(f"{self.prefix}weights")[2] or (),
        )
        now = self.view.trace[f"{self.prefix}weights"][self.head, self.query]
        if np.abs(self.scores.weights(self.query, self.visible) - now).max() > SAME:
            return []
        without = self.scores.weights(self.query, self.visible, without=source)
        best = int(without.argmax())
        said = {"now": percent(float(now[self.key])), "weight": percent(float(without[self.key]))}
        if best == self.key:
            return [text("read_without", **said, **self.names)]
        most = {"best": names[best], "most": percent(float(without[best]))}
        return [text("read_without_other", **said, **most, **self.names)]

    def as_pairs(self) -> None:
        """Which part of the token that looks meets which part of the token looked at, above the mean of the row."""
        _, pairs = self.above
        rows, columns = (
            [self.in_short(source) for source in of] for of in (self.scores.of_queries, self.scores.of_keys)
        )
        a, b = np.unravel_index(int(np.abs(pairs).argmax()), pairs.shape)
        shares = self.scores.shares(self.visible)
        c, d = np.unravel_index(int(shares.argmax()), shares.shape)
        said = {"asks": rows[a], "answers": columns[b], "value": f"{pairs[a, b]:.2f}"}
        said |= {"all_ask": rows[c], "all_answer": columns[d], "share": percent(float(shares[c, d]))}
        axes = Axis(word("asks", **self.names), rows), Axis(word("answers", **self.names), columns)
        self.view.picture(
            "pairs", heatmap(pairs, *axes, square=False), text("read_pairs", **said, **self.names), title=word("pairs")
        )

    def in_short(self, source: str) -> str:
        """ "FFN 1": a source as a picture names it."""
        return word(f"source_{kind_of(source, self.view.trace)}", layer=layer_of(source) + 1)


def kind_of(source: str, trace: Trace) -> str:
    """What its texts end with: "word", "patch", "positions", "segments", "attention", "cross", "ffn", "bias", …"""
    found = SOURCE.fullmatch(source)
    if found is None:
        return source
    if found["part"] == "tokens":
        return "word" if trace.picture is None else "patch"
    return found["part"] or found["sublayer"]


def layer_of(source: str) -> int:
    """The layer of a source, from 0; of the embedding 0."""
    found = SOURCE.fullmatch(source)
    return int(found["layer"] or 0) if found else 0


def way_to(source: str, token: int) -> tuple[str, dict[str, Any]] | None:
    """The page on which it is seen where a part of a token was computed, and what is chosen there; None: nowhere."""
    found = SOURCE.fullmatch(source)
    if found is None:
        return None
    if found["decoder"]:
        block = "embedding" if found["part"] else found["sublayer"]
        return "translation", {
            "panel": "inside",
            "block": block,
            "layer": layer_of(source),
            "step": token,
            "stage": None,
        }
    if found["part"]:
        return "tokens", {"panel": "vectors", "token": token}
    pages = {"attention": ("heads", "written"), "ffn": ("feed_forward", "output")}
    page, panel = pages[found["sublayer"]]
    return page, {"panel": panel, "layer": layer_of(source), "token": token}
