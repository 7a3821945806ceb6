"""Comparing two inputs: the other run beside this one, and the difference."""

import html
import json
from itertools import permutations

import numpy as np
import pytest

from model.analysis import spelled, whole_words
from model.measures.gradients import untrained
from pages.drawing.screen import Screen
from pages.drawing.state import sketch
from pages.drawing.state.choice import TWIN
from pages.drawing.state.link_values import DRAWING
from pages.drawing.text import catalogue
from pages.screen.frame import draw
from pages.screen.runs import pipelines
from tests.pages.inputs import bring
from tests.pages.opening import charts, figure, line, maps, numbers, open_page, run_fine, texts

RIVER, MONEY = "she sat by the river bank .", "he put the money in the bank ."  # 9 and 10 tokens
DOG, CAT = "the dog chased the cat .", "the cat chased the dog ."
SCORES = "layers.2.attention.scores"


def scores_of(sentence: str) -> np.ndarray:
    return pipelines.run("text", sentence)[SCORES][0]


def attention(**link: str):
    return open_page("attention", **{"layer": "3", "stage": "scores", **link})


def test_tokens_without_a_counterpart_are_blank_and_named() -> None:
    app = attention(s="she sat by the big river .", other="she sat by the river .", shown="against")
    tokens = pipelines.run("text", "she sat by the big river .").tokens
    extra = tokens.index("big")
    blank = np.isnan(maps(app)[0])
    assert blank[extra].all() and blank[:, extra].all() and blank.sum() == 2 * len(tokens) - 1
    assert "“big”" in texts(app)


def test_a_difference_names_both_tokens_wherever_they_stand() -> None:
    one, other = "the cat sat on the mat .", "the very big dog sat on the mat ."
    link = {"s": one, "other": other, "shown": "against"}
    app = attention(**link)
    rows = [html.unescape(name) for name in figure(app)["layout"]["yaxis"]["ticktext"]]
    assert rows == ["[CLS]", "the", "cat − very", "sat", "on", "the", "mat", ".", "[SEP]"]
    for page, tab in (("layers", "alike"), ("feed_forward", "loudest"), ("layers", "origin")):
        drawn = json.dumps([chart["figure"]["layout"] for chart in charts(open_page(page, tab=tab, **link))])
        assert "cat \\u2212 very" in drawn, page
    alone = charts(open_page("feed_forward", tab="without", **link))
    assert "cat \\u2212 very" not in json.dumps(alone), "shows this run alone"
    assert ("very", "↔ cat") in [(word["text"], word["place"]) for word in line(app)["beside"]], "as on the top line"
    unmoved = attention(s=DOG, other=CAT, shown="against")
    assert not any(word["place"] for word in line(unmoved)["beside"]), "where no place is shifted"


def test_no_hollow_marks_where_the_other_input_has_no_value() -> None:
    sentence, extra = "she sat by the big river .", "6"
    for token, told in ((extra, "change.both_alone"), ("5", "change.both_beside")):
        said = open_page(
            "layers", s=sentence, other="she sat by the river .", shown="beside", tab="lengths", token=token
        )
        for text in ("change.both_alone", "change.both_beside"):
            assert (catalogue("en")[text] in texts(said)) == (text == told)


def test_common_words_are_not_marked_even_if_one_is_hidden() -> None:
    app = open_page("answer", s=DOG, other=DOG.replace("cat", "bird"), hidden="3", shown="against")
    assert [word["text"] for word in line(app)["beside"] if word["differs"]] == ["bird"]


