"""A link of an earlier version opens the nearest tab without a remark."""

import pytest

from pages.what_if.page import FORMER
from tests.pages.inputs import DOG
from tests.pages.opening import charts, open_page, texts, warnings

DIGIT = {"input": "digit"}
DECODER = "decoder.layers.2.cross.heads~zero~head.5"
#: A page, values of an old link, and the tab that opens.
LINKS = [
    ("attention", {"depth": "story", "stage": "scaled"}, "steps"),
    ("attention", {"stage": "scaled", "as": "why"}, "root"),
    ("attention", {"panel": "heads"} | DIGIT, "layers"),
    ("queries_keys_values", {"stage": "V"}, "maps"),
    ("heads", {"panel": "role", "hide": "depth,chips"}, "roles"),
    ("add_and_norm", {"panel": "why"}, "ablation"),
    ("feed_forward", {"panel": "curve", "order": "sorted"}, "loudest"),
    ("feed_forward", {"panel": "alone"}, "without"),
    ("layers", {"panel": "lengths", "seen": "layers"}, "path"),
    ("tokens", {"panel": "waves"}, "positions"),
    ("tokens", {"panel": "maps"} | DIGIT, "positions"),
    ("answer", {"panel": "temperature", "tau": "3"}, "all"),
    ("answer", {"tab": "wrote", "branch": "1"}, "all"),
    *(("what_if", {"panel": kind, "other": "a dog ran .", "stage": "set"}, to["tab"]) for kind, to in FORMER.items()),
    ("translation", {"panel": "inside", "block": "changes", "edits": DECODER}, "inside"),
    ("shapes_and_cost", {"panel": "claims"}, "notes"),
    ("shapes_and_cost", {"panel": "walk", "written": "letters", "length": "any", "scale": "linear"}, "walk"),
    ("home", {"panel": "shapes", "seen": "home~attention"}, ""),
    ("flat", {"panel": "why", "lang": "zh"} | DIGIT, ""),
]


@pytest.mark.parametrize(("page", "link", "tab"), LINKS)
def test_a_link_of_before_opens_the_nearest_tab_without_a_remark(page: str, link: dict[str, str], tab: str) -> None:
    app = open_page(page, **{"s": DOG, **link})
    assert not warnings(app) and len(texts(app)) > 50
    assert not tab or app.session_state[f"{page}.tabs"] == tab
    if page == "flat":
        assert "flat.with_noise" in [one["key"] for one in charts(app)], "whatever the input"
    if page == "what_if":
        assert app.session_state["at"]["block"] == link["panel"]
