"""Tokens: the vector of each token, its position, and their sum X⁰, which the first layer reads."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from model import WeightsError
from model.analysis import cosine_similarity, cut_words, piece_kinds, spelled, token_places, units
from model.config import PRESETS
from model.patch_waves import are_waves
from model.pipeline import TextReader
from model.relative import table_rows
from model.token_dropout import SHOWN, multiplier
from pages.tokens.order import order_matters
from pages.tokens.patches import how_it_is_prepared, position_maps
from pages.ui.components.tables import draw_table
from pages.ui.figures import Axis, bars, colour_tiles, heatmap, lines, tiles, waves
from pages.ui.figures.equations import COSINE
from pages.ui.page import Page
from pages.ui.runs.worked_out import neighbours, whole_table
from pages.ui.sections.cell_map import cell_maps
from pages.ui.sections.overlay import pieces_of
from pages.ui.state.link import select
from pages.ui.text import literal, plain, texts_of

SINES = (
    r"\begin{aligned} PE(pos, 2i) &= \sin\left(pos / 10000^{2i/d_{model}}\right) \\"
    r" PE(pos, 2i+1) &= \cos\left(pos / 10000^{2i/d_{model}}\right) \end{aligned}"
)
SLATE = "#5B7083"  # of bars that are neither query, key nor value
MOST_TRIED = 5  # pieces that were looked up in vain and are shown
FEWEST_APART = 5  # tokens whose distances are compared
LEAST_PLACES = 64  # for which turns are drawn
LEAST_APART = 32  # places to either side for which numbers of distances are drawn
MOST_SIMPLIFIED = 4  # words of which it is said how they are read
BADGES = {"first": "orange", "later": "orange", "unk": "red", "cls": "violet", "sep": "violet", "mask": "violet"}
#: Parts of before -> where they are shown now.
FORMER = {"prepared": "pieces", "waves": "positions", "compare": "positions", "maps": "positions"}
text, word = texts_of("tokens")


class Tokens(Page):
    former = FORMER

    @property
    def rows(self) -> tuple[str, ...]:  # type: ignore[override]
        result = "embedding.sum" if "embedding.sum" in self.trace else self.trace.graph.stream(0)[0]
        return tuple(dict.fromkeys(("embedding.tokens", result)))

    @property
    def summed(self) -> str:
        """The vectors with all that is added to them."""
        return self.trace.graph.embedded

    @property
    def turned(self) -> bool:
        """Whether no place is added here, and queries and keys turn with theirs."""
        return self.trace.config.positions == "rotary"

    @property
    def placed(self) -> bool:
        """Whether a vector for its place is added to each token."""
        return self.trace.config.places_added

    @property
    def purpose(self) -> str:
        return super().purpose if self.placed else "tokens.purpose_unplaced"

    @property
    def waved(self) -> bool:
        """Whether the places of patches are waves that nobody trained."""
        return self.cut and are_waves(self.pipeline.network.embedding.positions.table, self.config.patches_per_side)

    @property
    def words(self) -> bool:
        return self.trace.picture is None

    @property
    def moved(self) -> bool:
        """Whether the reader changed the positions."""
        return self.touched("embedding.positions")

    @property
    def known(self) -> bool:
        """Whether the token vectors are those of the table, and not the reader's."""
        return not self.touched("embedding.tokens")

    @property
    def self_same(self) -> bool:
        """Whether two runs of the same input are shown: no change inside moves what goes in."""
        return self.shows == "difference"

    @property
    def uncounted(self) -> list[str]:
        """The tokens that take no place."""
        return [name for name, row in zip(self.tokens, self.trace.rows, strict=True) if row is None]

    @property
    def cut(self) -> bool:
        """Whether a picture is cut into several patches."""
        return not self.words and len(self.trace.patches) > 1

    @property
    def colour(self) -> bool:
        return self.seen is not None and self.seen.ndim == 3

    def parts(self) -> Mapping[str, Callable[[], None]]:
        parts: dict[str, Callable[[], None]] = {"vectors": self.vectors}
        parts["pieces"] = self.pieces if self.words else self.patches
        if self.words:
            parts["order"] = lambda: order_matters(self)
        return parts | {"positions": self.positions}

    def code(self) -> Sequence[object]:
        embedding = self.pipeline.network.embedding
        places = embedding.positions if self.placed else self.pipeline.network.layers[0].attention
        return type(embedding), type(places)

    def pieces(self) -> None:
        """The words as the encoder reads them, how they were cut, and the table of their ids."""
        groups = units(self.tokens, spaces=False)  # several tokens may make one character
        first, pieces = [places[0] for places in groups], [spelled([self.tokens[i] for i in group]) for group in groups]
        kinds, cut = piece_kinds(pieces), cut_words(self.tokens)
        named = zip(pieces, kinds, strict=True)
        st.markdown(" ".join(f":{BADGES.get(kind, 'gray')}-badge[{literal(piece)}]" for piece, kind in named))
        st.markdown(text("read_pieces", pieces=len(self.tokens), vocabulary=f"{self.trace.config.vocab_size:,}"))
        typed, reader = self.given, self.pipeline.reader
        if getattr(reader, "proteins", False):
            st.caption(text("proteins"))
        if isinstance(typed, str) and isinstance(reader, TextReader) and (simplified := reader.simplified(typed)):
            pairs = plain("common.semicolon").join(f"{typed} → {read}" for typed, read in simplified[:MOST_SIMPLIFIED])
            how = "" if self.choice.checkpoint else " " + text("simplified_how")  # theirs do otherwise
            st.info(text("simplified", words=pairs) + how, icon=":material/spellcheck:")
        if cut:
            for parts in cut[:3]:
                st.markdown("- " + text("read_cut", word=spelled(parts), n=len(parts), pieces=" + ".join(parts)))
            st.markdown(text("read_marks"))
            self.how_it_is_cut(spelled(cut[0]))
        elif isinstance(self.pipeline.reader, TextReader) and not {"character", "unk"} & set(kinds):
            example = word("rare_word")
            parts = self.pipeline.reader.pieces(example)
            if any(part.startswith("##") for part in parts):
                st.markdown(text("read_uncut", word=example, pieces=" + ".join(parts)))
                self.how_it_is_cut(example)
        if isinstance(self.pipeline.reader, TextReader) and (space := self.pipeline.reader.space):
            st.markdown(text("read_space", space=space))
        for kind, sentence in (("character", "read_characters"), ("unk", "read_unk"), ("mask", "read_mask")):
            if kind in kinds:
                st.markdown(text(self.about_mask() if kind == "mask" else sentence))
        st.markdown(text("read_special" if "[CLS]" in self.tokens else "read_special_end"))
        sentences = [chr(ord("A") + self.trace.segments[place]) for place in first if self.trace.segments]
        ids = [[self.trace.ids[place] for place in places] for places in groups]
        several = len(first) < len(self.tokens)  # pieces for one character
        table = pd.DataFrame(
            {
                word("column_piece"): pieces,
                word("column_id"): [", ".join(map(str, own)) if several else own[0] for own in ids],
                "pos": pd.array([self.trace.rows[place] for place in first], dtype="Int64"),
                **({word("column_segment"): sentences} if "B" in sentences else {}),
                word("column_kind"): [word(f"kind_{kind}") for kind in kinds],
            },
            index=[place + 1 for place in first],
        )
        draw_table(table, "tokens.pieces", height=min(38 + 35 * len(first), 740))

    def how_it_is_cut(self, typed: str) -> None:
        """Which pieces WordPiece looked up on its way through a word, and what BPE would do."""
        reader = self.pipeline.reader
        looked_up = reader.looked_up(typed) if isinstance(reader, TextReader) else []
        if not looked_up:
            return
        with st.expander(word("how_cut", word=typed), icon=":material/content_cut:"):
            for tried in looked_up:
                missed = [literal(piece) for piece in tried[:-1]]
                shown = missed if len(missed) <= MOST_TRIED else [*missed[: MOST_TRIED - 1], "…", missed[-1]]
                passed = " · ".join(f":gray[{piece}]" for piece in shown)
                st.markdown(f"{passed} → **{literal(tried[-1])}**" if passed else f"**{literal(tried[-1])}**")
            st.markdown(text("about_wordpiece", count=sum(map(len, looked_up)), word=typed))
            st.markdown(text("about_bpe"))

    def about_mask(self) -> str:
        """The text on [MASK]: whether this network can say what it hides."""
        if self.choice.paper:
            return "read_mask_random"
        return "read_mask" if self.config.head == "masked-word" else "read_mask_unguessed"

    def patches(self) -> None:
        """The patches of a picture, the selected one as a row of numbers, and how the picture was prepared."""
        pixels, config = self.trace.patches, self.trace.config  # (patch, pixel)
        assert pixels is not None  # a picture
        first = len(self.tokens) - len(pixels)  # where the patches begin: after [CLS], if there is one
        side, size = math.isqrt(len(pixels)), math.isqrt(pixels.shape[1] // config.channels)
        chosen = self.token - first if self.token >= first else None
        draw, seen = colour_tiles, pieces_of(self) if self.colour else None
        if seen is None:
            draw, seen = partial(tiles, square=True), pixels.reshape(-1, size, size)
        columns = st.columns([2, 3])
        with columns[0]:
            many = side > 1
            self.picture(
                "patches",
                draw(
                    seen.reshape(side, side, *seen.shape[1:]),
                    Axis.counted(word("axis_row"), side),
                    Axis.counted(word("axis_column"), side),
                    chosen=None if chosen is None or not many else divmod(chosen, side),
                    hover=self.tokens[first:],
                    height=360,
                ),
                text(
                    "read_patches" if many else "read_flat",
                    side=config.image_size,
                    patches=len(pixels),
                    size=size,
                    pixels=pixels.shape[1],
                    d_model=self.trace.config.d_model,
                ),
                values=pixels,
                table=pd.DataFrame(pixels, index=self.tokens[first:], columns=range(1, pixels.shape[1] + 1)),
                on_pick=(lambda row, column: select(token=first + row * side + column)) if many else None,
                still=self.self_same,
            )
        with columns[1]:
            if chosen is not None:
                self.one_row(first, chosen, size)
            if many:
                self.read_front()
        if many:
            how_it_is_prepared(self)

    def read_front(self) -> None:
        """What stands before the patches, and what is said of their places."""
        config = self.trace.config
        said = [text("read_cls" if config.cls_token else "read_no_cls")]
        if config.head == "vector":
            said.append(text("read_cls_vector" if config.cls_token else "read_probe"))
        elif config.patch_head == "alone":
            said.append(text("read_patch_mean"))
        elif "logits" in self.trace:
            said += [text("read_cls_answer"), *[text("read_patch_head")] * (config.patch_head == "beside")]
        st.markdown(" ".join(said))
        if config.distillation_token:
            st.markdown(text("read_distillation"))
        if config.distillation_head:
            st.markdown(text("read_distillation_head"))
        if count := config.registers:
            names = {"first": config.front[1], "last": config.front[-1], "count": count}
            st.markdown(text("read_register" if count == 1 else "read_registers", **names))
        if config.learned_side:
            st.markdown(text("read_stretched", learned=config.learned_side, side=config.patches_per_side))

    def one_row(self, first: int, chosen: int, size: int) -> None:
        """The numbers of one patch as they are read; in colour a row for each channel."""
        assert self.trace.patches is not None  # a picture
        pixels, name = self.trace.patches[chosen], self.tokens[first + chosen]
        if self.colour:
            names = [word(channel) for channel in ("red", "green", "blue")][: self.trace.config.channels]
            axes = Axis("", names), Axis(word("axis_pixel_colour"))
            said, scale = text("read_pixels_colour", token=name, pixels=len(pixels), size=size), "signed"
        else:
            axes = Axis(plain("axis.token"), [name]), Axis(word("axis_pixel"))
            said, scale = text("read_pixels", token=name, pixels=len(pixels), ink=int((pixels > 0.5).sum())), "share"
        look = {"scale": scale, "square": False, "height": 170}
        values = pixels.reshape(self.trace.config.channels, -1)
        self.picture(
            "pixels", heatmap(values, *axes, **look), said, values=pixels[None], equation="p", still=self.self_same
        )

    def vectors(self) -> None:
        """Token embeddings, positions and their sum, with the arithmetic of the chosen cell."""
        rows = [key for key in self.trace if key.startswith("embedding.")]
        X_embed, X_0 = self.trace["embedding.tokens"], self.trace[self.summed]
        E_pos = self.trace["embedding.positions"] if self.placed else None
        config = self.trace.config
        learned = config.positions == "learned"
        made = ("learned_words" if self.words else "waves" if self.waved else "learned") if learned else "sinusoidal"
        normed = "read_norm_narrow" if config.d_embedding else "read_norm" if self.placed else "read_norm_turned"
        lengths = {"tokens": length(X_embed), "sum": length(X_0)}
        lengths |= {} if E_pos is None else {"positions": length(E_pos)}
        several = len({*getattr(self.pipeline.reader, "segments", {}).values()}) > 1
        said = {
            "tokens": self.about_vectors(X_embed),
            "segments": text("read_segments" if several else "read_segments_one"),
            "positions": text("one_place" if len(self.tokens) == 1 else f"read_positions_{made}")
            + self.about_uncounted(),
            "sum": self.about_sum(rows, lengths) if "embedding.sum" in rows else "",
            "norm": text(normed),
            "projection": text("read_projection", narrow=config.embedded, wide=config.d_model),
        }
        names = [row.removeprefix("embedding.") for row in rows]
        titles = {name: word(name) for name in names} | ({"sum": word("summed")} if names[-1] != "sum" else {})
        titles |= {} if self.placed else {names[-1]: word("summed_none")}
        cell_maps(self, rows, [said[name] for name in names], [{"title": titles[name]} for name in names])
        if not self.placed:
            apart = "told_apart" if self.trace.config.distance_terms else "distances_alone"
            st.markdown(text("turned" if self.turned else apart))
        if self.words:
            self.nearest()

    def about_uncounted(self) -> str:
        """Which token takes no place; nothing where all take one."""
        return " " + text("read_uncounted", token=self.uncounted[0]) if self.uncounted and not self.moved else ""

    def about_vectors(self, X_embed: np.ndarray) -> str:
        d_model, source = self.trace.config.d_model, self.trace.graph["embedding.tokens"]
        pixels = self.trace.patches
        if pixels is None:
            said = text("read_rows", token=self.tokens[self.token], id=self.trace.ids[self.token])
            if (dropped := self.config.dropped) is not None:
                n, hidden = len(self.tokens), self.trace.ids.count(dropped)
                numbers = {"n": n, "hidden": hidden, "share": f"{SHOWN:.2f}", "k": f"{multiplier(n, hidden):.4f}"}
                return said + " " + text("read_token_dropout", **numbers)
            if source.factor == 1 or not self.placed:
                return said
            lengths = {"before": length(X_embed / source.factor), "after": length(X_embed)}
            return said + " " + text("read_tokens", d_model=d_model, root=f"{source.factor:.4g}", **lengths)
        first = len(self.tokens) - len(pixels)
        kind = "read_tokens_colour" if self.colour else "read_tokens_patches" if first else "read_tokens_flat"
        return text(kind, pixels=pixels.shape[1], d_model=d_model, length=length(X_embed[first:]))

    def about_sum(self, rows: Sequence[str], lengths: Mapping[str, str]) -> str:
        """What the sum of token and position holds. rows: what the embedding computes; lengths: means, of its parts."""
        if self.touched("embedding.positions"):
            return text("read_sum_changed")
        if not self.known:
            return text("read_sum_changed_tokens")
        if twice := self.about_twice(self.trace["embedding.sum"]):
            return twice
        if "embedding.segments" in rows:
            return text("read_sum_segments", segments=length(self.trace["embedding.segments"]), **lengths)
        return text("read_sum", **lengths)

    def about_twice(self, X_0: np.ndarray) -> str | None:
        """How two places of the first repeated word differ in the sum; None where no word stands twice."""
        again = next((name for name in self.tokens if self.tokens.count(name) > 1), None) if self.words else None
        if again is None:
            return None
        first = self.tokens.index(again)
        second = self.tokens.index(again, first + 1)
        cosine = f"{cosine_similarity(X_0[[first, second]])[0, 1]:.4f}"
        return text("read_sum_twice", token=again, first=first + 1, second=second + 1, cosine=cosine)

    def nearest(self) -> None:
        """The rows of E nearest to that of the selected token."""
        words, cosines, mean = neighbours(self.choice.pipeline, self.trace.ids[self.token])
        names, kind = Axis(word("column_piece"), words), "read_random_rows" if self.choice.paper else "read_neighbours"
        said = {"token": self.tokens[self.token], "nearest": words[0], "cosine": f"{cosines[0]:.2f}"}
        self.picture(
            "neighbours",
            bars(cosines, names, word("axis_cosine"), colours=SLATE),
            text(kind, mean=f"{mean:.2f}", **said),
            equation=COSINE,
            still=self.self_same,
        )

    def positions(self) -> None:
        """How positions are told, and, where they are added, the two ways to make them."""
        if not self.placed:
            (self.turns if self.turned else self.distances)()
            return
        if self.cut:
            position_maps(self, self.token)
        if len(self.tokens) > 1:
            self.waves()
        self.two_ways()

    def turns(self) -> None:
        """How far some pairs of numbers of a query or a key have turned at each place, as cosines."""
        layer = self.choice.layer
        speeds = self.pipeline.network.layers[layer].attention.speeds.numpy()
        n, half = max(len(self.tokens), LEAST_PLACES), len(speeds)
        drawn = list(dict.fromkeys([0, half // 4, half // 2, half - 1]))
        table = np.cos(np.arange(n)[:, None] * speeds)
        called = {word("pair", one=pair + 1, other=pair + half + 1): pair for pair in drawn}
        places = [2 * math.pi / float(speeds[pair]) for pair in (0, half - 1)]
        full = [f"{place:,.0f}" if place >= 100 else f"{place:.3g}" for place in places]
        said = {"layer": layer + 1, "fast": full[0], "slow": full[1], "half": half}
        self.picture(
            "turns",
            waves(table, called, Axis(word("axis_place")), word("axis_turned"), used=len(self.tokens)),
            text("read_turns" if half > 1 else "read_turns_one", **said),
            table=pd.DataFrame(table[:, drawn], columns=list(called), index=range(1, n + 1)),
            equation=r"\cos\left(pos / base^{2c/d_k}\right)",
            still=True,
        )

    def distances(self) -> None:
        """What the distance of two tokens adds to their score, in some heads; or how alike vectors of distances are."""
        if self.trace.config.distance_terms:
            self.vectors_of_distances()
            return
        attention, heads = self.pipeline.network.layers[0].attention, self.trace.config.heads
        n = 1 + max(len(self.tokens) - 1, LEAST_APART)
        rows = table_rows(n, n, attention.distances.num_embeddings, attention.farthest)
        in_order = np.append(rows[-1, :-1], rows[0])  # from n − 1 places before to n − 1 behind
        table = attention.distances.weight.numpy()[in_order]
        drawn = list(dict.fromkeys([min(self.choice.head, heads - 1), 0, heads // 2, heads - 1]))
        called = [plain("heads.head", head=head + 1) for head in drawn]
        away = [f"{step:+d}" if step else "0" for step in range(1 - n, n)]
        self.picture(
            "distances",
            lines(table[:, drawn].T, called, Axis(word("axis_apart"), away), word("axis_added")),
            text("read_distances", farthest=attention.farthest),
            table=pd.DataFrame(table[:, drawn], columns=called, index=away),
            equation="b_{r(j - i)}",
            still=True,
        )

    def vectors_of_distances(self) -> None:
        """How alike the vectors of two distances are, of all that this input has."""
        n = max(len(self.tokens), FEWEST_APART)
        alike = cosine_similarity(self.pipeline.network.layers[0].attention.vectors(n)[0].numpy())
        away = [f"{place:+d}".replace("-", "−") if place else "0" for place in range(1 - n, n)]
        named = Axis(word("axis_away"), away)
        said = {"near": f"{np.diagonal(alike, 1).mean():.2f}", "far": f"{alike[0, -1]:.2f}"}
        said |= {"first": away[0], "last": away[-1]}
        self.picture(
            "alike_distances",
            heatmap(alike, named, named),
            text("read_alike_distances", **said),
            values=alike,
            equation=COSINE,
            still=True,
        )

    def waves(self) -> None:
        """A few components of the positions as curves over the positions."""
        config, table = self.trace.config, self.pipeline.network.embedding.positions.table.numpy()
        width, dimension, place = table.shape[1], self.choice.component, self.trace.rows[self.token]
        if dimension is not None and dimension >= width:  # chosen where vectors are wider
            dimension = None
        drawn = [0, width // 16, width // 8, width // 4, width // 2]  # even: sines
        shown = [*drawn, dimension] if dimension is not None and dimension not in drawn else drawn
        called = {word("dimension", number=j + 1): j for j in shown}
        front = [name for token, name in enumerate(config.front) if token not in config.placeless]
        patches = {"side": config.patches_per_side, "front": plain("compare.and").join(front)}
        if sines := config.positions == "sinusoidal":
            periods = [2 * math.pi * 10_000 ** (j / width) for j in (drawn[0], drawn[-1])]
            said = text("read_waves", fast=f"{periods[0]:.1f}", slow=f"{periods[1]:,.0f}", last=drawn[-1] + 1)
            said += " " + text("counted_from")
        else:
            of_patches = "read_waves_of_patches" if self.waved else "read_waves_learned"
            said = text("read_waves_learned_words" if self.words else of_patches, **patches)
        self.picture(
            "waves",
            waves(
                table,
                called,
                Axis(word("axis_place")),
                word("axis_value"),
                used=None if self.moved else len(self.tokens) - len(self.uncounted),
                chosen=None if dimension is None or place is None else (place, dimension),
            ),
            said if self.moved else f"{said} {text('read_waves_used', used=len(self.tokens) - len(self.uncounted))}",
            table=pd.DataFrame(table[:, shown], columns=list(called), index=range(1, len(table) + 1)),
            equation=SINES if sines else None,
            still=True,
        )

    def two_ways(self) -> None:
        """Sinusoidal and learned positions side by side, and how alike their places are."""
        st.markdown(text("about_compare"))
        for column, name in zip(st.columns([1, 1]), ("sinusoidal", "learned"), strict=True):
            with column:
                try:
                    drawn = whole_table(name, word("axis_place"), word("axis_dimension"))
                except WeightsError as error:
                    st.info(text("no_learned", file=error.file), icon=":material/info:")
                    continue
                table, alike, table_picture, alike_picture = drawn
                if name == "sinusoidal":
                    near, far = (np.diagonal(alike, distance).mean() for distance in (1, 20))
                else:
                    places = token_places(PRESETS["digits"], len(alike))[1:]  # [CLS] stands nowhere
                    away = np.linalg.norm(places[:, None] - places[None, :], axis=-1)
                    near, far = alike[1:, 1:][away == 1].mean(), alike[1:, 1:][away > 1].mean()
                said = {"near": f"{near:.2f}", "far": f"{far:.2f}"}
                self.picture(name, table_picture, text(f"read_{name}", **said), values=table, still=True)
                similar = text(f"read_similar_{name}", **said)
                self.picture(f"similar_{name}", alike_picture, similar, values=alike, still=True)


def length(vectors: np.ndarray) -> str:
    """The mean length of some vectors."""
    return f"{np.linalg.norm(vectors, axis=1).mean():.2f}"
