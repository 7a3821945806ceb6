"""Home: the live result is what was computed, and the small pictures and the table of shapes agree with the run."""

import json
import re

import numpy as np
import pytest
from pages.ui.components.diagram import diagram

from model import Edit, WeightsError, load
from model.analysis import softmax, whole_words
from pages.ui.runs import pipelines
from pages.ui.sections import overview
from pages.ui.state.link_values import edit_code
from pages.ui.text import LANGUAGES, catalogue
from tests.pages.opening import assert_fine, charts, figure, numbers, open_page, pre_norm, texts, with_network, write

SENTENCE = "the dog chased the cat ."
MASKED = "the cat sat on the [MASK] ."
THIRTY_TWO = "the cat sat on the mat . " * 4 + "i love"  # 30 pieces between [CLS] and [SEP]


def shown(app) -> str:
    """All Markdown of the page without the backslashes that keep signs literal."""
    return texts(app).replace("\\", "")


def bars(app) -> dict[str, float]:
    """The bars of the live result by their names."""
    drawn = figure(app)
    return dict(zip(drawn["layout"]["yaxis"]["ticktext"], numbers(drawn["data"][0]["x"]).tolist(), strict=True))


def lines(app) -> list[tuple[str, float]]:
    """What the head reads: the words at the ends of its lines, each with its weight as displayed."""
    ends = [re.fullmatch(r"&nbsp;<b>(.*)</b> (.*)", end).groups() for end in figure(app, 1)["data"][-1]["text"]]
    return [(word, float(weight)) for word, weight in ends]


def click(app, *words: int):
    """Click words, by their number in the sentence, one after the other."""
    for word in words:
        lit = set(app.session_state["words"]) ^ {word}
        app.pills(key="words").set_value(sorted(lit)).run()
        assert_fine(app)
    return app


def thumbnails(app) -> dict[str, np.ndarray]:
    """The small pictures by their symbol."""
    drawn = figure(app, 2)
    titles = [re.sub(r"<[^>]+>", "", title["text"]).split()[0] for title in drawn["layout"]["annotations"]]
    return dict(zip(titles, (numbers(trace["z"]) for trace in drawn["data"]), strict=True))


@pytest.mark.parametrize(("depth", "language"), [("story", "zh"), ("formula", "en")])
@pytest.mark.parametrize("kind", ["sentence", "digit", "flat"])
def test_opens_filled_for_every_input(kind: str, depth: str, language: str) -> None:
    app = open_page("home", input=kind, lang=language, depth=depth)
    assert app.get("bidi_component") and len(charts(app)) == (2 if depth == "story" else 3)
    assert not app.warning


# -- the live result ---------------------------------------------------------------------------------------


def test_a_visitor_who_chose_nothing_sees_a_word_hidden_with_its_five_likeliest_guesses() -> None:
    app = open_page("home", s=SENTENCE, depth="story")
    (word,) = app.session_state["words"]
    pipeline = load("text")
    own = pipeline(SENTENCE)
    (place,) = whole_words(own.tokens)[word]
    p = softmax(pipeline(pipeline.reader.hide(own.ids, [place]))["logits"][place].astype(np.float64))
    best = (-p).argsort()[:5]
    assert list(bars(app))[:5] == [pipeline.reader.vocabulary[i] for i in best]
    assert list(bars(app).values())[:5] == pytest.approx(p[best].tolist(), rel=1e-3)
    assert f"**{pipeline.reader.vocabulary[best[0]]}**" in shown(app) and f"({p[best[0]]:.2f})" in shown(app)


def test_a_click_hides_a_word_and_another_click_shows_it_again() -> None:
    app = open_page("home", s=SENTENCE, hidden="2", depth="story")
    assert app.session_state["words"] == [0]
    click(app, 4)  # cat: of one piece, after chased of two
    choice, tokens = app.session_state["choice"], load("text")(SENTENCE).tokens
    assert [tokens[place] for place in choice.hidden] == ["cat"] and choice.token is None, "the hidden one is the usual"
    assert "In place of “cat”" in shown(app) or "Right" in shown(app)
    click(app, 4)
    assert app.session_state["choice"].hidden == () and app.session_state["words"] == []
    assert "Nothing is hidden" in shown(app)
    assert max(bars(app), key=bars(app).get) == "cat"


