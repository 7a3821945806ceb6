"""A teacher's own question beside the picture of its page, covered until the answer is shown."""

import re
from dataclasses import replace

import numpy as np
import pytest

from model.analysis import placed
from pages.drawing.figures import BLUE
from pages.drawing.picture import Picture
from pages.drawing.text import LANGUAGES, catalogue, speaking
from pages.school.lessons.wording import answer_in_words
from pages.school.lessons.written import OWN
from pages.school.questions import QUESTIONS
from pages.school.questions.case import Case, Truth, short
from pages.school.questions.pictures import OF_PAGE, Look, of_place
from pages.school.questions.question import Own, Question
from pages.school.teaching.asked import for_phones, not_the_runs
from pages.screen.runs import pipelines

SENTENCE, TOKEN, LAYER, HEAD = "我们[MASK]公园玩吧", 3, 2, 6


def case_of(page: str) -> Case:
    trace = pipelines.run("text", SENTENCE)
    at = {"layer": LAYER, "head": HEAD} if page not in ("layers", "answer") else {}
    return Case(pipelines.pipeline("text"), trace, TOKEN, pipelines.pipeline("text").reader.vocabulary, **at)


def drawn(
    page: str, answer: object = "a", options: tuple[str, ...] = ("a", "b"), ask: str = ""
) -> tuple[Picture, Picture]:
    """The picture beside the question, before and after the answer is shown."""
    truth = Truth(answer, 0.0, {}, (), {}, options, literal=True, ask=ask)
    looks = [Look(OWN, "tap", case_of(page), truth, shown=shown) for shown in (False, True)]
    (covered,), (whole,) = (of_place(f"{page}?layer=3&head=7&token=3", look) for look in looks)
    return covered, whole


@pytest.mark.parametrize("page", OF_PAGE)
def test_what_is_asked_is_covered_until_the_answer_is_shown(page: str) -> None:
    covered, whole = drawn(page)
    assert covered.title == whole.title, "its caption stays, on phones and in the report"
    trace, (first, then) = pipelines.run("text", SENTENCE), (one.drawn().data[0] for one in (covered, whole))
    if page in ("attention", "queries_keys_values"):
        own = trace[f"layers.{LAYER}.attention.{'weights' if page == 'attention' else 'scores'}"][HEAD]
        assert np.isnan(first["z"][TOKEN]).all()
        np.testing.assert_allclose(np.delete(first["z"], TOKEN, 0), np.delete(own, TOKEN, 0), atol=1e-6)
        np.testing.assert_allclose(then["z"], own, atol=1e-6)
        assert covered.figure.layout["xaxis"]["tickangle"] == 0, "Chinese names do not lean"
        assert {f"row “{trace.tokens[TOKEN]}”"} == {one.title.rpartition(" · ")[2] for one in (covered, whole)}
    elif page == "layers":
        assert (
            {*np.ravel(first["text"])} == {""}
            and np.isnan(first["z"]).all()
            and not covered.picks
            and "" not in np.ravel(then["text"])
        )
    elif page == "answer":
        best = trace.answer[0].best
        names = [one.drawn().layout["yaxis"]["ticktext"] for one in (covered, whole)]
        assert {*names[0]} == {""} and np.isnan(first["x"]).all() and best in names[1]
    elif page == "add_and_norm":
        half = first["z"].shape[1] // 2 + 1
        assert not np.nan_to_num(first["z"][:, half:]).any() and np.nan_to_num(then["z"][:, half:]).any()


def frames(picture: Picture) -> list[tuple[float, float]]:
    """Row and column of the middle of each frame."""
    found = picture.drawn().layout.get("shapes", ())
    return [((one["y0"] + one["y1"]) / 2, (one["x0"] + one["x1"]) / 2) for one in found]


