"""`prepare` gives the same digit on any paper, at any place, with any pen; what is no digit is refused."""

import time
import tracemalloc
from itertools import pairwise

import numpy as np
import pytest

from model.digits import SIZE, Steps, pieces, prepare, steps
from tests.refusals import refused

# Strokes as (x, y) from 0 to 1, as a person draws them.
STROKES = {
    "0": [[(0.5 + 0.2 * np.sin(a), 0.5 - 0.3 * np.cos(a)) for a in np.linspace(0, 2 * np.pi, 25)]],
    "1": [[(0.45, 0.3), (0.55, 0.2), (0.55, 0.8)]],
    "2": [[(0.3, 0.3), (0.5, 0.2), (0.65, 0.35), (0.3, 0.75), (0.7, 0.75)]],
    "4": [[(0.4, 0.2), (0.3, 0.55), (0.7, 0.55)], [(0.6, 0.35), (0.6, 0.85)]],
    "7": [[(0.3, 0.25), (0.7, 0.25), (0.45, 0.8)]],
}


def drawing(digit: str, size: int = 140, pen: float = 10, zoom: float = 1) -> np.ndarray:
    """The digit drawn with a round, antialiased pen: (size, size) in [0, 1], bright ink."""
    y, x = np.mgrid[:size, :size] + 0.5
    nearest = np.full((size, size), np.inf)
    for stroke in STROKES[digit]:
        points = (np.array(stroke) - 0.5) * zoom * size + size / 2
        for (x0, y0), (x1, y1) in pairwise(points):
            length = (x1 - x0) ** 2 + (y1 - y0) ** 2
            along = (((x - x0) * (x1 - x0) + (y - y0) * (y1 - y0)) / length).clip(0, 1)
            nearest = np.minimum(nearest, np.hypot(x - x0 - along * (x1 - x0), y - y0 - along * (y1 - y0)))
    return (pen / 2 + 0.5 - nearest).clip(0, 1)


def box(image: np.ndarray) -> tuple[int, int]:
    """Height and width of the ink."""
    rows, columns = np.flatnonzero(image.any(1)), np.flatnonzero(image.any(0))
    return int(rows[-1] - rows[0] + 1), int(columns[-1] - columns[0] + 1)


def centre_of_mass(image: np.ndarray) -> np.ndarray:
    return np.array([(image.sum(1 - axis) * np.arange(SIZE)).sum() for axis in (0, 1)]) / image.sum()