def test_a_word_of_several_pieces_is_hidden_whole() -> None:
    app = click(open_page("home", s=SENTENCE, hidden="2", depth="story"), 2)
    tokens = load("text")(SENTENCE).tokens
    assert [tokens[place] for place in app.session_state["choice"].hidden] == ["chase", "##d"]


def test_what_the_sentence_itself_hides_stays_hidden() -> None:
    app = open_page("home", s=MASKED, depth="story")
    (guess,) = load("text")(MASKED).answer
    assert app.session_state["words"] == [5] and list(bars(app)) == list(guess.labels[:5])
    click(app, 5)
    assert app.session_state["words"] == [5]
    click(app, 1)
    assert app.session_state["words"] == [1, 5]


def test_a_link_restores_the_hidden_word_and_another_sentence_forgets_it() -> None:
    app = open_page("home", s=SENTENCE, hidden="7", depth="story")
    assert app.session_state["words"] == [4]
    write(app, "i see you")
    assert_fine(app)
    assert app.session_state["choice"].hidden is None and len(app.session_state["words"]) == 1
    assert open_page("home", s=SENTENCE, hidden="none", depth="story").session_state["words"] == []


@pytest.mark.parametrize("name", ["home", "answer", "what_if"])
def test_where_a_word_is_hidden_only_that_is_run(name: str) -> None:
    sentence = f"nobody else reads it on {name} ."
    pipelines.run.cache_clear()
    open_page(name, s=sentence, hidden="2")
    read = [subject for _, subject, *_ in pipelines.run.cache]
    assert read == [load("text").reader.hide(load("text")(sentence).ids, [1])]


def test_of_the_other_sentence_a_word_is_hidden_too() -> None:
    app = open_page("home", s=SENTENCE, other="i see the dog .", shown="other", hidden="3", depth="story")
    other = load("text")("i see the dog .")
    (guess,) = load("text")(load("text").reader.hide(other.ids, [2])).answer
    assert list(bars(app))[:5] == list(guess.labels[:5]) and "see" in shown(app)


@pytest.mark.parametrize("hidden", ["1", "8", "1.99", "64"])
def test_a_link_that_hides_what_is_no_word_hides_nothing(hidden: str) -> None:
    tokens = load("text")("i see the dog .").tokens
    assert len(tokens) == 7
    app = open_page("home", s="i see the dog .", hidden=hidden, depth="story")
    assert app.session_state["words"] == [] and charts(app)


def head_on_screen(app) -> tuple[int, int]:
    """The layer and the head, from 0, that Home watches."""
    layer, head = re.findall(r"\d+", app.toggle(key="words.switch").label)
    return int(layer) - 1, int(head) - 1


def strongest(app) -> str:
    """The word that Home says its head reads most."""
    return max(lines(app), key=lambda end: end[1])[0]


def looked_at_most(attention) -> str:
    """The word that the selected one looks at most on Attention, as it is said there."""
    return re.findall("“(.*?)”", shown(attention))[1]


def test_the_lines_are_the_weights_of_the_head_that_can_be_switched_off() -> None:
    app = open_page("home", s=SENTENCE, hidden="3", depth="story")
    layer, head = head_on_screen(app)
    pipeline = load("text")
    trace = pipeline(pipeline.reader.hide(pipeline(SENTENCE).ids, [2]))
    weights = trace[f"layers.{layer}.attention.weights"][head, 2]
    least = min(0.02, np.sort(weights)[-5])
    read = [(token, weight) for token, weight in zip(trace.tokens, weights, strict=True) if weight >= least]
    assert [token for token, _ in lines(app)] == [token for token, _ in read]
    assert [weight for _, weight in lines(app)] == pytest.approx([weight for _, weight in read], abs=6e-3)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_first_visitor_finds_on_attention_what_home_told(language: str) -> None:
    """In its story that asks about another word: what Home told is no question any more."""
    home = open_page("home", lang=language, depth="story")
    (word,) = home.session_state["words"]
    told = (*head_on_screen(home), word + 1), strongest(home)
    attention = open_page("attention", lang=language, depth="story", token=str(word + 2))
    choice = attention.session_state["choice"]
    assert told == ((choice.layer, choice.head, attention.session_state["chips"]), looked_at_most(attention))


