"""ModernBERT: its settings as they are written today, and as they were."""

import json
from pathlib import Path

import numpy as np
import pytest

from model.checkpoints import load_folder
from tests.model.test_checkpoint_answers import BENDS, SENTENCES, labels, sizes
from tests.model.test_checkpoints import network_in


def odd_settings(head: str, seed: int) -> dict:
    """Sizes, windows, turns, biases and activations that nobody uses, each by its seed."""
    dice = np.random.default_rng(seed)
    settings = sizes(dice, seed, step=2)
    kinds = ["sliding_attention" if local else "full_attention"
             for local in dice.integers(0, 2, settings["num_hidden_layers"])]  # fmt: skip
    biased = ("attention_bias", "mlp_bias", "norm_bias", "classifier_bias", "decoder_bias")
    turns = {kind: {"rope_type": "default", "rope_theta": float(10 ** dice.uniform(0.5, 6))} for kind in set(kinds)}
    settings |= dict(zip(biased, map(bool, dice.integers(0, 2, 5)), strict=True)) | labels(dice, seed, head) | {
        "hidden_activation": settings.pop("hidden_act"), "classifier_activation": BENDS[(seed + 3) % len(BENDS)],
        "norm_eps": settings.pop("layer_norm_eps"), "local_attention": int(dice.integers(1, 9)),
        "layer_types": kinds, "rope_parameters": turns, "pad_token_id": 0, "bos_token_id": 2,
        "cls_token_id": 2, "eos_token_id": 3, "sep_token_id": 3, "classifier_pooling": ("cls", "mean")[seed % 2],
    }  # fmt: skip
    if seed % 3 == 0:  # the usual kinds of layers, and turns as they are
        settings |= {"layer_types": None, "rope_parameters": None}
    return settings


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    settings = odd_settings("ForMaskedLM", 1) | {
        "num_hidden_layers": 4, "layer_types": None, "rope_parameters": None, "hidden_size": 24,
        "num_attention_heads": 3, "local_attention": 4,
    }  # fmt: skip
    network_in(tmp_path / "modern", "ModernBert", "ForMaskedLM", settings)
    return tmp_path / "modern"


@pytest.mark.parametrize(
    ("older", "base"), [({}, 10_000.0), ({"local_rope_theta": 77.0}, 77.0), ({"local_rope_theta": None}, 160_000.0)]
)
def test_settings_as_they_were_once_written_are_read(older: dict, base: float, folder: Path) -> None:
    expected = load_folder(folder)(SENTENCES[0]).states()
    config = json.loads((folder / "config.json").read_text())
    kinds = config.pop("layer_types")
    assert config.pop("rope_parameters")["sliding_attention"]["rope_theta"] == 10_000.0
    (folder / "config.json").write_text(
        json.dumps(config | {"global_attn_every_n_layers": 3, "global_rope_theta": 160_000.0} | older)
    )
    pipeline = load_folder(folder)
    assert [layer in pipeline.config.local for layer in range(4)] == [kind == "sliding_attention" for kind in kinds]
    assert (pipeline.config.rotary_base, pipeline.config.local_base) == (160_000.0, base)
    assert np.array_equal(pipeline(SENTENCES[0]).states(), expected) == (base == 10_000.0)
