"""Lessons as data: which questions, in which order, how each is answered and where it can be seen.

The words of a question are the texts "lesson.{key}.ask", "why" (the sentence after the guess; of several, those that
its `Truth` tells), "otherwise" (what it would mean if the common mistake were true), "hint_1" to "hint_3", and "short",
its name; and "axis", what its bars count, where that must be said. Nothing here knows Streamlit.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

#: How many others stand between a question that was missed and its return.
BETWEEN = 2
MOST_TIMES = 2  # that a question is asked in one lesson
END = "end"  # what stands in a link behind the last question


@dataclass(frozen=True)
class Hint:
    """Something to try: a page, and values of a Choice to open it with besides the place of the question. page None:
    it can be tried in the head. turned: with query and key in each other's place.
    """

    page: str | None = None
    values: Mapping[str, str] = field(default_factory=dict)
    turned: bool = False


@dataclass(frozen=True)
class Question:
    """One question of a lesson.

    measure: in `truths.TRUTHS`. gesture: how it is answered, in `gestures.GESTURES`. least: the margin of the measure
    below which it is not asked. minutes: how long it takes in class. hints: three, for who was wrong twice; the last
    one leads to where the answer can be seen.
    """

    key: str
    measure: str
    gesture: str
    least: float
    minutes: int
    hints: tuple[Hint, Hint, Hint]


@dataclass(frozen=True)
class Lesson:
    """A lesson: its title is the text "lesson.{name}"."""

    name: str
    questions: tuple[Question, ...]

    def __getitem__(self, key: str) -> Question:
        return next(question for question in self.questions if question.key == key)

    @property
    def keys(self) -> list[str]:
        """The questions by their names, in order."""
        return [question.key for question in self.questions]


NUMBERS = {"depth": "numbers"}


def at(page: str, *, turned: bool = False, **values: str) -> Hint:
    """A hint that leads to a page, from Numbers on."""
    return Hint(page, NUMBERS | values, turned)


THINK = Hint()
#: The encoder in 45 minutes.
ENCODER = Lesson(
    "encoder",
    (
        Question("word", "hidden_word", "word", 0.1, 4, (THINK, THINK, at("answer"))),
        Question(
            "places", "swapped", "same", 0.2, 3,
            (THINK, at("tokens", panel="order"), at("what_if", panel="places")),
        ),
        Question(
            "beans", "shared_out", "beans", 0.15, 5,
            (at("heads", panel="all"), at("attention", stage="scores"), at("attention", stage="weights")),
        ),
        Question(
            "root", "without_root", "slide", 0.2, 4,
            (THINK, at("attention", stage="scaled"), at("what_if", panel="inside")),
        ),
        Question(
            "back", "way_back", "slide", 0.3, 4,
            (at("queries_keys_values"), at("attention", stage="scores"), at("attention", stage="weights", turned=True)),
        ),
        Question("heads", "heads_off", "number", 0.01, 6, (at("home"), at("heads"), at("what_if", panel="heads"))),
        Question("sum", "sum_of_two", "slide", 0.08, 3, (THINK, at("layers", panel="lengths"), at("add_and_norm"))),
        Question(
            "norm", "spread_after_norm", "tap", 0.05, 3,
            (THINK, Hint("add_and_norm", {"depth": "formula"}), at("add_and_norm", panel="values")),
        ),
        Question("layer", "first_known", "tap", 0.02, 4, (THINK, THINK, at("layers", panel="lens"))),
        Question("alone", "alone", "slide", 0.5, 3, (THINK, at("attention", stage="scaled"), at("flat"))),
    ),
)  # fmt: skip


#: What the pages ask in their stories, each of what it shows, beside the questions of the lesson.
DIGIT = Question("digit", "read_class", "tap", 0.1, 2, (THINK, THINK, at("answer")))
FIT = Question(
    "fit", "best_fit", "tap", 0.7, 4,
    (THINK, at("queries_keys_values", panel="maps"), at("attention", stage="scores")),
)  # fmt: skip
FAVOURITES = Question(
    "favourites", "favourites", "number", 0.005, 4,
    (THINK, at("attention", stage="weights"), at("heads", panel="all")),
)  # fmt: skip
FFN = Question(
    "ffn", "ffn_turns", "same", 0.1, 4,
    (THINK, at("feed_forward", panel="neuron"), at("layers", panel="lens")),
)  # fmt: skip
RACE = Question("race", "in_the_race", "number", 3, 3, (THINK, THINK, at("answer")))
HARD = Question(
    "hard", "looks_as_hard", "tap", 0.15, 5,
    (THINK, at("heads", panel="written"), at("what_if", panel="heads")),
)  # fmt: skip
SOURCE = Question("source", "read_to_write", "tap", 0.6, 3, (THINK, THINK, at("translation")))
SINGLE = Question("single", "only_token", "slide", 0.5, 3, (THINK, THINK, at("flat", panel="attention")))
TWICE = Question("twice", "twice_as_long", "tap", 0.5, 3, (THINK, THINK, at("shapes_and_cost", panel="cost")))

#: What each page asks in its story: the first of these whose answer is clear.
STORY: dict[str, tuple[Question, ...]] = {
    "home": (ENCODER["word"], DIGIT),
    "tokens": (ENCODER["places"],),
    "queries_keys_values": (FIT, ENCODER["back"]),
    "attention": (ENCODER["beans"], ENCODER["root"]),
    "heads": (FAVOURITES,),
    "add_and_norm": (ENCODER["sum"],),
    "feed_forward": (FFN,),
    "layers": (ENCODER["layer"],),
    "answer": (RACE,),
    "translation": (SOURCE,),
    "what_if": (HARD, ENCODER["heads"]),
    "flat": (SINGLE,),
    "shapes_and_cost": (TWICE,),
}


def following(
    keys: Sequence[str], done: Sequence[tuple[str, bool]], start: str | None = None, left_out: Sequence[str] = ()
) -> str:
    """The question that comes next: one that was missed, once BETWEEN others have been asked since; else the next new
    one; else END.

    done: each question that was asked, and whether it was guessed. start: where the lesson was entered. left_out: those
    that are not asked.
    """
    asked = [key for key, _ in done]
    last = {key: place for place, (key, _) in enumerate(done)}
    missed = [key for key, at_ in last.items() if not done[at_][1] and asked.count(key) < MOST_TIMES]
    due = [key for key in missed if len(done) - 1 - last[key] >= BETWEEN]
    begun = [keys.index(key) + 1 for key in asked] + [keys.index(start) if start in keys else 0]
    new = [key for key in keys[max(begun) :] if key not in (*asked, *left_out)]
    return next(iter([*due, *new]), END)
