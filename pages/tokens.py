"""Tokens: the pieces of the input, their vectors, their places, and the sum X⁰ that the first layer reads."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import streamlit as st

from model import WeightsError
from model.analysis import cosine_similarity, cut_words, piece_kinds, spelled, token_places
from model.config import PRESETS
from model.pipeline import TextReader
from pages.ui.drawing.patches import how_it_is_prepared, position_maps
from pages.ui.figures import Axis, bars, colour_tiles, heatmap, tiles, waves
from pages.ui.link import select
from pages.ui.pickers import bound
from pages.ui.sections.cell_map import cell_maps
from pages.ui.sections.order import order_matters
from pages.ui.sections.overlay import pieces_of
from pages.ui.tables import draw_table
from pages.ui.text import literal, plain, texts_of
from pages.ui.text.formulas import COSINE
from pages.ui.view import View
from pages.ui.worked_out import neighbours, sinusoids, whole_table

SINES = (
    r"\begin{aligned} PE(pos, 2i) &= \sin\left(pos / 10000^{2i/d_{model}}\right) \\"
    r" PE(pos, 2i+1) &= \cos\left(pos / 10000^{2i/d_{model}}\right) \end{aligned}"
)
SLATE = "#5B7083"  # of bars that are neither query, key nor value
MOST_SIMPLIFIED = 4  # words of which it is said how they are read
BADGES = {"first": "orange", "later": "orange", "unk": "red", "cls": "violet", "sep": "violet", "mask": "violet"}
text, word = texts_of("tokens")

view = View("tokens", rows=["embedding.sum"])
tokens, token = view.trace.tokens, view.token
words = view.trace.picture is None
moved = view.touched("embedding.positions")  # by the reader
known = not view.touched("embedding.tokens")
self_same = view.shows == "difference"  # no change inside moves what goes in
uncounted = [name for name, row in zip(tokens, view.trace.rows, strict=True) if row is None]
cut = not words and len(view.trace.patches) > 1
colour = view.seen is not None and view.seen.ndim == 3


def length(vectors: np.ndarray) -> str:
    """The mean length of some vectors."""
    return f"{np.linalg.norm(vectors, axis=1).mean():.2f}"


# -- 1 · pieces --------------------------------------------------------------------------------------------------


def pieces() -> None:
    """The words as the encoder reads them, each a badge, and a table of their numbers."""
    kinds = piece_kinds(tokens)
    named = zip(tokens, kinds, strict=True)
    st.markdown(" ".join(f":{BADGES.get(kind, 'gray')}-badge[{literal(piece)}]" for piece, kind in named))
    st.markdown(text("read_pieces", pieces=len(tokens), vocabulary=f"{view.trace.config.vocab_size:,}"))
    typed, reader = view.trace.subject, view.pipeline.reader
    if isinstance(typed, str) and isinstance(reader, TextReader) and (simplified := reader.simplified(typed)):
        pairs = plain("common.semicolon").join(f"{typed} → {read}" for typed, read in simplified[:MOST_SIMPLIFIED])
        how = "" if view.choice.checkpoint else " " + text("simplified_how")  # theirs do otherwise
        st.info(text("simplified", words=pairs) + how, icon=":material/spellcheck:")
    if not view.story:
        about_pieces()
    elif parts := next(iter(cut_words(tokens)), None):  # how ## is to be read
        st.caption(text("story_cut", word=spelled(parts), pieces=" + ".join(parts)))


def about_pieces() -> None:
    """How words were cut, what the special pieces are, and the table of ids."""
    kinds, cut = piece_kinds(tokens), cut_words(tokens)
    if cut:
        for parts in cut[:3]:
            st.markdown("- " + text("read_cut", word=spelled(parts), n=len(parts), pieces=" + ".join(parts)))
        st.markdown(text("read_marks"))
    elif isinstance(view.pipeline.reader, TextReader) and not {"character", "unk"} & set(kinds):
        example = word("rare_word")
        parts = view.pipeline.reader.pieces(example)
        if any(part.startswith("##") for part in parts):
            st.markdown(text("read_uncut", word=example, pieces=" + ".join(parts)))
    if isinstance(view.pipeline.reader, TextReader) and (space := view.pipeline.reader.space):
        st.markdown(text("read_space", space=space))
    for kind, sentence in (("character", "read_characters"), ("unk", "read_unk"), ("mask", "read_mask")):
        if kind in kinds:
            st.markdown(text(about_mask() if kind == "mask" else sentence))
    st.markdown(text("read_special"))
    table = pd.DataFrame(
        {
            word("column_piece"): tokens,
            word("column_id"): view.trace.ids,
            "pos": pd.array(view.trace.rows, dtype="Int64"),
            word("column_kind"): [word(f"kind_{kind}") for kind in kinds],
        },
        index=range(1, len(tokens) + 1),
    )
    draw_table(table, "tokens.pieces", height=min(38 + 35 * len(tokens), 740))


def about_mask() -> str:
    """The text on [MASK]: whether this network can say what it hides."""
    if view.choice.paper:
        return "read_mask_random"
    return "read_mask" if view.trace.config.head == "masked-word" else "read_mask_unguessed"


def patches() -> None:
    """A picture as the encoder takes it: its patches, and the selected one as a row of numbers."""
    pixels, config = view.trace.patches, view.trace.config  # (patch, pixel)
    assert pixels is not None  # a picture
    first = len(tokens) - len(pixels)  # where the patches begin: after [CLS], if there is one
    side, size = math.isqrt(len(pixels)), math.isqrt(pixels.shape[1] // config.channels)
    chosen = max(token - first, 0) if token >= first else int(pixels.sum(axis=1).argmax())
    draw, seen = (colour_tiles, pieces_of(view)) if colour else (tiles, pixels.reshape(-1, size, size))
    columns = st.columns([2, 3])
    with columns[0]:
        many = side > 1
        view.picture(
            "patches",
            draw(
                seen.reshape(side, side, *seen.shape[1:]),
                Axis.counted(word("axis_row"), side),
                Axis.counted(word("axis_column"), side),
                chosen=divmod(chosen, side) if many else None,
                hover=tokens[first:],
                font_size=view.font_size,
                height=360,
            ),
            text(
                "read_patches_colour" if colour else "read_patches" if many else "read_flat",
                side=config.image_size,
                patches=len(pixels),
                size=size,
                pixels=pixels.shape[1],
                d_model=view.trace.config.d_model,
            ),
            values=pixels,
            table=pd.DataFrame(pixels, index=tokens[first:], columns=range(1, pixels.shape[1] + 1)),
            on_pick=(lambda row, column: select(token=first + row * side + column)) if many else None,
            still=self_same,
        )
    if view.story:
        return
    with columns[1]:
        one_row(first, chosen, size)
        if many:
            st.markdown(text("read_cls") + (" " + text("read_cls_answer") if "logits" in view.trace else ""))
        if config.distillation_token:
            st.markdown(text("read_distillation"))
        if config.distillation_head:
            st.markdown(text("read_distillation_head"))


def one_row(first: int, chosen: int, size: int) -> None:
    """The numbers of one patch as they are read; in colour a row for each channel."""
    assert view.trace.patches is not None  # a picture
    pixels, name = view.trace.patches[chosen], tokens[first + chosen]
    if colour:
        names = [word(channel) for channel in ("red", "green", "blue")][: view.trace.config.channels]
        axes = Axis("", names), Axis(word("axis_pixel_colour"))
        said, scale = text("read_pixels_colour", token=name, pixels=len(pixels), size=size), "signed"
    else:
        axes = Axis(plain("axis.token"), [name]), Axis(word("axis_pixel"))
        said, scale = text("read_pixels", token=name, pixels=len(pixels), ink=int((pixels > 0.5).sum())), "share"
    look = {"scale": scale, "square": False, "font_size": view.font_size, "height": 170}
    values = pixels.reshape(view.trace.config.channels, -1)
    view.picture("pixels", heatmap(values, *axes, **look), said, values=pixels[None], equation="p", still=self_same)


# -- 2 · what each token is, where it stands, and the sum --------------------------------------------------------


def vectors() -> None:
    """Token vectors, positions and their sum, one below the other, with the arithmetic of the chosen cell."""
    rows = [key for key in view.trace if key.startswith("embedding.")]
    X_embed, E_pos, X_0 = (view.trace[f"embedding.{name}"] for name in ("tokens", "positions", "sum"))
    same = view.choice.same_range
    st.toggle(word("same_range"), **bound("tokens.same_range", same, lambda on: select(same_range=on)))
    strongest = float(max(np.abs(values).max() for values in map(view.shown, rows))) if same else None
    config = view.trace.config
    learned = config.positions == "learned"
    made = ("learned_words" if words else "learned") if learned else "sinusoidal"
    told = {"tokens": length(X_embed), "positions": length(E_pos), "sum": length(X_0)}
    said = {
        "tokens": about_vectors(X_embed, E_pos),
        "segments": text("read_segments" if config.segments > 1 else "read_segments_one"),
        "positions": text("one_place" if len(tokens) == 1 else f"read_positions_{made}") + about_uncounted(),
        "sum": about_sum(rows, told),
        "norm": text("read_norm_narrow" if config.d_embedding else "read_norm"),
        "projection": text("read_projection", narrow=config.embedded, wide=config.d_model),
    }
    names = [row.removeprefix("embedding.") for row in rows]
    low = int(min(240 if len(rows) < 4 else 160, 70 + 10 * len(tokens)) * view.font_size / 12)
    titles = {name: word(name) for name in names} | ({"sum": word("summed")} if names[-1] != "sum" else {})
    looks = [{"title": titles[name], "height": low, "strongest": strongest} for name in names]
    cell_maps(view, rows, [said[name] for name in names], looks, stacked=True)
    if not learned and view.choice.at_least("formula"):
        view.equation(SINES)
        st.markdown(text("counted_from"))


def about_uncounted() -> str:
    """Which token takes no place; nothing where all take one."""
    return " " + text("read_uncounted", token=uncounted[0]) if uncounted and not moved else ""


def about_vectors(X_embed: np.ndarray, E_pos: np.ndarray) -> str:
    d_model, source = view.trace.config.d_model, view.trace.graph["embedding.tokens"]
    pixels = view.trace.patches
    if pixels is None:
        said = text("read_rows", token=tokens[token], id=view.trace.ids[token])
        if source.factor == 1:
            return said
        told = {"before": length(X_embed / source.factor), "after": length(X_embed), "positions": length(E_pos)}
        return said + " " + text("read_tokens", d_model=d_model, root=f"{source.factor:.4g}", **told)
    first = len(tokens) - len(pixels)
    kind = "read_tokens_colour" if colour else "read_tokens_patches" if first else "read_tokens_flat"
    return text(kind, pixels=pixels.shape[1], d_model=d_model, length=length(X_embed[first:]))


def about_sum(rows: Sequence[str], told: Mapping[str, str]) -> str:
    """What the sum of token and position holds. rows: what the embedding computes; told: lengths of its parts."""
    if view.touched("embedding.positions"):
        return text("read_sum_changed")
    if not known:
        return text("read_sum_changed_tokens")
    if twice := about_twice(view.trace["embedding.sum"]):
        return twice
    if rows[-1] == "embedding.sum":
        return text("read_sum", **told)
    if "embedding.segments" in rows:
        return text("read_sum_segments", segments=length(view.trace["embedding.segments"]), **told)
    return text("read_sum_first", **told)


def about_twice(X_0: np.ndarray) -> str | None:
    """How two places of the same word differ in the sum; None where no word stands twice."""
    if (places := twice_at()) is None:
        return None
    first, second = places
    cosine = f"{cosine_similarity(X_0[[first, second]])[0, 1]:.4f}"
    return text("read_sum_twice", token=tokens[first], first=first + 1, second=second + 1, cosine=cosine)


def twice_at() -> tuple[int, int] | None:
    """The first two places of the first word that stands twice; None where none does."""
    again = next((name for name in tokens if tokens.count(name) > 1), None) if words else None
    if again is None:
        return None
    first = tokens.index(again)
    return first, tokens.index(again, first + 1)


def next_door() -> None:
    """The rows of E nearest to that of the selected token."""
    words, cosines, mean = neighbours(view.choice.pipeline, view.trace.ids[token])
    names, kind = Axis(word("column_piece"), words), "read_random_rows" if view.choice.paper else "read_neighbours"
    view.picture(
        "neighbours",
        bars(cosines, names, word("axis_cosine"), colours=SLATE, font_size=view.font_size),
        text(kind, token=tokens[token], nearest=words[0], cosine=f"{cosines[0]:.2f}"),
        equation=COSINE,
        still=self_same,
    )
    st.markdown(text("about_neighbours", mean=f"{mean:.2f}"))


# -- 3 · where it stands -----------------------------------------------------------------------------------------


def as_waves() -> None:
    """A few dimensions of the positions as curves over the places."""
    many, config = len(tokens) > 1, view.trace.config
    # With a single place there is nothing to draw a line through: then the text model's waves stand for all.
    table = view.pipeline.network.embedding.positions.table.numpy() if many else sinusoids()
    width, dimension, place = table.shape[1], view.choice.component, view.trace.rows[token]
    if dimension is not None and dimension >= width:  # chosen where vectors are wider
        dimension = None
    drawn = [0, width // 16, width // 8, width // 4, width // 2]  # even: sines
    shown = [*drawn, dimension] if many and dimension is not None and dimension not in drawn else drawn
    called = {word("dimension", number=j + 1): j for j in shown}
    turns = [f"{2 * math.pi * 10_000 ** (j / width):,.{decimals}f}" for j, decimals in ((drawn[0], 1), (drawn[-1], 0))]
    told = {"side": config.patches_per_side, "front": plain("compare.and").join(tokens[: config.tokens_in_front])}
    sentence = text("read_waves_learned_words" if words else "read_waves_learned", **told)
    if not many or config.positions == "sinusoidal":
        used = text("read_waves_used" if many else "read_waves_one", used=len(tokens))
        sentence = text("read_waves", fast=turns[0], slow=turns[1], last=drawn[-1] + 1) + (" " + used) * (not moved)
    view.picture(
        "waves",
        waves(
            table,
            called,
            Axis(word("axis_place")),
            word("axis_value"),
            used=len(tokens) - len(uncounted) if many and not moved else None,
            chosen=(place, dimension) if many and dimension is not None and place is not None else None,
            font_size=view.font_size,
        ),
        sentence,
        table=pd.DataFrame(table[:, shown], columns=list(called), index=range(1, len(table) + 1)),
        still=True,
    )


def two_ways() -> None:
    """Sinusoidal and learned positions side by side, and how alike their places are."""
    st.markdown(text("about_compare"))
    for column, name in zip(st.columns([1, 1]), ("sinusoidal", "learned"), strict=True):
        with column:
            try:
                drawn = whole_table(name, word("axis_place"), word("axis_dimension"), view.font_size)
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
            view.picture(name, table_picture, text(f"read_{name}", **said), values=table, still=True)
            similar = text(f"read_similar_{name}", **said)
            view.picture(f"similar_{name}", alike_picture, similar, values=alike, still=True)


if view.story:
    if words:
        pieces()
        again = twice_at()
        row = text("story_row_twice", token=tokens[again[0]]) if again else text("story_row")
        cell_maps(
            view,
            ["embedding.sum"],
            [text("read_sum_changed") if moved else row if known else text("read_sum_changed_tokens")],
            [{"title": word("sum" if view.trace.graph.stream(0)[0] == "embedding.sum" else "summed")}],
        )
    else:
        patches()
    seats = "story_seats" if words else "story_seats_patches" if cut else "story_seats_single"
    view.tell(text("story_seats_changed" if moved else seats) + about_uncounted())
else:
    parts = {"pieces": pieces if words else patches, "vectors": vectors}
    if words:
        parts |= {"order": lambda: order_matters(view), "neighbours": next_door}
    parts |= {"waves": as_waves, "compare": two_ways}
    if cut:
        parts |= {"prepared": lambda: how_it_is_prepared(view), "maps": lambda: position_maps(view, token)}
    parts[view.panel(*parts)]()

view.close(type(view.pipeline.network.embedding), type(view.pipeline.network.embedding.positions))
