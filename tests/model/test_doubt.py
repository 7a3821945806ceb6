"""Non-digits are called unsure, digits are not: on drawings not used to make the rule."""

from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest
import torch
from PIL import Image, ImageDraw, ImageFont

from model import examples, load
from model.digits import DigitError, prepare, stand_apart
from model.files import WEIGHTS, WeightsError, intact, seal_of
from model.measures import doubt as model_doubt
from model.measures.doubt import FILE, MADE_FROM, Doubt, doubt, margin
from model.training.digits import scanned
from model.training.drawings import drawn_digits
from pages.drawing.state.sketch import example_digits

SIDE = 224
DIGITS_ALIKE = "OISZ"  # capitals that look like digits


@pytest.fixture
def rule() -> Doubt:
    found = doubt()
    assert found, f"measured of other weights: run python -m model.training doubt, after {MADE_FROM} was trained"
    return found


def letter(sign: str, dice: np.random.Generator) -> Image.Image:
    """A capital, slightly rotated."""
    sheet = Image.new("L", (SIDE, SIDE))
    ImageDraw.Draw(sheet).text((SIDE / 2, SIDE / 2), sign, 255, ImageFont.load_default(150), anchor="mm")
    return sheet.rotate(dice.uniform(-10, 10))


def scribble(_: str, dice: np.random.Generator) -> Image.Image:
    """A random walk with inertia."""
    sheet, at, going = Image.new("L", (SIDE, SIDE)), np.array([112.0, 112.0]), dice.normal(0, 10, 2)
    points = []
    for _step in range(int(dice.integers(60, 140))):
        going = 0.85 * going + dice.normal(0, 7, 2) + 0.03 * (112 - at)
        at = (at + going).clip(12, SIDE - 12)
        points.append(tuple(at))
    ImageDraw.Draw(sheet).line(points, 255, int(dice.integers(6, 18)), "curve")
    return sheet


def share_of_unsure(rule: Doubt, draw: Callable[[str, np.random.Generator], Image.Image], signs: list[str]) -> float:
    dice, network, unsure = np.random.default_rng(3), load("digits"), 0
    for sign in signs:
        try:
            unsure += rule.about(network(prepare(np.asarray(draw(sign, dice))))) is not None
        except DigitError:  # refused before the network
            unsure += 1
    return unsure / len(signs)


def test_most_of_what_is_no_digit_is_called_unsure(rule: Doubt) -> None:
    capitals = [chr(code) for code in range(65, 91)]
    shares = {
        "letters": share_of_unsure(rule, letter, [sign for sign in capitals if sign not in DIGITS_ALIKE] * 2),
        "scribbles": share_of_unsure(rule, scribble, [""] * 40),
    }
    assert all(share >= 0.8 for share in shares.values()), shares


def test_digits_are_not(rule: Doubt) -> None:
    network = load("digits")
    unsure = [rule.about(network(prepare(picture))) for picture in [*examples.digits(), *example_digits() / 255]]
    assert unsure.count(None) >= len(unsure) - 1
    # Measured on MNIST's 10,000 test digits when the rule was made.
    assert rule.measured["test_digits"] <= 0.02
    assert min(rule.measured[name] for name in ("drawn_letters", "printed_letters", "smileys", "scribbles")) >= 0.8


def side_by_side(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Two digits next to each other, as far apart as their margins."""
    return prepare(np.concatenate([left, right], axis=1))


def test_two_digits_in_a_row_are_not_read_as_one(rule: Doubt) -> None:
    network, pictures = load("digits"), examples.digits()
    said = [rule.about(network(side_by_side(*pair))) for pair in combinations(pictures, 2)]
    assert said.count("several") >= 0.9 * len(said), {reason: said.count(reason) for reason in set(said)}
    assert not any(stand_apart(prepare(picture)) for picture in [*pictures, *example_digits() / 255])


def test_a_dot_beside_a_digit_is_no_second_one() -> None:
    picture = np.zeros((112, 112))
    picture[10:100, 20:40] = picture[90:100, 70:80] = 1
    assert not stand_apart(prepare(picture))
    picture[40:100, 70:80] = 1
    assert stand_apart(prepare(picture))


def test_a_small_lead_is_no_answer(rule: Doubt) -> None:
    """Mixtures of two digits, half and half: nearly equal probabilities are called unsure."""
    network, pictures = load("digits"), examples.digits()
    level = 0
    for one, other in combinations(pictures, 2):
        trace = network((one + other) / 2)
        lead = margin(np.array(trace.answer[0].probabilities))
        if rule.strangeness(trace.states()[1:]) <= 0:
            assert rule.about(trace) == ("close" if lead < rule.least_margin else None)
            level += lead < rule.least_margin
    assert level, "no mixture was level: nothing was tested"


def test_nothing_is_said_of_a_network_that_was_not_measured(rule: Doubt, tmp_path, monkeypatch) -> None:
    flat = load("flat")
    assert rule.about(flat(examples.digits()[0])) is None
    monkeypatch.setattr(model_doubt, "WEIGHTS", tmp_path)
    for name in (FILE, MADE_FROM):
        for path in (WEIGHTS / name, seal_of(WEIGHTS / name)):
            (tmp_path / path.name).write_bytes(path.read_bytes())
    assert doubt.__wrapped__() is not None
    (tmp_path / MADE_FROM).write_bytes(b"other weights")
    assert doubt.__wrapped__() is None
    (tmp_path / FILE).write_bytes((tmp_path / FILE).read_bytes()[:-1])
    with pytest.raises(WeightsError, match=FILE):
        doubt.__wrapped__()
    assert intact(WEIGHTS / FILE)


def test_digits_by_other_hands_are_read() -> None:
    """Drawn in ways not seen in training, and the same scanned to 16×16 black or white pixels."""
    drawn, labels = drawn_digits(6, np.random.default_rng(5))
    network = load("digits").network
    for some in (drawn, scanned(drawn)):
        with torch.inference_mode():
            right = network(some).argmax(-1) == labels
        assert right.float().mean() >= 0.97
