"""Results of a study: a row for each phone and question, with both answers, without names."""

from collections.abc import Mapping, Sequence

import pandas as pd

from pages.school.classroom.store import Asked, Linked
from pages.school.classroom.tally import right
from pages.school.study.lesson import LETTERS

PASSES = "before", "after"


def as_table(asked: Sequence[Asked], votes: Sequence[Linked], opened: Mapping[int, Sequence[str]]) -> pd.DataFrame:
    """By phone (a number from 1 on) and question: letter of each answer, 1 if right and 0 if not, confidence (1 to 3;
    0: not said), seconds until the first answer, each before and after and empty without an answer; and the pages or
    stations that the phone opened between the two.
    """
    known = {one.number: one for one in asked}
    first: dict[str, int] = {}
    for one in asked:
        first.setdefault(one.shown["key"], one.number)
    rows: dict[tuple[int, str], dict[str, object]] = {}
    for vote in votes:
        shown, truth = known[vote.number].shown, known[vote.number].truth
        key = shown["key"]
        when = PASSES[vote.number > first[key]]
        letter = LETTERS[shown["options"].index(str(vote.guess))]
        values = {"answer": letter, "right": int(right(shown, truth, vote.guess)), "sure": vote.confidence}
        values["seconds"] = None if vote.seconds is None else round(vote.seconds)
        row = rows.setdefault((vote.phone, key), {"opened": " ".join(sorted(opened.get(vote.phone, ())))})
        row |= {f"{name}_{when}": value for name, value in values.items()}
    columns = [f"{name}_{when}" for name in ("answer", "right", "sure", "seconds") for when in PASSES]
    order = list(first)
    held = sorted(rows, key=lambda one: (one[0], order.index(one[1])))
    table = pd.DataFrame([rows[one] for one in held], columns=[*columns, "opened"])
    for name in columns[len(PASSES) :]:
        table[name] = table[name].astype("Int64")
    table.insert(0, "question", [key.partition(".")[2] for _, key in held])
    return table.fillna({name: "" for name in columns[: len(PASSES)]}).set_index(
        pd.Index([phone for phone, _ in held], name="phone")
    )
