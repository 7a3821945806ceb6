"""How a sentence is cut into tokens, what each of them is, and how a word is cut that is not in the vocabulary."""

import pandas as pd
import streamlit as st

from model.analysis import cut_words, piece_kinds, spelled, units, whole_words
from model.measures.merges import merge_steps
from model.pipeline import TextReader
from pages.drawing.screen import Screen
from pages.drawing.text import literal, plain, texts_of
from pages.screen.components.tables import draw_table
from pages.screen.frame.pen import Pen
from pages.screen.runs.worked_out import merges_of

MOST_TRIED = 5  # beginnings of a word that were looked up in vain and are shown
MOST_CUT, MOST_SIMPLIFIED = 3, 4  # words
ROW = 33  # pixels, of the table
BADGES = {"first": "orange", "later": "orange", "unk": "red", "cls": "violet", "sep": "violet", "mask": "violet"}
text, word = texts_of("tokens")


def tokenization(screen: Screen, pen: Pen) -> None:
    """The tokens, how they were cut, and the table of their ids; in a presentation the table scrolls."""
    groups = units(screen.run.tokens, spaces=False)  # several tokens may make one character
    pieces = [spelled([screen.run.tokens[place] for place in group]) for group in groups]
    kinds = piece_kinds(pieces)
    named = zip(pieces, kinds, strict=True)
    st.markdown(" ".join(f":{BADGES.get(kind, 'gray')}-badge[{literal(piece)}]" for piece, kind in named))
    st.markdown(text("read.pieces", pieces=len(screen.run.tokens), vocabulary=f"{screen.run.config.vocab_size:,}"))
    left, right = st.columns([3, 2], gap="medium")
    with left:
        table_of_tokens(screen, groups, pieces, kinds)
    with right:
        how_it_was_read(screen)


def table_of_tokens(screen: Screen, groups: list[list[int]], pieces: list[str], kinds: list[str]) -> None:
    """Each token, its id, its position, and what it is."""
    run = screen.run
    ids = [[run.ids[place] for place in group] for group in groups]
    several = len(groups) < len(run.tokens)
    first = [group[0] for group in groups]
    sentences = [chr(ord("A") + run.segments[place]) for place in first if run.segments]
    table = pd.DataFrame(
        {
            word("column_piece"): pieces,
            word("column_id"): [", ".join(map(str, own)) if several else own[0] for own in ids],
            "pos": pd.array([run.rows[place] for place in first], dtype="Int64"),
            **({word("column_segment"): sentences} if "B" in sentences else {}),
            word("column_kind"): [word(f"kind.{kind}") for kind in kinds],
        },
    )
    draw_table(
        table, "tokens.pieces", height=min(38 + ROW * len(first), 440 if screen.choice.big else 545), row_height=ROW
    )


def how_it_was_read(screen: Screen) -> None:
    """What was normalized before cutting, how words were cut, and what the marks of this vocabulary mean."""
    reader, given = screen.pipeline.reader, screen.given
    if not isinstance(reader, TextReader):
        return
    if isinstance(given, str) and (simplified := reader.simplified(given)[:MOST_SIMPLIFIED]):
        pairs = plain("common.semicolon").join(f"{typed} → {read}" for typed, read in simplified)
        st.info(text("simplified", words=pairs), icon=":material/spellcheck:")
    rare = reader.pieces(word("rare_word"))
    cut = cut_words(screen.run.tokens)[:MOST_CUT] or [rare] * any(piece.startswith("##") for piece in rare)
    looked_up = [reader.looked_up(spelled(parts)) for parts in cut]
    for parts, tried in zip(cut, looked_up, strict=True):
        said = text("read.cut", word=spelled(parts), n=len(parts), pieces=" + ".join(parts))
        st.markdown("\n".join([said, "", *map(step_of_cutting, tried)]))
    if any(looked_up):
        st.caption(text("about_wordpiece"))
    if not screen.choice.big and (looked_up or reader.looked_up(word("rare_word"))):
        merged_by_bpe(screen)
    if reader.space:
        st.caption(text("read.space", space=reader.space))
    if getattr(reader, "proteins", False):
        st.caption(text("proteins"))


def merged_by_bpe(screen: Screen) -> None:
    """The longest word of the sentence, put together from its letters as byte-pair encoding does it."""
    tokens = screen.run.tokens
    words = [spelled([tokens[place] for place in places]) for places in whole_words(tokens)]
    longest = max((one for one in words if one.isascii() and one.isalpha()), key=len, default=word("rare_word"))
    merges, learned_from = merges_of(screen.choice.pipeline)
    if not merges:
        return
    lines = [text("read.merges", word=longest, merges=f"{len(merges):,}", words=f"{learned_from:,}"), ""]
    for pair, parts in merge_steps(longest, merges):  # each part in grey but for the one that is new
        lines.append(f"- {' '.join(f'**{part}**' if part == ''.join(pair) else f':gray[{part}]' for part in parts)}")
    st.markdown("\n".join(lines))


def step_of_cutting(tried: list[str]) -> str:
    """The beginnings that were looked up for one piece, in grey those that are not in the vocabulary."""
    *missed, found = (literal(piece) for piece in tried)
    shown = missed if len(missed) <= MOST_TRIED else [*missed[: MOST_TRIED - 1], "…", missed[-1]]
    passed = " · ".join(f":gray[{piece}]" for piece in shown)
    return f"- {passed} → **{found}**" if passed else f"- **{found}**"
