"""A printed lesson: questions first, this run's answers folded away, nothing fetched from the network."""

import html
import json
import re
import time
from dataclasses import replace

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages.drawing.figures import theme
from pages.drawing.state import sketch
from pages.drawing.text import LANGUAGES, catalogue
from pages.school.lessons.lesson import LESSONS
from pages.school.lessons.written import OWN, lesson_to_code, own_lesson
from pages.school.questions import QUESTIONS
from pages.school.questions.question import Own, Question
from pages.screen.frame import draw
from pages.screen.runs import pipelines
from tests.pages.opening import assert_fine, for_teachers, numbers, protos, texts, with_network
from tests.school.making import SENTENCE, _no_answer, _no_favourite, _no_order, _nothing_found, asked, doctored

HOSTILE = '</p><script>alert(1)</script><img src="picture:paper.word" onerror=x> $x$ *b*'


def printed(**link: str) -> tuple[AppTest, str, dict[str, dict]]:
    """The page with the box open, the sheet that its button saves, and its pictures."""
    app = for_teachers("paper", **{"s": SENTENCE} | link)
    assert_fine(app)
    (part,) = protos(app, "handout")
    (sheet,) = json.loads(part.json)
    return app, sheet["html"], {key: json.loads(figure) for key, figure in sheet["pictures"].items()}


def titles(sheet: str) -> list[str]:
    return [html.unescape(title).partition(" ")[2] for title in re.findall(r"<h2>(.*?)</h2>", sheet)]


@pytest.mark.parametrize("place", range(len(LESSONS)), ids=LESSONS)
def test_a_sheet_asks_what_is_clear_and_folds_each_answer_away(place: int) -> None:
    name, lang = [*LESSONS][place], tuple(LANGUAGES)[place % 2]
    drawing = {"input": "digit", "ink": sketch.to_code(sketch.example(3))} if LESSONS[name].input == "digit" else {}
    _, sheet, pictures = printed(lang=lang, lesson=name, **drawing)
    words = catalogue(lang)
    shorts = {words[f"lesson.{key}.short"]: key for key in LESSONS[name].keys}
    keys = [shorts[title] for title in titles(sheet)]
    assert len(keys) >= 3 and keys == [key for key in LESSONS[name].keys if key in keys]
    first, answers = sheet.split('<section class="answers">')
    folds = re.findall(r"<details><summary>(.*?)</summary>(.*?)</details>", answers)
    assert len(folds) == len(keys) == len(pictures)
    for key, (_, fold) in zip(keys, folds, strict=True):
        assert f'src="picture:paper.{key}"' in fold and f"paper.{key}" in pictures
        told = re.findall("<p>(.*?)</p>", fold)
        assert told and not any(sentence in first for sentence in told)
    assert not re.search(r"\{\w+\}|\*\*|\\\\\W", re.sub("<style>.*?</style>", "", sheet, flags=re.DOTALL))
    assert ("data:image/png" in first) == bool(drawing) and f" · {time.strftime('%Y-%m-%d')}</p>" in first


def test_a_sheet_does_not_tell_above_its_questions_the_word_that_it_asks_for() -> None:
    _, sheet, _ = printed(s="the animal did not cross the street .", hidden="3")
    above, _, first = sheet.partition("<h2>")
    assert "the [MASK] did" in above and "animal" not in above + first.partition("<h2>")[0]


def test_no_question_prints_the_hidden_word_that_another_one_asks_for() -> None:
    link = {"s": "she went to the shop to buy some bread .", "hidden": "3", "lang": "en"}
    _, sheet, _ = printed(lesson="encoder_decoder", **link)
    asks, _ = sheet.split('<section class="answers">')
    assert catalogue("en")["lesson.word.short"] in titles(sheet)
    assert not re.search(r"\bwent\b", re.sub("<[^>]*>", " ", asks))
    alone = lesson_to_code(own_lesson([QUESTIONS["once"]]))
    assert titles(printed(lesson=alone, **link)[1]), "where nobody asks for it, it may be read"


def test_the_pictures_hold_the_numbers_of_this_run_in_ink_for_a_light_ground(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(draw, "draw_on", lambda ground, *, big: theme.draw_on("dark", big=big))
    _, _, pictures = printed()
    trace = pipelines.run("text", SENTENCE)
    shares = np.exp(trace["logits"][trace.tokens.index("[MASK]")].astype(np.float64))
    drawn = numbers(pictures["paper.word"]["data"][0]["x"])
    assert drawn == pytest.approx(np.sort(shares / shares.sum())[::-1][: len(drawn)], abs=1e-5)
    inks = {trace["textfont"]["color"] for one in pictures.values() for trace in one["data"] if trace.get("textfont")}
    assert inks == {"#172033"}


def test_nothing_is_fetched_and_no_markup_of_a_sentence_or_a_teacher_is_markup() -> None:
    mine = Own(HOSTILE, HOSTILE, ("a || <b>啊</b>", "b"), answer="a || <b>啊</b>")
    own = Question(OWN, None, "tap", 0.0, 3, place="attention?layer=2&head=4", own=mine)
    lesson = lesson_to_code(
        own_lesson([own, replace(QUESTIONS["back"], own=Own(HOSTILE)), QUESTIONS["weights"]], HOSTILE[:80])
    )
    _, sheet, pictures = printed(lang="zh", lesson=lesson, s=f"<b>he</b> [MASK] to the shop {HOSTILE[:30]}")
    assert "<b>" not in sheet and "<script" not in sheet and "onerror=x>" not in sheet
    assert set(re.findall('src="(.*?)"', sheet)) == {f"picture:{key}" for key in pictures}
    assert not re.search(r"<(script|link|iframe)|url\(|@import", sheet)
    words, (first, answers) = catalogue("zh"), sheet.split('<section class="answers">')
    answer = words["lesson.own_answer"].format(answer="<b>啊</b>").replace("**", "")
    assert f"☐ {html.escape('<b>啊</b>')}" in first and html.escape(answer) in answers and len(sheet) < 30_000
    row = words["lesson.maker.row"].format(token="[MASK]")
    assert f"{words['tour.weights']} · {row} · 第 2 层第 4 头" in first, "of which head and row is asked"
    asks, shown = (numbers(pictures[key]["data"][0]["z"]) for key in ("paper.own.asked", "paper.own"))
    assert '"picture:paper.own.asked"' in first and '"picture:paper.own"' in answers
    assert np.isnan(asks).any() and not np.isnan(shown).any() and shown.max() <= 1
    assert 'class="again screen"' in sheet, "nobody types such a link from paper"
    once = sheet.count(f"<p>{html.escape(HOSTILE)}</p><ul")  # below the name of one of our questions
    assert titles(sheet)[0] == HOSTILE and once == 1
    assert "e<sup>M<sub>ij</sub></sup>" in sheet


def test_no_sheet_without_clear_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    with_network(monkeypatch, doctored(_no_answer, _no_favourite, _no_order, _nothing_found))
    app = for_teachers("paper", s=SENTENCE, lesson="heads")
    assert_fine(app)
    assert catalogue("en")["paper.nothing"] in texts(app) and not asked(app, "fit")
