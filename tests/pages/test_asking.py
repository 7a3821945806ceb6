"""Stories that ask: a guess, then the picture; once for each input; nothing unclear, and nothing of a changed run."""

import re
from collections.abc import Callable

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest
from torch import nn

from model.fillers import FILLERS, fill_up
from pages.school.lessons import visit
from pages.school.lessons.case import Case
from pages.school.lessons.rows import BETWEEN, STORY
from pages.school.lessons.story import favourites, ffn_turns
from pages.ui.page import Page
from pages.ui.runs import pipelines
from pages.ui.sections.hidden_words import HOLE
from pages.ui.state import sketch
from pages.ui.text import LANGUAGES, catalogue, literal
from pages.ui.text.numbers import decimal
from tests.pages.opening import (
    SEEN,
    assert_fine,
    at_page,
    charts,
    figure,
    numbers,
    open_page,
    texts,
    turn_to,
    with_network,
    write,
)
from tests.school.test_lessons import _no_answer, _no_favourite, _no_order, _nothing_found, doctored

SENTENCE = "she [MASK] to the shop to buy some bread ."
STORIES = [name for name in STORY if name not in ("translation", "flat", "shapes_and_cost")]
WORDS = catalogue("en")
THREE = {"input": "digit", "ink": sketch.to_code(sketch.example(3))}


def story(name: str, **link: str) -> AppTest:
    """A page as who has seen nothing of this input finds it."""
    return open_page(name, **{"depth": "story", "s": SENTENCE, "seen": "nothing", **link})


def asks(app: AppTest, page: str, lang: str = "en") -> bool:
    """Whether one of the page's questions stands on it."""
    asked = [catalogue(lang)[f"lesson.{question.key}.ask"] for question in STORY[page]]
    patterns = ["##### " + ".+?".join(map(re.escape, re.split(r"\{\w+\}|W_O", text))) for text in asked]
    return any(re.fullmatch(pattern, part.value) for pattern in patterns for part in app.main.markdown)


def hidden_case() -> Case:
    """What is asked about in SENTENCE, of whichever layer and head."""
    pipeline, trace = pipelines.pipeline("text"), pipelines.run("text", SENTENCE)
    return Case(pipeline, trace, trace.tokens.index("[MASK]"), pipeline.reader.vocabulary)


def click(app: AppTest, key: str) -> AppTest:
    app.button(key=key).click().run()
    assert_fine(app)
    return app


def go(app: AppTest, page: str) -> AppTest:
    turn_to(app, page).run()
    assert_fine(app)
    return app


def curtained(app: AppTest) -> bool:
    """Whether what the page draws stands behind its curtain: its picture, where it has one for the question."""
    return all(catalogue(app.session_state["lang"])["lesson.curtain"] in one["alt"] for one in charts(app))


def everything(app: AppTest) -> str:
    """All that is sent to the browser, whether it is shown or only ready to be."""
    found, left = [], [app.main, app.sidebar]
    while left:
        part = left.pop()
        left += getattr(part, "children", {}).values()
        found.append(str(getattr(part, "proto", "")))
    return "\n".join(found)


def beans(app: AppTest, *places: int) -> None:
    """Give ten beans to the token in each of these places, and send them."""
    for place in places:
        (button,) = [one for one in app.button if re.fullmatch(rf"attention\.beans\.\d+\.{place}", one.key or "")]
        button.click().run()
    click(app, "attention.send")


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("name", STORIES)
def test_a_story_asks_before_its_picture_answers_and_shows_it_at_one_tap(name: str, lang: str) -> None:
    app = story(name, lang=lang)
    if not asks(app, name, lang):
        assert not curtained(app), "what is not clear is shown at once"
        return
    assert curtained(app) and not any(chart["once"] for chart in charts(app))
    said = " ".join(str(part.value) for part in [*app.main.subheader, *app.main.markdown])
    assert len([word for word in said.split() if re.search(r"\w", word)]) <= 90
    click(app, f"{name}.show")
    assert charts(app) and not curtained(app) and not asks(app, name, lang)
    assert app.query_params["seen"].split("~")[-1] == name
    link = dict(app.query_params)
    assert not curtained(open_page(name, **link)), "a link shows what its sender saw"


