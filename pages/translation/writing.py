"""A translation on the screen: which one of those found, at which step, and what that step looks at."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property, partial

import numpy as np
import streamlit as st

from model import Trace
from model.decoder import TARGET_LANGUAGES
from model.measures.tables import head_roles
from model.pipeline import SPECIAL_TOKENS, Reading
from model.translator import Task, Translation, TranslationTrace, Translator
from pages.translation.pictures import lines, next_pieces, text, word
from pages.ui.components.player import player
from pages.ui.frame.line import WRITTEN_AFRESH
from pages.ui.frame.pickers import bound
from pages.ui.page import Page
from pages.ui.place import Place
from pages.ui.runs import pipelines
from pages.ui.sections.answers import Choose
from pages.ui.state.choice import WITH_EDITS, Choice
from pages.ui.state.link import select
from pages.ui.text import LANGUAGES, joined, literal
from pages.ui.text.numbers import last, percent
from pages.ui.view import ARROWS, go_on

POOR = 0.4  # below this mean probability a translation is called so
SECONDS = 1.2  # that a step stays on the screen while they are played


class Writing(Page):
    """The page of a translation: `trace` is the run that wrote what is on the screen.

    `found` is the run with the search. A row of the decoder's quantities is a step of the writing, and `step` the one
    that is looked at. For a drawing, `translates` is False and nothing of this is there.
    """

    trace: TranslationTrace
    pipeline: Translator
    found: TranslationTrace

    def _open(self) -> None:
        wanted = {"layer": self.choice.layer, "head": self.choice.head}  # a decoder may have more than its encoder
        super()._open()
        if self.shows == "other":  # then that is on the screen
            vars(self).pop("task", None)
        self.translates = self.trace.picture is None
        if self.translates:
            self.choice = self.choice.with_(**wanted)
            self._translate()

    def reads(self, choice: Choice, typed: Reading) -> None:
        """Nothing else: it writes what the whole sentence says."""

    @cached_property
    def task(self) -> Task:
        """What the reader wants written; a beginning that a link asks for and that cannot be is left out."""
        translator = self.choice.translator
        sentence, _, unread = pipelines.read_by(translator, self.given)
        pipelines.explain_input(translator, unread)
        writes = pipelines.translator(self.choice).writes
        forced = self.choice.forced if all(number in writes for number in self.choice.forced) else ()
        return Task(sentence, self.choice.into, forced)

    def explained(self) -> Trace:
        return self.trace if self.trace.picture is not None else pipelines.run(self.choice.translator, self.task)

    def elsewhere(self) -> tuple[str, Task] | None:
        """What is translated, if it is a sentence."""
        return (self.choice.translator, self.task) if self.choice.input == "sentence" else None

    def _translate(self) -> None:
        self.pipeline, choice, name = pipelines.translator(self.choice), self.choice, self.choice.translator
        sentence = self.task.sentence
        edits = () if self.shows == "other" else choice.edits  # which nobody changed
        self.found = pipelines.changed(name, self.task, edits) if edits else pipelines.run(name, self.task)
        found = self.found
        self.written: Translation = (found.greedy, *found.beams)[min(choice.beam, len(found.beams))]
        held = Task(sentence, choice.into, written=self.written.ids)
        ways = ["changed", *WITH_EDITS] if found.edits else ["changed"]
        if self.shows != "other":  # then that is what is translated
            self._one_input()
        self.shows = choice.shown if choice.shown in ways else "changed"
        best = self.written == found.beams[0] and self.shows != "original"
        edits = () if self.shows == "original" else found.edits
        self.trace = found if best else pipelines.changed(name, held, edits)
        # Original and changed run are compared on the same words, or their rows would not belong together.
        self._run, self._rival, self.subject, self.given = (name, held), None, sentence, sentence
        decoder = self.trace.graph.decoder
        self.choice = choice.fitted(decoder, len(self.trace.tokens), len(self.trace.target_tokens))
        layers = self.trace.graph.layers("decoder.")
        for arrow, (down, across) in ARROWS.items():
            to = ("layer", down, layers) if down else ("step", across, self.steps, self.usual_step)
            if not down or "layer" in self.heeds:
                self.on_key(arrow, partial(go_on, *to))

    @property
    def places(self) -> list[tuple[str, int]]:
        decoder = self.trace.graph.decoder
        assert decoder is not None  # of a drawing nothing is chosen
        sizes = ("layer", decoder.layers), ("head", decoder.heads)
        return [(name, most) for name, most in sizes if name in self.heeds]

    @property
    def begun(self) -> int:
        """With how many pieces of the reader's every translation begins."""
        return sum(node.fate == "forced" for node in self.found.search.nodes)

    @property
    def steps(self) -> int:
        """How many pieces are written, the [SEP] at the end included."""
        return len(self.trace.written)

    @cached_property
    def usual_step(self) -> int:
        """The step looked at before anybody chose: a word whose source the decoder sees most clearly, not the first."""
        keys = [key for key in self.trace if key.endswith(".cross.weights")]
        clear = np.mean([self.trace[key].mean(axis=0) for key in keys], axis=0).max(axis=-1)
        words = [step for step, piece in enumerate(self.trace.written) if step and piece[:1].isalnum()]
        return max(words, key=clear.__getitem__, default=0)

    @property
    def step(self) -> int:
        return self.usual_step if self.choice.step is None else self.choice.step

    @property
    def at(self) -> Place:
        return replace(super().at, step=self.step, source=self.choice.token)

    @property
    def output_names(self) -> Sequence[str]:
        return self.pipeline.target_vocabulary if self.translates else super().output_names


