"""What each head of a run does, in figures and by name: over a corpus where that was measured, else on this input."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from model import Trace
from model.analysis import HeadPattern, head_pattern, head_table, placed
from model.measures.tables import HeadRoles, Role, stands_out
from pages.attention.overlay import every_weight
from pages.drawing.cache import once_a_run
from pages.drawing.text import language, plain
from pages.drawing.text.numbers import percent
from pages.drawing.text.roles import relation_in_words


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
    """What a head does, in two or three words; none of a head that does nothing often enough.

    kind: the word that such heads share. brief: the same in five letters. name: the same, or which relation or token it
    is. figure: in how many places of a corpus, or for how many tokens of this input, that is what is attended to most;
    "" where neither is meant.
    """

    kind: str = ""
    brief: str = ""
    name: str = ""
    figure: str = ""

    def __str__(self) -> str:
        return f"{self.name} {self.figure}".strip() or plain("roles.unclear")


def head_names(run: Trace, roles: HeadRoles | None) -> dict[tuple[int, ...], HeadName]:
    """The name of each place (layer, head): of all by their roles over a corpus, or of all by this run.

    roles: those of the network, as long as nothing of it is changed.
    """
    kept, weights = _kept(run), every_weight(run)
    key = language(), roles is None
    if key not in kept:
        patterns = head_patterns(run)[1]
        kept[key] = {
            place: _by_role(roles.of(*place)) if roles else _by_run(run, weights[place], does)
            for place, does in patterns.items()
        }
    return kept[key]


@once_a_run
def _kept(run: Trace) -> dict[tuple[str, bool], dict[tuple[int, ...], HeadName]]:
    return {}


def _by_role(role: Role) -> HeadName:
    if not role.clear:
        return HeadName()
    kind, brief = _words(role.name)
    relation = role.relation and relation_in_words(role.relation).split(" (")[0]
    name = kind if relation is None else f"{relation} →" if role.direction == "to_head" else f"→ {relation}"
    return HeadName(kind, brief, name, percent(role.share))


def _by_run(run: Trace, weights: np.ndarray, pattern: HeadPattern) -> HeadName:
    kind, brief = _words(pattern.name)
    if pattern.name in ("alone", "near", "broad"):
        return HeadName(kind, brief, kind)
    share = _share(weights.argmax(-1), pattern, run.tokens)
    if not stands_out(share, pattern.reference):
        return HeadName()
    name = kind if pattern.place is None else plain("common.quoted", token=placed(run.tokens)[pattern.place])
    return HeadName(kind, brief, name, percent(share))


def _share(best: np.ndarray, pattern: HeadPattern, tokens: Sequence[str]) -> float:
    """In what share of the tokens the key that each attends to most is the one of the pattern."""
    offset = {"itself": 0, "previous": -1, "next": 1}.get(pattern.name)
    if offset is not None:
        return float((best == np.arange(len(best)) + offset).mean())
    return float(np.mean([key == pattern.place or tokens[key] == f"[{pattern.name.upper()}]" for key in best]))


def _words(name: str) -> tuple[str, str]:
    return plain(f"heads.kind.{name}"), plain(f"heads.brief.{name}")
