"""The lesson of the study: seven questions, each with one right answer, in the words of en.toml and zh.toml."""

from pages.drawing.text import LANGUAGES, catalogue
from pages.school.lessons.lesson import Lesson
from pages.school.lessons.wording import BETWEEN
from pages.school.questions.question import Own, Question

ROW = "study"  # what the keys of its questions begin with
LETTERS = "abcd"  # of the answers to choose from
#: Question -> its right answer.
RIGHT = {"softmax": "b", "score": "a", "root": "d", "residual": "c", "norm": "a", "places": "d", "ffn": "c"}


def _question(name: str, right: str) -> Question:
    def both(part: str) -> str:
        return f" {BETWEEN} ".join(catalogue(language)[f"{ROW}.{name}.{part}"] for language in LANGUAGES)

    options = tuple(map(both, LETTERS))
    own = Own(both("ask"), both("why"), options, answer=options[LETTERS.index(right)])
    return Question(f"{ROW}.{name}", None, "tap", 0.0, 1, own=own)


STUDY = Lesson("study", tuple(_question(*one) for one in RIGHT.items()), twice=True)
