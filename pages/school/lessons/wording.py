"""Questions and answers in words."""

import re
from collections.abc import Sequence
from typing import Any

from pages.drawing.text import LANGUAGES, joined, language, plain, texts_of, typed
from pages.school.lessons.lesson import Lesson
from pages.school.lessons.written import opened_at
from pages.school.questions.case import Guess, Truth, short
from pages.school.questions.question import Question

MOST_CALLED = 40  # characters of a teacher's question used as its name
#: Options that are neither tokens nor numbers, but texts of ours.
OPTIONS = ("same", "different", "thousandfold", "at_cls", "at_patch", "at_patches")
#: End of a sentence; not inside quotation marks, where a token may be a full stop.
ENDS = re.compile(r"(?<=[.?!])\s+|(?<=[。？！])(?![”’」）])")
#: Questions about a change for which the network was not trained; their answers mention it.
TRAINED_OTHERWISE = ("residual", "thinks", "causal")
BETWEEN = "||"  # separates a teacher's words in two languages, in either order
CHINESE = re.compile("[\u4e00-\u9fff]")
PART = re.compile("[^\\s\u4e00-\u9fff]+$")  # part of a word, where a text is cut inside one
text, word = texts_of("lesson")


def local(words: str) -> str:
    """A teacher's words in the reader's language, if she wrote two: "Which? || 哪个？"."""
    both = sorted((part.strip() for part in words.split(BETWEEN)), key=lambda part: bool(CHINESE.search(part)))
    return dict(zip(LANGUAGES, both, strict=True))[language()] if len(both) == len(LANGUAGES) else words


def asked(question: Question, truth: Truth) -> str:
    """The question, in a teacher's words or ours."""
    if question.own:
        return typed(local(question.own.ask), **truth.in_words)
    return text(f"{question.row}.ask", **truth.in_words)


def heading_and_rest(ask: str) -> tuple[str, str]:
    """The sentence that asks, and all others: "Which?", "Two tokens are left."."""
    sentences = [sentence for sentence in ENDS.split(ask) if sentence]
    asks = next((one for one in sentences if one.endswith(("?", "？"))), sentences[-1])
    return asks, joined(" ".join(one for one in sentences if one is not asks))


def why(question: Question, truth: Truth) -> str:
    """The explanation after the answer: the texts that are true of this run, or what the teacher wrote."""
    said, own = truth.in_words, question.own
    if own and own.why:
        return typed(local(own.why), **said)
    if question.measure is None:
        return ""
    names = [name if "." in name else f"{question.row}.{name}" for name in truth.told]
    names += ["trained_so"] * (question.row in TRAINED_OTHERWISE)
    sentences = joined(" ".join(text(name, **said) for name in names))
    return re.sub(r"^(\d+)\.", r"\1\.", sentences)  # "4." at the beginning is no item of a list


def otherwise(question: Question, truth: Truth) -> str:
    """What would follow if the common mistake were true; "" for a teacher's own question."""
    if question.measure is None:
        return ""
    return f"**{plain('class.confusion')}** {text(f'{question.row}.otherwise', **truth.in_words)}"


def hints(question: Question, truth: Truth) -> list[str]:
    """Hints for a class, the vaguest first."""
    return [text(f"{question.row}.hint_{number + 1}", **truth.in_words) for number in range(question.hints)]


def seen_at(question: Question, truth: Truth) -> tuple[str, dict[str, Any]]:
    """The page that shows an answer, and values of a Choice to open it with: the teacher's, or ours."""
    if question.place:
        page, at = opened_at(question.place)
        return page, {"token": None, **truth.place, **at}
    return question.page or "lesson", {**truth.place, **question.at}


def called(question: Question) -> str:
    """Short name of a question."""
    if question.measure is None and question.own:
        return shortened(local(question.own.ask))
    return word(f"{question.row}.short")


def shortened(words: str) -> str:
    """A text shortened, at a word boundary if possible, with quotation marks closed."""
    if len(words) <= MOST_CALLED:
        return words
    kept = PART.sub("", words[:MOST_CALLED]) or words
    kept = kept[: MOST_CALLED - 1].rstrip(' “"')
    return kept + "…" + "”" * (kept.count("“") - kept.count("”")) + '"' * (kept.count('"') % 2)


def left_out(question: Question) -> str:
    """One of our questions that is not asked of an input: its name, and what it needs."""
    return word("left", name=called(question), needs=word(f"{question.row}.needs", least=short(question.least)))


def options(truth: Truth) -> Sequence[str]:
    """The options, in the reader's language unless they are tokens or numbers."""
    return [word(option) if _is_text(option, truth) else local(option) for option in truth.options]


def _is_text(option: str, truth: Truth) -> bool:
    """Whether an option is a text of ours; a token may have the same name."""
    return bool(truth.said) and option in OPTIONS and not truth.literal


def title_of(lesson: Lesson) -> str:
    """Title of a lesson, by its teacher or ours."""
    return local(lesson.title) or word(f"titles.{lesson.name}")


def answer_in_words(truth: Truth) -> str:
    """The answer in words; for chips, the token that gets most."""
    if isinstance(truth.answer, list):
        most = max(range(len(truth.answer)), key=truth.answer.__getitem__)
        return _with_weight(most, truth)
    return in_quotes(truth.answer, truth) if isinstance(truth.answer, str) else short(truth.answer)


def guess_in_words(guess: Guess, truth: Truth) -> str:
    """A guess in words; for chips, the tokens that got most, with their true weights."""
    if isinstance(guess, list):
        firsts = [place for place, chips in enumerate(guess) if chips == max(guess)]
        return plain("common.comma").join(_with_weight(place, truth) for place in firsts)
    return in_quotes(guess, truth) if isinstance(guess, str) else short(guess)


def _with_weight(place: int, truth: Truth) -> str:
    """A token and its attention weight."""
    name, weight = in_quotes(truth.options[place], truth), short(truth.answer[place] / 100)
    return plain("common.and_more", name=name, more=weight)


def in_quotes(option: str, truth: Truth) -> str:
    """An option or word in the reader's language; tokens and words of the network in quotation marks."""
    name = dict(zip(truth.options, options(truth), strict=True)).get(option, option)
    ours = truth.literal and truth.said and not name.isdigit() and not _is_text(option, truth)
    return plain("common.quoted", token=name) if ours else name
