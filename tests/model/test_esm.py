"""ESM-2 reads proteins: a text is cut into letters, queries and keys turn, and hidden words drop out."""

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
from tests.model.test_checkpoints import answer_of, network_in

TEXTS = ("MKTVRQERLKSIVRIL", "MKT[MASK]RQ x ER[MASK]LKS IVR", "[MASK][MASK]Aéb.-", "FVNQHL [SEP] GIVEQ")
SMALL = {
    "hidden_size": 24, "num_attention_heads": 3, "num_hidden_layers": 2, "intermediate_size": 40, "vocab_size": 33,
    "mask_token_id": 32, "pad_token_id": 1, "position_embedding_type": "rotary", "token_dropout": True,
    "emb_layer_norm_before": False, "layer_norm_eps": 1e-5, "max_position_embeddings": 100,
}  # fmt: skip


def saved(folder: Path, head: str = "ForMaskedLM", **more: object) -> transformers.PreTrainedModel:
    """A network of theirs with its own tokenizer, which has a vocab.txt and no tokenizer.json."""
    network = network_in(folder, "Esm", head, SMALL | more)
    (folder / "tokenizer.json").unlink()
    (folder / "vocab.txt").write_text("\n".join(get_default_vocab_list()))
    EsmTokenizer(str(folder / "vocab.txt")).save_pretrained(folder)
    return network


@pytest.mark.parametrize("text", TEXTS)
def test_pieces_are_theirs(text: str, tmp_path: Path) -> None:
    saved(tmp_path)
    theirs = EsmTokenizer(str(tmp_path / "vocab.txt"))
    assert load(str(tmp_path))(text).ids == theirs(*text.replace("[MASK]", "<mask>").split("[SEP]"))["input_ids"]


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
