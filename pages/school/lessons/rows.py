"""Lessons as data: which questions, in which order, how each is answered and where it can be seen.

The words of a question are the texts "lesson.{key}.ask", "why" (the sentence after the guess; of several, those that
its `Truth` tells), "otherwise" (what it would mean if the common mistake were true), "hint_1" to "hint_3", and, where
each of them needs a page, "hint_class"; "short", its name; and "axis", what its bars count, where that must be said.
Nothing here knows Streamlit.
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

    measure: in `truths.TRUTHS`; None where only a teacher knows. gesture: how it is answered, in `gestures.GESTURES`.
    least: the margin of the measure below which it is not asked. minutes: how long it takes in class. hints: three, for
    who was wrong twice; the last one leads to where the answer can be seen. run: of which network, where that is not
    the one that reads the input: "translation". place: a page, and as in a link what is chosen there: where a teacher
    asks it. own: her words.
    """

    key: str
    measure: str | None
    gesture: str
    least: float
    minutes: int
    hints: tuple[Hint, ...] = ()
    run: str = ""
    place: str = ""
    own: Own | None = None

    @property
    def row(self) -> str:
        """By which our texts call it: a lesson may have one of our questions twice, "fit" and "fit.2"."""
        return self.key.partition(".")[0]

    @property
    def class_hints(self) -> tuple[str, ...]:
        """The hints for a class, as the end of their texts' names: those that need no page, which phones have not, and
        which might show the answer before the second vote. Where all need one, there is one more for a class.
        """
        alone = tuple(f"hint_{number}" for number, hint in enumerate(self.hints, 1) if hint.page is None)
        return alone if alone or not self.hints else ("hint_class",)


@dataclass(frozen=True)
class Lesson:
    """A lesson: what it is called and about are the texts "lesson.titles.{name}" and "lesson.abouts.{name}".

    input: what kind of input it is about, where not about any. title: that of a teacher's own.
    """

    name: str
    questions: tuple[Question, ...]
    input: str | None = None
    title: str = ""

    def __getitem__(self, key: str) -> Question:
        return next(question for question in self.questions if question.key == key)

    @property
    def keys(self) -> list[str]:
        """The questions by their names, in order."""
        return [question.key for question in self.questions]

    @property
    def minutes(self) -> int:
        return sum(question.minutes for question in self.questions)


NUMBERS = {"depth": "numbers"}


def at(page: str, *, turned: bool = False, **values: str) -> Hint:
    """A hint that leads to a page, from Numbers on."""
    return Hint(page, NUMBERS | values, turned)


THINK = Hint()
SCORES, WEIGHTS = at("attention", stage="scores"), at("attention", stage="weights")
HEADS_OFF = at("what_if", panel="heads")

