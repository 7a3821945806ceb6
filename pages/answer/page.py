"""Answer: what the encoder would put in place of a hidden word, or which class it reads in a drawing."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import pandas as pd
import streamlit as st

from model.analysis import likeliest, spelled, units, whole_words
from pages.answer.learned import how_it_learned
from pages.answer.temperature import OWN, at_temperature, choose_temperature
from pages.answer.who_wrote import who_wrote
from pages.ui.figures import Axis, bars_with_numbers, heatmap
from pages.ui.frame.pickers import bound, either
from pages.ui.page import Page
from pages.ui.runs import pipelines
from pages.ui.runs.doubt import how_sure
from pages.ui.sections.answers import all_probabilities, guesses, more_and_less, probabilities
from pages.ui.sections.hidden_words import asked_place, clickable_words, to_keep_hidden
from pages.ui.sections.judged import judged
from pages.ui.sections.sentence_vector import instead_of_an_answer
from pages.ui.sections.shared_weights import shared_weights
from pages.ui.sections.working import working
from pages.ui.state.link import select
from pages.ui.text import literal, plain, texts_of
from pages.ui.text.numbers import written

MOST_CHARTS = 4  # hidden places with a chart of their own
MOST_COLUMNS = 30  # words beside each other in the picture of all places
MOST_BARS = 10  # classes whose logits are drawn
LINES = ("answer", "logits")  # whose arithmetic is shown
text, word = texts_of("answer")


def choose_logit(place: int, output: int) -> None:
    select(token=place, output=output)


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
        if pipelines.compares(self.choice):  # then no word can be hidden on top of the page
            self.asked, self.hidden = clickable_words(self, several=self.choice.several)
        else:
            self.asked, self.hidden = asked_place(self)

    def choose_part(self, names: Sequence[str]) -> str:
        part = super().choose_part(names)
        if self.says_words:
            several = bound("answer.several", self.choice.several, lambda on: select(several=on))
            st.toggle(word("several"), **several)
            self.part_of_word()
        return part

    def parts(self) -> Mapping[str, Callable[[], None]]:
        parts = {"all": self.prediction, "wrote": self.written_by}
        return parts | ({"learned": partial(how_it_learned, self)} if self.choice.input == "digit" else {})

    def code(self) -> Sequence[object]:
        return (type(self.pipeline.network),)

    @property
    def chosen_logit(self) -> tuple[int, int]:
        """The place, of words, and the output that are asked about; the likeliest where nobody chose one."""
        at = self.asked if self.choice.token is None or not self.says_words else self.token
        output = int(probabilities(self.trace, at).argmax()) if self.choice.output is None else self.choice.output
        return at, output

    def written_by(self) -> None:
        """What each part of the network has in the lead of an answer."""
        at, output = self.chosen_logit
        who_wrote(self, at if self.says_words else 0, output, hidden=to_keep_hidden(self, self.hidden))

    def prediction(self) -> None:
        """The answer at each hidden position, or the classes; the logits; and the arithmetic of one."""
        at, output = self.chosen_logit
        left, right = st.columns([3, 2], gap="medium")
        with left:
            if self.choice.tau == OWN:
                self.charts()
            else:
                at_temperature(self, self.asked if self.says_words else 0, self.hidden.get(self.asked))
            choose_temperature(self)
            if self.says_words:
                self.every_place((at, output))
            else:
                self.logit_bars()
        with right:
            self.arithmetic((at, output) if self.says_words else (output,))
        self.trained_on()

    def charts(self) -> None:
        """The likeliest at each hidden place."""
        shown = list(self.hidden)[:MOST_CHARTS] or [self.asked]
        columns = st.columns(min(2, len(shown)))
        for number, one in enumerate(shown):
            with columns[number % 2]:
                title = word("guesses", place=one + 1) if self.says_words else word("probabilities")
                look = {"most": 10 if len(shown) == 1 else 5, "title": title, "on_pick": partial(choose_logit, one)}
                guesses(self, f"guesses_{one}", one, self.hidden.get(one), **look)
        if len(self.hidden) > MOST_CHARTS:
            st.caption(text("more_places", most=MOST_CHARTS, n=len(self.hidden)))
        if len(self.hidden) > 1:
            st.caption(text("each_alone", n=len(self.hidden)))

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

        label = text("part", word=spelled([typed[piece] for piece in pieces]), pieces=len(pieces))
        hidden = next((first for first, part in parts.items() if set(part) == self.hidden.keys()), whole)
        look = bound("answer.part", hidden, choose, anew=True)
        st.segmented_control(label, list(names), format_func=names.__getitem__, required=True, **look)

    def every_place(self, cell: tuple[int, int]) -> None:
        """The probabilities at each token × the words that come first somewhere."""
        logits, tokens, ids = self.trace["logits"], self.trace.tokens, self.trace.ids
        measure = self.measure(all_probabilities, self.trace.axes("logits"))
        each = max(3, (MOST_COLUMNS - len(logits)) // max(1, len(self.hidden)))
        columns = likeliest(logits, [each if place in self.hidden else 1 for place in range(len(logits))])
        drawn = measure[:, columns]
        seen = [p for p in range(len(ids)) if p not in self.hidden and tokens[p] not in ("[CLS]", "[SEP]")]
        same = sum(int(logits[p].argmax()) == ids[p] for p in seen)
        kind = "read_seen" if same == len(seen) else "read_seen_some"
        sentences = [text(kind, same=same, seen=len(seen), others=len(seen) - same)] if seen else []
        if self.hidden:
            sentences.append(
                text("read_hidden", places=plain("common.comma").join(str(place + 1) for place in self.hidden))
            )
        names = self.output_names
        axes = self.token_axis("axis.token"), Axis(word("axis_words"), [names[i] for i in columns])
        self.picture(
            "every_place",
            heatmap(
                drawn.values,
                *axes,
                scale=drawn.scale("share"),
                square=False,
                clickable=True,
                cell=(cell[0], columns.index(cell[1])) if cell[1] in columns else None,
            ),
            " ".join([*sentences, text("read_special")]),
            on_pick=lambda row, column: choose_logit(row, columns[column]),
            shows=drawn.on(*axes),
        )

    def arithmetic(self, cell: tuple[int, ...]) -> None:
        """How one probability, or the logit below it, comes about."""
        words = [word(f"line_{name}") for name in LINES]
        line = either("stage", word("lines"), LINES, words, self.choice.stage, label_visibility="collapsed")
        working(self, line, cell, most=10 if line == "answer" else 3)  # a logit has three tables

    def logit_bars(self) -> None:
        """Before the softmax: the logits of all classes, of many those of the likeliest."""
        logits, names, quantity = self.trace["logits"], self.output_names, self.trace.graph["logits"]
        if self.differs:
            choose = {"on_pick": lambda output: select(output=output), "quantity": quantity}
            more_and_less(self, "logits", "", lambda run: run["logits"], self.asked, most=MOST_BARS, **choose)
            return
        best = int(logits.argmax())
        shown = list(range(len(logits))) if len(logits) <= MOST_BARS else likeliest(logits[None], [MOST_BARS])
        numbers = [written(f"{logits[i]:.2f}") for i in shown]
        drawn = self.measure("logits", beside=True)[shown]
        figure = bars_with_numbers(
            drawn.values, [names[i] for i in shown], numbers, there=drawn.other, differs=self.differs
        )
        said = text("read_logits", best=names[best], logit=f"{logits[best]:.2f}")
        if len(shown) < len(logits):
            said += " " + text("read_likeliest", most=len(shown), n=f"{len(logits):,}")
        table = pd.DataFrame({"logit": logits}, index=names)
        look = {"quantity": quantity, "table": table, "shows": drawn}
        look["on_pick"] = lambda row, _: select(output=shown[row])
        self.picture("logits", figure, said, **look)

    def trained_on(self) -> None:
        size = f"{sum(weight.numel() for weight in self.pipeline.network.parameters()):,}"
        name = "checkpoint" if self.choice.checkpoint else self.pipeline.name
        rule = how_sure() if name == "digits" else ""
        said = " ".join([text(f"trained_{name}", size=size), *shared_weights(self.config, "counted")])
        st.info(f"{said}\n\n{rule}", icon=":material/school:")