BEHIND = [("home", {}), ("attention", {}), ("heads", {}), ("layers", {}), ("home", THREE), ("layers", THREE)]


@pytest.mark.parametrize(("name", "link"), BEHIND)
def test_what_stands_behind_the_curtain_is_not_even_sent(name: str, link: dict[str, str]) -> None:
    """Two runs with other answers, of which the same can be asked, have one and the same picture before the guess."""
    others = (
        {"ink": sketch.to_code(sketch.example(5))} if link else {"s": "he [MASK] to the shop to buy some old milk ."}
    )
    others = {"layer": "5", "head": "1", "token": "3"} if name == "attention" else others
    first, second = (story(name, **{"layer": "3", "head": "7", "token": "3"} | link | other) for other in ({}, others))
    assert asks(first, name) and asks(second, name)
    assert figure(first)["data"] == figure(second)["data"]


@pytest.mark.parametrize("name", STORIES)
def test_no_page_names_what_home_asks_before_it_was_guessed(name: str) -> None:
    trace = pipelines.run("text", SENTENCE)
    answer = pipelines.pipeline("text").reader.vocabulary[int(trace["logits"][trace.tokens.index("[MASK]")].argmax())]
    app = story(name)
    assert re.search(r"\bbread\b", everything(app)), "the sentence is there"
    assert not asks(app, name) or not re.search(rf"\b{answer}\b", everything(app))


def test_a_word_to_be_guessed_is_a_hole_until_then() -> None:
    app = story("home", s="the animal did not cross the street because it was too tired .")
    words = app.main.button_group(key="words").options
    assert literal(HOLE) in words and "did" not in words
    words = click(app, "home.show").main.button_group(key="words").options
    assert literal(HOLE) not in words and "did" in words


def test_what_is_added_is_seen_before_the_sum_is() -> None:
    series = figure(story("add_and_norm"))["data"]
    assert [bool(np.isfinite(numbers(bars["y"])).all()) for bars in series] == [True, True, False]
    assert not np.isfinite(numbers(series[2]["y"])).any()


def test_what_each_story_can_ask_of_a_plain_sentence_is_asked() -> None:
    asked = [name for name in STORIES if asks(story(name), name)]
    assert {"home", "tokens", "attention", "add_and_norm", "layers"} <= set(asked)


def test_a_drawing_is_asked_where_that_has_sense() -> None:
    assert asks(story("add_and_norm", **THREE), "add_and_norm")
    assert not asks(story("home", **THREE), "tokens") and not texts(story("home", **THREE)).count("[MASK]")


def test_beans_lie_over_the_networks_own_also_for_who_comes_back() -> None:
    app = story("attention", layer="3", head="7", token="3")
    beans(app, *[1] * 4, *[5] * 6)
    click(app, "attention.show")
    trace = pipelines.run("text", SENTENCE)
    row = trace["layers.2.attention.weights"][6, trace.tokens.index("[MASK]")]
    for _ in range(2):
        names = figure(app)["layout"]["yaxis"]["ticktext"]
        own = dict(zip(names, numbers(figure(app)["data"][0]["x"]), strict=True))
        given = {names[round(shape["y0"])]: shape["x1"] for shape in figure(app)["layout"]["shapes"]}
        assert given == {"she": 40, "shop": 60}
        assert own["shop"] == pytest.approx(100 * row[trace.tokens.index("shop")], abs=1e-3)
        dashed = [one for one in figure(app, 1)["data"] if one.get("line", {}).get("dash")]
        ends = {trace.tokens[round(numbers(line["y"])[1])]: line["line"]["width"] for line in dashed}
        assert ends == {"she": 1 + 8 * 0.4, "shop": 1 + 8 * 0.6}, "and among the network's lines"
        go(go(app, "heads"), "attention")
    assert not asks(app, "attention")


