"""Lessons as data: which questions, in which order. Independent of Streamlit."""

from collections.abc import Sequence
from dataclasses import dataclass

from pages.school.questions import QUESTIONS
from pages.school.questions.question import Question

END = "end"  # stands in a link for the end, after the last question


@dataclass(frozen=True)
class Lesson:
    """A lesson. Its title and description are the texts "lesson.titles.{name}" and "lesson.abouts.{name}".

    input: kind of input it needs, or None. title: of a teacher's own lesson. instead: key of a question -> key of the
    one asked if the first has no clear answer. twice: in class all questions are asked before and after, and answers
    are told only at the end.
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
        """Keys of the questions, in order."""
        return [question.key for question in self.questions]

    @property
    def minutes(self) -> int:
        return sum(question.minutes for question in self.questions)

    def stations(self, left_out: Sequence[str] = ()) -> list[str]:
        """Keys of the questions asked, in order: those left out are skipped, or replaced by their alternative."""
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
    """A lesson of our questions; "word/digit" asks the second if the first has no clear answer."""
    pairs = [(first, other) for first, _, other in (key.partition("/") for key in keys) if other]
    every = [one for key in keys for one in key.split("/")]
    return Lesson(name, tuple(QUESTIONS[key] for key in every), input, instead=tuple(pairs))


#: The default lesson: each idea once, from the input to the answer.
TOUR = lesson(
    "tour",
    "word/digit", "places/bare", "fit", "weights/back", "values", "root", "blur", "mixed", "residual", "norm", "thinks",
    "layer", "causal", "twice", "looks", "gathered", "source/once",
)  # fmt: skip
#: Lessons for a class, by name.
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
