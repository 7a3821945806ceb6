"""Every page shows at once: a filled picture, and nothing is asked, for a sentence and a drawing, with a bare link."""

import json

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages.ui.frame.contents import PAGES
from pages.ui.text import LANGUAGES, catalogue
from tests.pages.opening import assert_fine, at_page, charts, numbers, open_page, texts

STAGES = [row.name for row in PAGES if row.group in ("way", "layer")]
#: What a link of an earlier version may say, of each kind: its depths, what was seen, tabs that were merged or renamed.
EARLIER = [
    *(("attention", {"depth": depth}) for depth in ("story", "numbers", "formula", "code")),
    ("home", {"depth": "story", "seen": "home~attention"}),
    ("home", {"panel": "shapes"}),
    ("tokens", {"panel": "pieces"}),
    ("tokens", {"panel": "neighbours"}),
    ("queries_keys_values", {"panel": "maps"}),
    ("attention", {"panel": "steps", "stage": "scaled", "as": "why"}),
    ("heads", {"panel": "hunt", "task": "3"}),
    ("heads", {"panel": "scatter"}),
    ("add_and_norm", {"panel": "ways"}),
    ("feed_forward", {"panel": "alone"}),
    ("layers", {"panel": "path"}),
    ("answer", {"panel": "temperature", "tau": "3"}),
    ("what_if", {"panel": "residuals"}),
    ("translation", {"panel": "changes"}),
    ("shapes_and_cost", {"panel": "claims"}),
    ("lesson", {"lesson": "positions", "question": "bare"}),
    ("heads", {"hide": "depth,chips"}),
]


def filled(figure: dict) -> bool:
    """Whether a figure shows numbers: the cells of a heatmap, the lengths of bars, the places of points."""
    for trace in figure["data"]:
        for side in ("z", "x", "y"):
            values = trace.get(side)
            values = numbers(values) if isinstance(values, dict) else np.array(values if values is not None else [])
            if values.size > 4 and values.dtype.kind in "fiu" and np.isfinite(values).any() and np.ptp(values) > 0:
                return True
    return False


def overviews(app: AppTest) -> list[dict]:
    """What the overview of a run was given, if one is on the page."""
    parts = [part.proto for part in app.get("bidi_component") if part.proto.component_name == "overview"]
    return [json.loads(part.json) if part.json else {} for part in parts]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("link", [{}, {"input": "digit"}], ids=["sentence", "digit"])
@pytest.mark.parametrize("name", STAGES)
def test_a_bare_link_shows_a_filled_picture_and_asks_nothing(name: str, link: dict[str, str], language: str) -> None:
    app = open_page(name, lang=language, **link)
    assert overviews(app) or any(filled(chart["figure"]) for chart in charts(app)[:2])
    words, said = catalogue(language), texts(app)
    assert words["lesson.send"] not in [button.label for button in app.button]
    asked = [key for key in words if key.startswith("lesson.") and key.endswith(".ask")]
    assert asked and not [key for key in asked if "{" not in words[key] and words[key] in said]


@pytest.mark.parametrize(
    ("name", "link"), EARLIER, ids=lambda value: value if isinstance(value, str) else "&".join(value)
)
def test_a_link_of_before_opens_the_nearest_thing_without_a_remark(name: str, link: dict[str, str]) -> None:
    app = at_page(name, lang="en", s="the cat sat on the mat .", **link).run()
    assert_fine(app)
    assert not app.warning and len(texts(app)) > 50
