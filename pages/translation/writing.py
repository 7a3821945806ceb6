"""A translation on the screen: which one of those found, at which step, and what that step looks at."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial

import numpy as np
import streamlit as st

from model import InputError
from model.decoder import TARGET_LANGUAGES
from model.measures.tables import HeadRoles
from model.translator import Task, Translation, TranslationTrace, Translator
from pages.drawing.pictures.answers import Choose
from pages.drawing.place import Place
from pages.drawing.screen import Screen, changed
from pages.drawing.state.choice import WITH_EDITS, Choice
from pages.drawing.text import LANGUAGES, joined, literal
from pages.drawing.text.numbers import last, percent
from pages.screen.components.player import player
from pages.screen.frame.line import WRITTEN_AFRESH, say
from pages.screen.frame.pen import Pen
from pages.screen.frame.pickers import bound
from pages.screen.link import select
from pages.screen.runs import pipelines
from pages.screen.sections.roles import measured
from pages.translation.pictures import each_probability, lines, next_pieces, text, word

UNSURE = 0.65  # below this mean probability a translation is called so
BLEU = {"zh": (42, 15), "en": (39, 10)}  # written, of pairs with at most 6 and at least 12 English words: model card
#: Each is translated well, with other words or another order than word by word.
READY = (
    "this is the book i bought yesterday .",
    "my brother is taller than me .",
    "i have never been to china .",
    "他每天坐公共汽车上学。",
    "昨天我在车站遇见他。",
    "我从来没有去过中国。",
)
SECONDS = 1.2  # that a step stays on the screen while they are played


@dataclass(frozen=True)
class Written(Screen):
    """A translation: `run` is the one that wrote what is on the screen, `found` that with the search.

    task: what the reader wants written. written: the one of those found that is on the screen. A row of the decoder's
    quantities is a step of the writing, and `step` the one that is looked at.
    """

    run: TranslationTrace
    pipeline: Translator
    task: Task
    found: TranslationTrace
    written: Translation

    @property
    def begun(self) -> int:
        """With how many pieces of the reader's every translation begins."""
        return sum(node.fate == "forced" for node in self.found.search.nodes)

    @property
    def steps(self) -> int:
        """How many pieces are written, the [SEP] at the end included."""
        return len(self.run.written)

    @cached_property
    def usual_step(self) -> int:
        """The step looked at before anybody chose."""
        return clearest(self.run, measured(self.choice.translator))[-1]

    @property
    def step(self) -> int:
        return self.usual_step if self.choice.step is None else self.choice.step

    @cached_property
    def at(self) -> Place:
        return replace(super().at, step=self.step, source=self.choice.token)

    @property
    def sizes(self) -> dict[str, int]:
        decoder = self.run.graph.decoder
        assert decoder is not None
        return {"layer": decoder.layers, "head": decoder.heads}

    @property
    def across(self) -> tuple[str, int, int]:
        return "step", self.steps, self.usual_step

    @property
    def outputs(self) -> Sequence[str]:
        return self.pipeline.target_vocabulary


def clearest(run: TranslationTrace, roles: HeadRoles | None) -> tuple[int, int, int]:
    """Layer, head and step of the line to look at first: of the head whose lines reach most of the source's words, the
    step, but the first, with the heaviest one.

    roles: as far as measured; heads that look at the source of the piece being written come before others.
    """
    steps = [step for step, piece in enumerate(run.written) if step and _is_word(piece)]
    words = [place for place, token in enumerate(run.tokens) if _is_word(token)]
    if not steps or not words:
        return 0, 0, 0
    keys = [key for key in run if key.endswith(".cross.weights")]
    weights = np.stack([run[key] for key in keys])[:, :, steps][..., words]
    reached = weights.max(axis=2).sum(axis=-1)
    if roles:
        paths = [key.removesuffix(".weights") for key in keys]
        aligned = [[roles.at(path, head).name == "aligned_next" for head in range(reached.shape[1])] for path in paths]
        reached = np.where(aligned, reached + reached.max(), reached)
    layer, head = (int(at) for at in np.unravel_index(reached.argmax(), reached.shape))
    return layer, head, steps[int(weights[layer, head].max(axis=-1).argmax())]


def _is_word(piece: str) -> bool:
    return piece.lstrip("▁")[:1].isalnum()  # with the sign that begins a word in some vocabularies


def task_of(choice: Choice, given: Hashable) -> tuple[Task, InputError | None]:
    """What the reader wants written, and why that is not what was typed; a beginning that a link asks for and that
    cannot be is left out.
    """
    sentence, _, unread = pipelines.read_by(choice.translator, given)
    writes = pipelines.translator(choice).writes
    forced = choice.forced if all(number in writes for number in choice.forced) else ()
    return Task(sentence, choice.into, forced), unread


