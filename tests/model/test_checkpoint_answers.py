"""Unusual settings of checkpoints, folders in the wild, and sentence vectors."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file
from tokenizers.pre_tokenizers import ByteLevel

from model.checkpoints import CheckpointError, load_folder
from model.checkpoints.span import best_span
from model.pipeline import Pooled
from tests.model.making import (
    ROUND,
    SENTENCES,
    network_in,
    odd_settings,
    rewritten,
    sentence_encoder,
)
from tests.refusals import refused

# Folders in the wild: old, from other libraries, or incomplete.


@pytest.fixture
def bert(tmp_path: Path) -> Path:
    network_in(tmp_path / "bert", "Bert", "ForMaskedLM", odd_settings("Bert", "ForMaskedLM", 0))
    return tmp_path / "bert"


def test_weights_that_a_wrapper_saved_and_those_of_another_answer_are_read(bert: Path) -> None:
    expected = load_folder(bert)(SENTENCES[0]).states()
    weights = {f"module.{name}": tensor for name, tensor in load_file(bert / "model.safetensors").items()}
    save_file(weights, bert / "model.safetensors")
    rewritten(bert, architectures=["BertModel"])
    np.testing.assert_array_equal(load_folder(bert)(SENTENCES[0]).states(), expected)


@pytest.mark.parametrize("names", [None, {"0": "LABEL_0", "1": "LABEL_1"}])
def test_classes_are_as_many_as_the_settings_say_and_without_as_many_names_counted(
    names: dict | None, tmp_path: Path
) -> None:
    settings = odd_settings("Bert", "ForSequenceClassification", 0) | {"num_labels": 4}
    network_in(tmp_path, "Bert", "ForSequenceClassification", settings)
    rewritten(tmp_path, id2label=names, label2id=None, num_labels=4)
    assert load_folder(tmp_path).reader.labels == ("LABEL_0", "LABEL_1", "LABEL_2", "LABEL_3")


@pytest.mark.parametrize(
    ("said", "head"),
    [
        ({}, "labels"),
        ({"problem_type": "regression"}, "numbers"),
        ({"sbert_ce_default_activation_function": "torch.nn.modules.linear.Identity"}, "numbers"),
        ({"sentence_transformers": {"activation_fn": "torch.nn.modules.activation.Sigmoid"}}, "labels"),
    ],
)
def test_a_reranker_says_by_which_function_its_one_number_is_read(said: dict, head: str, tmp_path: Path) -> None:
    settings = odd_settings("Bert", "ForSequenceClassification", 0) | {"num_labels": 1}
    network_in(tmp_path, "Bert", "ForSequenceClassification", settings)
    rewritten(tmp_path, **{"problem_type": None, **said})
    trace = load_folder(tmp_path)(SENTENCES[1])
    assert trace.config.head == head
    y = float(trace["labels"][0])
    (found,) = trace.answer[0].probabilities
    assert found == pytest.approx(1 / (1 + np.exp(-y)) if head == "labels" else y, rel=1e-5)


def test_byte_level_pieces_from_two_lists_are_theirs(tmp_path: Path) -> None:
    network_in(tmp_path, "Roberta", "Model", odd_settings("Roberta", "Model", 1) | {"vocab_size": 300})
    (tmp_path / "tokenizer.json").unlink()
    (tmp_path / "tokenizer_config.json").unlink()
    pieces = [*ROUND, *sorted(ByteLevel.alphabet()), "at", "Ġc", "Ġcat", "Ġt", "he", "Ġthe"]
    (tmp_path / "vocab.json").write_text(json.dumps({piece: i for i, piece in enumerate(pieces)}))
    (tmp_path / "merges.txt").write_text("#version: 0.2\na t\nĠ c\nĠc at\nĠ t\nh e\nĠt he\n", encoding="utf-8")
    mask = transformers.AddedToken("<mask>", lstrip=True)  # as in the authors' files
    library = transformers.RobertaTokenizer.from_pretrained(tmp_path, mask_token=mask)
    reader = load_folder(tmp_path).reader
    for text in ("the cat sat", "a café, 我们", "it sat on the [MASK] there"):
        assert reader.read(text).ids == library(text.replace("[MASK]", "<mask>"))["input_ids"]


def test_the_older_place_of_an_encoder_of_sentences_is_found_and_what_makes_one_vector_is_known(bert: Path) -> None:
    expected = load_folder(bert)(SENTENCES[0]).states()
    (bert / "0_Transformer").mkdir()
    for file in [path for path in bert.iterdir() if path.is_file()]:
        file.rename(bert / "0_Transformer" / file.name)
    kinds = {"0_Transformer": "Transformer", "1_Pooling": "Pooling", "2_Dense": "Dense", "3_Normalize": "Normalize"}
    parts = [{"path": path, "type": f"sentence_transformers.models.{kind}"} for path, kind in kinds.items()]
    (bert / "modules.json").write_text(json.dumps(parts))
    (bert / "1_Pooling").mkdir()
    modes = {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}
    (bert / "1_Pooling" / "config.json").write_text(json.dumps(modes))
    pipeline = load_folder(bert)
    assert pipeline.name == "bert" and pipeline.pooled == Pooled("cls", ("Dense", "Normalize"))
    np.testing.assert_array_equal(pipeline(SENTENCES[0]).states(), expected)
    (bert / "modules.json").write_text('[{"path": "../elsewhere", "type": "x.Pooling"}]')
    rewritten(bert / "0_Transformer", x=1)
    with pytest.raises(CheckpointError):
        load_folder(bert)


@pytest.mark.parametrize("bias", [True, False])
def test_a_sentence_is_one_vector_as_its_makers_make_it(bias: bool, tmp_path: Path) -> None:
    weights = sentence_encoder(tmp_path, bias)
    pipeline = load_folder(tmp_path)
    Z = pipeline(SENTENCES[0]).Z
    assert pipeline.pooled.computed
    np.testing.assert_array_equal(pipeline(SENTENCES[0]).vector, pipeline.pooled.steps(Z)[-1][1])
    steps = dict(pipeline.pooled.steps(Z))
    assert list(steps) == ["mean_sqrt_len", "Dense", "Normalize"]
    v = Z.sum(axis=0) / np.sqrt(len(Z))
    expected = np.tanh(weights["linear.weight"] @ v + weights.get("linear.bias", 0))
    np.testing.assert_allclose(steps["Dense"], expected, atol=1e-5)
    np.testing.assert_allclose(steps["Normalize"], expected / np.linalg.norm(expected), atol=1e-5)


def test_a_dense_that_does_more_is_named_and_one_of_another_width_is_refused(tmp_path: Path) -> None:
    sentence_encoder(tmp_path)
    said = json.loads((tmp_path / "2_Dense" / "config.json").read_text())
    for other in (
        {"use_residual": True},
        {"activation_function": "a.b.Mish"},
        {"module_input_name": "token"},
        {"module_input_name": ["x"]},
    ):
        (tmp_path / "2_Dense" / "config.json").write_text(json.dumps(said | other))
        pooled = load_folder(tmp_path).pooled
        assert pooled.more == ("Dense", "Normalize") and not pooled.computed
    (tmp_path / "2_Dense" / "config.json").write_text(json.dumps(said))
    save_file({"linear.weight": torch.randn(10, 23)}, tmp_path / "2_Dense" / "model.safetensors")
    with refused("tensor_shape"):
        load_folder(tmp_path)


def test_the_part_that_answers_is_one_of_the_text_and_begins_before_it_ends() -> None:
    tokens = ["[CLS]", "who", "sat", "[SEP]", "the", "cat", "sat", "[SEP]"]
    bounds = np.zeros((2, 8))
    bounds[0, [1, 6]], bounds[1, [2, 5]] = (9, 3), (9, 2)
    assert best_span(bounds, tokens) == (6, 6)
    bounds[0, 4] = 2
    assert best_span(bounds, tokens) == (4, 5)
    assert best_span(bounds[:, :4], tokens[:4]) == (1, 2)
