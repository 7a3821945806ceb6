"""The links of hostile visitors ask for all that they seem to ask for, and nothing of it is refused or cut."""

import random
from urllib.parse import parse_qsl

from model import load
from pages.drawing.state.choice import Choice
from pages.drawing.state.link_values import MOST_EDITS
from tests.classroom.hostile import LENGTH, link


def test_a_hostile_link_is_read_whole() -> None:
    for seed in range(20):
        choice, problems = Choice.from_link(dict(parse_qsl(link(random.Random(seed)))))
        assert not problems
        assert len(choice.edits) == MOST_EDITS and len({edit.source for edit in choice.edits}) == MOST_EDITS
        for said in (choice.sentence, choice.other, choice.edits[0].source):
            assert len(load("text").reader.read(said).tokens) >= LENGTH
    trace = load("text")(choice.sentence, choice.edits)
    assert len(trace.edits) == MOST_EDITS, "and all of it fits"