@pytest.mark.parametrize(
    ("kind", "page"),
    [("words", "answer"), ("MiniLM", "attention"), ("T5", "what_if"), ("span", "what_if"), ("translator", "answer")],
)
def test_two_texts_stand_on_the_top_line_as_two_and_a_pair_as_a_pair(
    kind: str, page: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = bring(monkeypatch, kind)
    own, other = "the cat sat [SEP] the cat slept", "the dog [SEP] the dog sat"
    app = open_page(page, **link | {"s": own, "other": other})
    one, two = ([word["text"] for word in line(app)[part]] for part in ("words", "beside"))
    asked = pipelines.run(app.session_state["choice"].pipeline, other).tokens
    assert one.count("[SEP]") == two.count("[SEP]") == asked[1:-1].count("[SEP]")
    assert [word for word in two if word != "[SEP]"] == [
        spelled([asked[i] for i in each]) for each in whole_words(asked)
    ]
    assert not any(word["places"] for word in line(app)["words"] if word["text"] == "[SEP]"), "nobody hides it"
    alone = open_page(page, **link | {"s": "the cat sat"})
    assert line(alone)["beside"] == [] and "[SEP]" not in [word["text"] for word in line(alone)["words"]]


def test_the_other_run_takes_the_place_of_this_one_whatever_its_length() -> None:
    app = attention(s=RIVER, other=MONEY, shown="other")
    np.testing.assert_array_equal(maps(app)[0], scores_of(MONEY))
    run_fine(app.button(key="compare.stop").click())
    np.testing.assert_array_equal(maps(app)[0], scores_of(RIVER))


def test_both_runs_share_one_colour_scale() -> None:
    app = attention(s=RIVER, other=MONEY, shown="beside")
    here, there = (figure(app, which)["data"][0] for which in (0, 1))
    np.testing.assert_array_equal(numbers(here["z"]), scores_of(RIVER))
    np.testing.assert_array_equal(numbers(there["z"]), scores_of(MONEY))
    assert (here["zmin"], here["zmax"]) == (there["zmin"], there["zmax"])


@pytest.mark.parametrize("page", ["attention", "add_and_norm", "queries_keys_values"])
def test_heading_of_the_other_run_is_the_one_it_has_by_itself(page: str) -> None:
    """Its heading does not depend on which of the two is this run."""
    sides = [
        {one["key"]: one["caption"].rsplit(" · ", 2)[0] for one in charts(open_page(page, layer="2", head="3", **link))}
        for link in ({"s": DOG, "other": RIVER, "shown": "beside"}, {"s": RIVER, "other": DOG, "shown": "beside"})
    ]
    for here, there in permutations(sides):
        others = {key: title for key, title in here.items() if ".other_" in key}
        assert others
        for key, title in others.items():
            assert title == catalogue("en")["compare.there"].format(title=there[key.replace(".other_", ".")])


def test_every_picture_of_two_inputs_has_a_name_of_its_own() -> None:
    app = open_page("queries_keys_values", s=DOG, other=CAT, shown="beside", tab="maps")
    assert len({chart["file"] for chart in charts(app)}) == 6
    app.session_state["queries_keys_values.downloads"] = True  # the box is opened
    assert len(app.run().selectbox(key="queries_keys_values.download").options) == 6


@pytest.mark.parametrize("page", ["attention", "translation"])
def test_files_are_named_for_the_input_on_the_screen(page: str) -> None:
    app = open_page(page, s=RIVER, other=MONEY, shown="other")
    assert charts(app) and all("he-put-the-money" in chart["file"] for chart in charts(app))


def test_the_other_drawing_is_prepared_in_every_step() -> None:
    one, other = (DRAWING.write(sketch.example(digit)) for digit in (1, 8))
    link = {"input": "digit", "tab": "pieces"}
    there = open_page("tokens", **link, ink=one, other_ink=other, shown="other")
    alone = open_page("tokens", **link, ink=other)
    steps = [{one["key"]: one["figure"]["data"][0] for one in charts(app)} for app in (there, alone)]
    for name in ("raw", "scaled", "centred"):
        np.testing.assert_array_equal(*(numbers(one[f"tokens.{name}"]["z"]) for one in steps))


# The same network before training.


def test_untrained_twin_has_the_same_config_and_tokenizer() -> None:
    trained, twin = pipelines.pipeline("text"), pipelines.pipeline("text" + TWIN)
    fresh = untrained(trained.config).state_dict()
    own = twin.network.state_dict()
    assert twin.config == trained.config and twin.reader is trained.reader
    assert own.keys() == fresh.keys() and all((own[key] == fresh[key]).all() for key in own)
    assert (own["layers.0.attention.W_Q.weight"] != trained.network.layers[0].attention.W_Q.weight).any()


def test_difference_from_the_twin_is_trained_minus_untrained() -> None:
    app = attention(s=DOG, twin="true", shown="against", hidden="3")
    subject = pipelines.pipeline("text").reader.hide(pipelines.run("text", DOG).ids, [2])
    here, there = (pipelines.run(name, tuple(subject))[SCORES][0] for name in ("text", "text" + TWIN))
    np.testing.assert_allclose(maps(app)[0], here - there, atol=1e-5)
    assert "This run minus the other." in texts(app)


def test_one_click_compares_with_the_twin_and_another_input_replaces_it() -> None:
    app = open_page("attention", s=DOG, other=CAT, shown="beside")
    app.toggle(key="compare.twin").set_value(True).run()
    choice = app.session_state["choice"]
    assert (choice.twin, choice.other, choice.shown) == (True, None, "beside")
    app.text_input(key="compare.other").set_value(CAT).run()
    choice = app.session_state["choice"]
    assert (choice.twin, choice.other) == (False, CAT)
    paper = open_page("attention", s=DOG, model="paper", twin="true")
    assert not [toggle for toggle in paper.toggle if toggle.key == "compare.twin"]
    assert catalogue("en")["compare.twin_says"] not in [caption.value for caption in paper.caption]


TIRED = {"s": "i was so tired that i did not eat .", "other": "i was so happy that i did not sleep .", "hidden": "8"}


@pytest.mark.parametrize(
    ("page", "shown"),
    [
        ("home", "beside"), ("attention", "against"), ("what_if", "beside"), ("layers", "other"),
    ],
)  # fmt: skip
def test_a_hidden_word_stays_hidden_on_every_page_while_two_sentences_are_compared(
    page: str, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened, open_screen = [], draw.open_screen

    def spy(*asked: object) -> Screen:
        screen = open_screen(*asked)
        opened.append((screen.run.tokens, screen.other.tokens))
        return screen

    monkeypatch.setattr(draw, "open_screen", spy)
    app = open_page(page, **TIRED, shown=shown)
    hidden = ["[MASK]" if word == "did" else word for word in pipelines.run("text", TIRED["s"]).tokens]
    there = ["[MASK]" if word == "did" else word for word in pipelines.run("text", TIRED["other"]).tokens]
    assert opened == [(there if shown == "other" else hidden, there)]
    assert "did" in [word["text"] for word in line(app)["beside"]], "on the top line as it was typed"