def translated(screen: Screen, wanted: Choice) -> Written:
    """The screen about the translation of its sentence. wanted: what the reader chose: a decoder may have more layers
    and heads than its encoder.
    """
    name, of_other = screen.choice.translator, screen.shows == "other"  # which nobody changed
    choice = screen.choice.with_(layer=wanted.layer, head=wanted.head)
    task, unread = task_of(choice, screen.given)
    pipelines.explain_input(name, unread)
    found: TranslationTrace = changed(partial(pipelines.run, name, task), () if of_other else choice.edits)
    written = (found.greedy, *found.beams)[min(choice.beam, len(found.beams))]
    held = Task(task.sentence, choice.into, written=written.ids)
    shows = choice.shown if found.edits and choice.shown in WITH_EDITS else "changed"
    best = written == found.beams[0] and shows != "original"
    # Original and changed run are compared on the same words, or their rows would not belong together.
    run = found if best else changed(partial(pipelines.run, name, held), () if shows == "original" else found.edits)
    of = {one.name: getattr(screen, one.name) for one in fields(Screen)}
    of |= {"network": name, "pipeline": pipelines.translator(choice), "run": run, "subject": held, "other": None}
    of |= {"given": task.sentence, "shows": shows, "misfit": shows != "original" and run.edits != found.edits}
    of["choice"] = choice.fitted(run.graph.decoder, len(run.tokens), len(run.target_tokens))
    return Written(**of, task=task, found=found, written=written)


# -- what decides on the picture -----------------------------------------------------------------------------------


def mean_probability(run: TranslationTrace) -> float:
    return float(np.exp(np.mean(np.log(each_probability(run)))))


def warn(screen: Written) -> None:
    """A badge beside a translation of low probability."""
    if mean_probability(screen.run) < UNSURE:
        st.markdown(f":orange-badge[{word('unsure')}]", width="content")


def likelihood(run: TranslationTrace) -> str:
    """How likely the model finds what stands there: per piece, and where it is least sure."""
    fewest, mean = last(each_probability(run), percent), percent(mean_probability(run))
    said = text("sure", mean=mean, piece=run.written[fewest.place], least=fewest, step=fewest.place + 1)
    if "[UNK]" in run.written:
        said += " " + text("unknown")
    if run.written[-1] != "[SEP]":
        said += " " + text("unfinished", most=len(run.written))
    return joined(said)


def ready(screen: Written) -> None:
    """What our translator learned and how well it does, and sentences that it translates well."""
    short, long = BLEU["en" if screen.found.target_tokens[0] == TARGET_LANGUAGES["en"] else "zh"]
    st.caption(text("learned", short=short, long=long))
    given = screen.task.sentence
    look = bound("translation.ready", given if given in READY else None, say, anew=True)
    st.pills(word("ready"), READY, wrap=True, **look)


def which(screen: Written) -> None:
    """Into which language, and which of the translations that were found."""
    if screen.pipeline.pair is None:
        now = "en" if screen.found.target_tokens[0] == TARGET_LANGUAGES["en"] else "zh"
        look = bound("translation.into", now, lambda into: select(into=into, **WRITTEN_AFRESH))
        look |= {"required": True, "label_visibility": "collapsed"}
        words = {name: f"→ {LANGUAGES[name]}" for name in TARGET_LANGUAGES}
        st.segmented_control(word("into"), list(words), format_func=words.__getitem__, **look)
    elif all(screen.pipeline.pair):
        source, target = map(literal, screen.pipeline.pair)
        st.markdown(f":gray-badge[{source} → {target}]", width="content")


def let_go(screen: Written) -> None:
    """A button that takes back the beginning that the reader gave: below the pictures, which stay where they are."""
    if screen.choice.forced:
        beginning = "".join(f" {screen.pipeline.target_vocabulary[i]}" for i in screen.task.forced)
        label = literal(word("forced", beginning=beginning.strip()))
        st.button(label, icon=":material/close:", key="translation.free", on_click=select, kwargs=WRITTEN_AFRESH)


def step_slider(screen: Written, pen: Pen) -> None:
    """A slider over the steps, and a button that plays them."""
    if screen.steps > 1:
        look = bound("translation.step", screen.step + 1, lambda step: select(step=step - 1))
        look |= {"format": word("step_format", steps=screen.steps), "label_visibility": "collapsed", "width": 240}
        st.slider(word("step"), 1, screen.steps, **look)
        player("translation", screen.step, screen.steps, lambda step: select(step=step), SECONDS)


# -- one step ------------------------------------------------------------------------------------------------------


def one_step(screen: Written, pen: Pen) -> None:
    """What the step looks at, as lines between the sentences; beside it, the likeliest next words."""
    left, right = st.columns([3, 2], gap="medium")
    with left:
        pen.show("writing", partial(lines, lit=screen.choice.token, paired=screen.pipeline.pair is not None))
    with right:
        next_words(screen, pen)
        if screen.pipeline.pair is None and not screen.choice.big:
            ready(screen)


def next_words(screen: Written, pen: Pen, choose: Choose | None = None, sentence: str = "") -> None:
    """The likeliest next pieces; that which was written is marked. A click makes the decoder write another.

    choose: what a click chooses instead, of the id of a piece; sentence: what is said then.
    """
    vocabulary, beams = screen.pipeline.target_vocabulary, screen.step >= screen.begun and screen.choice.beam
    make = partial(next_pieces, vocabulary=vocabulary, choose=choose, sentence=sentence, by_beam=bool(beams))
    pen.show("next", make)
