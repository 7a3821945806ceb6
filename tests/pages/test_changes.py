"""Edits that do not fit the run on the page are kept and named."""

from functools import partial

import pytest

from model import Edit
from model.config import DECODER, PRESETS
from model.edits import operations_at
from model.graph import graph as graph_of
from model.translator import Task, Translator
from pages.drawing.screen import changed
from pages.drawing.state.choice import Choice
from pages.drawing.state.link_values import MOST_EDITS, edit_code
from pages.drawing.text import LANGUAGES, catalogue, speaking
from pages.screen.frame.changes_bar import edit_in_words, is_full
from pages.screen.runs import pipelines
from tests.networks import CONFIGS
from tests.pages.opening import charts, figure, open_page, texts, warnings, write

SENTENCE = "the animal did not cross the street because it was too tired ."
SHORT = "i love you ."
HEAD = Edit("layers.2.attention.heads", "zero", head=2)


def test_edit_that_does_not_fit_is_kept_and_the_others_applied() -> None:
    far, link = Edit("layers.1.norm_2", "zero", token=13), {"layer": "3", "head": "3"}
    codes = {edits: "~~".join(map(edit_code, edits)) for edits in ((HEAD, far), (HEAD,), (far,))}
    plain_run, one = (open_page("heads", s=SHORT, edits=code, **link) for code in ("", codes[HEAD,]))
    both = open_page("heads", s=SHORT, edits=codes[HEAD, far], **link)
    assert charts(both) == charts(one) != charts(plain_run)
    labels = [button.label for button in both.button if button.key in ("change.0", "change.1")]
    assert [label.startswith(":gray") for label in labels] == [False, True]
    both.button(key="change.0").click().run()
    assert both.session_state["choice"].edits == (far,)
    write(both, SENTENCE)
    assert charts(both) == charts(open_page("heads", s=SENTENCE, edits=codes[far,], **link))


def test_no_more_changes_are_made_than_a_link_holds() -> None:
    many = [Edit("layers.5.attention.heads", "scale", 1 + i / 100, head=7) for i in range(MOST_EDITS)]
    app = open_page("home", s=SHORT, edits="~~".join(map(edit_code, many)))
    choice = app.session_state["choice"]
    assert is_full(choice.edits, (HEAD,)) and not is_full(choice.edits[1:], (HEAD,))
    assert choice.edits == tuple(many) and Choice.from_link(choice.to_link())[0].edits == choice.edits
    assert catalogue("en")["change.full"].format(n=MOST_EDITS) in texts(app)


def test_no_edit_is_made_that_the_link_cannot_hold() -> None:
    long = "50 % ~ " * 57  # characters that are longer when escaped
    patches = [Edit("layers.1.add_1", "patch", source=long, token=i, from_token=i) for i in range(MOST_EDITS)]
    room = next(n for n in range(MOST_EDITS) if is_full(tuple(patches[:n]), (patches[n],)))
    assert 1 < room < MOST_EDITS - 1
    app = open_page("home", s=SENTENCE, edits="~~".join(map(edit_code, patches[:room])))
    assert len(app.session_state["choice"].edits) == room
    assert catalogue("en")["change.full"].format(n=room) in texts(app)
    assert not is_full(tuple(patches[:room]), (HEAD,))


@pytest.mark.parametrize("key", ["layers.0.attention.W_V", "answer", f"layers.{'9' * 5000}"])
def test_a_change_of_what_cannot_be_changed_waits_under_its_own_name(key: str) -> None:
    app = open_page("attention", s=SHORT, edits=f"{key}~zero")
    (button,) = [button for button in app.button if str(button.key).startswith("change.") and button.icon]
    assert key.rsplit(".", 1)[-1] in button.label.replace("\\", "")


