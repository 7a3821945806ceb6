"""How a decoder's scores become a sentence: the likeliest word at each step, or a beam of several beginnings."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

#: How much a longer translation is favoured; the paper's value (section 6.1).
LENGTH_PENALTY = 0.6


@dataclass(frozen=True)
class Hypothesis:
    """A way to go on: target ids without the start, ending with the end token where it was reached in time."""

    ids: tuple[int, ...]
    log_probability: float  # of the whole, natural logarithm

    @property
    def score(self) -> float:
        """log P / lengthᵅ: without the division, short sentences would win by being short  (Wu et al. 2016)."""
        return self.log_probability / len(self.ids) ** LENGTH_PENALTY


def beam_search(
    step: Callable[[Tensor], Tensor], start: int, end: int, beams: int, longest: int
) -> tuple[Hypothesis, ...]:
    """The `beams` best hypotheses found, best score first; with one beam this is greedy search.

    step: target ids so far (beam, target) -> log-probabilities of the next id (beam, vocabulary).
    It stops by itself: when `beams` hypotheses have ended, or after `longest` ids.
    """
    ended: list[Hypothesis] = []
    alive, scores = torch.tensor([[start]]), torch.zeros(1)
    while len(ended) < beams and alive.size(1) <= longest:
        totals = scores[:, None] + step(alive)
        # Of twice as many candidates at most half can be ends, so the beam stays full.
        best = totals.flatten().topk(min(2 * beams, totals.numel()))
        rows, ids = best.indices // totals.size(1), best.indices % totals.size(1)
        for rank in range(min(beams, len(ids))):
            if ids[rank] == end:
                ended.append(Hypothesis((*alive[rows[rank], 1:].tolist(), end), float(best.values[rank])))
        going = (ids != end).nonzero().flatten()[:beams]
        alive, scores = torch.cat([alive[rows[going]], ids[going, None]], dim=1), best.values[going]
    if len(ended) < beams:
        ended += [Hypothesis(tuple(row[1:]), score) for row, score in zip(alive.tolist(), scores.tolist(), strict=True)]
    return tuple(sorted(ended, key=lambda hypothesis: hypothesis.score, reverse=True)[:beams])
