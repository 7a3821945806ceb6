"""The buttons of Attention's heads show where each head attends to."""

import re
from base64 import b64decode
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from pages.drawing.scales import weights_end
from pages.screen.components.thumbnails import COLOURS, MOST
from tests.pages.inputs import DIGIT
from tests.pages.opening import open_page, run_of

SENTENCE = "the cat sat on the mat ."


def pictures(**link: str) -> list[np.ndarray]:
    app = open_page("attention", **link)
    (style,) = [part.proto.body for part in app.get("html") if "either-head" in part.proto.body]
    files = re.findall(r"base64,([^)]+)\)", style)
    return [np.asarray(Image.open(BytesIO(b64decode(file)))) for file in files]


@pytest.mark.parametrize("link", [{"s": SENTENCE}, {"s": "the cat sat . " * 11}, DIGIT])
def test_each_button_shows_the_weights_of_its_head_in_the_colours_of_home(link: dict[str, str]) -> None:
    """With many tokens, neighbours share a pixel that shows the largest weight."""
    run = run_of(open_page("attention", **link))
    weights = run["layers.2.attention.weights"]
    shown, size = pictures(**link, layer="3"), len(run.tokens)
    apart = -(-size // MOST)
    blocks = weights.reshape(len(weights), size // apart, apart, size // apart, apart).max((2, 4))
    ends = np.minimum(blocks / weights_end(run, "layers.2.attention.weights"), 1)
    np.testing.assert_array_equal(shown, COLOURS[np.rint(ends * 255).astype(int)])