TELLS = {
    "layer 3, head 7": (2, 6), "第 2 层第 3 个头": (1, 2), "第 3 头": (LAYER, 2), "4·1": (3, 0), "head 99": None,
    "the seventh head": None, "第十二个头": None, "第 3 层": None, "7": None, 7.0: None,
}  # fmt: skip
TELLS_NOT = ("the token before it", "前一个词", 0.62, None)
ASKED = {
    "这一层里，有几个头最关注自己前面的那个字？": True,
    "How many heads of this layer attend to the token before?": True,
    "第几个头最关注前面的字？": False,
    "有几个头，是哪一个？": False,
    "Which layer is it?": False,
}


@pytest.mark.parametrize(
    ("answer", "ask", "framed"),
    [
        *((one, "", one in TELLS_NOT) for one in (*TELLS, *TELLS_NOT)),
        *((7.0, ask, ASKED[ask]) for ask in ASKED),
        (4.0, "第几个头最关注前面的字？", False),
        (4.0, "What does this head give the token before it?", True),
    ],
)
def test_the_head_of_a_question_is_framed_where_that_does_not_tell_which_it_is(
    answer: object, ask: str, framed: bool
) -> None:
    covered, whole = drawn("heads", answer, ask=ask)
    right = TELLS.get(answer) if not framed else (LAYER, HEAD)
    assert frames(covered) == ([right] if framed else []) and frames(whole) == ([right] if right else [])
    for one, at in ((covered, right if framed else None), (whole, right)):
        assert re.findall(r"\d+", one.title or "") == ([f"{place + 1}" for place in at] if at else [])


def test_once_shown_a_frame_stands_at_the_right_answer_whatever_the_picture() -> None:
    names = placed(pipelines.run("text", SENTENCE).tokens)
    answer = names[5]
    for page in OF_PAGE:
        for ours in (answer, "nowhere"):
            covered, whole = drawn(page, ours, (answer, "nowhere"))
            right = [5] if ours == answer and page in ("tokens", "attention", "queries_keys_values") else []
            if page == "heads":
                assert frames(covered) == frames(whole) == [(LAYER, HEAD)], "which it is about"
            else:
                places = [at[page != "tokens"] for at in frames(whole)]
                assert [at for at in places if at == int(at)] == right, (page, places)
    covered, whole = drawn("heads", "第 3 头", ask="第 2 层里，哪个头的对角线最亮？")
    assert not frames(covered) and frames(whole) == [(1, 2)], "in the layer that she asks about"
    unlisted = drawn("answer", "nowhere")[1].drawn().data[0]["marker"]["color"]
    assert {*np.ravel(unlisted)} == {BLUE}, "no bar is the answer's"