def test_a_word_is_laid_among_those_of_the_network() -> None:
    app = story("home")
    (box,) = [box for box in app.text_input if (box.key or "").startswith("home.word")]
    box.set_value("milk")
    click(click(app, "home.send"), "home.show")
    names = figure(app)["layout"]["yaxis"]["ticktext"]
    assert [name for name in names if name.startswith("milk")] == [f"milk ({WORDS['lesson.yours']})"]


@pytest.mark.parametrize(("more", "drawn"), [("", 15), (" and slept the whole day", 16)])
def test_all_scores_are_drawn_or_it_is_said_how_many(more: str, drawn: int) -> None:
    sentence = f"the animal did not cross the street because it was too tired{more} ."
    app = click(
        story("queries_keys_values", s=sentence, layer="3", head="7", token="4", hidden="4"), "queries_keys_values.show"
    )
    bars = figure(app)["data"][0]["x"]
    assert len(numbers(bars)) == drawn
    every = len(sentence.split()) + 2
    assert (WORDS["lesson.highest"].format(drawn=drawn, all=every) in texts(app)) == (drawn < every)


def test_another_input_is_asked_about_and_what_was_seen_of_the_first_stays_seen() -> None:
    app = click(story("attention"), "attention.show")
    write(app, "the cat sat on the [MASK] .")
    assert asks(app, "attention") and "attention" not in app.query_params.get("seen", "")
    write(app, SENTENCE)
    assert not asks(app, "attention") and "attention" in app.query_params["seen"]


@pytest.mark.parametrize(
    "link",
    [
        {"edits": "layers.2.attention.heads~zero~head.7"},
        {"other": "he [MASK] home .", "shown": "beside"},
        {"model": "paper"},
        {"depth": "numbers"},
    ],
)
def test_a_run_that_is_changed_compared_or_random_is_shown_at_once(link: dict[str, str]) -> None:
    app = story("attention", **link)
    assert charts(app) and not curtained(app) and not asks(app, "attention")


