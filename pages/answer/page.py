"""Answer: what the encoder would put in place of a hidden word, or which class it reads in a drawing."""

from collections.abc import Sequence
from functools import partial

import streamlit as st

from model.analysis import spelled, units, whole_words
from pages.answer.judged import judged
from pages.answer.learned import how_it_learned
from pages.answer.prediction import prediction
from pages.answer.who_wrote import who_wrote
from pages.ui.frame.pickers import bound
from pages.ui.page import Page, Parts
from pages.ui.sections.answers import probabilities
from pages.ui.sections.hidden_words import asked_place, to_keep_hidden
from pages.ui.sections.sentence_vector import instead_of_an_answer
from pages.ui.sections.shared_weights import shared_weights
from pages.ui.state.link import select
from pages.ui.text import literal, texts_of

text, word = texts_of("answer")


class Answer(Page):
    chips = False

    @property
    def purpose(self) -> str:
        judges = "logits" not in self.trace and self.config.head != "none"
        return f"judged.purpose_{self.config.head}" if judges else super().purpose

    @property
    def title_equation(self) -> str:
        """All that comes after the last layer, in order."""
        rows = list(self.trace.graph)
        after = rows[[row.key for row in rows].index(self.trace.graph.Z) + 1 :]
        return r" \qquad ".join(row.equation for row in after if row.traced or row.operation != "linear")

    def fill(self) -> None:
        if "logits" in self.trace:
            super().fill()
        elif self.config.head not in ("none", "vector"):
            judged(self)
            self.trained_on()
        else:
            instead_of_an_answer(self)

    def above(self) -> None:
        #: The place that is asked about, and the hidden places with the words that stood there.
        self.asked, self.hidden = asked_place(self)
        if self.says_words and self.choice.token is not None:
            self.asked = self.token

    def parts(self) -> Parts:
        parts = {"all": self.prediction, "wrote": self.written_by}
        return parts | ({"learned": partial(how_it_learned, self)} if self.choice.input == "digit" else {})

    def choose_part(self, names: Sequence[str]) -> str:
        part = super().choose_part(names)
        if self.says_words:
            several = bound("answer.several", self.choice.several, lambda on: select(several=on))
            st.toggle(word("several"), **several)
            self.part_of_word()
        return part

    def part_of_word(self) -> None:
        """Of a hidden word of several pieces: hide all of it, or one piece."""
        typed = self.typed.tokens
        words = [places for places in whole_words(typed) if set(places) & self.hidden.keys()]
        if len(words) != 1 or len(words[0]) == 1 or None in self.hidden.values():
            return
        (pieces,) = words
        parts = {part[0]: part for part in units(typed) if part[0] in pieces}
        if len(parts) == 1:
            return
        whole = 0  # the place of [CLS], which is no piece of a word
        names = {whole: word("whole_word", pieces=len(pieces))}
        names |= {first: literal(spelled([typed[place] for place in part])) for first, part in parts.items()}

        def choose(first: int) -> None:
            select(hidden=tuple(parts.get(first, pieces)), token=first or pieces[0], output=None)

        hidden = next((first for first, part in parts.items() if set(part) == self.hidden.keys()), whole)
        look = bound("answer.part", hidden, choose, anew=True)
        st.segmented_control(word("part"), list(names), format_func=names.__getitem__, required=True, **look)

    def code(self) -> Sequence[object]:
        return (type(self.pipeline.network),)

    @property
    def logit(self) -> tuple[int, int]:
        """The place, of words, and the output that are asked about; the likeliest where nobody chose one."""
        likeliest = int(probabilities(self.trace, self.asked).argmax())
        return self.asked, likeliest if self.choice.output is None else self.choice.output

    def prediction(self) -> None:
        prediction(self, self.logit, self.asked, self.hidden)
        self.trained_on()

    def written_by(self) -> None:
        at, output = self.logit
        who_wrote(self, at if self.says_words else 0, output, hidden=to_keep_hidden(self, self.hidden))

    def trained_on(self) -> None:
        if self.choice.big:
            return
        size = f"{sum(weight.numel() for weight in self.pipeline.network.parameters()):,}"
        name = "checkpoint" if self.choice.checkpoint else self.pipeline.name
        said = [text(f"trained_{name}", size=size), *shared_weights(self.config, "counted")]
        st.info(" ".join(said), icon=":material/school:")
