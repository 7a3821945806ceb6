"""Choice → link → Choice: equal for any choice; whatever else a link holds, a default and a word about it."""

from dataclasses import fields, replace
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model import Edit
from model.config import PRESETS
from model.edits import OPERATIONS
from model.graph import graph
from model.pipeline import MOST_CHARACTERS
from pages.drawing.state import choice as choice_module
from pages.drawing.state import images, sketch
from pages.drawing.state.choice import FIELDS, PIPELINES, Choice, CostSettings
from pages.drawing.state.link_values import MOST_EDITS, moved
from pages.screen.link import select
from tests.links import addressed, choices, grown, mutated

KEYS = [quantity.key for quantity in graph(PRESETS["text"]) if quantity.traced]


@settings(max_examples=150, deadline=None)
@given(choices)
def test_a_choice_comes_back_from_its_link(choice: Choice) -> None:
    assert Choice.from_link(addressed(choice.to_link())) == (choice, ())


@settings(max_examples=400, deadline=5000)
@given(st.integers())
def test_of_a_damaged_link_what_was_understood_is_written_so_that_it_is_read_again(seed: int) -> None:
    link = addressed(mutated(grown(Random(seed)), Random(seed)))
    choice, problems = Choice.from_link(link)
    assert {problem.name for problem in problems} <= link.keys()
    assert Choice.from_link(addressed(choice.to_link())) == (choice, ())


@pytest.mark.parametrize("kind", PIPELINES)
def test_each_input_comes_back_in_the_last_layer_and_head_of_its_network(kind: str) -> None:
    config = PRESETS[PIPELINES[kind]]
    choice = Choice(input=kind, layer=config.layers - 1, head=config.heads - 1, drawing=sketch.example(3))
    assert Choice.from_link(choice.to_link()) == (choice, ())
    beyond, problems = Choice.from_link(replace(choice, layer=config.layers).to_link())
    assert beyond == replace(choice, layer=0) and [problem.name for problem in problems] == ["layer"]


def test_every_value_of_a_choice_has_its_place_in_a_link() -> None:
    paths = {field.name for field in fields(Choice)} - {"cost", "photo"} | {
        f"cost.{f.name}" for f in fields(CostSettings)
    }
    assert {field.path for field in FIELDS} == paths
    assert len({field.name for field in FIELDS}) == len(FIELDS)


def test_links_count_as_people_do_and_leave_out_what_nobody_chose() -> None:
    cut = Edit("layers.2.attention.heads", "zero", head=3)
    link = Choice(sentence="我爱你", layer=1, token=0, hidden=(1, 3), edits=(cut,)).to_link()
    assert link == {
        "lang": "en",
        "input": "sentence",
        "s": "我爱你",
        "edits": "layers.2.attention.heads~zero~head.4",
        "layer": "2",
        "head": "1",
        "token": "1",
        "hidden": "2.4",
    }


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("layer", value) for value in ("0", "abc", "99", "9" * 5000)),
        ("token", "٣"),  # a digit, but not one that links are written with
        ("hidden", "2.2"),
        ("lang", "xx"),
        ("n", "1000001"),
        ("ink", "eNrt-not-a-drawing"),
        ("other", "x" * 10_000),
        ("tab", "<b>"),
        *(
            ("goal", value)
            for value in ("", "first.3.在", "first.3.0a1b2c.a b", "oneway.90", "oneway.100.5", "away.2.3")
        ),
        ("edits", ""),
        ("edits", "layers.0.ffn.hidden"),
        ("edits", "~~".join(["norm~zero"] * 1000)),
        ("edits", "norm~scale~value.1e300"),
        ("edits", "norm~zero~head.0"),
        ("edits", "norm~zero~nothing.1"),
        ("edits", "norm~patch~source.text." + "a" * (MOST_CHARACTERS + 1)),
        ("edits", "norm~patch~source.pickle.AAAA"),
    ],
)
def test_what_cannot_be_had_gives_the_default_and_is_named(name: str, value: str) -> None:
    choice, problems = Choice.from_link({"s": "i love you .", name: value})
    assert [problem.name for problem in problems] == [name]
    assert value.startswith(problems[0].value) and len(problems[0].value) <= 40
    if name != "other":
        assert choice == Choice(sentence="i love you .")


