"""A question: how it is answered, where its answer is seen, and what computes its true answer, in one place.

The words of a question are the texts "lesson.{row}.ask"; "why", the sentence after the guess (of several, those that
its `Truth` tells); "otherwise", what it would mean if the common mistake were true; "hint_1", …, for a class; "short",
its name; "needs", what an input must have for it to be asked; and "axis", what its bars count, where that must be said.
Nothing here knows Streamlit.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from model import EditError
from pages.school.questions.case import Case, Truth
from pages.school.questions.pictures import Draws

Measure = Callable[[Case], Truth | None]


@dataclass(frozen=True)
class Own:
    """What a teacher wrote herself. ask: her question; in one of ours, {key} stands for the same as in our text.

    why: what is said after the guess. options: what can be tapped, or span: from which to which number. answer: what
    she set down as right, if anything; where it is not, the page of the question shows it. near: how far a right number
    may be from it.
    """

    ask: str
    why: str = ""
    options: tuple[str, ...] = ()
    span: tuple[float, float] = (0.0, 1.0)
    answer: str | float | None = None
    near: float = 0.0


@dataclass(frozen=True)
class Question:
    """One question of a lesson.

    measure: computes the true answer; None where only a teacher knows. gesture: how it is answered, in
    `gestures.GESTURES`. least: the margin of the measure below which it is not asked. minutes: how long it takes in
    class. hints: how many there are for a class, which needs no page for them. page, at: where the answer can be seen,
    and values of a Choice to open it with besides the place of the question. equation: the row of the graph that it is
    about. run: of which network, where that is not the one that reads the input: "translation", "drawing". picture:
    the page's, drawn beside it. bars: whether the figures of its truth are drawn below that, once it is answered.
    place: where a teacher asks it, a page and as in a link what is chosen there. own: her words.
    """

    key: str
    measure: Measure | None
    gesture: str
    least: float
    minutes: int
    hints: int = 0
    page: str = ""
    at: Mapping[str, str] = field(default_factory=dict)
    equation: str = ""
    run: str = ""
    picture: Draws | None = None
    bars: bool = False
    place: str = ""
    own: Own | None = None

    @property
    def row(self) -> str:
        """By which our texts call it: a lesson may have one of our questions twice, "fit" and "fit.2"."""
        return self.key.partition(".")[0]


#: Every question of ours, by its key.
QUESTIONS: dict[str, Question] = {}


def question(key: str, gesture: str, **about: Any) -> Callable[[Measure], Measure]:
    """Make a question of the function that computes its true answer. about: the other fields of a Question; one hint,
    where nothing else is said.
    """

    def kept(measure: Measure) -> Measure:
        QUESTIONS[key] = Question(key, measure, gesture, **{"hints": 1} | about)
        return measure

    return kept


def truth_of(question: Question, case: Case) -> Truth | None:
    """What is true of this run; None where the question has no sense there, or is too much work."""
    assert question.measure is not None
    try:
        return question.measure(case)
    except EditError:  # this network has no such place to change
        return None


def clear_truth(question: Question, case: Case) -> Truth | None:
    """The true answer where the question is asked: where it is clear. What a teacher set down is."""
    if question.measure is None:
        own = question.own
        assert own is not None  # or there is nothing to ask
        return Truth(own.answer, 0.0, {}, (), {}, own.options, own.span, own.near, literal=True)
    truth = truth_of(question, case)
    return truth if truth is not None and truth.margin >= question.least else None