@pytest.fixture(params=STROKES)
def digit(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.mark.parametrize(("pen", "zoom"), [(1, 0.25), (4, 1), (10, 0.25), (28, 1)])
def test_the_result_is_made_as_mnist_was(digit: str, pen: float, zoom: float) -> None:
    image = prepare(drawing(digit, pen=pen * zoom, zoom=zoom))
    assert image.shape == (SIZE, SIZE) and image.dtype == np.float32
    assert image.min() == 0 and image.max() == 1
    assert max(box(image)) == 20
    assert np.abs(centre_of_mass(image) - 14).max() < 0.502
    assert (image[image > 0.05] > 0.999).mean() > 0.15


def test_shift_padding_inversion_size_and_type_change_nothing_or_little(digit: str) -> None:
    drawn = drawing(digit)
    drawn.setflags(write=False)
    expected = prepare(drawn)
    assert np.array_equal(prepare(np.roll(drawn, (9, -13), (0, 1))), expected)
    assert np.array_equal(prepare(np.pad(drawn, ((60, 5), (0, 90)))), expected)
    assert np.allclose(prepare(0.8 - 0.5 * drawn), expected, atol=1e-5)
    assert np.abs(prepare(np.kron(drawn, np.ones((3, 3)))) - expected).mean() < 0.01
    assert np.abs(prepare((drawn * 255).round().astype(np.uint8)) - expected).max() < 0.02
    assert np.array_equal(prepare(drawn > 0.5), prepare((drawn > 0.5).astype(int)))
    once = prepare(drawing(digit, pen=14))
    assert np.abs(prepare(once) - once).mean() < 0.005


def test_a_digit_that_touches_the_border_is_still_ink(digit: str) -> None:
    drawn = drawing(digit)
    rows, columns = np.flatnonzero(drawn.any(1)), np.flatnonzero(drawn.any(0))
    cropped = drawn[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    if digit != "1":  # cropped, a 1 is mostly ink
        assert np.abs(prepare(cropped) - prepare(drawn)).mean() < 0.01
        assert np.allclose(prepare(1 - cropped), prepare(cropped), atol=1e-5)


def test_where_the_border_is_mostly_ink_the_rarer_of_the_two_is_the_ink() -> None:
    corner = np.zeros((60, 60))
    corner[:8] = corner[:, :8] = 1
    assert np.array_equal(prepare(corner), prepare(np.pad(corner, 20)))


def test_an_uneven_noisy_sheet_shows_the_same_digit(digit: str) -> None:
    drawn = drawing(digit, size=280, pen=20)
    light = np.linspace(0.6, 0.8, 280)[None]
    sheet = light - 0.45 * drawn + np.random.default_rng(0).normal(0, 0.02, drawn.shape)
    seen, expected = prepare(sheet), prepare(drawn)
    # Noise may move the centre of mass to the next pixel.
    near = [np.roll(seen, (down, right), (0, 1)) for down in (-1, 0, 1) for right in (-1, 0, 1)]
    assert max(np.corrcoef(image.ravel(), expected.ravel())[0, 1] for image in near) > 0.95


def test_no_ink_is_cut_off_however_uneven_its_weight() -> None:
    comet = np.zeros((200, 60))
    comet[:40, :60] = 1
    comet[40:, 28:32] = 1
    parts = steps(comet)
    assert parts.centred.sum() == pytest.approx(parts.scaled.sum())


def test_the_steps_lead_from_the_drawing_to_the_result(digit: str) -> None:
    drawn = drawing(digit)
    parts = steps(1 - drawn)
    assert isinstance(parts, Steps)
    assert np.allclose(parts.raw, np.where(drawn < 0.05, 0, drawn), atol=1e-5)
    assert parts.cropped.shape == box(parts.raw)
    assert max(parts.scaled.shape) == 20
    assert parts.cropped.shape[1] / parts.cropped.shape[0] == pytest.approx(
        parts.scaled.shape[1] / parts.scaled.shape[0], abs=0.05
    )
    assert np.array_equal(parts.centred, prepare(1 - drawn))
    for picture in (parts.raw, parts.cropped, parts.scaled, parts.centred):
        assert picture.dtype == np.float32 and picture.min() >= 0 and picture.max() <= 1


def dot(size: int, radius: float) -> np.ndarray:
    y, x = np.mgrid[:size, :size]
    return (radius + 0.5 - np.hypot(y - 0.4 * size, x - 0.55 * size)).clip(0, 1)


DICE = np.random.default_rng(1)
REFUSED = {
    "empty dark pad": ("blank", np.zeros((280, 280))),
    "almost nothing": ("blank", DICE.normal(0.1, 0.001, (50, 50))),
    "filled patch": ("all_ink", np.pad(np.ones((200, 200)), 40)),
    "a dot": ("all_ink", dot(280, 10)),
    "a speck": ("too_small", np.pad(np.ones((2, 3)), 100)),
    "a hair's width of picture": ("too_small", np.arange(5000.0)[None]),
    "even noise": ("noise", DICE.random((28, 28))),
    "grey noise": ("noise", DICE.normal(0.5, 0.1, (280, 280))),
    "many specks": ("noise", DICE.random((280, 280)) < 0.1),
    "a file name": ("not_an_image", "seven.png"),
    "no pixels": ("not_an_image", np.zeros((0, 28))),
    "colour": ("not_an_image", np.zeros((28, 28, 3))),
    "rows of two lengths": ("not_an_image", [[1], [1, 2]]),
    "no number": ("not_an_image", np.full((28, 28), np.nan)),
    "complex": ("not_an_image", np.ones((28, 28), complex)),
    "objects": ("not_an_image", np.array([[None, 1], [2, 3]])),
}


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.filterwarnings("error")
def test_what_shows_no_digit_is_refused_and_says_why(name: str) -> None:
    reason, image = REFUSED[name]
    with refused(reason):
        prepare(image)


def test_a_huge_picture_needs_little_memory() -> None:
    huge = np.kron((255 * drawing("2", size=250, pen=18)).astype(np.uint8), np.ones((40, 40), np.uint8))
    assert huge.shape == (10_000, 10_000)
    tracemalloc.start()
    image = prepare(huge)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < huge.nbytes / 2
    assert np.abs(image - prepare(drawing("2", size=250, pen=18))).mean() < 0.02


def test_pieces_are_what_the_eye_calls_one_in_reading_order_of_their_ends() -> None:
    picture = ["##...#", "..#..#", ".....#", "#.#.#."]
    named = pieces(np.array([[sign == "#" for sign in row] for row in picture]))
    assert named.tolist() == [[1, 1, 0, 0, 0, 4], [0, 0, 1, 0, 0, 4], [0, 0, 0, 0, 0, 4], [2, 0, 3, 0, 4, 0]]


def test_a_stroke_of_any_length_is_followed_at_once() -> None:
    snake = np.zeros((400, 400), bool)
    snake[::4] = True  # lines joined at alternating ends
    for row in range(0, 396, 4):
        snake[row : row + 4, -1 if row % 8 else 0] = True
    start = time.thread_time()
    assert pieces(snake).max() == 1
    assert time.thread_time() - start < 2
