"""Lessons as data: which questions, in which order. Nothing here knows Streamlit."""

from collections.abc import Sequence
from dataclasses import dataclass

from pages.school.questions import QUESTIONS
from pages.school.questions.question import Question

END = "end"  # what stands in a link behind the last question


@dataclass(frozen=True)
class Lesson:
    """A lesson: what it is called and about are the texts "lesson.titles.{name}" and "lesson.abouts.{name}".

    input: what kind of input it is about, where not about any. title: that of a teacher's own. instead: the key of a
    question -> that of another, which is asked only where the first is not clear. twice: in class all are asked before
    and after, and no answer is told until the end.
    """

    name: str
    questions: tuple[Question, ...]
    input: str | None = None
    title: str = ""
    instead: tuple[tuple[str, str], ...] = ()
    twice: bool = False

    def __getitem__(self, key: str) -> Question:
        return next(question for question in self.questions if question.key == key)

    @property
    def keys(self) -> list[str]:
        """The questions by their names, in order."""
        return [question.key for question in self.questions]

    @property
    def minutes(self) -> int:
        return sum(question.minutes for question in self.questions)

    def stations(self, left_out: Sequence[str] = ()) -> list[str]:
        """The questions that are asked, in order: those that are not left out; in the place of one that is, the one
        that is asked instead.
        """
        spare, keys = dict(self.instead), []
        for key in self.keys:
            if key in spare.values():
                continue
            if key in left_out:
                key = spare.get(key, key)
            if key not in left_out:
                keys.append(key)
        return keys


def lesson(name: str, *keys: str, input: str | None = None) -> Lesson:
    """A lesson of some of our questions; of "word/digit" the second is asked where the first is not clear."""
    pairs = [(first, other) for first, _, other in (key.partition("/") for key in keys) if other]
    every = [one for key in keys for one in key.split("/")]
    return Lesson(name, tuple(QUESTIONS[key] for key in every), input, instead=tuple(pairs))


#: What a visitor is asked who chose no lesson: each idea once, from the input to the answer.
TOUR = lesson(
    "tour",
    "word/digit", "places/bare", "fit", "weights/back", "values", "root", "blur", "mixed", "residual", "norm", "thinks",
    "layer", "causal", "twice", "looks", "gathered", "source/once",
)  # fmt: skip
#: The lessons for a class, by name.
LESSONS: dict[str, Lesson] = {
    one.name: one
    for one in (
        lesson("encoder", "word", "places", "weights", "root", "blur", "residual", "norm", "thinks", "layer", "causal"),
        lesson("positions", "places", "bare", "causal"),
        lesson("heads", "fit", "weights", "back", "blur", "mixed", "heads"),
        lesson("drawing", "digit", "root", "blur", "looks", "gathered", "layer", "heads", "twice", input="digit"),
        lesson("encoder_decoder", "word", "causal", "once", "source", input="sentence"),
        lesson("not_explanation", "weights", "back", "heads"),
    )
}  # fmt: skip
ENCODER = LESSONS["encoder"]
