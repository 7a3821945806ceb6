"""Where a change sits, no sentence promises what it has broken; and a change that does not fit here is not lost."""

import pytest

from model import Edit
from pages.ui.link_values import edit_code
from pages.ui.text import catalogue
from tests.pages.opening import charts, open_page, texts

SENTENCE = "the animal did not cross the street because it was too tired ."
SHORT = "i love you ."
NO_LAW = catalogue("en")["change.no_law"]
HEAD = Edit("layers.2.attention.heads", "zero", head=2)


@pytest.mark.parametrize(
    ("page", "panel", "edit"),
    [
        ("add_and_norm", "maps", Edit("layers.2.add_1", "without")),
        ("add_and_norm", "ways", Edit("layers.2.add_1", "without")),
        ("add_and_norm", "values", Edit("layers.2.norm_1", "bypass")),
        ("heads", "written", Edit("layers.2.attention.output", "zero")),
        ("feed_forward", "maps", Edit("layers.{l}.ffn.activation", "set", -50.0, neuron=9)),
        ("feed_forward", "curve", Edit("layers.2.ffn.activation", "set", -50.0, neuron=9)),
        ("feed_forward", "alone", Edit("layers.2.ffn.output", "zero")),
        ("attention", "", Edit("layers.2.attention.weights", "zero", head=2)),
        ("layers", "origin", Edit("layers.4.attention.weights", "zero", head=2)),
    ],
)
def test_a_sentence_about_a_law_is_not_said_of_what_was_changed(page: str, panel: str, edit: Edit) -> None:
    link = {"s": SENTENCE, "depth": "numbers", "layer": "3", "head": "3", "panel": panel or "steps"}
    assert NO_LAW not in texts(open_page(page, **link))
    assert NO_LAW in texts(open_page(page, **link, edits=edit_code(edit)))


@pytest.mark.parametrize("operation", ["even", "hard"])
def test_weights_that_still_sum_to_1_are_said_to(operation: str) -> None:
    edit = edit_code(Edit("layers.2.attention.weights", operation, head=2))
    said = texts(open_page("attention", s=SENTENCE, depth="numbers", layer="3", head="3", edits=edit))
    assert "Each row sums to 1" in said and NO_LAW not in said


def test_lengths_are_kept_together_only_by_a_layernorm_that_is_there() -> None:
    link = {"s": SENTENCE, "depth": "numbers", "panel": "lengths"}
    promise, left_out = catalogue("en")["layers.norms_after"], edit_code(Edit("layers.{l}.norm_2", "bypass"))
    assert promise in texts(open_page("layers", **link))
    assert promise not in texts(open_page("layers", **link, edits=left_out))


def test_a_change_that_does_not_fit_waits_and_the_others_are_made() -> None:
    far, link = Edit("layers.1.norm_2", "zero", token=13), {"depth": "numbers", "layer": "3", "head": "3"}
    codes = {edits: "~~".join(map(edit_code, edits)) for edits in ((HEAD, far), (HEAD,), (far,))}
    plain_run, one = (open_page("heads", s=SHORT, edits=code, **link) for code in ("", codes[HEAD,]))
    both = open_page("heads", s=SHORT, edits=codes[HEAD, far], **link)
    assert charts(both) == charts(one) != charts(plain_run)
    labels = [button.label for button in both.button if button.key in ("change.0", "change.1")]
    assert [label.startswith(":gray") for label in labels] == [False, True]
    both.button(key="change.0").click().run()
    assert both.session_state["choice"].edits == (far,)
    both.text_input(key="s").set_value(SENTENCE).run()
    assert charts(both) == charts(open_page("heads", s=SENTENCE, edits=codes[far,], **link))