def test_of_any_sentence_a_button_leads_from_home_to_the_head_and_the_word_that_it_tells_of() -> None:
    app = open_page("home", s=SENTENCE, depth="story", key="1", stage="Q")
    told = *head_on_screen(app), app.session_state["words"][0] + 1
    read = strongest(app)
    app.button(key="home.way").click().run()
    assert_fine(app)
    choice = app.session_state["choice"]
    assert app.subheader[0].value == catalogue("en")["attention.question"]
    assert (choice.layer, choice.head, choice.token, choice.hidden) == (*told, told[-1:])
    assert looked_at_most(app) == read, "Attention reads the word as hidden, too"
    assert (choice.key, choice.stage) == (None, None)


@pytest.mark.parametrize("switched", ["", "off", "all off"])
@pytest.mark.parametrize("sentence", ["hi", "yes", SENTENCE])
def test_what_is_said_of_the_head_is_of_the_others_and_says_so(sentence: str, switched: str) -> None:
    off = Edit("layers.{l}.attention.heads", "zero")
    link, edits = ({"edits": edit_code(off)}, [off]) if switched == "all off" else ({}, [])
    app = open_page("home", s=sentence, depth="story", **link)
    layer, head = head_on_screen(app)
    if switched == "off":
        app.toggle(key="words.switch").set_value(True).run()
    pipeline, place = load("text"), app.session_state["words"][0] + 1
    trace = pipeline(pipeline.reader.hide(pipeline(sentence).ids, [place]), edits)
    weights = trace[f"layers.{layer}.attention.weights"][head, place].copy()
    weights[place] = 0
    other = re.escape(trace.tokens[weights.argmax()])
    assert ("Switched off" in shown(app)) == bool(switched)
    assert re.search(f"(?i)apart from itself, .*“{other}”.*{weights.max():.2f}", shown(app))


def test_one_more_click_switches_the_head_off_and_the_guesses_move() -> None:
    app = open_page("home", s=SENTENCE, hidden="3", depth="story")
    layer, head = head_on_screen(app)
    before = bars(app)
    app.toggle(key="words.switch").set_value(True).run()
    assert_fine(app)
    edit = Edit(f"layers.{layer}.attention.heads", "zero", head=head)
    assert app.session_state["choice"].edits == (edit,) and head_on_screen(app) == (layer, head)
    pipeline = load("text")
    ids = pipeline.reader.hide(pipeline(SENTENCE).ids, [2])
    p = softmax(pipeline(ids, (edit,))["logits"][2].astype(np.float64))
    after = bars(app)
    assert list(after)[:5] == list(before)[:5], "the bars stay in place"
    for name, value in after.items():
        assert value == pytest.approx(p[pipeline.reader.vocabulary.index(name)], rel=1e-3)
    moved_most = max(before, key=lambda name: abs(after[name] - before[name]))
    assert f"“{moved_most}” moved most" in shown(app)
    marks = [shape["x0"] for shape in figure(app)["layout"]["shapes"]]
    assert marks[:5] == pytest.approx(list(before.values())[:5], rel=1e-4)
    assert max(abs(after[name] - before[name]) for name in before) > 0.01
    app.toggle(key="words.switch").set_value(False).run()
    assert app.session_state["choice"].edits == () and bars(app) == before


def test_other_changes_stay_when_the_head_is_switched() -> None:
    other = "layers.0.ffn.output~zero"
    app = open_page("home", s=SENTENCE, hidden="3", depth="story", edits=other)
    assert "More changes of yours are in force: 1" in shown(app)
    app.toggle(key="words.switch").set_value(True).run()
    assert len(app.session_state["choice"].edits) == 2
    app.toggle(key="words.switch").set_value(False).run()
    assert app.session_state["choice"].edits == (Edit("layers.0.ffn.output", "zero"),)


