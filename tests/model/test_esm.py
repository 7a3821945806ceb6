"""ESM-2 equals its own library in odd settings: proteins cut into letters, turns, and hidden words that drop out."""

from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file
from transformers.models.esm.configuration_esm import get_default_vocab_list
from transformers.models.esm.tokenization_esm import EsmTokenizer

from model import load
from model.by_hand import by_hand
from model.hugging_face import CheckpointError, load_folder
from tests.model.test_checkpoint_answers import network_in
from tests.model.test_checkpoints import answer_of, rewritten

HEADS = ("Model", "ForMaskedLM", "ForSequenceClassification", "ForTokenClassification")
TEXTS = ("MKTVRQERLKSIVRIL", "MKT[MASK]RQ x ER[MASK]LKS IVR", "[MASK][MASK]Aéb.-", "FVNQHL [SEP] GIVEQ")
SMALL = {
    "hidden_size": 24, "num_attention_heads": 3, "num_hidden_layers": 2, "intermediate_size": 40, "vocab_size": 33,
    "mask_token_id": 32, "pad_token_id": 1, "position_embedding_type": "rotary", "token_dropout": True,
    "emb_layer_norm_before": False, "layer_norm_eps": 1e-5, "max_position_embeddings": 100,
}  # fmt: skip


def odd_settings(head: str, seed: int) -> dict:
    """Sizes that nobody uses, with token dropout and a first norm or without, each by its seed."""
    dice = np.random.default_rng(seed)
    heads, pairs = int(dice.integers(1, 6)), int(dice.integers(1, 5))
    settings = SMALL | {
        "hidden_size": 2 * heads * pairs, "num_attention_heads": heads, "num_hidden_layers": int(dice.integers(1, 5)),
        "intermediate_size": int(dice.integers(1, 60)), "vocab_size": 33 + int(dice.integers(0, 5)),
        "token_dropout": bool(seed % 3), "emb_layer_norm_before": (True, False, None)[seed % 5 % 3],
        "layer_norm_eps": float(10.0 ** -dice.integers(3, 13)), "rope_theta": float(10 ** dice.uniform(0.5, 6)),
    }  # fmt: skip
    if head in HEADS[2:]:
        settings["num_labels"] = int(dice.integers(1, 6))
        settings["problem_type"] = (None, "multi_label_classification", "regression")[seed // 4 % 3]
    return settings


def saved(folder: Path, head: str = "ForMaskedLM", **more: object) -> transformers.PreTrainedModel:
    """A network of theirs with its own tokenizer, which has a vocab.txt and no tokenizer.json."""
    network = network_in(folder, "Esm", head, SMALL | more)
    (folder / "tokenizer.json").unlink()
    (folder / "vocab.txt").write_text("\n".join(get_default_vocab_list()))
    EsmTokenizer(str(folder / "vocab.txt")).save_pretrained(folder)
    return network


@pytest.mark.parametrize("seed", range(8))
def test_pieces_answers_and_stages_are_theirs_in_odd_settings(seed: int, tmp_path: Path) -> None:
    assert differs(tmp_path, seed) < 1e-4


def differs(folder: Path, seed: int) -> float:
    """The largest difference of hidden states, attention and answer from their library's, for the same pieces."""
    head, text = HEADS[seed % 4], TEXTS[(seed // 4 + seed) % 4]
    network = saved(folder, head, **odd_settings(head, seed))
    trace = load_folder(folder)(text)
    theirs = EsmTokenizer(str(folder / "vocab.txt"))
    assert trace.ids == theirs(*text.replace("[MASK]", "<mask>").split("[SEP]"))["input_ids"]
    found, layers = answer_of(network, trace), trace.graph.layers()
    key = {"labels": "labels", "numbers": "labels", "tags": "tags", "none": "norm"}.get(trace.config.head, "logits")
    answer = found.last_hidden_state if head == "Model" else found.logits
    pairs = [
        (trace.states()[:layers], torch.cat(found.hidden_states[:layers])),
        (trace.over_layers("attention.weights"), torch.cat(found.attentions)),
        (trace[key], answer[0]),
    ]
    return max(float(np.abs(np.asarray(ours) - of.numpy()).max()) for ours, of in pairs)


def test_a_hidden_word_counts_as_nothing_and_the_others_for_it(tmp_path: Path) -> None:
    saved(tmp_path)
    pipeline = load(str(tmp_path))
    E = pipeline.network.embedding.E.weight.numpy()
    for text, hidden in (("MKTV", 0), ("M[MASK]TV", 1), ("M[MASK]T[MASK]", 2)):
        trace = pipeline(text)
        k = np.array([name != "[MASK]" for name in trace.tokens]) * 0.88 / (1 - hidden / 6)
        np.testing.assert_allclose(trace["embedding.tokens"], k[:, None] * E[trace.ids], atol=1e-6)
    worked = by_hand(pipeline.network, trace, "embedding.tokens", (1, 3))
    assert r"\frac{0.88}{1 - 2/6} = 1.32000" in [step.latex.partition(" = ")[2] for step in worked.steps]
    assert by_hand(pipeline.network, trace, "embedding.tokens", (2, 3)).value == 0


def test_beside_a_long_protein_a_short_one_is_as_if_it_were_alone(tmp_path: Path) -> None:
    saved(tmp_path)
    pipeline = load(str(tmp_path))
    for one, text in zip(pipeline.batch(["M[MASK]K", TEXTS[1]]), ("M[MASK]K", TEXTS[1]), strict=True):
        np.testing.assert_allclose(one["logits"], pipeline(text)["logits"], atol=1e-4)


def test_turns_that_a_file_holds_in_fewer_digits_are_taken_as_they_are(tmp_path: Path) -> None:
    network = saved(tmp_path)
    rounded = network.esm.rotary_embeddings.inv_freq.half()
    file = tmp_path / "model.safetensors"
    tensors = {name: tensor for name, tensor in load_file(file).items() if "inv_freq" not in name}
    older = {
        f"esm.encoder.layer.{layer}.attention.self.rotary_embeddings.inv_freq": rounded.clone() for layer in (0, 1)
    }
    save_file(tensors | older, file, {"format": "pt"})
    pipeline = load(str(tmp_path))
    trace = pipeline("MKTVRQERLKSIVRIL")
    network.esm.rotary_embeddings.inv_freq.data = rounded.float()
    np.testing.assert_allclose(trace["logits"], answer_of(network, trace).logits[0], atol=1e-4)
    for layer in pipeline.network.layers:
        assert torch.equal(layer.attention.speeds, rounded.float())
    cell = (1, 12, 2)
    worked = by_hand(pipeline.network, trace, "layers.1.attention.Q_rotated", cell)
    assert worked.steps[-1].value == pytest.approx(float(trace["layers.1.attention.Q_rotated"][cell]), abs=2e-4)


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ({"position_embedding_type": "absolute"}, "setting"),
        ({"position_embedding_type": None}, "setting"),
        ({"is_folding_model": True}, "setting"),
        ({"is_decoder": True}, "setting"),
        ({"rope_theta": "fast"}, "size"),
        ({"mask_token_id": None}, "size"),
        ({"mask_token_id": 33}, "size"),
        ({"emb_layer_norm_before": True}, "tensor_missing"),
    ],
)
def test_settings_that_nobody_computes_are_named(said: dict, reason: str, tmp_path: Path) -> None:
    saved(tmp_path)
    rewritten(tmp_path, **said)
    with pytest.raises(CheckpointError) as raised:
        load_folder(tmp_path)
    assert raised.value.reason == reason
    assert reason == "tensor_missing" or next(iter(said)) in str(raised.value)