#: Every question of ours, by its key.
QUESTIONS: dict[str, Question] = {
    question.key: question
    for question in (
        # the encoder, from input to answer
        Question("word", "hidden_word", "word", 0.1, 4, (THINK, THINK, at("answer"))),
        Question(
            "places", "swapped", "same", 0.2, 3,
            (THINK, at("tokens", panel="vectors"), at("what_if", panel="places")),
        ),
        Question("beans", "shared_out", "beans", 0.15, 5, (at("heads", panel="all"), SCORES, WEIGHTS)),
        Question(
            "root", "without_root", "slide", 0.2, 4,
            (THINK, at("attention", stage="scaled"), at("what_if", panel="inside")),
        ),
        Question(
            "back", "way_back", "slide", 0.3, 4,
            (at("queries_keys_values"), SCORES, at("attention", stage="weights", turned=True)),
        ),
        Question("heads", "heads_off", "number", 0.01, 6, (at("home"), at("heads"), HEADS_OFF)),
        Question("sum", "sum_of_two", "slide", 0.08, 3, (THINK, at("layers", panel="lengths"), at("add_and_norm"))),
        Question(
            "norm", "spread_after_norm", "tap", 0.05, 3,
            (THINK, Hint("add_and_norm", {"depth": "formula"}), at("add_and_norm", panel="values")),
        ),
        Question("layer", "first_known", "tap", 0.02, 4, (THINK, THINK, at("layers", panel="lens"))),
        Question("alone", "alone", "slide", 0.5, 3, (THINK, at("attention", stage="scaled"), at("flat"))),
        # what the other pages ask in their stories
        Question("digit", "read_class", "tap", 0.1, 2, (THINK, THINK, at("answer"))),
        Question("fit", "best_fit", "tap", 0.7, 4, (THINK, at("queries_keys_values", panel="maps"), SCORES)),
        Question("favourites", "favourites", "number", 0.005, 4, (THINK, WEIGHTS, at("heads", panel="all"))),
        Question(
            "ffn", "ffn_turns", "same", 0.1, 4,
            (THINK, at("feed_forward", panel="neuron"), at("layers", panel="lens")),
        ),
        Question("race", "in_the_race", "number", 3, 3, (THINK, THINK, at("answer"))),
        Question("hard", "looks_as_hard", "tap", 0.15, 5, (THINK, at("heads", panel="written"), HEADS_OFF)),
        Question("source", "read_to_write", "tap", 0.6, 3, (THINK, THINK, at("translation")), "translation"),
        Question("single", "only_token", "slide", 0.2, 3, (THINK, THINK, at("flat", panel="attention"))),
        Question("twice", "twice_as_long", "tap", 0.5, 3, (THINK, THINK, at("shapes_and_cost", panel="cost"))),
        # places
        Question(
            "bare", "without_places", "same", 0.3, 3,
            (THINK, at("tokens", panel="vectors"), at("what_if", panel="places")),
        ),
        Question("seat", "word_and_place", "slide", 0.08, 3, (THINK, THINK, at("tokens", panel="vectors"))),
        Question("twin", "same_word_elsewhere", "slide", 0.05, 4, (THINK, THINK, at("tokens", panel="vectors"))),
        Question("beside", "neighbour", "slide", 0.4, 4, (THINK, WEIGHTS, at("what_if", panel="places"))),
        # drawings
        Question("cut", "pieces_of_a_picture", "number", 0.5, 2, (THINK, THINK, at("tokens", panel="pieces"))),
        Question("empty", "empty_patches", "slide", 0.2, 4, (THINK, at("heads", panel="all"), WEIGHTS)),
        Question("learns", "learned_after", "tap", 0.1, 3, (THINK, THINK, at("answer", panel="learned"))),
        # encoder and decoder
        Question("ahead", "looks_ahead", "slide", 0.15, 4, (THINK, WEIGHTS, at("heads", panel="average"))),
        Question(
            "seen", "may_be_seen", "number", 1, 4,
            (THINK, THINK, at("translation", panel="inside", block="attention", stage="masked")), "translation",
        ),
        Question("once", "encoder_runs", "number", 2, 3, (THINK, THINK, at("translation")), "translation"),
        Question(
            "first", "first_step", "slide", 0.5, 3,
            (THINK, THINK, at("translation", panel="inside", block="attention", stage="weights")), "translation",
        ),
        # what attention is not
        Question(
            "brings", "weighs_most", "tap", 0.04, 5,
            (THINK, at("queries_keys_values", panel="maps"), at("attention", stage="heads")),
        ),
        Question(
            "even", "evenly", "same", 0.3, 4,
            (THINK, at("heads", panel="all"), at("what_if", panel="inside")),
        ),
        # why it looks there, and who wrote the answer
        Question(
            "reason", "looked_for", "tap", 0.2, 4,
            (THINK, at("what_if", panel="places"), at("attention", stage="weights", why="true")),
        ),
        Question(
            "random", "before_training", "slide", 0.3, 3,
            (THINK, THINK, at("attention", stage="weights", twin="true", shown="beside")),
        ),
        Question(
            "author", "written_by", "tap", 0.1, 4,
            (THINK, at("layers", panel="lens"), at("answer", panel="wrote")),
        ),
        # the parts of a layer, and where a picture's class is read
        Question(
            "mixed", "heads_side_by_side", "same", 0.1, 4,
            (THINK, at("heads", panel="written"), at("heads", panel="mixed")),
        ),
        Question(
            "thinks", "without_ffn", "same", 0.1, 4,
            (THINK, at("feed_forward", panel="neuron"), at("feed_forward", panel="without")),
        ),
        Question(
            "causal", "behind_a_mask", "same", 0.1, 4,
            (THINK, at("attention", stage="masked"), at("what_if", panel="inside")),
        ),
        Question("gathered", "read_at", "tap", 0.2, 3, (THINK, at("tokens"), at("layers", panel="lens"))),
    )
}  # fmt: skip

