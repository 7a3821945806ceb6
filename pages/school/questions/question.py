"""A question: how it is answered, where its answer is seen, and how its true answer is computed.

Its words are the texts "lesson.{row}.ask"; "why", the explanation (if there are several, those that its `Truth` names);
"otherwise", what would follow from the common mistake; "hint_1", …, for a class; "short", its name; "needs", what an
input must have; "axis", the label of its bars if needed. Independent of Streamlit.
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
    """A teacher's own words. ask: her question; in one of ours, {key} stands for the same value as in our text. why:
    explanation after the guess. options: what can be tapped; or span: least and largest number. answer: what she set as
    right, if anything; otherwise the page of the question shows it. near: tolerance of a number.
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

    measure: computes the true answer; None if only a teacher knows it. gesture: how it is answered, in
    `gestures.GESTURES`. least: margin of the measure below which it is not asked. minutes: time in class. hints: number
    of hints for a class. page, at: where the answer can be seen, and values of a Choice besides the question's place.
    equation: row of the graph. run: the network, if not the one that reads the input: "translation", "drawing".
    picture: the page's, drawn beside it. bars: whether to draw the truth's bars after the answer. place: where a
    teacher asks it, a page with its choice as in a link. own: her words.
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
        """Name of its texts; a lesson may have the same question twice, "fit" and "fit.2"."""
        return self.key.partition(".")[0]


#: All our questions, by key.
QUESTIONS: dict[str, Question] = {}


def question(key: str, gesture: str, **about: Any) -> Callable[[Measure], Measure]:
    """Decorator: make a question of the function that computes its true answer. about: other fields of Question;
    default one hint.
    """

    def kept(measure: Measure) -> Measure:
        QUESTIONS[key] = Question(key, measure, gesture, **{"hints": 1} | about)
        return measure

    return kept


def truth_of(question: Question, case: Case) -> Truth | None:
    """The true answer; None if the question makes no sense for this run, or is too expensive."""
    assert question.measure is not None
    try:
        return question.measure(case)
    except EditError:  # this network has no such quantity to edit
        return None


def clear_truth(question: Question, case: Case) -> Truth | None:
    """The true answer if it is clear enough to ask. An answer set by a teacher always is."""
    if question.measure is None:
        own = question.own
        assert own is not None  # or there is nothing to ask
        return Truth(own.answer, 0.0, {}, (), {}, own.options, own.span, own.near, literal=True, ask=own.ask)
    truth = truth_of(question, case)
    return truth if truth is not None and truth.margin >= question.least else None