def test_many_edits_that_do_not_fit_take_few_runs(monkeypatch) -> None:
    searched = []
    original = Translator._search
    monkeypatch.setattr(Translator, "_search", lambda *told: searched.append(1) or original(*told))
    beyond = [Edit("decoder.layers.0.ffn.output", "scale", 2, token=token) for token in range(30, 38)]
    heads = [Edit("decoder.layers.0.cross.heads", "zero", head=head) for head in (2, 97, 98, 99)]
    trace = changed(partial(pipelines.run, "translation", Task("the dog chased the old cat .")), (*beyond, *heads))
    assert trace.edits == (heads[0],)
    assert len(searched) <= 7  # greedy and in beams: twice whole; three times until a head is missing


def test_a_drawing_to_compare_with_that_cannot_be_read_is_said_to_be_none() -> None:
    empty = "eNrtwYEAAAAAw6D5U1_hAFUBAAB8BgxAAAE"  # a pad without a stroke
    app = open_page("attention", input="digit", other_ink=empty)
    assert warnings(app) == [catalogue("en")["error.other_unread"]]


@pytest.mark.parametrize(
    ("page", "change"),
    [
        ("flat", Edit("layers.2.attention.heads", "zero", head=7)),  # it has one layer
        ("translation", Edit("layers.0.ffn.activation", "zero", neuron=2000)),  # the translator has 1,024 neurons
    ],
)
def test_edit_that_does_not_fit_the_page_is_shown_in_grey(page: str, change: Edit) -> None:
    both = (change, Edit("layers.0.ffn.output", "zero"))
    for edits, shown in ((both[:1], False), (both, True)):
        app = open_page(page, s=SHORT, model="paper", edits="~~".join(map(edit_code, edits)))
        *made, grey = [button for button in app.button if str(button.key).startswith("change.") and button.icon]
        assert (
            grey.label.startswith(":gray[")
            and "layers" not in grey.label
            and grey.help == catalogue("en")["change.waits"]
        )
        assert [button.help for button in made] == [catalogue("en")["change.take_back"]] * shown
        assert ("change.shown" in [group.key for group in app.button_group]) == shown
    grey.click().run()
    assert app.session_state["choice"].edits == both[1:]
    assert catalogue("en")["error.edits"] not in warnings(app)


def test_another_sentence_that_cannot_be_read_is_called_by_its_name_and_hides_as_before() -> None:
    app = open_page("attention", s=SHORT, hidden="3", other="😀")
    assert warnings(app) == [catalogue("en")["error.other_unread"]]
    assert "[MASK]" in figure(app)["layout"]["xaxis"]["ticktext"]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_place_and_change_has_words_and_around_the_layers_its_own(lang: str) -> None:
    with speaking(lang):
        for graph in (*map(graph_of, CONFIGS.values()), graph_of(PRESETS["text"], DECODER)):
            places = [quantity for quantity in graph if quantity.layer in (0, None)]
            for quantity in places:
                for operation in operations_at(graph, quantity.key):
                    words = edit_in_words(
                        Edit(quantity.key, operation, from_token=1, source=SHORT), graph, ["[CLS]", "[SEP]"]
                    )
                    assert quantity.key == "answer" or "." not in quantity.key or quantity.key not in words
                    assert words.startswith(catalogue(lang)["change.decoder"]) == quantity.key.startswith("decoder.")
            around = [
                edit_in_words(Edit(one.key, "zero"), graph, []) for one in places if one.traced and one.layer is None
            ]
            assert len(set(around)) == len(around) and all(words[0].isalpha() or words[0] == "[" for words in around)
        waits = edit_in_words(Edit("decoder.layers.{l}.cross.heads", "zero", head=4), graph_of(PRESETS["text"]), [])
        assert waits.startswith(catalogue(lang)["change.decoder"]) and "layers." not in waits
        tokens = ["[CLS]", "the", "cat", "the"]
        gone = [edit_in_words(Edit("embedding.sum", "remove", token=i), graph, tokens) for i in range(4)]
        if lang == "en":
            assert [words.split(" · ")[0] for words in gone] == ["“[CLS]”", "“the (1)”", "“cat”", "“the (3)”"]
