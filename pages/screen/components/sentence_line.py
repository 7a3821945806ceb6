"""The sentence as a field whose words are buttons: click a word to hide or show it, click beside them to type."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from time import time_ns

import streamlit as st

from pages.screen.components.told import told
from pages.server.assets import script

_line = st.components.v2.component(
    "sentence_line", html='<div class="sentence"></div>', js=script("sentence_line"), isolate_styles=False
)
#: In the session: the number of the last message handled; at first a unique one, so that browsers notice new sessions.
HEARD = "sentence_line.heard"


@dataclass(frozen=True)
class Word:
    """A word of the sentence, the places of its tokens (empty if it cannot be clicked), and whether it is hidden."""

    text: str
    places: tuple[int, ...]
    hidden: bool = False


@dataclass(frozen=True)
class Beside:
    """A word of the other text, whether it differs from this one, and its counterpart here, if it moved."""

    text: str
    differs: bool
    place: str


def sentence_line(
    words: Sequence[Word],
    sentence: str,
    examples: Sequence[str],
    names: dict[str, str],
    beside: Sequence[Beside] = (),
    *,
    on_words: Callable[[str], object],
    on_draw: Callable[[], object],
    on_pick: Callable[[tuple[int, ...], bool], object],
) -> None:
    """Draw the field.

    sentence: as typed. names: the words on its parts; if both "hide" and "choose" are empty, no word can be clicked;
    "offer" stands behind the words while none is hidden. beside: the text compared with it. on_words: gets a sentence
    that was typed or chosen from the examples. on_draw: called when the example "draw" is chosen, which is there if it
    has a name. on_pick: gets the places of the clicked word, and whether to hide it; of clicks faster than the server,
    only the last counts.
    """

    st.session_state.setdefault(HEARD, -time_ns())

    def heard(event: str) -> None:
        sent = told("sentence_line", event)
        if not isinstance(sent, dict) or int(sent["number"]) <= st.session_state[HEARD]:
            return
        st.session_state[HEARD] = int(sent["number"])
        if event == "typed":
            on_draw() if sent.get("draw") else on_words(str(sent["text"]))
        elif (picked := int(sent["word"])) in range(len(words)) and words[picked].text == sent["text"]:
            on_pick(words[picked].places, bool(sent["hide"]))

    _line(
        key="sentence_line",
        data={
            "words": [asdict(word) for word in words],
            "beside": [asdict(word) for word in beside],
            "sentence": sentence,
            "examples": list(examples),
            "names": names,
            "heard": st.session_state[HEARD],
        },
        on_typed_change=lambda: heard("typed"),
        on_picked_change=lambda: heard("picked"),
    )
