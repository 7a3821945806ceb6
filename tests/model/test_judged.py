"""Answers that are neither a word nor a class, as numbers: effects of changes, and sums by source."""

import numpy as np
import pytest

from model.edits import head_off
from model.measures.judged import KEYS, effects, said_by, written
from tests.networks import example, pipeline, trace_of

CELLS = {"several labels": (1,), "numbers": (0,), "tags": (2, 1), "span": (1, 3)}


@pytest.mark.parametrize("name", CELLS)
def test_what_changes_do_to_one_number_is_what_runs_with_them_say(name: str) -> None:
    of, cell, config = pipeline(name), CELLS[name], pipeline(name).config
    rows = [[head_off(0, head)] for head in range(config.heads)]
    found = effects(of, example(name), rows, cell)
    runs = [of(example(name), row) for row in ([], *rows)]
    before, *after = (float(said_by(config.head, run[KEYS[config.head]])[cell]) for run in runs)
    assert found.before == pytest.approx(before, abs=1e-5)
    np.testing.assert_allclose(found.after, after, atol=1e-5)
    assert np.abs(found.after - before).max() > 1e-4


@pytest.mark.parametrize("name", CELLS)
def test_the_logit_of_a_linear_head_is_the_sum_of_what_each_part_wrote(name: str) -> None:
    trace, cell = trace_of(name), CELLS[name]
    lead = written(trace, cell)
    if trace.config.pooler != "none":
        assert lead is None
        return
    assert lead is not None and lead.exact
    assert sum(lead.parts.values()) == pytest.approx(float(trace[KEYS[trace.config.head]][cell]), abs=1e-4)
    assert len(lead.parts) > 4
