"""Every page with a family of encoders that differs from the paper: at each depth, in both languages."""

from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest

from model import load
from pages.ui.frame.contents import PAGES
from pages.ui.text import catalogue
from tests.model.test_checkpoint_answers import network_in, odd_settings
from tests.pages.opening import charts, open_page
from tests.pages.test_checkpoints import offer, said_on

SENTENCE = "the cat sat on a [MASK]"
#: A family, its head, and settings that show what it does otherwise.
FAMILIES = {
    "Albert": ("ForMaskedLM", {"num_hidden_layers": 4, "num_hidden_groups": 2, "embedding_size": 16}),
}
LOOKS = [("en", "code"), ("zh", "formula"), ("en", "numbers"), ("zh", "story")]


@cache
def folder_of(family: str) -> Path:
    head, settings = FAMILIES[family]
    whole = odd_settings(family, head, 0) | {"hidden_size": 24, "num_attention_heads": 3, "intermediate_size": 40}
    folder = Path(mkdtemp(prefix=family))
    network_in(folder, family, head, whole | settings)
    return folder


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("place", range(len(PAGES)), ids=[row.name for row in PAGES])
def test_every_page_opens_with_the_family(family: str, place: int, monkeypatch: pytest.MonkeyPatch) -> None:
    (name,) = offer(monkeypatch, folder_of(family))
    language, depth = LOOKS[place % len(LOOKS)]
    app = open_page(PAGES[place].name, lang=language, model=name, depth=depth, s=SENTENCE, layer="2", head="3")
    assert app.selectbox(key="model").value == name and not app.warning


def test_that_layers_share_their_weights_is_said_where_they_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    (name,) = offer(monkeypatch, folder_of("Albert"))
    said = catalogue("en")["shared.some"].format(N=4, sets=2, each=2)
    places = {
        "home": {"panel": "whole"}, "layers": {"panel": "path"}, "what_if": {"panel": "heads"},
        "queries_keys_values": {"panel": "weights"}, "answer": {},
    }  # fmt: skip
    for page, link in places.items():
        app = open_page(page, model=name, depth="numbers", s=SENTENCE, **link)
        assert said in said_on(app) and charts(app), page
    counted = sum(weight.numel() for weight in load(str(folder_of("Albert"))).network.parameters())
    assert f"{counted:,}" in said_on(app)


def test_our_own_layers_have_weights_of_their_own() -> None:
    said = said_on(open_page("layers", depth="numbers", panel="path"))
    assert "sets of weights" not in said and "the same set" not in said and "weights of its own" in said
