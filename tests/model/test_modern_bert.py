"""ModernBERT equals its own library in odd settings, with the settings as they are written today and as they were."""

import json
from pathlib import Path

import numpy as np
import pytest

from model.hugging_face import CheckpointError, load_folder
from tests.model.test_checkpoint_answers import BENDS, HEADS, SENTENCES, differs, network_in
from tests.model.test_checkpoints import rewritten

#: What the suite runs; another range of seeds tries as many as are wanted.
FEW = [(head, seed) for seed, head in enumerate((*HEADS, "ForMaskedLM", "ForSequenceClassification"))]


def odd_settings(head: str, seed: int) -> dict:
    """Sizes, windows, turns, biases and activations that nobody uses, each by its seed."""
    dice = np.random.default_rng(seed)
    heads, pairs, layers = int(dice.integers(1, 6)), int(dice.integers(1, 5)), int(dice.integers(1, 7))
    kinds = ["sliding_attention" if local else "full_attention" for local in dice.integers(0, 2, layers)]
    biased = dict(zip(("attention_bias", "mlp_bias", "norm_bias", "classifier_bias", "decoder_bias"),
                      map(bool, dice.integers(0, 2, 5)), strict=True))  # fmt: skip
    turns = {kind: {"rope_type": "default", "rope_theta": float(10 ** dice.uniform(0.5, 6))} for kind in set(kinds)}
    settings = {
        "hidden_size": 2 * heads * pairs, "num_attention_heads": heads, "num_hidden_layers": layers,
        "intermediate_size": int(dice.integers(1, 60)), "max_position_embeddings": int(dice.integers(24, 50)),
        "hidden_activation": BENDS[seed % len(BENDS)], "classifier_activation": BENDS[(seed + 3) % len(BENDS)],
        "norm_eps": float(10.0 ** -dice.integers(3, 13)), "local_attention": int(dice.integers(1, 9)),
        "layer_types": kinds, "rope_parameters": turns, "vocab_size": 31, "pad_token_id": 0, "bos_token_id": 2,
        "cls_token_id": 2, "eos_token_id": 3, "sep_token_id": 3, **biased,
    }  # fmt: skip
    if seed % 3 == 0:  # the usual kinds of layers, and turns as they are
        settings |= {"layer_types": None, "rope_parameters": None}
    if head in ("ForSequenceClassification", "ForTokenClassification"):
        settings["num_labels"] = int(dice.integers(1, 7))
    if head == "ForSequenceClassification":
        settings["problem_type"] = (None, "multi_label_classification", "regression")[seed % 3]
        settings["classifier_pooling"] = ("cls", "mean")[seed % 2]
    return settings


@pytest.mark.parametrize(("head", "seed"), FEW)
def test_answers_and_stages_are_theirs_in_odd_settings(head: str, seed: int, tmp_path: Path) -> None:
    assert differs(tmp_path, "ModernBert", head, odd_settings(head, seed), SENTENCES[seed % 2]) < 1e-4


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    settings = odd_settings("ForMaskedLM", 1) | {"num_hidden_layers": 4, "layer_types": None, "rope_parameters": None}
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


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ({"layer_types": ["full_attention"]}, "setting"),
        ({"layer_types": ["linear_attention"] * 4}, "setting"),
        ({"layer_types": "full_attention"}, "setting"),
        ({"rope_parameters": {"full_attention": {"rope_type": "yarn", "rope_theta": 10.0}}}, "setting"),
        ({"rope_parameters": [1]}, "setting"),
        ({"rope_parameters": {"sliding_attention": {"rope_theta": "fast"}}}, "size"),
        ({"rope_scaling": {"type": "linear", "factor": 2}}, "setting"),
        ({"local_attention": 0}, "size"),
        ({"local_attention": "128"}, "size"),
        ({"layer_types": None, "global_attn_every_n_layers": 0}, "size"),
        ({"hidden_activation": "mish"}, "setting"),
        ({"intermediate_size": 7}, "tensor_shape"),
    ],
)
def test_settings_that_nobody_computes_are_named(said: dict, reason: str, folder: Path) -> None:
    rewritten(folder, **said)
    with pytest.raises(CheckpointError) as raised:
        load_folder(folder)
    assert raised.value.reason == reason
    name = next(name for name, value in said.items() if value is not None)
    assert name in str(raised.value) or reason == "tensor_shape"


def test_an_odd_number_of_numbers_has_no_pairs_to_turn(folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text())
    rewritten(folder, hidden_size=3 * config["num_attention_heads"])
    with pytest.raises(CheckpointError, match="hidden_size"):
        load_folder(folder)


def test_an_answer_bent_by_what_nobody_computes_leaves_the_stages(folder: Path) -> None:
    rewritten(folder, classifier_activation="mish")
    pipeline = load_folder(folder)
    assert pipeline.unanswered is not None and "classifier_activation" in str(pipeline.unanswered)
    assert pipeline(SENTENCES[0]).Z.shape == (10, pipeline.config.d_model)


def test_beside_a_long_sentence_a_short_one_is_as_if_it_were_alone(folder: Path) -> None:
    rewritten(folder, local_attention=2)  # of what fills the short one up, most sees nothing that is there
    pipeline = load_folder(folder)
    short, _ = pipeline.batch(["cat", SENTENCES[0]])
    np.testing.assert_allclose(short.Z, pipeline("cat").Z, atol=1e-5)