@pytest.mark.parametrize("kind", ["digit", "flat"])
def test_a_drawing_gets_its_verdict_as_bars_and_a_head_that_moves_them(kind: str) -> None:
    app = open_page("home", input=kind, depth="story")
    choice = app.session_state["choice"]
    (guess,) = load(choice.pipeline)(choice.ink).answer
    before = bars(app)
    assert list(before.values()) == pytest.approx(guess.probabilities, rel=1e-3)
    app.toggle(key="words.switch").set_value(True).run()
    assert_fine(app)
    after = load(choice.pipeline)(choice.ink, app.session_state["choice"].edits).answer[0].probabilities
    assert list(bars(app).values()) == pytest.approx(after, rel=1e-3) and list(after) != list(guess.probabilities)


def test_the_overlay_is_the_row_of_cls() -> None:
    app = open_page("home", input="digit", depth="story")
    layer, head = head_on_screen(app)
    trace = load("digits")(app.session_state["choice"].ink)
    weights = trace[f"layers.{layer}.attention.weights"][head, 0]
    veil = numbers(figure(app, 1)["data"][1]["z"])
    np.testing.assert_allclose(veil[:, 2:].ravel(), weights[1:], rtol=1e-5)


@pytest.mark.parametrize("sentence", ["i", ".", "[MASK]", "我", "the " * 70, "zebroid"])
def test_short_and_long_sentences_are_never_empty(sentence: str) -> None:
    app = open_page("home", s=sentence)
    assert len(charts(app)) == 3 and bars(app)


def test_without_a_head_there_is_no_answer_but_a_look() -> None:
    app = open_page("home", s=SENTENCE, model="paper", depth="story")
    assert "no answer" in shown(app) or "untrained" in shown(app).lower()
    assert len(charts(app)) == 1


