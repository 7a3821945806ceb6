"""Two sentences of the same words: how alike each word stays to itself, and that without positions nothing differs."""

from collections.abc import Sequence

import streamlit as st

from model import InputError
from model.analysis import spelled, whole_words
from model.measures.order import likeness, same_words, without_positions
from pages.drawing.screen import Screen
from pages.drawing.text import plain, t
from pages.screen.frame.line import afresh
from pages.screen.frame.pen import Pen
from pages.screen.link import select
from pages.screen.runs import pipelines
from pages.tokens.pictures import order

PAIRS = {
    "en": (
        ("the dog chased the cat .", "the cat chased the dog ."),
        ("the man ate the apple .", "the apple ate the man ."),
    ),
    "zh": (("我爱你。", "你爱我。"), ("我吃苹果。", "苹果吃我。")),
}


def word_order(screen: Screen, pen: Pen) -> None:
    """The reader's sentence and the one it is compared with, if they hold the same words, or else itself backwards;
    where neither can be, an example.
    """
    ready = [pair for pair in PAIRS["zh"] + PAIRS["en"] if words_are_the_same(screen, *pair)]
    chosen = chosen_pair(screen, ready)
    if chosen is None:
        st.info(t("order.none"), icon=":material/shuffle:")
        return
    own = screen.choice.sentence
    drawn = st.container()
    with st.container(horizontal=True, vertical_alignment="center"):
        if chosen[0] == own and chosen not in ready:
            label = "order.backwards" if chosen[1] == backwards(screen, own) else "order.own"
            st.button(plain(label), key="order.own", type="primary", on_click=show_pair, args=chosen)
        for number, pair in enumerate(ready):
            kind = "primary" if pair == chosen else "secondary"
            st.button(" ↔ ".join(pair), key=f"order.{number}", type=kind, on_click=show_pair, args=pair)
        look = {"icon": ":material/compare_arrows:", "key": "order.compare", "on_click": show_pair}
        st.button(plain("order.compare"), args=chosen, kwargs={"shown": "against"}, **look)
    name = screen.choice.pipeline
    run, other = (pipelines.run(name, sentence) for sentence in chosen)
    none = without_positions(pipelines.pipeline(name).graph)
    bare, other_bare = (pipelines.run(name, sentence, none) for sentence in chosen)
    pairs = same_words(run.tokens, other.tokens)
    assert pairs  # such were chosen
    token = screen.choice.token if chosen[0] == own else None
    picture = order(run, likeness(run, other, pairs), likeness(bare, other_bare, pairs), token)
    said = [t("order.unchanged")] * bool(screen.run.edits)
    with drawn:
        pen.show("order", picture.with_(sentence=" ".join([*said, picture.says()])))


def chosen_pair(screen: Screen, ready: Sequence[tuple[str, str]]) -> tuple[str, str] | None:
    """The reader's two sentences, if they hold the same words, or his and itself backwards; else an example."""
    own = screen.choice.sentence
    for other in (screen.choice.other or "", dict(ready).get(own, ""), backwards(screen, own)):
        if own != other and words_are_the_same(screen, own, other):
            return own, other
    return next((pair for pair in ready if pair in PAIRS.get(screen.choice.lang, ())), ready[0] if ready else None)


def backwards(screen: Screen, sentence: str) -> str:
    """The words of a sentence from the last to the first; a sign at its end stays there. "" of what cannot be read."""
    try:
        tokens = screen.pipeline.reader.read(sentence).tokens
    except InputError:
        return ""
    words = [spelled([tokens[place] for place in places]) for places in whole_words(tokens)]
    end = words[-1:] if words and not words[-1][0].isalnum() else []
    between = " " if " " in sentence else ""
    return between.join([*reversed(words[: len(words) - len(end)]), *end])


def words_are_the_same(screen: Screen, one: str, other: str) -> bool:
    """Whether two sentences are read as the same tokens: not every tokenizer cuts a word alike wherever it stands."""
    try:
        tokens = [screen.pipeline.reader.read(sentence).tokens for sentence in (one, other)]
    except InputError:
        return False
    return same_words(*tokens) is not None


def show_pair(one: str, other: str, shown: str = "changed") -> None:
    select(sentence=one, other=other, shown=shown, token=None, key=None, **afresh())
