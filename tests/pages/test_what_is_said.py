"""What a page says holds for the network and the run on it, not only for a sentence in our own trained encoder."""

import re

import pytest

from pages.ui.state import sketch
from pages.ui.text import catalogue
from tests.model.test_checkpoints import theirs
from tests.pages.opening import open_page, pre_norm, texts, with_network
from tests.pages.test_checkpoints import offer

SENTENCE = "the dog chased the cat ."
DIGIT = {"input": "digit", "ink": sketch.to_code(sketch.example(3))}
FLAT = DIGIT | {"input": "flat"}
NO_ATTENTION = {"edits": "layers.1.attention.output~zero", "layer": "2"}
NUMBER = r"(−?\d+\.\d{4})"
NO_PLACES = {"edits": "embedding.positions~zero"}
NO_TOKENS = {"edits": "embedding.tokens~zero"}
NO_SHARES = {"edits": "layers.1.attention.weights~scale~value.2"}
REPEATED = "the cat saw the cat and the cat saw the dog ."
CAUSAL = {"edits": "layers.{l}.attention.masked~causal", "token": "2"}


def say(page: str, link: dict[str, str], *texts_that_stand: str, not_: str) -> None:
    """Check that the page says these texts, as far as nothing is filled in, and not that other one."""
    said = texts(open_page(page, **{"s": SENTENCE} | link)).replace("\\", "")

    def stands(name: str) -> bool:
        return all(part.strip() in said for part in re.split(r"\{\w+\}|[*$]", catalogue("en")[name]))

    assert [name for name in texts_that_stand if not stands(name)] == []
    assert not stands(not_)


@pytest.mark.parametrize(
    ("page", "link", "told", "not_"),
    [
        ("layers", {"panel": "out", "layer": "6"}, ["layers.read_Z"], "layers.read_final"),
        ("add_and_norm", {"panel": "ways"}, [], "add_and_norm.read_lengths_none"),
        (
            "add_and_norm",
            {"panel": "ways"} | NO_ATTENTION,
            ["add_and_norm.read_lengths_none", "add_and_norm.read_cosines_none"],
            "add_and_norm.read_cosines_new",
        ),
        ("tokens", {"panel": "vectors"} | NO_PLACES, ["tokens.read_lengths"], "tokens.read_twice"),
        ("translation", {"model": "paper"}, ["translation.trained_here"], "untrained.banner"),
        (
            "attention",
            {"edits": "layers.0.attention.weights~even"},
            ["attention.read_even"],
            "attention.read_weights",
        ),
        ("attention", {"stage": "scaled"}, ["attention.read_scaled"], "attention.read_even"),
        (
            "tokens",
            {"panel": "waves", "edits": "embedding.positions~shift~value.10"},
            ["tokens.read_periods"],
            "tokens.read_band",
        ),
        ("attention", {"stage": "scaled", "layer": "2"} | CAUSAL, ["attention.read_scaled"], "attention.read_masked"),
        (
            "attention",
            {"stage": "masked", "layer": "1", "edits": f"{CAUSAL['edits']}~~layers.0.attention.weights~set~value.1"},
            ["change.no_law"],
            "attention.read_masked",
        ),
        ("attention", {"stage": "heads", "layer": "2"} | NO_SHARES, ["change.no_law"], "attention.read_heads"),
        (
            "add_and_norm",
            {"panel": "ways", "layer": "1", "edits": "embedding.sum~zero"},
            ["add_and_norm.read_lengths"],
            "add_and_norm.read_lengths_none",
        ),
        ("tokens", {"panel": "vectors"} | NO_TOKENS, ["tokens.read_lengths"], "tokens.read_row"),
        (
            "flat",
            {"panel": "why", "edits": "layers.0.attention.weights~zero"} | FLAT,
            ["change.no_law"],
            "flat.why",
        ),
        ("what_if", {"hidden": "none", "token": "2", "s": "狗吓了猫。"}, ["words.read_seen"], "words.read_seen_unsure"),
        ("what_if", {"hidden": "none", "token": "3", "s": "狗吓了猫。"}, ["words.read_seen_unsure"], "words.read_seen"),
        ("what_if", {"panel": "patching"} | DIGIT, ["what_if.other_missing_picture"], "what_if.other_missing"),
    ],
)
def test_what_is_said_is_so(page: str, link: dict[str, str], told: list[str], not_: str) -> None:
    say(page, link, *told, not_=not_)


@pytest.mark.parametrize(
    ("page", "link", "told"),
    [
        (
            "attention",
            {"s": "我我我我", "panel": "steps", "stage": "scores", "hide_special": "true"},
            "“[SEP]” and “[SEP]” have the highest score: 9.62",
        ),
        ("heads", {"s": "good good"}, "Most common on this input: itself (15), selective (15)."),
        ("heads", {"s": "我我我我", "layer": "2", "head": "2"}, "on average gives “我 (2)” most: 0.48"),
        ("feed_forward", {"model": "paper", "s": "i", "neuron": "10"}, "Neuron 10 is 0 at every token."),
        ("translation", {"s": REPEATED, "step": "2"}, "attends most to “cat (3)” in the source: 75%"),
        ("translation", {"s": REPEATED, "step": "2", "panel": "alignment"}, "attends most to “cat (3)”: 75%"),
    ],
)
def test_what_is_said_of_tokens_that_stand_twice_or_do_nothing(page: str, link: dict[str, str], told: str) -> None:
    assert told in texts(open_page(page, **link)).replace("\\", "")


def test_a_last_layer_before_one_more_norm_is_not_Z(monkeypatch: pytest.MonkeyPatch) -> None:
    with_network(monkeypatch, pre_norm("text"))
    say("add_and_norm", {"panel": "ways"}, not_="add_and_norm.cosine_after")


def test_a_picture_is_called_no_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    (name,) = offer(monkeypatch, theirs("ViTModel")[1])
    picture = {"input": "picture", "model": name}
    for text in ("no_head", "title", "ask"):
        say("answer", picture, f"sentence_vector.{text}_picture", not_=f"sentence_vector.{text}")
    say("layers", picture | {"panel": "lens"}, "sentence_vector.no_guess_picture", not_="sentence_vector.no_guess")
    say("tokens", picture | {"panel": "pieces"}, "tokens.read_front", not_="tokens.read_inked")


def test_the_sum_of_a_cell_is_that_of_the_numbers_that_stand_there() -> None:
    for layer in range(1, 7):
        said = texts(open_page("add_and_norm", s=SENTENCE, panel="maps", stage="add_1", layer=str(layer)))
        parts = re.search(f"{NUMBER} \\+ \\(?{NUMBER}\\)? = {NUMBER}", said.replace("\\", "")).groups()
        numbers = [float(part.replace("−", "-")) for part in parts]
        assert f"{numbers[0] + numbers[1]:.4f}" == f"{numbers[2]:.4f}"
        assert "+ −" not in said.replace("\\", "")


def test_pictures_that_stand_together_differ_by_what_differs_most() -> None:
    warmer = {"panel": "attention", "edits": "layers.0.attention.scaled~temperature~value.3", "shown": "difference"}
    assert catalogue("en")["change.read_same"] not in texts(open_page("flat", **FLAT, **warmer))
