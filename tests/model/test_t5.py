"""T5's encoder equals its own library's in odd settings: distances alone, no score divided, and RMSNorm."""

import json
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors

from model import Edit, load
from model.hugging_face import CheckpointError, load_folder
from model.rms import RMSNorm
from model.sources import of_scores, of_stream
from tests.model.test_checkpoint_answers import BENDS, SENTENCES, differs, network_in
from tests.model.test_checkpoints import rewritten

#: What the suite runs; another range of seeds tries as many as are wanted.
FEW = range(8)
SMALL = {
    "d_model": 24, "d_kv": 8, "num_heads": 3, "num_layers": 2, "d_ff": 40, "feed_forward_proj": "gated-gelu",
    "vocab_size": 40,
}  # fmt: skip
WORDS = ["the", "cat", "sat", "on", "a", "mat", "and", "it", "dog", "slept", "by", "door", "rained", "chased"]


def odd_settings(seed: int) -> tuple[str, str, dict]:
    """Family, head, and sizes that nobody uses, with an activation and a gate or none, each by its seed."""
    dice = np.random.default_rng(seed)
    heads, d_k, buckets = (int(dice.integers(low, high)) for low, high in ((1, 6), (1, 9), (4, 40)))
    head, bend = ("EncoderModel", "ForTokenClassification")[seed % 3 == 2], BENDS[seed % len(BENDS)]
    settings = {
        "d_model": heads * d_k, "d_kv": d_k, "num_heads": heads, "num_layers": int(dice.integers(1, 5)),
        "d_ff": int(dice.integers(1, 60)), "feed_forward_proj": "gated-" * (seed // 2 % 2) + bend,
        "relative_attention_num_buckets": buckets,
        "relative_attention_max_distance": int(dice.integers(buckets // 4 + 1, 20)),
        "layer_norm_epsilon": float(10.0 ** -dice.integers(3, 13)), "vocab_size": 31, "pad_token_id": 0,
    }  # fmt: skip
    if head == "ForTokenClassification":
        settings["num_labels"] = int(dice.integers(1, 7))
    return ("T5", "MT5")[seed % 5 == 4], head, settings


@pytest.mark.parametrize("seed", FEW)
def test_answers_and_stages_are_theirs_in_odd_settings(seed: int, tmp_path: Path) -> None:
    assert differs(tmp_path, *odd_settings(seed), SENTENCES[seed % 2]) < 1e-4


def saved(folder: Path, head: str = "EncoderModel", **more: object) -> Path:
    """A small one, with pieces as SentencePiece has them: ▁ for a space, and </s> at the end."""
    network_in(folder, "T5", head, SMALL | more)
    pieces = ["<pad>", "</s>", "<unk>", *(f"▁{word}" for word in WORDS), "▁", *"sedthatic"]
    pieces = list(dict.fromkeys(pieces))
    tokenizer = Tokenizer(models.Unigram([(piece, -float(i)) for i, piece in enumerate(pieces)], unk_id=2))
    tokenizer.add_special_tokens(pieces[:3])
    tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", 1)]
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps({"eos_token": "</s>", "unk_token": "<unk>"}))
    return folder


def test_pieces_end_with_sep_and_no_cls_stands_in_front(tmp_path: Path) -> None:
    assert load(str(saved(tmp_path)))("the cats").tokens == ["the", "cat", "##s", "[SEP]"]


def test_its_graph_divides_nothing_and_adds_no_places(tmp_path: Path) -> None:
    trace = load(str(saved(tmp_path)))("the cat sat")
    assert "layers.0.attention.scaled" not in trace.graph and "embedding.positions" not in trace.graph
    A = "layers.1.attention."
    np.testing.assert_allclose(trace[A + "biased"], trace[A + "scores"] + trace[A + "relative"], atol=1e-6)
    assert trace.quantity(A + "biased").equation == r"\tilde S = S + B"
    assert trace.quantity("norm").equation.startswith(r"Z = \gamma \odot \frac{X^{(2)}}{\sqrt{\operatorname{RMS}")
    assert isinstance(load(str(tmp_path)).network.norm, RMSNorm)


def test_the_same_vector_twice_as_long_is_normed_alike_and_a_number_added_to_all_of_it_is_not(tmp_path: Path) -> None:
    pipeline = load(str(saved(tmp_path, layer_norm_epsilon=1e-12)))
    trace = pipeline("the cat sat")
    twice = pipeline("the cat sat", [Edit("embedding.tokens", "scale", 2.0)])
    np.testing.assert_allclose(twice["layers.0.norm_1"], trace["layers.0.norm_1"], atol=1e-5)
    more = pipeline("the cat sat", [Edit("embedding.tokens", lambda x: x + 1)])
    assert np.abs(more["layers.0.norm_1"] - trace["layers.0.norm_1"]).max() > 0.1


def test_streams_and_scores_are_the_sums_of_their_sources(tmp_path: Path) -> None:
    trace = load(str(saved(tmp_path)))("the cat sat on a mat")
    stream = of_stream(trace, 2)
    np.testing.assert_allclose(sum(stream.values()), trace.Z, atol=1e-4)
    names, parts = of_scores(trace, 1, 2)
    assert "distance" in names and "bias" not in names
    np.testing.assert_allclose(parts.sum((0, 1)), trace["layers.1.attention.biased"][2], atol=1e-3)


@pytest.mark.parametrize("head", ["Model", "ForConditionalGeneration", "ForSequenceClassification"])
def test_of_a_network_with_a_decoder_the_encoder_is_read_and_it_is_said_why_nothing_is_answered(
    head: str, tmp_path: Path
) -> None:
    pipeline = load(str(saved(tmp_path, head)))
    assert pipeline("the cat").Z.shape == (3, 24)
    assert (pipeline.unanswered is None) == (head == "Model")
    assert head == "Model" or f"T5{head}" in str(pipeline.unanswered)


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ({"feed_forward_proj": "gated-mish"}, "setting"),
        ({"feed_forward_proj": 3}, "setting"),
        ({"d_kv": 7}, "setting"),
        ({"d_kv": None, "num_heads": 4}, "setting"),
        ({"relative_attention_num_buckets": 3}, "size"),
        ({"relative_attention_num_buckets": 0}, "size"),
        ({"relative_attention_max_distance": 8}, "size"),
        ({"relative_attention_max_distance": "far"}, "size"),
        ({"feed_forward_proj": "relu"}, "tensor_missing"),
    ],
)
def test_settings_that_nobody_computes_are_named(said: dict, reason: str, tmp_path: Path) -> None:
    rewritten(saved(tmp_path), **said)
    with pytest.raises(CheckpointError) as raised:
        load_folder(tmp_path)
    assert raised.value.reason == reason
    assert reason == "tensor_missing" or next(iter(said)) in str(raised.value)