# -- what decides on the picture -----------------------------------------------------------------------------------


def sentences(view: Writing) -> None:
    """The sentence and its translation, and how likely the model found it."""
    st.markdown(f"{literal(as_typed(view))} &ensp;**→**&ensp; **{literal(view.written.text) or '∅'}**", width="content")
    st.caption(likelihood(view, view.written))


def as_typed(view: Writing) -> str:
    """The source as it was typed; as far as it was read, where it was cut."""
    cut = any(note.reason == "truncated" for note in view.trace.notes)
    subject = view.trace.subject
    return view.pipeline.spelled_source(view.trace.ids) if cut or not isinstance(subject, str) else subject


def likelihood(view: Writing, written: Translation) -> str:
    """How likely the model found what it wrote, but for what it was given: per piece, and where it was least sure."""
    own = written.steps[view.begun :]
    each = np.exp(own)
    fewest = last(each, percent)
    least = view.begun + fewest.place
    mean = float(np.exp(np.mean(own)))
    said = text("poor") + " " if mean < POOR else ""
    said += text("sure", mean=percent(mean), piece=written.tokens[least], least=fewest, step=least + 1)
    if "[UNK]" in written.tokens:
        said += " " + text("unknown")
    if written.tokens[-1] != "[SEP]":
        said += " " + text("unfinished", most=len(written.ids))
    return joined(said)


def which(view: Writing) -> None:
    """Into which language, and which of the translations that were found."""
    if view.pipeline.pair is None:
        now = "en" if view.found.target_tokens[0] == TARGET_LANGUAGES["en"] else "zh"
        look = bound("translation.into", now, lambda into: select(into=into, **WRITTEN_AFRESH))
        look |= {"required": True, "label_visibility": "collapsed"}
        words = {name: f"→ {LANGUAGES[name]}" for name in TARGET_LANGUAGES}
        st.segmented_control(word("into"), list(words), format_func=words.__getitem__, **look)
    elif all(view.pipeline.pair):
        source, target = map(literal, view.pipeline.pair)
        st.markdown(f":gray-badge[{source} → {target}]", width="content")
    if view.choice.forced:
        beginning = "".join(f" {view.pipeline.target_vocabulary[i]}" for i in view.task.forced)
        label = word("forced", beginning=beginning.strip())
        st.button(
            literal(label), icon=":material/close:", key="translation.free", on_click=select, kwargs=WRITTEN_AFRESH
        )


def step_slider(view: Writing) -> None:
    """A slider over the steps, and a button that plays them."""
    if view.steps > 1:
        look = bound("translation.step", view.step + 1, lambda step: select(step=step - 1))
        look |= {"format": word("step_format", steps=view.steps), "label_visibility": "collapsed", "width": 240}
        st.slider(word("step"), 1, view.steps, **look)
        player("translation", view.step, view.steps, lambda step: select(step=step), SECONDS)


# -- one step ------------------------------------------------------------------------------------------------------


def one_step(view: Writing) -> None:
    """What the step looks at, as lines between the sentences; beside it, the likeliest next words."""
    left, right = st.columns([3, 2], gap="medium")
    with left:
        view.show("writing", partial(lines, lit=view.choice.token, paired=view.pipeline.pair is not None))
    with right:
        next_words(view)


def next_words(view: Writing, choose: Choose | None = None, sentence: str = "") -> None:
    """The likeliest next pieces; that which was written is marked. A click makes the decoder write another.

    choose: what a click chooses instead, of the id of a piece; sentence: what is said then.
    """
    vocabulary, beams = view.pipeline.target_vocabulary, view.step >= view.begun and view.choice.beam
    make = partial(next_pieces, vocabulary=vocabulary, choose=choose, sentence=sentence, by_beam=bool(beams))
    view.show("next", make)


def best_aligned(trace: Trace, translator: str) -> tuple[int, int]:
    """The layer and head that most often look at the source of the word being written, as measured; where nothing was
    measured, those whose weights on words of the source are largest in this run.
    """
    roles = head_roles(translator)
    found = (0.0, 0, 0)
    if roles is None:
        words = [place for place, name in enumerate(trace.tokens) if name not in SPECIAL_TOKENS]
        clear = trace.over_layers("cross.weights", "decoder.")[..., words].max(axis=-1, initial=0.0).mean(axis=-1)
        layer, head = np.unravel_index(clear.argmax(), clear.shape)
        return int(layer), int(head)
    for path, head in roles:
        role = roles.at(path, head)
        if path.startswith("decoder.") and role.name == "aligned_next":
            found = max(found, (role.share, int(path.split(".")[2]), head))
    return found[1:]
