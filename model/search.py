"""Decoding: greedy search or beam search over a decoder's scores."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import torch
from torch import Tensor

from model import deadline

#: Exponent of the length normalization; the paper (section 6.1) uses it as α in ((5 + length) / 6)ᵅ.
LENGTH_PENALTY = 0.6

Fate = Literal["forced", "kept", "ended", "dropped", "left"]


@dataclass(frozen=True)
class Hypothesis:
    """A candidate target: ids without the start token, and with the end token if it was reached."""

    ids: tuple[int, ...]
    log_probability: float  # of all ids, natural logarithm
    steps: tuple[float, ...]  # of each id, given those before it; they add up to log_probability

    @property
    def score(self) -> float:
        """Length-normalized log-probability, by which hypotheses are ranked."""
        return score(self.log_probability, len(self.ids))


def score(log_probability: float, length: int) -> float:
    """log P / lengthᵅ. Without the division, short sentences would win.

    The simpler of two formulas in Wu et al. (2016, section 7), who kept ((5 + length) / 6)ᵅ.
    """
    return log_probability / length**LENGTH_PENALTY


@dataclass(frozen=True)
class Node:
    """One candidate of a search step: a beginning with one id appended.

    fate: "forced" (given), "kept" (continued), "ended" (a finished hypothesis), "dropped" (less likely than others of
    its step), "left" (likely enough, but the search was over).
    rank: among the candidates of its step, from 0, likeliest first.
    """

    ids: tuple[int, ...]  # with this id last
    own: float  # log-probability of this id, given those before
    log_probability: float  # of all ids
    rank: int
    fate: Fate


@dataclass(frozen=True)
class Search:
    """The hypotheses found, best score first, and all candidates, step by step."""

    hypotheses: tuple[Hypothesis, ...]
    nodes: tuple[Node, ...]


@torch.inference_mode()
def beam_search(
    step: Callable[[Tensor], Tensor], start: int, end: int, beams: int, longest: int, forced: Sequence[int] = ()
) -> Search:
    """The `beams` best hypotheses found; with one beam this is greedy search.

    step: target ids so far (beam, target) -> log-probabilities of the next id (beam, vocabulary).
    forced: ids with which every hypothesis begins, without the end id.
    Stops when `beams` hypotheses have ended, or after `longest` ids. Raises deadline.OverdueError between two steps
    once the time is over.
    """
    nodes: list[Node] = []
    alive, scores = torch.tensor([[start]]), torch.zeros(1)
    steps: list[tuple[float, ...]] = [()]
    for number in forced:
        deadline.check()
        own = step(alive)[0, number]
        scores, steps = scores + own, [(*steps[0], float(own))]
        alive = torch.cat([alive, torch.tensor([[number]])], dim=1)
        nodes.append(Node(tuple(alive[0, 1:].tolist()), float(own), float(scores), 0, "forced"))
    ended: list[Hypothesis] = []
    while len(ended) < beams and alive.size(1) <= longest:
        deadline.check()
        own = step(alive)
        totals = scores[:, None] + own
        # Of twice as many candidates at most half can be ends, so the beam stays full.
        best = totals.flatten().topk(min(2 * beams, totals.numel()))
        rows, ids = (best.indices // totals.size(1)).tolist(), (best.indices % totals.size(1)).tolist()
        going = [rank for rank, number in enumerate(ids) if number != end][:beams]
        found: list[Node] = []
        for rank, (row, number, total) in enumerate(zip(rows, ids, best.values.tolist(), strict=True)):
            fate: Fate = "kept" if rank in going else "ended" if number == end and rank < beams else "dropped"
            node = Node((*alive[row, 1:].tolist(), number), float(own[row, number]), total, rank, fate)
            found.append(node)
            if fate == "ended":
                ended.append(Hypothesis(node.ids, total, (*steps[row], node.own)))
        nodes += found
        steps = [(*steps[rows[rank]], found[rank].own) for rank in going]
        alive = torch.tensor([[start, *found[rank].ids] for rank in going])
        scores = best.values[going]
    if len(ended) < beams:
        unfinished = zip(alive.tolist(), scores.tolist(), steps, strict=True)
        ended += [Hypothesis(tuple(row[1:]), total, parts) for row, total, parts in unfinished]
    else:
        last = alive.size(1) - 1
        nodes = [
            replace(node, fate="left") if node.fate == "kept" and len(node.ids) == last else node for node in nodes
        ]
    ranked = sorted(ended, key=lambda hypothesis: hypothesis.score, reverse=True)[:beams]
    return Search(tuple(ranked), tuple(nodes))