@pytest.mark.parametrize("kind", ["text", "digits"])
def test_pre_norm_networks_are_shown_in_their_own_order(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pipeline = pre_norm(kind)
    with_network(monkeypatch, pipeline)
    app = open_page("home", s=SENTENCE, input="sentence" if kind == "text" else "digit", hidden="3", layer="2")
    trace = pipeline(SENTENCE if kind == "text" else app.session_state["choice"].ink)
    if kind == "text":
        trace = pipeline(pipeline.reader.hide(trace.ids, [2]))
    np.testing.assert_allclose(thumbnails(app)["X'"], trace.stream(1)[1], atol=1e-5)
    np.testing.assert_allclose(thumbnails(app)["Z"], trace["norm"], atol=1e-5)
    p = softmax(trace["logits"][2] if kind == "text" else trace["logits"])
    assert max(bars(app).values()) == pytest.approx(float(p.max()), rel=1e-3)


# -- the whole encoder -------------------------------------------------------------------------------------


def test_the_small_pictures_hold_the_real_tensors() -> None:
    app = open_page("home", s=MASKED, layer="3", head="5")
    trace, here = load("text")(MASKED), "layers.2.attention."
    expected = {
        "X⁽⁰⁾": trace["embedding.sum"],
        **{role: trace[here + role][4] for role in "QKV"},
        "S": trace[here + "scores"][4],
        "A": trace[here + "weights"][4],
        "headi": trace[here + "heads"][4],
        "X'": trace.stream(2)[1],
        "H": trace["layers.2.ffn.activation"],
        "Z": trace.Z,
    }
    pictures = thumbnails(app)
    assert pictures.keys() == expected.keys()
    for symbol, values in expected.items():
        np.testing.assert_allclose(pictures[symbol], values, atol=1e-5, err_msg=symbol)
    for title, values in zip(figure(app, 2)["layout"]["annotations"], pictures.values(), strict=True):
        assert " × ".join(map(str, values.shape)) in title["text"]


def test_the_reading_sentence_is_made_of_the_numbers_on_screen() -> None:
    app = open_page("home", s=MASKED, layer="2", head="3")
    pictures, tokens = thumbnails(app), load("text")(MASKED).tokens
    query, key = np.unravel_index(pictures["A"].argmax(), pictures["A"].shape)
    fired = (pictures["H"] > 0).mean()
    said = (
        f"In layer 2, head 3, the largest weight in A is {pictures['A'].max():.2f}: "
        f"“{tokens[query]}” looks at “{tokens[key]}”. Of the {pictures['H'].size:,} activations in H, {fired:.0%}"
    )
    assert said in shown(app)


def test_one_token_can_only_look_at_itself() -> None:
    app = open_page("home", input="flat")
    assert thumbnails(app)["A"].tolist() == [[1.0]]
    assert "its weight in A is 1.00" in shown(app)


def test_pictures_stay_small() -> None:
    app = open_page("home", s=THIRTY_TWO)
    assert len(load("text")(THIRTY_TWO).tokens) == 32
    drawn = [json.dumps(chart["figure"]) for chart in charts(app)]
    assert sum(map(len, drawn)) < 500_000
    for chart in charts(app):
        assert sum(name.startswith("xaxis") for name in chart["figure"]["layout"]) <= 12


@pytest.mark.parametrize("kind", ["sentence", "digit"])
def test_letters_and_shapes_of_words_and_patches_agree(kind: str) -> None:
    app = open_page("home", input=kind, panel="shapes")
    (table,) = [text.value for text in app.markdown if text.value.startswith("| symbol")]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines()[2:]]
    for column, name in ((2, "text"), (3, "digits")):
        config = load(name).config
        counted = {row[0]: row[column] for row in rows[:3]}
        assert counted["$N$"] == str(config.layers) and counted["$h$"] == str(config.heads)
        sizes = {"n": counted["$n$"], "h": config.heads, "d_k": config.d_k, "d_{model}": config.d_model}
        sizes |= {"d_{ff}": config.d_ff, r"\lvert V \rvert": config.vocab_size, r"\text{classes}": config.classes}
        for _, letters, *shapes in rows[3:]:
            written = letters.split(" / ")[-1 if name == "digits" else 0].strip("$").split(r" \times ")
            assert " × ".join(str(sizes[letter]) for letter in written) == shapes[column - 2]
    traced = {quantity.symbol for quantity in load("text").graph if quantity.traced and quantity.layer in (None, 0)}
    assert {row[0].strip("$") for row in rows[3:]} == traced


def test_the_sentence_on_screen_stands_beside_the_digit() -> None:
    app = open_page("home", s="我爱你。", panel="shapes")
    tokens = load("text")("我爱你。").tokens
    assert " ".join(f":gray-background[{token}]" for token in tokens) in shown(app)


def test_without_the_digit_weights_the_rest_of_the_page_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    run = pipelines.run

    def broken(name: str, *rest):
        if name == "digits":
            raise WeightsError("missing", "digits.safetensors")
        return run(name, *rest)

    monkeypatch.setattr(pipelines, "run", broken)
    app = open_page("home", s=MASKED, panel="shapes")
    assert bars(app)
    assert "digits.safetensors" in app.warning[0].value.replace("\\", "")


def test_a_box_opens_its_page_and_nothing_chosen_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    link = {"s": MASKED, "layer": "3", "head": "5", "lang": "zh"}
    app = open_page("home", **link)
    before = app.session_state["choice"]
    box = diagram(load("text")(MASKED), 2).box("ffn.add")
    with monkeypatch.context() as click:
        click.setattr(overview, "show", lambda *_, **__: box)
        app.run()
    assert_fine(app)
    assert app.subheader[0].value == catalogue("zh")["add_and_norm.title"]
    assert app.session_state["choice"] == before.with_(sublayer=2), "the second box opens the second sub-layer"


@pytest.mark.parametrize(("sentence", "key"), [("a", "story_sentence"), ("i love you .", "story")])
def test_it_is_only_said_to_hide_a_word_where_others_are_left(sentence: str, key: str) -> None:
    said, words = shown(open_page("home", s=sentence, depth="story")), catalogue("en")
    assert words[f"home.{key}"] in said and (key == "story" or words["home.story"] not in said)
