"""The study: its notebook finds the effect that was put into simulated answers, and no other."""

import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pages.drawing.text import LANGUAGES, speaking
from pages.school.classroom.phases import Phase
from pages.school.classroom.store import Ballot, Store, Verdict
from pages.school.lessons.wording import local
from pages.school.lessons.written import MOST_OPTION, width
from pages.school.questions.case import Truth
from pages.school.study import lesson
from pages.school.study.answers import as_table
from pages.school.study.lesson import LETTERS, RIGHT, STUDY
from pages.school.teaching.asked import for_phones
from pages.screen.frame import exports
from tests.cells import shown

NOTEBOOK = Path(lesson.__file__).parent / "analysis.ipynb"
PHONES = 60
Answers = np.ndarray  # (pass, phone, question): index of the chosen option


def made(effect: float, *, phones: int = PHONES, seed: int = 0) -> Answers:
    """Answers of which 40 % are right before, and of the others a part `effect` becomes right, as many as that exceeds
    what is forgotten: a tenth of those that were right.
    """
    draw = np.random.default_rng(seed)
    right = np.array([LETTERS.index(letter) for letter in RIGHT.values()])
    wrong = (right + draw.integers(1, len(LETTERS), (2, phones, len(right)))) % len(LETTERS)
    knew = draw.random((phones, len(right))) < 0.4
    lost, won = draw.random(knew.shape) < 0.1, draw.random(knew.shape) < effect
    knows = np.where(knew, ~lost, won)
    return np.where([knew, knows], right, wrong)


def true_change(effect: float) -> float:
    return 0.6 * effect - 0.4 * 0.1


def held(store: Store, answers: Answers) -> pd.DataFrame:
    """Hold a class that gives these answers; returns its exported table."""
    code, key = store.create()
    for asked in answers:
        for place, question in enumerate(STUDY.questions):
            own = question.own
            assert own is not None
            truth = Truth(own.answer, 0.0, {}, (), {}, own.options, literal=True)
            told = for_phones(question, truth, lambda truth=truth: (truth, ""), "", "lesson")  # type: ignore[misc]
            room = store.ask(code, key, store.of_teacher(code, key).version, place, *told)
            room = store.advance(code, key, room.version, Phase.OPEN)
            options = told[0]["options"]
            ballots = [
                Ballot(code, room.number, 1, f"{phone:032x}", options[given], 1 + phone % 3)
                for phone, given in enumerate(asked[:, place])
                if given >= 0
            ]
            assert {*store.vote_all(ballots)} <= {Verdict.KEPT}
            room = store.advance(code, key, room.version, Phase.CLOSED)
        assert store.linked(code, key) == ([], {}), "nobody learns who answered what before the end"
        room = store.advance(code, key, room.version, Phase.LOBBY)
        store.note_opened(code, f"{0:032x}", "lesson.fit")
        store.note_opened(code, f"{0:032x}", "attention")
        store.note_opened(code, f"{0:032x}", "attention")
    store.advance(code, key, room.version, Phase.ENDED)
    return as_table(store.asked(code, key), *store.linked(code, key))


def analysed(table: pd.DataFrame, folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict:
    """Variables of the notebook after running it on this table."""
    (folder / "study.csv").write_bytes(exports.csv(table))
    monkeypatch.chdir(folder)
    names: dict = {}
    for cell in json.loads(NOTEBOOK.read_text("utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            assert not cell["outputs"]
            assert shown("".join(cell["source"]), names) is not None
    return names


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(f"sqlite:///{tmp_path}/classes.sqlite")


@pytest.mark.parametrize("effect", [0.5, 1 / 15])
def test_an_effect_comes_out_as_it_was_put_in_and_none_where_none_was(
    effect: float, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers, change = made(effect), true_change(effect)
    names = analysed(held(store, answers), tmp_path, monkeypatch)
    right = answers == [LETTERS.index(letter) for letter in RIGHT.values()]
    by_question, total = names["by_question"], names["total"]
    assert list(by_question.index) == list(RIGHT)
    assert np.allclose(by_question[["before", "after"]].T, right.mean(axis=1)), "each answer is where it belongs"
    gained, lost = ((right[one] & ~right[1 - one]).sum(axis=0) for one in (1, 0))
    assert (by_question["gained"] == gained).all() and (by_question["lost"] == lost).all()
    assert total["low"] < change < total["high"] and total["high"] - total["low"] < 0.2
    assert (total["low"] > 0) == (change > 0.1)
    assert ((by_question["low"] < change) & (change < by_question["high"])).sum() >= len(RIGHT) - 1
    assert names["views"].max() == 2 and names["views"].sum() == 2, "of one phone, that it opened two"


def test_the_interval_holds_the_truth_as_often_as_it_says(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = analysed(held(store, made(0.5, phones=8)), tmp_path, monkeypatch)
    right = [LETTERS.index(letter) for letter in RIGHT.values()]
    for phones, effect in ((12, 0.5), (40, 0.5), (40, 1 / 15)):
        held_true = 0
        for seed in range(100):
            before, after = made(effect, phones=phones, seed=seed) == right
            intervals = [names["interval"](before[:, one], after[:, one]) for one in range(len(right))]
            held_true += sum(low < true_change(effect) < high for _, low, high in intervals)
        assert 0.93 < held_true / (100 * len(right)) < 0.995
    assert names["exact"](0, 0) == names["exact"](5, 5) == 1 and names["exact"](6, 0) == 2 / 64


def test_who_answers_once_is_counted_apart_and_a_phone_is_no_name(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = made(0.5, phones=9)
    answers[1, 3] = -1
    table = held(store, answers)
    assert table["right_after"].isna().sum() == len(RIGHT) and table.index.nunique() == 9
    numbers = {f"{phone:032x}" for phone in range(9)}
    assert not any(number in exports.csv(table).decode("utf-8-sig") for number in numbers)
    names = analysed(table, tmp_path, monkeypatch)
    assert names["pairs"]["phone"].nunique() == 8 and len(names["scores"]) == 8
    read = pd.read_csv(io.BytesIO(exports.csv(table)), encoding="utf-8-sig")
    assert set(read["answer_before"]) <= {*LETTERS} and read["seconds_before"].ge(0).all()


def test_each_question_has_one_right_answer_that_its_length_does_not_tell() -> None:
    longest = []
    for question in STUDY.questions:
        own = question.own
        assert own is not None and own.answer in own.options and len({*own.options}) == len(LETTERS)
        for language in LANGUAGES:
            with speaking(language):
                said = [local(option) for option in own.options]
                assert len({*said}) == len(LETTERS) and max(map(width, said)) <= MOST_OPTION
                longest.append(max(said, key=len) == local(str(own.answer)))
    assert 0.1 < np.mean(longest) < 0.5, "the longest is right as often as any other"
    assert len({*RIGHT.values()}) == len(LETTERS), "nor does its place"
