"""A homework task in a link: `first.3.1a2b3c.在`. Nothing here knows Streamlit."""

from dataclasses import dataclass

from pages.drawing.state.link_values import Kind, LinkError, matching, up_to

MOST_OFF, MOST_WORD = 48, 40  # heads; characters of a word


@dataclass(frozen=True)
class Goal:
    """A task: its kind, and its values in the order of VALUES."""

    name: str
    values: tuple[int | str, ...]


_WORD = matching(rf"\S{{1,{MOST_WORD}}}", flags=0)
_SENTENCE = matching("[0-9a-f]{6}")
_HUNDREDTHS = up_to(99)
#: Kind of task -> its values. A word may hold any sign, so it comes last.
VALUES: dict[str, tuple[Kind, ...]] = {
    # at most so many heads off; the sentence, by its hash; the word that must become the first guess
    "first": (up_to(MOST_OFF), _SENTENCE, _WORD),
    # hundredths: a weight from one token to another above the first, the weight back below the second
    "oneway": (_HUNDREDTHS, _HUNDREDTHS),
}


def goal_code(goal: Goal) -> str:
    """The code of a task for a link."""
    written = (kind.write(value) for kind, value in zip(VALUES[goal.name], goal.values, strict=True))
    return ".".join([goal.name, *written])


def goal_from_code(code: str) -> Goal:
    """The task of a code. Raises LinkError for codes that `goal_code` does not write."""
    name, _, rest = code.partition(".")
    kinds = VALUES.get(name, ())
    parts = rest.split(".", len(kinds) - 1)
    try:
        return Goal(name, tuple(kind.read(part) for kind, part in zip(kinds, parts, strict=True)))
    except ValueError as error:
        raise LinkError("link_goal") from error


GOAL = Kind(goal_code, goal_from_code)