@pytest.mark.parametrize(
    ("page", "change"),
    [
        ("home", _no_answer), ("tokens", _no_order), ("attention", _no_favourite), ("add_and_norm", _nothing_found),
        ("layers", _no_answer),
    ],
)  # fmt: skip
def test_what_would_be_false_in_a_run_is_not_asked_but_shown(
    page: str, change: Callable[[nn.Module], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert asks(story(page), page)
    with_network(monkeypatch, doctored(change))
    app = story(page)
    assert not asks(app, page) and not curtained(app)


def test_wrong_twice_gives_a_hint_at_each_further_guess() -> None:
    app = story("add_and_norm")
    for times in range(1, 6):
        (slider,) = [one for one in app.main.slider if (one.key or "").startswith("add_and_norm.sum")]
        slider.set_value(0.0).run()
        click(app, "add_and_norm.send")
        if times < 5:
            assert len(app.main.info) == max(0, times - 1) and curtained(app)
    assert not curtained(app), "after the last hint the answer is shown"


def test_what_was_missed_comes_back_on_a_later_page_once_others_were_asked() -> None:
    app = story("home")
    click(app, "home.show")
    others = ["tokens", "attention", "add_and_norm"]
    for number, page in enumerate(others, 1):
        go(app, page)
        click(app, f"{page}.show")
        again = WORDS["lesson.about_again"] in texts(app)
        assert again == (number == BETWEEN), "not on each page"
        if number == BETWEEN:
            assert WORDS["lesson.word.ask"] in texts(app)
    for page in ("layers", "what_if"):
        if f"{page}.show" in [button.key for button in go(app, page).button]:
            click(app, f"{page}.show")
        assert WORDS["lesson.word.ask"] not in texts(app), "it comes once, answered or not"
    assert WORDS["lesson.about_again"] in texts(app), "after three others another one does"
    assert WORDS["lesson.word.ask"] in texts(go(app, others[BETWEEN - 1])), "it stays where it came"


def test_what_was_skipped_comes_back_before_what_was_only_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visit, "due", lambda done: [key for key, found in done if not found] if len(done) > 2 else [])
    app = story("home")
    box = next(box for box in app.text_input if (box.key or "").startswith("home.word"))
    box.set_value("milk")
    click(click(app, "home.send"), "home.show")
    click(go(app, "tokens"), "tokens.show")
    click(go(app, "add_and_norm"), "add_and_norm.show")
    asked = [part.value for part in app.main.markdown if part.value.startswith("#####")]
    skipped = WORDS["lesson.places.ask"].partition("“")[0]
    assert [question.partition("“")[0] for question in asked] == [f"##### {skipped}"]


def test_no_story_asks_about_a_head_and_a_word_of_which_another_told_before() -> None:
    """Home tells what the head that is chosen at first finds for the hidden word; Q · K · V and Attention ask of it."""
    told = [word_asked_about(name) for name in ("queries_keys_values", "attention")]
    hidden = "[MASK]"
    assert hidden not in told and len({*told}) == 2
    assert word_asked_about("queries_keys_values", layer="3", head="2") == hidden, "of another head Home tells nothing"


def word_asked_about(page: str, **link: str) -> str:
    """The first token that the question of a page names, for a first visitor; it is selected there."""
    app = open_page(page, depth="story", seen="home", **link)
    (question,) = [part.value for part in app.main.markdown if part.value.startswith("#####")]
    word = re.findall("“(.+?)”", question.replace("\\", ""))[0]
    assert asks(app, page)
    chips = app.main.button_group(key="chips")
    assert chips.options[app.session_state["chips"]].replace("\\", "") == word
    return word


def test_who_follows_a_link_to_a_seen_answer_can_be_asked_first() -> None:
    app = story("attention", seen=SEEN)
    click(app, "attention.ask_anew")
    assert asks(app, "attention") and curtained(app)
    assert "attention" not in app.query_params["seen"].split("~")


def test_all_pages_at_all_depths_are_about_one_run_until_the_reader_shows_the_word(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The telling word is hidden on each of them, and they say so."""
    read = []
    monkeypatch.setattr(Page, "fill", lambda page: read.append(page.subject))
    sentence = {"s": "the dog chased the cat .", "lang": "en"}
    for depth in ("story", "numbers"):
        for name in STORIES:
            at_page(name, depth=depth, **sentence).run()
    assert len(set(read)) == 1
    assert "[MASK]" in pipelines.run("text", read[0]).tokens
    app = click(at_page("attention", **sentence).run(), "hide_or_show")
    assert app.query_params["hidden"] == "none" and "[MASK]" not in pipelines.run("text", read[-1]).tokens
    app = click(app, "hide_or_show")
    assert "hidden" not in app.query_params and read[-1] == read[0]


def test_a_task_about_what_was_typed_hides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    read = []
    monkeypatch.setattr(Page, "fill", lambda page: read.append(page.subject))
    for goal in ("", "oneway.80.20"):
        at_page("attention", s="the dog chased the cat .", **({"goal": goal} if goal else {})).run()
    hidden, typed = (pipelines.run("text", subject).tokens for subject in read)
    assert "[MASK]" in hidden and "[MASK]" not in typed


@pytest.mark.parametrize("step", ["", "8"])
def test_the_translation_is_asked_about_the_step_and_the_head_whose_lines_it_shows(step: str) -> None:
    link = {"step": step} if step else {}
    app = story("translation", s="the animal did not cross the street because it was too tired .", **link)
    assert asks(app, "translation")
    asked = next(part.value for part in app.main.markdown if part.value.startswith("##### "))
    piece, head = re.search(r"writes “(.+?)”, head (\d) of its layer", asked).groups()  # type: ignore[union-attr]
    click(app, "translation.show")
    shown = texts(app).replace("\\", "")
    source, share = re.search(rf"To write “{re.escape(piece)}”, it looks most at “(.+?)”: (\d+)%", shown).groups()  # type: ignore[union-attr]
    why = re.search(r"From “(.+?)”: (0\.\d+)", shown)
    assert why and (why[1].partition(" (")[0], round(100 * float(why[2]))) == (source, int(share))
    assert f"head {head})" in shown


def test_what_a_drawing_is_asked_in_the_laboratory_stands_beside_its_map() -> None:
    app = story("what_if", **THREE)
    click(app, "what_if.show")
    assert len(charts(app)) >= 3


@pytest.mark.parametrize("name", ["attention", "heads", "feed_forward", "lesson"])
def test_a_presentation_names_the_layer_and_head_that_a_question_names(name: str) -> None:
    """They may be others than those that the visitor chose."""
    link = {"big": "true", "layer": "2", "head": "7", "s": "the cat sat on the [MASK] ."}
    app = story(name, **link, **({"question": "root"} if name == "lesson" else {}))
    (question,) = [part.value for part in app.main.markdown if part.value.startswith("#####")]
    named = re.search(r"layer (\d+)(?:, head (\d+))?", question)
    assert named
    layer, head = named.groups()
    said = WORDS["common.where" if head else "change.layer"].format(layer=layer, head=head, number=layer)
    assert app.main.markdown[0].value == f":gray[{said}]"


def test_a_story_asks_besides_what_its_picture_does_not_show() -> None:
    app = story("add_and_norm", seen=SEEN)
    asked = WORDS["lesson.norm.ask"].partition("{")[0]
    assert asked not in texts(app)
    click(app, "add_and_norm.ask_besides")
    assert asked in texts(app)
    click(app, "add_and_norm.show")
    assert asked not in texts(app) and WORDS["lesson.norm.otherwise"] in texts(app)
    assert "add_and_norm.ask_besides" not in [one.key for one in story("add_and_norm").button], "one after the other"


def test_what_a_page_asks_besides_comes_next_and_can_be_passed_by() -> None:
    """Whoever only presses what is loudest meets every second question before the next page."""

    def ways(app: AppTest) -> list[str]:
        asks = [button for button in app.main.button if button.key == "attention.ask_besides"]
        loud = [button.label for button in asks if button.proto.type == "primary"]
        links = [link.proto for link in app.main.get("page_link")]
        return [*loud, *(link.label for link in links if "arrow_forward" in link.icon)]

    next_page = f"**{WORDS['common.next'].format(question=WORDS['heads.question'])}**"
    passed = f":gray[{WORDS['lesson.pass_by'].format(question=WORDS['heads.question'])}]"
    app = story("attention", seen=SEEN)
    assert ways(app) == [WORDS["lesson.besides"].format(name=WORDS["lesson.root.short"]), passed]
    assert ways(click(app, "attention.ask_besides")) == [passed]
    assert ways(click(app, "attention.show")) == [next_page]
    app = story("attention", seen=SEEN, big="true")
    assert ways(app) == [f"**{WORDS['common.next'].format(question=WORDS['heads.short'])}**"], "beside its question"
    assert WORDS["lesson.root.ask"].partition("{")[0] in texts(click(app, "attention.ask_besides"))


def test_a_second_question_stands_in_the_place_of_what_was_told_and_leads_back() -> None:
    app = story("add_and_norm", seen=SEEN)
    told = [chart["key"] for chart in charts(app)]
    app = click(click(app, "add_and_norm.ask_besides"), "add_and_norm.show")
    assert not {*told} & {chart["key"] for chart in charts(app)}
    assert [chart["key"] for chart in charts(click(app, "add_and_norm.ask_besides"))] == told


def test_of_a_changed_run_the_way_to_be_asked_is_to_take_the_changes_back() -> None:
    app = story("heads", edits="layers.1.attention.heads~zero~head.3")
    assert not asks(app, "heads")
    assert asks(click(app, "heads.ask_anew"), "heads") and "edits" not in app.query_params


def test_a_number_that_is_close_is_told_the_right_one() -> None:
    count = favourites(hidden_case()).answer
    for guess, said in ((count, "lesson.right"), (count + 1, "lesson.near")):
        app = story("heads")
        (pills,) = [one for one in app.main.button_group if (one.key or "").startswith("heads.favourites")]
        pills.set_value(guess).run()
        assert WORDS[said].format(answer=count) in texts(click(app, "heads.send"))


@pytest.mark.parametrize(
    ("page", "tried"),
    [
        ("attention", "why"),
        ("heads", "mixing"),
        ("add_and_norm", "histogram"),
        ("feed_forward", "bend"),
        ("answer", "fillers"),
    ],
)
def test_once_it_is_answered_what_is_asked_besides_can_be_tried(page: str, tried: str) -> None:
    app = story(page, seen=SEEN)
    assert f"{page}.{tried}" not in [chart["key"] for chart in charts(app)]
    app = click(click(app, f"{page}.ask_besides"), f"{page}.show")
    assert f"{page}.{tried}" in [chart["key"] for chart in charts(app)]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_fillers_are_added_behind_their_mask_and_without_it(lang: str) -> None:
    app = click(click(story("answer", seen=SEEN, lang=lang), "answer.ask_besides"), "answer.show")
    case = hidden_case()
    found = fill_up(case.pipeline, case.trace.ids, case.token)
    n = len(case.tokens)
    alone, masked, unmasked = (decimal(float(p)) for p in found.answers.p[:, 0])
    for way, count, share in (("alone", n, alone), ("masked", n + FILLERS, masked), ("open", n + FILLERS, unmasked)):
        (pills,) = [one for one in app.main.button_group if one.key == "fillers.way"]
        pills.set_value(way).run()
        (drawn,) = [one["figure"] for one in charts(app) if one["key"] == "answer.fillers"]
        of_words, of_fillers = (numbers(trace["y"]) for trace in drawn["data"])
        assert len(of_words) == count and share in texts(app).replace("\\", "")
        assert (of_fillers.sum() > 0) == (way == "open")
        np.testing.assert_allclose(of_words + of_fillers, found.rows[("alone", "masked", "open").index(way)], atol=1e-4)
    assert f"{found.taken.max():.0%}" in texts(app).replace("\\", "")


def test_what_the_ffn_lifts_and_its_neurons_are_of_one_layer_and_other_pages_keep_theirs() -> None:
    truth = ffn_turns(hidden_case())
    assert truth is not None
    layer = truth.place["layer"]
    assert layer != 0
    app = click(story("feed_forward", layer="1"), "feed_forward.show")
    said = texts(app).replace("\\", "")
    assert f"from {decimal(truth.said['before'])} to {decimal(truth.said['after'])}" in said
    trace = pipelines.run("text", SENTENCE)
    loudest = trace[f"layers.{layer}.ffn.activation"][trace.tokens.index("[MASK]")].max()
    assert numbers(figure(app, 1)["data"][0]["x"]).max() == pytest.approx(loudest, abs=1e-3)
    assert "layer" not in app.query_params or app.query_params["layer"] == "1"
    assert go(app, "layers").session_state["choice"].layer == 0


@pytest.mark.parametrize(("seen", "asked"), [("nothing", "digit"), ("home", "gathered")])
def test_of_a_drawing_the_answer_is_asked_before_it_is_shown(seen: str, asked: str) -> None:
    app = story("answer", seen=seen, **THREE)
    assert asks(app, "answer") and curtained(app)
    app = click(app, "answer.show")
    assert not curtained(app) and WORDS[f"lesson.{asked}.otherwise"].partition("{")[0] in texts(app)


def test_what_plays_stops_for_a_question() -> None:
    app = click(story("translation", seen="translation", into="zh", step="3"), "translation.play")
    assert app.session_state["player.page"] == "translation"
    assert not click(app, "translation.ask_besides").session_state["player.page"]


def test_a_tap_on_a_token_that_is_no_word_says_what_it_is_for() -> None:
    for token, name in (("1", "cls"), ("12", "sep"), (str(hidden_case().token + 1), "mask")):
        said = [caption.value for caption in story("attention", token=token).main.caption]
        assert WORDS[f"common.about_{name}_words"] in [text.replace("\\", "") for text in said]
    assert WORDS["common.about_cls_words"] not in texts(story("attention")).replace("\\", "")


@pytest.mark.parametrize("name", ["tokens", "attention", "heads"])
def test_the_browsers_way_back_takes_an_answer_back_and_its_way_on_shows_it_with_the_guess(name: str) -> None:
    app = story(name)
    assert asks(app, name)
    click(app, f"{name}.show")
    shown = texts(app)
    at = app.session_state["at"]
    app.session_state["at"] = at | {"seen": ()}  # what the address before said
    assert asks(app.run(), name)
    app.session_state["at"] = at
    assert not asks(app.run(), name) and texts(app) == shown
    app.session_state["at"] = at | {"seen": ()}
    click(app.run(), f"{name}.show")
    assert not asks(app, name) and texts(app) == shown


def test_where_the_first_question_is_not_clear_the_one_besides_is_asked_all_the_same() -> None:
    app = open_page("translation", depth="story", lang="zh", seen=SEEN)
    assert not asks(app, "translation", "zh")
    assert "translation.ask_besides" in [button.key for button in app.button]


def test_of_a_drawing_answer_asks_besides_where_the_class_is_read() -> None:
    app = click(story("answer", seen="answer", **THREE), "answer.ask_besides")
    assert WORDS["lesson.gathered.ask"].partition("{")[0] in texts(app)


def test_what_is_not_asked_besides_can_be_tried_and_of_a_changed_run_nothing() -> None:
    unclear = "the dog chased the cat ."
    app = story("answer", s=unclear, seen=SEEN)
    assert "answer.ask_besides" not in [button.key for button in app.button]
    assert WORDS["lesson.causal.short"] in [box.label for box in app.main.expander]
    app.session_state["answer.try.causal"] = True
    assert "answer.fillers" in [chart["key"] for chart in charts(app.run())]
    changed = story("answer", s=unclear, seen=SEEN, edits="layers.1.attention.heads~zero~head.3")
    assert WORDS["lesson.causal.short"] not in [box.label for box in changed.main.expander]


@pytest.mark.parametrize(
    ("page", "panel", "shown"), [("add_and_norm", "why", "gradients"), ("feed_forward", "alone", "alone")]
)
def test_a_story_leads_to_what_proves_it(page: str, panel: str, shown: str) -> None:
    app = story(page, seen=SEEN)
    if page == "add_and_norm":
        app.session_state["add_and_norm.way_without"] = True  # the box is opened
        app.run()
    click(app, f"{page}.within")
    choice = app.session_state["choice"]
    assert (choice.depth, choice.panel) == ("numbers", panel)
    assert f"{page}.{shown}" in [chart["key"] for chart in charts(app)]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_numbers_with_which_a_story_tells_of_layer_norm_are_those_of_its_token(lang: str) -> None:
    app = story("add_and_norm", seen=SEEN, layer="3", lang=lang)
    trace = pipelines.run("text", SENTENCE)
    token, layer_norm = trace.tokens.index("[MASK]"), pipelines.pipeline("text").network.layers[2].norm_1
    x, y = (trace[f"layers.2.{name}"][token] for name in ("add_1", "norm_1"))
    place = int(np.abs(x).argmax())
    normed = (x - x.mean()) / np.sqrt(x.var() + layer_norm.eps)
    told = catalogue(lang)["add_and_norm.story_norm"].partition("{place}")[2]
    figures = [f"{value:.2f}".replace("-", "−") for value in (x[place], normed[place], y[place])]
    for name, figure_ in zip(("before", "between", "after"), figures, strict=True):
        told = told.replace(f"{{{name}}}", figure_)
    said = texts(app).replace("\\", "")
    assert f"{place + 1}{told}" in said and f"{x.std():.2f}" in said