#: On paper, where nothing can be tried: the row of the graph whose equation a question is about.
EQUATIONS: dict[str, str] = {
    key: row
    for row, keys in {
        "embedding.sum": "places bare seat twin",
        "layers.{l}.attention.scores": "fit",
        "layers.{l}.attention.scaled": "root reason",
        "layers.{l}.attention.weights": "beans back alone favourites single beside empty ahead even random",
        "layers.{l}.attention.heads": "brings",
        "layers.{l}.add_1": "sum",
        "layers.{l}.norm_1": "norm",
        "layers.{l}.attention.output": "mixed",
        "layers.{l}.attention.masked": "causal",
        "layers.{l}.ffn.output": "ffn thinks",
        "answer": "word digit race",
    }.items()
    for key in keys.split()
}


def lesson(name: str, *keys: str, **about: str) -> Lesson:
    """A lesson of some of our questions."""
    return Lesson(name, tuple(QUESTIONS[key] for key in keys), **about)


#: The lessons that we ship, by name; the first is where a visitor begins.
LESSONS: dict[str, Lesson] = {
    one.name: one
    for one in (
        lesson("encoder", "word", "places", "beans", "root", "back", "heads", "sum", "norm", "layer", "alone"),
        lesson("positions", "places", "bare", "seat", "twin", "beside"),
        lesson("heads", "fit", "beans", "random", "reason", "favourites", "back", "hard", "heads"),
        lesson("drawing", "digit", "cut", "empty", "favourites", "layer", "heads", "learns", "twice", input="digit"),
        lesson("encoder_decoder", "word", "ahead", "once", "source", "seen", "first", input="sentence"),
        lesson("not_explanation", "back", "brings", "even", "hard", "ffn", "author", "heads"),
    )
}
ENCODER = LESSONS["encoder"]

#: What each page asks in its story: the first of these whose answer is clear.
STORY: dict[str, tuple[Question, ...]] = {
    page: tuple(QUESTIONS[key] for key in keys.split())
    for page, keys in {
        "home": "word digit",
        "tokens": "places",
        "queries_keys_values": "fit back",
        "attention": "beans root",
        "heads": "favourites",
        "add_and_norm": "sum",
        "feed_forward": "ffn",
        "layers": "layer",
        "answer": "race digit gathered",
        "translation": "source",
        "what_if": "hard heads",
        "flat": "single",
        "shapes_and_cost": "twice",
    }.items()
}

#: What a page's story asks besides, of what its picture does not show: the first of these whose answer is clear.
BESIDES: dict[str, tuple[Question, ...]] = {
    page: tuple(QUESTIONS[key] for key in keys.split())
    for page, keys in {
        "tokens": "seat",
        "attention": "root",
        "heads": "mixed",
        "add_and_norm": "norm",
        "feed_forward": "thinks",
        "answer": "causal gathered",
        "translation": "seen",
    }.items()
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
    begun = [keys.index(key) + 1 for key in asked] + [keys.index(start) if start in keys else 0]
    new = [key for key in keys[max(begun) :] if key not in (*asked, *left_out)]
    return next(iter([*due(done), *new]), END)


def due(done: Sequence[tuple[str, bool]]) -> list[str]:
    """What was missed, and may be asked once more, since BETWEEN others have been asked after it."""
    asked, last = [key for key, _ in done], {key: place for place, (key, _) in enumerate(done)}
    missed = [key for key, at_ in last.items() if not done[at_][1] and asked.count(key) < MOST_TIMES]
    return [key for key in missed if len(done) - 1 - last[key] >= BETWEEN]