def test_of_a_sentence_that_is_too_long_the_beginning_is_kept() -> None:
    choice, (problem,) = Choice.from_link({"s": "我" * 10_000})
    assert choice.sentence == "我" * MOST_CHARACTERS and (problem.name, problem.reason) == ("s", "link_long")


@pytest.mark.parametrize("name", images.READY)
def test_as_many_patches_from_a_ready_picture_as_there_may_be_stand_in_one_link(name: str) -> None:
    source = images.ready(name)
    patches = tuple(Edit(KEYS[-1], "patch", token=token, source=source) for token in range(MOST_EDITS))
    assert Choice.from_link(Choice(edits=patches).to_link()) == (Choice(edits=patches), ())


def test_an_old_link_to_a_change_without_a_value_means_none_or_zero() -> None:
    for operation, row in OPERATIONS.items():
        value = 0.0 if "value" in row.needs else None
        for old in (f"norm~{operation}", f"norm~{operation}~value.0.0"):
            choice, problems = Choice.from_link({"edits": old})
            assert (choice.edits, problems) == ((Edit("norm", operation, value),), ()), old
            assert Choice.from_link(choice.to_link())[0] == choice


@settings(deadline=None)
@given(choices, st.integers(1, 12))
def test_a_fitted_choice_has_no_place_outside_the_run(choice: Choice, tokens: int) -> None:
    config = PRESETS["digits"]
    fitted = choice.fitted(config, tokens)
    sizes = {"token": tokens, "key": tokens, "component": config.d_model, "part": config.d_k, "neuron": config.d_ff}
    for name, size in sizes.items():
        before, after = getattr(choice, name), getattr(fitted, name)
        assert after == (None if before is None else min(before, size - 1))
    assert fitted.layer < config.layers and fitted.head < config.heads
    assert (fitted.hidden is None) == (choice.hidden is None)
    assert set(fitted.hidden or ()) == set(choice.hidden or ()) & set(range(tokens))
    assert fitted.output is None or fitted.output < config.classes
    assert fitted.fitted(config, tokens) == fitted


def test_the_session_counts_from_1_and_back() -> None:
    assert moved((0, (1, 2)), 1) == (1, (2, 3)) and moved(moved(((4, 5),), 1), -1) == ((4, 5),)
    assert moved(None, 1) is None and moved("map", 0) == "map"


def test_a_digit_is_given_as_ink_and_a_blank_pad_as_none() -> None:
    drawn = Choice(input="digit", drawing=sketch.example(4))
    assert drawn.subject == drawn.ink == sketch.ink(sketch.example(4))
    assert Choice(input="digit", drawing=bytes(3136)).ink is None
    assert Choice(input="digit").subject == b"" and drawn.with_(input="sentence", sentence="hi").subject == "hi"


@pytest.mark.parametrize("name", ["tokn", "n", "photo"])
def test_a_name_that_no_choice_has_is_not_chosen_silently(name: str) -> None:
    with pytest.raises(TypeError, match=name):
        select(**{name: 1})


@pytest.mark.parametrize(("written", "big"), [("1", True), ("true", True), ("0", False), ("false", False)])
def test_a_switch_in_a_link_may_be_a_number(written: str, big: bool) -> None:
    found, problems = Choice.from_link({"big": written})
    assert found.big is big and not problems


@pytest.mark.parametrize("link", [{"model": "theirs"}, {"model": "theirs", "input": choice_module.PICTURE}])
def test_a_model_that_is_withdrawn_while_its_link_is_read_is_said_not_to_be_offered(
    link: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = iter([{"theirs": Path("theirs")}])
    monkeypatch.setattr(choice_module, "offered", lambda: next(seen, {}))
    monkeypatch.setattr(choice_module, "of_pictures", lambda: ["theirs"] if link.get("input") else [])
    chosen, problems = Choice.from_link(link)
    assert (chosen.model, chosen.input) == ("trained", "sentence")
    assert [(problem.name, problem.value, problem.reason) for problem in problems] == [
        ("model", "theirs", "link_model")
    ]