def test_a_cell_of_the_row_stands_for_the_option_that_is_called_like_its_token() -> None:
    names = placed(pipelines.run("text", SENTENCE).tokens)
    covered, _ = drawn("attention", names[4], (names[4], "nowhere", names[1]))
    assert covered.picks
    assert [mark["customdata"] for mark in covered.drawn().data if "customdata" in mark] == [[[2], [0]]]
    assert not drawn("attention")[0].picks, "none of the options is a token"


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("page", ["attention", "queries_keys_values", "layers", "answer"])
def test_a_right_answer_that_is_not_the_runs_is_said_to_be_none(page: str, lang: str) -> None:
    here = case_of(page)
    if page in ("layers", "answer"):
        shares = here.shares(here.trace["logits"])
        first, other = (here.names[place] for place in np.argsort(-shares)[:2])
    else:
        rows = here.trace[f"layers.{LAYER}.attention.{'weights' if page == 'attention' else 'scores'}"]
        first, other = (placed(here.tokens)[place] for place in np.argsort(-rows[HEAD, TOKEN])[:2])
    said = {}
    with speaking(lang):
        for answer in (first, other, f"{other} || {other}", "nowhere", None):
            own = Own("?", options=(first, other, "nowhere"), answer=answer)
            said[answer] = not_the_runs(Question(OWN, None, "tap", 0.0, 3, place=f"{page}?layer=3", own=own), here)
    assert first in said[other] and said[other] == said[f"{other} || {other}"]
    assert not any(words for answer, words in said.items() if other not in f"{answer}" and answer != "nowhere")
    assert said["nowhere"] == catalogue(lang)["class.unchecked"].format(answer="nowhere")
    assert said[other].partition(other)[0] == catalogue(lang)["class.not_the_runs"].partition("{")[0]


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("gesture", ["slide", "number"])
@pytest.mark.parametrize("page", OF_PAGE)
def test_a_right_number_is_held_against_the_run_where_it_is_plain_which_it_is_of(
    page: str, gesture: str, lang: str
) -> None:
    here = case_of(page)
    names, weights = placed(here.tokens), here.trace[f"layers.{LAYER}.attention.weights"][HEAD, TOKEN]
    shares, key = here.shares(here.trace["logits"]), 5
    best, second = np.argsort(-shares)[:2]
    runs = {"answer": {"": shares[best], f"“{here.names[second]}”": shares[second]}}
    runs |= {name: {"": weights[key], f"「{names[1]}」": weights[1]} for name in ("attention", "heads")}
    with speaking(lang):
        for ask, value in (runs.get(page, {}) if gesture == "slide" else {}).items():
            for answer, told in ((float(value), False), (float(value) + 0.1, True), (None, False)):
                own = Own(f"How much? {ask}", answer=answer)
                asked = Question(OWN, None, gesture, 0.0, 3, place=f"{page}?key={key + 1}", own=own)
                said = not_the_runs(asked, here).replace("\\", "")
                assert bool(said) == told and (
                    not told or {short(value), short(answer)} <= {*re.findall(r"[.\d]+\d", said)}
                )
        unknown = catalogue(lang)["class.unchecked"].format(answer="7.00" if gesture == "slide" else "7")
        for place in ("", page, f"{page}?key=99", f"{page}?key={key + 1}"):
            for span in ((0.0, 10.0), (0.0, 1.0)):
                if gesture == "number" or span[1] > 1 or page not in runs or place in {"", page} - {"answer"}:
                    own = Own("How much?", span=span, answer=7 if gesture == "number" else 7.0)
                    asked = Question(OWN, None, gesture, 0.0, 3, place=place, own=own)
                    assert not_the_runs(asked, here).replace("\\", "") == unknown


def test_a_token_that_stands_twice_is_held_against_the_run_by_its_name_alone() -> None:
    here = Case(pipelines.pipeline("text"), pipelines.run("text", "the cat saw the dog ."), 3, layer=2, head=1)
    weights = here.trace["layers.2.attention.weights"][1, 3]
    first = placed(here.tokens)[weights.argmax()]
    assert not first.startswith("the"), "another is first, of this sentence"
    for answer in ("the", "the (1)"):
        own = Own("?", options=("the", answer), answer=answer)
        assert first in not_the_runs(Question(OWN, None, "tap", 0.0, 3, place="attention?layer=3", own=own), here)


def test_after_a_class_a_weight_is_written_as_beside_the_picture() -> None:
    truth = Truth([99.96, 0.03, 0.008], 0.0, {}, (), {}, ("a", "b", "c"))
    _, told = for_phones(QUESTIONS["weights"], truth, lambda: (truth, ""), "", "lesson")
    with speaking("en"):
        assert answer_in_words(replace(truth, answer=told["answer"])) == "a (0.9996)"


def test_in_a_class_a_word_has_chips_at_each_of_its_places_before_a_sign_has_any() -> None:
    names = ["[CLS]", "我", "书 (2)", "看", "书 (4)", "， (5)", "他", "， (7)", "买", "书 (9)", "给", "。", "[SEP]"]
    weights = [9.0 if name.startswith(("[", "，", "。")) else 1.0 for name in names]
    for place, strongest in ((1, 20.0), (3, 18.0), (6, 15.0)):
        weights[place] = strongest
    truth = Truth(weights, 0.0, {}, (), {}, tuple(names), literal=True)
    shown, _ = for_phones(QUESTIONS["weights"], truth, lambda: (truth, ""), "", "lesson")
    assert len(shown["options"]) == 12 and {name for name in names if name.startswith("书")} <= {*shown["options"]}
