"""What each head of a run does, in figures and by name: over a corpus where that was measured, else on this input."""

from dataclasses import dataclass

import numpy as np

from model import Trace
from model.analysis import HeadPattern, head_pattern, head_table, placed
from model.measures.tables import HeadRoles, Role
from pages.attention.overlay import every_weight
from pages.drawing.cache import once_a_run
from pages.drawing.text import language, plain
from pages.drawing.text.numbers import percent, two
from pages.drawing.text.roles import relation_in_words

MUCH, NOTABLE = 0.4, 3  # a weight that names a head; so many times that of an even head do, too


@once_a_run
def head_patterns(run: Trace) -> tuple[dict[str, np.ndarray], dict[tuple[int, ...], HeadPattern]]:
    """The figures of `head_table`, each (layer, head), and the pattern of each place (layer, head)."""
    weights = every_weight(run)
    measures = head_table(weights, run.tokens, run.places)
    return measures, {
        place: head_pattern(
            weights[place], {name: float(values[place]) for name, values in measures.items()}, run.places
        )
        for place in np.ndindex(weights.shape[:2])
    }


@dataclass(frozen=True)
class HeadName:
    """What a head does, in two or three words.

    kind: the word that such heads share. name: the same, or which relation or token it is. figure: "78%" of the places
    of a corpus, or ".31", its mean weight there on this input; "" where neither is meant. brief: the name where there
    is little room; for a relation, as Universal Dependencies has it.
    """

    kind: str
    name: str
    figure: str
    brief: str = ""

    def __str__(self) -> str:
        return f"{self.name} {self.figure}".rstrip()


def head_names(run: Trace, roles: HeadRoles | None) -> dict[tuple[int, ...], HeadName]:
    """The name of each place (layer, head): of all by their roles over a corpus, or of all by this run.

    roles: those of the network, as long as nothing of it is changed.
    """
    kept = _kept(run)
    key = language(), roles is None
    if key not in kept:
        patterns = head_patterns(run)[1]
        kept[key] = {
            place: by_role(roles.of(*place)) if roles else _by_run(run, does) for place, does in patterns.items()
        }
    return kept[key]


@once_a_run
def _kept(run: Trace) -> dict[tuple[str, bool], dict[tuple[int, ...], HeadName]]:
    return {}


def by_role(role: Role) -> HeadName:
    kind = plain(f"heads.kind_{role.name}")
    if role.relation is None:
        brief = plain("heads.brief_same") if role.name == "same" else ""
        return HeadName(kind, kind, percent(role.share), brief)
    relation = relation_in_words(role.relation).split(" (")[0]
    arrow = f"{relation} →" if role.direction == "to_head" else f"→ {relation}"
    return HeadName(kind, arrow, percent(role.share), role.relation)


def _by_run(run: Trace, pattern: HeadPattern) -> HeadName:
    named = pattern.name == "near" or pattern.figure >= min(MUCH, NOTABLE * pattern.reference)
    kind = plain(f"heads.kind_{pattern.name if named else 'broad'}")
    if pattern.name in ("near", "broad") or not named:  # by a distance, or by none
        return HeadName(kind, kind, "")
    name = kind if pattern.place is None else plain("common.quoted", token=placed(run.tokens)[pattern.place])
    return HeadName(kind, name, two(pattern.figure).removeprefix("0"))
