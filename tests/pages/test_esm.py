"""Every page with an ESM-2: proteins, whose hidden amino acids drop out, while the others grow for them."""

import json
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model import load
from model.examples import PROTEINS
from pages.ui.text import catalogue
from tests.model.test_esm import saved
from tests.pages.opening import APP, assert_fine, open_page, result
from tests.pages.test_checkpoints import maps, offer, said_on

PROTEIN = "MKTVRQ[MASK]RLKSIVR"


@cache
def folder() -> Path:
    home = Path(mkdtemp(prefix="esm-"))
    saved(home)
    return home


def test_a_link_that_names_the_model_alone_means_a_protein_and_proteins_are_offered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (name,) = offer(monkeypatch, folder())
    app = AppTest.from_file(str(APP), default_timeout=60)
    app.query_params.update({"lang": "en", "model": name})
    app.run()
    assert_fine(app)
    assert app.session_state["choice"].sentence == PROTEINS[0] and not app.warning
    (line,) = [part.proto for part in app.get("bidi_component") if part.proto.component_name == "sentence_line"]
    assert tuple(json.loads(line.json)["examples"]) == PROTEINS
    for text in PROTEINS:
        assert "[UNK]" not in load(str(folder()))(text).tokens


def test_what_hidden_words_do_to_the_others_is_worked_out(monkeypatch: pytest.MonkeyPatch) -> None:
    (name,) = offer(monkeypatch, folder())
    place = {"panel": "vectors", "stage": "tokens", "token": "3", "component": "6"}
    app = open_page("tokens", model=name, s=PROTEIN, **place)
    tokens = load(str(folder()))(PROTEIN)["embedding.tokens"]
    assert any(shown.shape == tokens.shape and np.allclose(shown, tokens, atol=1e-6) for shown in maps(app))
    assert result(app) == pytest.approx(float(tokens[2, 5]), abs=1e-4)
    said = said_on(open_page("tokens", model=name, s=PROTEIN, panel="pieces"))
    assert catalogue("en")["tokens.proteins"] in said
