"""The Feed-forward page."""

import html
import re
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from model import Edit
from model.analysis import placed
from model.measures.tables import neuron_contexts
from model.neurons import pointed_to, pushes
from model.overview.opened import loudest as loudest_of
from model.pipeline import SPECIAL_TOKENS
from pages.drawing.place import Place
from pages.drawing.state.link_values import edit_code
from pages.drawing.text import literal, unmarked
from pages.feed_forward.pictures import Neurons, loudest
from pages.screen.runs import pipelines
from tests.networks import trace_of
from tests.pages.opening import (
    chart,
    drawn_in,
    figure,
    numbers,
    open_page,
    run_fine,
    texts,
)

SENTENCE = "the dog chased the cat ."


def open_part(tab: str, **link: str):
    return open_page("feed_forward", **{"s": SENTENCE, "layer": "2", "tab": tab, **link})


def test_the_most_active_neurons_lead_with_the_words_that_each_points_towards() -> None:
    app, run, naming = open_part("loudest", token="2"), pipelines.run("text", SENTENCE), []
    best, pipeline = chart(app, "loudest"), pipelines.pipeline("text")
    order = np.argsort(-run["layers.1.ffn.activation"][1], kind="stable")[:12]
    answer = run.outputs[int(run["logits"][1].argmax())]
    for name, neuron in zip(best["layout"]["yaxis"]["ticktext"], order, strict=True):
        words, number = html.unescape(name).rsplit(" · ", 1)
        score = dict(zip(pipeline.reader.vocabulary, pushes(pipeline.network, 1, int(neuron)), strict=True))
        ascii_words = (word for word in score if re.fullmatch("(?!##).*[A-Za-z].*", word, re.ASCII) and word.isascii())
        ranked = sorted(ascii_words, key=lambda word: -score[word])
        assert int(number) == neuron + 1
        assert words.split(", ") == [word for word in ranked[:9] if word not in SPECIAL_TOKENS][:3]
        naming += [neuron] * (answer in words.split(", "))
    assert app.number_input(key="pick.neuron").value == naming[0] + 1 != order[0] + 1, "the first that names the answer"


@pytest.mark.parametrize("network", ["pre-norm words", "gated words", "pre-norm patches"])
def test_click_on_a_cell_selects_its_neuron_and_its_token_in_the_whole_picture(network: str) -> None:
    run = trace_of(network)
    for token in (1, len(run.tokens) - 1):
        at = Place(token=token)
        picture = loudest(run, at, lambda neuron: [])
        cells, every = (part.drawn for part in picture.parts)
        picks = picture.picks_of(cells, every)
        for row, column in product(range(len(cells.which)), range(len(run.tokens))):
            chosen = replace(at, **picks(row, column))
            clicked = loudest(run, chosen, lambda neuron: [])
            listed, neuron = clicked.parts[0].drawn, Neurons(run, chosen).neuron
            assert (neuron, chosen.token) == (cells.which[row], column) and neuron in listed.which
            assert f"“{placed(run.tokens)[column]}”" in unmarked(clicked.says()).partition(".")[0]
            if column == token:
                assert listed.which == cells.which and (listed.array == cells.array).all()


def test_what_fires_a_neuron_over_the_corpus_is_shown_by_strength() -> None:
    contexts = neuron_contexts("text", 1, 99)
    app = open_part("neuron", neuron="100")
    said = texts(app)
    for context in (*contexts.top, *contexts.middle, *contexts.low):
        assert f":blue[**{literal(context.tokens[context.place])}**]" in said
        assert f" | {context.activation:.2f} |" in said
    assert f"{contexts.active:.1%}" in said.replace("\\", "") and "without [CLS] and [SEP]" in said.replace("\\", "")
    every = (neuron_contexts("text", 1, neuron) for neuron in range(0, 1024, 9))
    strongest = {one.tokens[one.place] for contexts in every for one in (*contexts.top, *contexts.middle)}
    assert len(strongest) > 100 and not strongest & {"[CLS]", "[SEP]"}


@pytest.mark.parametrize("sentence", [SENTENCE, "那 只 狗 追 猫 。", "我 love 你 ."])
def test_a_neuron_points_to_the_same_words_in_the_script_of_the_input_wherever_they_are_named(sentence: str) -> None:
    listed = chart(open_part("loudest", s=sentence, token="2"), "loudest")["layout"]["yaxis"]["ticktext"]
    named, number = html.unescape(listed[0]).rsplit(" · ", 1)
    app = open_part("neuron", s=sentence, neuron=number)
    words = [chart(app, name)["layout"]["yaxis"]["ticktext"] for name in ("up", "down")]
    assert named.split(", ") == words[0][:3]
    allowed = {False, "love" in sentence} if sentence != SENTENCE else {True}
    vocabulary = pipelines.pipeline("text").reader.vocabulary
    scores = pushes(pipelines.pipeline("text").network, 1, int(number) - 1)
    for sign, shown in zip((1, -1), words, strict=True):
        each = {vocabulary[i] for one in allowed for i in pointed_to(sign * scores, vocabulary, {one}, len(shown))}
        first = sorted(each, key=lambda word: -sign * scores[vocabulary.index(word)])[: len(shown)]
        assert shown == [html.escape(word) for word in first] and {word.isascii() for word in shown} <= allowed
    trace = pipelines.run("text", sentence)
    said = {neuron + 1: words for neuron, *_, words in loudest_of(trace, 1, 1)}
    assert list(said[int(number)]) == words[0][:3], "on the first page, too"


def test_the_words_pushed_are_the_extremes_of_the_whole_words_of_a_script() -> None:
    text = pipelines.pipeline("text")
    vocabulary = text.reader.vocabulary
    specials = [vocabulary.index(token) for token in SPECIAL_TOKENS]
    pushed = text.network.embedding.E.weight.numpy() @ text.network.layers[1].ffn.W_2.weight.numpy()
    neuron = int(pushed[specials].max(axis=0).argmax())  # the neuron with the largest weight to a special token
    scores = dict(zip(vocabulary, pushed[:, neuron], strict=True))
    whole = re.compile("(?!##|\\[.*\\]$).*[A-Za-z].*", re.ASCII)
    ranked = sorted((score for word, score in scores.items() if word.isascii() and whole.fullmatch(word)), reverse=True)

    app = open_part("writes", neuron=str(neuron + 1))
    np.testing.assert_allclose(drawn_in(app, "up"), ranked[:10], atol=1e-5)
    np.testing.assert_allclose(drawn_in(app, "down"), ranked[:-11:-1], atol=1e-5)
    words = chart(app, "up")["layout"]["yaxis"]["ticktext"]
    assert [scores[word] for word in words] == pytest.approx(ranked[:10], abs=1e-5)


def test_neuron_number_is_reduced_for_a_smaller_network() -> None:
    app = open_part("neuron", neuron="1024")
    app.session_state["input"] = "flat"
    run_fine(app)
    assert app.number_input(key="pick.neuron").value <= 256


HIDDEN = "the animal [MASK] not cross the street because it was too tired ."


def test_run_without_ffn_keeps_the_readers_edits() -> None:
    edit = Edit("layers.{l}.ffn.output", "zero")
    app = open_part("without", s=HIDDEN, token="4", edits=edit_code(edit))
    bars = [numbers(trace["y"]) for trace in figure(app)["data"]]
    np.testing.assert_allclose(bars[0], bars[2], atol=1e-5)
