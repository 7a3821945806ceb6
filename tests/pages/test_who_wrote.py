"""Direct logit attribution on the Answer page: parts of the lead, and heads as cells."""

import numpy as np
import pytest

from model import Edit, Trace, load
from model.measures.sources import Part, all_of_it, made_of, of_lead, opened
from pages.answer.pictures import built_up
from pages.answer.who_wrote import Wanted, opens
from pages.drawing.state import sketch
from pages.drawing.state.link_values import edit_code
from pages.drawing.text import catalogue
from pages.drawing.text.numbers import unsigned
from pages.screen.runs import pipelines
from tests.pages.opening import chart, charts, open_page, said, summed, texts

LINK = {"tab": "wrote", "lang": "en"}
WORDS = {"s": "the cat sat on the mat .", "hidden": "4"}
DIGIT = {"input": "digit"}


def asked(link: dict[str, str]) -> tuple[Trace, int, int]:
    """The run of a link and its two most likely outputs."""
    if "s" in link:
        pipeline, place = load("text"), int(link["hidden"]) - 1
        trace = pipeline(pipeline.reader.hide(pipeline.reader.read(link["s"]).ids, (place,)))
        second, best = np.argsort(trace["logits"][place])[-2:]
    else:
        trace = pipelines.run({"digit": "digits"}.get(link["input"], link["input"]), sketch.ink(sketch.example()))
        second, best = np.argsort(trace["logits"])[-2:]
    return trace, int(best), int(second)


def test_no_attribution_of_edited_logits() -> None:
    app = open_page("answer", **LINK, **WORDS, edits=edit_code(Edit("logits", "scale", 2.0)))
    assert len(charts(app)) == 1 and "after the last vector" in texts(app)


@pytest.mark.parametrize("link", [WORDS, DIGIT])
def test_a_part_of_a_lead_opens_where_it_stands_and_its_number_stays(link: dict) -> None:
    (trace, *outputs), token = asked(link), 3 if "s" in link else 0
    lead, of_heads = (of_lead(trace, *outputs, token, heads=heads) for heads in (False, True))
    inside = opens(trace, Wanted(lead, tuple(outputs), token))
    parts = {name: value for name, value in (of_heads.parts | lead.parts).items() if "layers." in name}
    assert parts.keys() == inside.keys()
    for name, (_, way) in [*inside.items()][::7]:
        assert opened(trace, all_of_it(trace, *outputs, token), way["branch"])[-1].name == name
    drawn = built_up(trace, lead, tuple(outputs), inside)
    ways = [drawn.picks(bar, 0) for bar in range(len(lead.parts) + 2)]
    assert all(way is None or ("", way) in inside.values() for way in ways) and any(ways)
    assert sum(way is not None for way in ways) <= len(parts), "words, positions and biases stand there alone"
    for name in [*inside][::11]:
        page, chosen = inside[name]
        assert (page, *chosen) == ("", "stage", "branch")
        app = open_page("answer", **LINK, **link, branch=linked(chosen["branch"]))
        assert unsigned(parts[name]).replace("−", "-") in said(app), name
        assert app.session_state["answer.tabs"] == "all"


def test_in_a_presentation_the_answer_stands_alone_until_its_parts_are_asked_for() -> None:
    for link, name in (({}, "guesses_3"), ({"stage": "answer"}, "wrote"), ({"stage": "heads"}, "heads")):
        (one,) = charts(open_page("answer", big="true", **WORDS, **link))
        assert name in one["key"]


def test_bars_without_further_parts_are_not_clickable() -> None:
    trace, *outputs = asked(DIGIT)
    picture = built_up(trace, of_lead(trace, *outputs, 0), tuple(outputs), {})
    assert not any(picture.picks(bar, 0) for bar in range(9)) and catalogue("en")["source.click"] not in picture.says()


# The tree of parts.


def branch_to(trace: Trace, whole: Part, *names: str) -> list[int]:
    """Path in the tree to the part of these names; of several, the largest."""
    branch: list[int] = []
    for name in names:
        parts = made_of(trace, opened(trace, whole, branch)[-1])
        sizes = [np.abs(part.value).max() if part.name.endswith(name) else -1 for part in parts]
        branch.append(int(np.argmax(sizes)))
        assert sizes[branch[-1]] >= 0
    return branch


def linked(branch: list[int]) -> str:
    return ".".join(str(place + 1) for place in branch)


WAYS = [
    ["4.attention.output"],
    ["4.attention.output", "heads[3]"],
    ["4.attention.output", "heads[3]", "V[3]"],
    ["4.ffn.output"],
    ["4.ffn.output", "3.attention.output", "heads[1]", "V[1]", "0.ffn.output"],
]


@pytest.mark.parametrize("way", [*WAYS[1:], [*WAYS[1], "least"]])
def test_an_open_part_is_the_sum_of_its_parts_and_none_of_them_is_drawn_as_nothing(way: list[str]) -> None:
    """least: also open the source with the smallest weight. Small numbers keep two digits."""
    trace, best, second = asked(DIGIT)
    whole = all_of_it(trace, best, second)
    branch = branch_to(trace, whole, *(name for name in way if name != "least"))
    if "least" in way:
        branch.append(int(trace["layers.4.attention.weights"][3, 0].argmin()))
    app = open_page("answer", **LINK, input="digit", branch=linked(branch))
    written = summed(chart(app, "wrote")["data"][0]["text"])
    assert written[-1] == pytest.approx(float(opened(trace, whole, branch)[-1].value), abs=0.006)
    assert app.session_state["tree.way"] == len(branch)
    if "least" in way:
        assert 0 < abs(written[-1]) < 0.005 and all(written[:-2]) and "0.00 is" not in said(app)


def test_of_words_too_the_parts_of_an_open_one_add_up_to_its_bar() -> None:
    trace, best, second = asked(WORDS)
    branch = branch_to(trace, all_of_it(trace, best, second, 3), *WAYS[0])
    bars = chart(open_page("answer", **LINK, **WORDS, branch=linked(branch)), "wrote")["data"][0]["text"]
    written = summed(bars)
    step = of_lead(trace, best, second, 3).parts["layers.4.attention.output"]
    assert written[-1] == pytest.approx(step, abs=0.006)


def test_a_part_is_opened_by_its_box_and_left_by_the_way_back() -> None:
    app = open_page("answer", **LINK, input="digit")
    first = app.session_state["choice"].branch
    app.selectbox(key="tree.open").select_index(0).run()
    assert first == () and len(app.session_state["choice"].branch) == 1
    assert "FFN 5 at" in said(app) and "lets through" in said(app)
    app.selectbox(key="tree.open").select_index(0).run()
    assert len(app.session_state["choice"].branch) == 2
    app.button_group(key="tree.way").set_value(0).run()
    assert app.session_state["choice"].branch == () and "FFN 5 at" not in said(app)


def test_where_a_sum_was_edited_nothing_can_be_opened() -> None:
    edit = edit_code(Edit("layers.4.norm_2", "scale", 0.5))
    app = open_page("answer", **LINK, input="digit", edits=edit, branch="1")
    assert chart(app, "wrote") and not [one for one in app.selectbox if one.key == "tree.open"]
