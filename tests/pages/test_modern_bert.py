"""Every page with a ModernBERT: no positions in the sum, queries and keys that turn, windows, and gates."""

from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest

from pages.ui.frame.contents import PAGES
from tests.model.test_checkpoint_answers import network_in
from tests.model.test_modern_bert import odd_settings
from tests.pages.opening import open_page
from tests.pages.test_checkpoints import offer

SENTENCE = "the cat sat on a [MASK] and it slept by the door"


@cache
def folder_of(head: str = "ForMaskedLM") -> Path:
    """Four layers: everywhere, in a window, in a window, everywhere."""
    settings = odd_settings(head, 1) | {
        "hidden_size": 24, "num_attention_heads": 3, "num_hidden_layers": 4, "intermediate_size": 40,
        "layer_types": None, "rope_parameters": None, "local_attention": 4, "hidden_activation": "gelu",
    }  # fmt: skip
    folder = Path(mkdtemp(prefix="modern-"))
    network_in(folder, "ModernBert", head, settings)
    return folder


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("page", [row.name for row in PAGES])
def test_every_page_opens(page: str, lang: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (name,) = offer(monkeypatch, folder_of())
    depth = {"en": "code", "zh": "story"}[lang]
    app = open_page(page, lang=lang, model=name, depth=depth, s=SENTENCE, layer="2", head="3")
    assert app.selectbox(key="model").value == name
    assert not app.warning
