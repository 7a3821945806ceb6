"""NomicBERT equals its own library in odd settings: turns, gates and two sentences."""

from pathlib import Path

import numpy as np
import pytest

from model.hugging_face import CheckpointError, load_folder
from tests.model.test_checkpoint_answers import BENDS, SENTENCES, differs, network_in
from tests.model.test_checkpoints import rewritten

HEADS = ("Model", "ForMaskedLM", "ForSequenceClassification", "ForTokenClassification")


def odd_settings(head: str, seed: int) -> dict:
    """Sizes that nobody uses, turns and an activation, each by its seed."""
    dice = np.random.default_rng(seed)
    heads, pairs = int(dice.integers(1, 6)), int(dice.integers(1, 5))
    settings = {
        "hidden_size": 2 * heads * pairs, "num_attention_heads": heads, "num_hidden_layers": int(dice.integers(1, 5)),
        "intermediate_size": int(dice.integers(1, 60)), "max_position_embeddings": int(dice.integers(24, 50)),
        "hidden_act": BENDS[seed % len(BENDS)], "layer_norm_eps": float(10.0 ** -dice.integers(3, 13)),
        "type_vocab_size": int(dice.integers(2, 4)), "vocab_size": 31,
    }  # fmt: skip
    if seed % 3:
        settings["rope_parameters"] = {"rope_type": "default", "rope_theta": float(10 ** dice.uniform(0.5, 6))}
    if head in HEADS[2:]:
        settings["num_labels"] = int(dice.integers(1, 7))
        settings["problem_type"] = (None, "multi_label_classification", "regression")[seed // 4 % 3]
    return settings


@pytest.mark.parametrize("seed", range(8))
def test_answers_and_stages_are_theirs_in_odd_settings(seed: int, tmp_path: Path) -> None:
    head = HEADS[seed % 4]
    assert differs(tmp_path, "NomicBert", head, odd_settings(head, seed), SENTENCES[seed // 4 % 2]) < 1e-4


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ({"rope_parameters": {"rope_type": "dynamic", "rope_theta": 10.0, "factor": 2.0}}, "setting"),
        ({"rope_parameters": {"rope_theta": "fast"}}, "size"),
        ({"rope_parameters": [1]}, "setting"),
        ({"head_dim": 3}, "setting"),
        ({"hidden_act": "mish"}, "setting"),
    ],
)
def test_settings_that_nobody_computes_are_named(said: dict, reason: str, tmp_path: Path) -> None:
    network_in(tmp_path, "NomicBert", "Model", odd_settings("Model", 4))
    rewritten(tmp_path, **said)
    with pytest.raises(CheckpointError) as raised:
        load_folder(tmp_path)
    assert raised.value.reason == reason and next(iter(said)) in str(raised.value)
