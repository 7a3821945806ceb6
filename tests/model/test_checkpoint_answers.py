"""Other people's answers, and families that differ by a row, equal their own library's in odd settings."""

from pathlib import Path

import numpy as np
import pytest
import torch
import transformers

from model.hugging_face import load_folder
from tests.model.test_checkpoints import answer_of, write_tokenizer

WORDS = ("Bert", "Ernie", "MegatronBert", "Electra", "DistilBert", "Roberta", "RobertaPreLayerNorm", "Data2VecText")
ROUND = ("Roberta", "RobertaPreLayerNorm", "Data2VecText")
HEADS = ("Model", "ForMaskedLM", "ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering")
BENDS = ("gelu", "relu", "silu", "gelu_new", "gelu_fast", "gelu_pytorch_tanh", "swish", "gelu_python")
SENTENCES = ("the cat sat on a mat and it", "the dog slept [SEP] it rained by the door")
#: What the suite runs: each family and each head at least once. With another range of seeds, as many as are wanted.
FEW = [(family, HEADS[(i + 2 * j) % 5], i + 8 * j) for j in (0, 1, 2) for i, family in enumerate(WORDS)]


def odd_settings(family: str, head: str, seed: int) -> dict:
    """Sizes that nobody uses, and an activation, each by its seed."""
    dice = np.random.default_rng(seed)
    heads, d_k = int(dice.integers(1, 6)), int(dice.integers(1, 9))
    bend = "gelu" if head == "ForMaskedLM" and family not in ROUND else BENDS[seed % len(BENDS)]
    sizes = {
        "hidden_size": heads * d_k, "num_attention_heads": heads, "num_hidden_layers": int(dice.integers(1, 5)),
        "intermediate_size": int(dice.integers(1, 60)), "max_position_embeddings": int(dice.integers(24, 50)),
        "hidden_act": bend,
    }  # fmt: skip
    if family == "DistilBert":
        theirs = ("dim", "n_heads", "n_layers", "hidden_dim", "max_position_embeddings", "activation")
        sizes = dict(zip(theirs, sizes.values(), strict=True))
    else:
        sizes |= {"layer_norm_eps": float(10.0 ** -dice.integers(3, 13))}
        sizes |= {"type_vocab_size": 1 if family in ROUND else int(dice.integers(2, 4))}
    if family == "Electra":
        sizes["embedding_size"] = int(dice.integers(1, 40))
    if head in ("ForSequenceClassification", "ForTokenClassification"):
        sizes["num_labels"] = int(dice.integers(1, 7))
        sizes["problem_type"] = (None, "multi_label_classification", "regression")[seed % 3]
    return sizes | {"vocab_size": 31}


def network_in(folder: Path, family: str, head: str, settings: dict) -> transformers.PreTrainedModel:
    """A network of theirs with random numbers, saved in a folder."""
    torch.manual_seed(0)
    config = getattr(transformers, f"{family}Config")(**settings, attn_implementation="eager")
    network = getattr(transformers, family + head)(config).eval()
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.normal_(1.0 if parameter.ndim == 1 else 0.0, 0.3)
    network.save_pretrained(folder)
    if "image_size" not in settings:
        write_tokenizer(folder, family in ROUND)
    return network


def differs(folder: Path, family: str, head: str, settings: dict, x: object) -> float:
    """The largest difference of hidden states, attention and answer from their library's."""
    network = network_in(folder, family, head, settings)
    trace = load_folder(folder)(x)
    found = answer_of(network, trace)
    states = list(found.hidden_states)
    if trace.config.final_norm:
        states = states[: trace.graph.layers()]  # the last is before or behind the final norm, as the library likes
    pairs = [(trace.states()[: len(states)], torch.cat(states))]
    pairs.append((trace.over_layers("attention.weights"), torch.cat(found.attentions)))
    match trace.config.head:
        case "none":
            pairs.append((trace.Z, found.last_hidden_state[0]))
        case "span":
            pairs.append((trace["bounds"], torch.cat([found.start_logits, found.end_logits])))
        case kind:
            key = {"labels": "labels", "numbers": "labels", "tags": "tags"}.get(kind, "logits")
            pairs.append((trace[key], found.logits[0]))
    return max(float(np.abs(np.asarray(ours) - theirs.numpy()).max()) for ours, theirs in pairs)


@pytest.mark.parametrize(("family", "head", "seed"), FEW)
def test_answers_and_stages_are_theirs_in_odd_settings(family: str, head: str, seed: int, tmp_path: Path) -> None:
    assert differs(tmp_path, family, head, odd_settings(family, head, seed), SENTENCES[seed % 2]) < 1e-4


def pictures(seed: int) -> tuple[dict, np.ndarray]:
    dice = np.random.default_rng(seed)
    patch, side, heads = int(dice.integers(2, 9)), int(dice.integers(1, 5)), int(dice.integers(1, 5))
    settings = {
        "hidden_size": heads * int(dice.integers(1, 9)), "num_attention_heads": heads, "patch_size": patch,
        "num_hidden_layers": int(dice.integers(1, 4)), "intermediate_size": int(dice.integers(1, 60)),
        "image_size": patch * side, "hidden_act": BENDS[seed % len(BENDS)], "num_labels": int(dice.integers(1, 6)),
    }  # fmt: skip
    return settings, dice.random((patch * side, patch * side, 3), np.float32)


@pytest.mark.parametrize(("head", "seed"), [("Model", 0), ("ForImageClassification", 1), ("ForImageClassification", 3)])
def test_a_family_of_pictures_that_needs_no_more_is_theirs(head: str, seed: int, tmp_path: Path) -> None:
    settings, x = pictures(seed)
    assert differs(tmp_path, "ViTMSN", head, settings, x) < 1e-4
