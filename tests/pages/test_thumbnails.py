"""The buttons of Attention's heads show where each head attends to."""

import re
from base64 import b64decode
from io import BytesIO

import numpy as np
from PIL import Image

from model import load
from pages.screen.components.thumbnails import COLOURS, MOST
from tests.pages.opening import open_page

SENTENCE = "the cat sat on the mat ."


def pictures(**link: str) -> list[np.ndarray]:
    app = open_page("attention", **link)
    (style,) = [part.proto.body for part in app.get("html") if "either-head" in part.proto.body]
    files = re.findall(r"base64,([^)]+)\)", style)
    return [np.asarray(Image.open(BytesIO(b64decode(file)))) for file in files]


def test_each_button_shows_the_weights_of_its_head() -> None:
    shown, weights = pictures(s=SENTENCE, layer="3"), load("text")(SENTENCE)["layers.2.attention.weights"]
    assert len(shown) == len(weights)
    for picture, own in zip(shown, weights, strict=True):
        np.testing.assert_array_equal(picture, COLOURS[np.rint(own * 255).astype(int)])


def test_of_many_tokens_neighbours_share_a_pixel_which_shows_the_largest() -> None:
    sentence = " ".join(["the cat sat ."] * 11)
    (picture, *_), weights = pictures(s=sentence), load("text")(sentence)["layers.0.attention.weights"][0]
    assert MOST < len(weights) == 2 * len(picture)
    largest = weights.reshape(len(picture), 2, len(picture), 2).max((1, 3))
    np.testing.assert_array_equal(picture, COLOURS[np.rint(largest * 255).astype(int)])
