"""Every page with every network that somebody may bring: one table of pages and networks."""

from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from tempfile import mkdtemp

import pytest

from pages.ui.frame.contents import PAGES
from pages.ui.text import LANGUAGES
from tests.model import test_fetched_most
from tests.model.test_checkpoints import MINILM
from tests.pages import (
    test_disentangled,
    test_esm,
    test_families,
    test_modern_bert,
    test_picture_families,
    test_pictures,
    test_t5,
)
from tests.pages.opening import open_page
from tests.pages.test_checkpoints import PAIR, offer


@cache
def jina() -> Path:
    """Scores fall with the distance, and each neuron has a gate."""
    folder = Path(mkdtemp(prefix="jina"))
    test_fetched_most.put(test_fetched_most.ROWS["jinaai/jina-embeddings-v2-base-en"], folder)
    return folder


#: A network, its folder, and what is put into it.
NETWORKS: dict[str, tuple[Callable[[], Path], dict[str, str]]] = {
    "MiniLM": (lambda: MINILM, {"s": PAIR}),
    "ModernBert": (test_modern_bert.folder_of, {"s": test_modern_bert.SENTENCE}),
    "Deberta": (test_disentangled.folder_of, {"s": test_disentangled.SENTENCE}),
    "Esm": (test_esm.folder, {"s": test_esm.PROTEIN}),
    "T5": (test_t5.folder, {"s": test_t5.SENTENCE}),
    "jina": (jina, {"s": test_families.SENTENCE}),
    **{
        family: (partial(test_families.folder_of, family), {"s": test_families.SENTENCE})
        for family in test_families.FAMILIES
    },
    **{
        kind: (partial(test_picture_families.folder_of, kind), test_picture_families.PICTURE)
        for kind in test_picture_families.KINDS
    },
    **{
        kind: (partial(test_pictures.folder, kind), {"input": "picture", "picture": "card"})
        for kind in (test_pictures.VIT, test_pictures.DEIT, "ViTModel")
    },
}


def language_of(place: int) -> str:
    """Each language in turn."""
    return tuple(LANGUAGES)[place % len(LANGUAGES)]


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("place", range(len(PAGES)), ids=[row.name for row in PAGES])
def test_every_page_opens_with_every_network(place: int, network: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, link = NETWORKS[network]
    (name,) = offer(monkeypatch, folder())
    language = language_of(place + [*NETWORKS].index(network))
    app = open_page(PAGES[place].name, lang=language, model=name, **{"layer": "2", "head": "3", **link})
    assert app.session_state["choice"].pipeline == name and not app.warning


#: Tabs of pages, each to be opened with every network.
PARTS = [
    *(("tokens", panel) for panel in ("vectors", "pieces", "order", "positions")),
    *(("queries_keys_values", panel) for panel in ("pair", "weights", "plane")),
    *(("layers", panel) for panel in ("lens", "path", "alike", "origin")),
]


@pytest.mark.parametrize("page, panel", PARTS, ids=map(" ".join, PARTS))
@pytest.mark.parametrize("network", NETWORKS)
def test_every_part_opens_with_every_network(
    network: str, page: str, panel: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, link = NETWORKS[network]
    (name,) = offer(monkeypatch, folder())
    link = {"layer": "2", "head": "3", **link}
    open_page(page, lang=language_of([*NETWORKS].index(network)), model=name, panel=panel, **link)
