"""Words and distances told apart: rows of the table, three products in a score; DeBERTa is as its library has it."""

from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from transformers.models.deberta_v2.modeling_deberta_v2 import build_relative_position

from model import Edit
from model.disentangled import table_rows
from model.hugging_face import CheckpointError, load_folder
from model.order import without_positions
from model.sources import DISTANCE, of_attention
from tests.model.test_checkpoint_answers import BENDS, HEADS, SENTENCES, differs, network_in
from tests.model.test_checkpoints import rewritten
from tests.networks import example, pipeline, trace_of

TOLD = ("told apart", "told apart, one way", "told apart, keys unbiased")
TERMS = ("content_to_content", "content_to_position", "position_to_content")
#: What the suite runs; another range of seeds tries as many as are wanted.
FEW = [(head, seed) for seed, head in enumerate((*HEADS, *HEADS))]


def odd_settings(head: str, seed: int) -> dict:
    """Sizes, products, tables of distances and activations that nobody uses, each by its seed."""
    dice = np.random.default_rng(seed)
    heads, d_k = int(dice.integers(1, 6)), int(dice.integers(1, 9))
    products = (["c2p", "p2c"], ["p2c"], "p2c|c2p", ["c2p"], [])
    settings = {
        "hidden_size": heads * d_k, "num_attention_heads": heads, "num_hidden_layers": int(dice.integers(1, 5)),
        "intermediate_size": int(dice.integers(1, 60)), "max_position_embeddings": int(dice.integers(24, 50)),
        "hidden_act": BENDS[seed % len(BENDS)], "layer_norm_eps": float(10.0 ** -dice.integers(3, 13)),
        "type_vocab_size": int(dice.integers(0, 3)), "relative_attention": True,
        "pos_att_type": products[int(dice.integers(0, 5))],
        "position_buckets": int(dice.choice([-1, 2, 3, 4, 6, 9])),
        "max_relative_positions": int(dice.choice([-1, 8, 12, 20])), "share_att_key": bool(dice.integers(0, 2)),
        "norm_rel_ebd": ("none", "layer_norm")[int(dice.integers(0, 2))],
        "position_biased_input": bool(dice.integers(0, 3) == 0), "legacy": bool(seed % 2), "vocab_size": 31,
        "pooler_hidden_act": ("gelu", "tanh", "relu", "silu")[seed % 4],
    }  # fmt: skip
    if not settings["pos_att_type"]:
        settings["position_biased_input"] = True
    if head in ("ForSequenceClassification", "ForTokenClassification"):
        settings["num_labels"] = int(dice.integers(1, 7))
        settings["problem_type"] = (None, "multi_label_classification", "regression")[seed % 3]
    return settings


@pytest.mark.parametrize(("head", "seed"), FEW)
def test_answers_and_stages_are_theirs_in_odd_settings(head: str, seed: int, tmp_path: Path) -> None:
    assert differs(tmp_path, "DebertaV2", head, odd_settings(head, seed), SENTENCES[seed % 2]) < 1e-4


@pytest.mark.parametrize(("head", "seed"), FEW)
def test_those_of_the_first_deberta_are_theirs_too(head: str, seed: int, tmp_path: Path) -> None:
    settings = odd_settings(head, seed)
    settings["pos_att_type"] = settings["pos_att_type"] or ["c2p", "p2c"]
    assert differs(tmp_path, "Deberta", head, settings, SENTENCES[seed % 2]) < 1e-4


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    settings = odd_settings("ForMaskedLM", 1) | {"pos_att_type": ["c2p", "p2c"], "position_buckets": 6}
    network_in(tmp_path / "deberta", "DebertaV2", "ForMaskedLM", settings)
    return tmp_path / "deberta"


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ({"conv_kernel_size": 3}, "setting"),
        ({"pos_att_type": ["c2p", "p2p"]}, "setting"),
        ({"relative_attention": False}, "setting"),
        ({"position_biased_input": False, "pos_att_type": []}, "setting"),
        ({"embedding_size": 3}, "setting"),
        ({"attention_head_size": 3}, "setting"),
        ({"attention_head_size": {}}, "setting"),
        ({"pooler_hidden_size": 3}, "setting"),
        ({"position_buckets": 1}, "size"),
        ({"position_buckets": 100}, "size"),
        ({"max_relative_positions": "far"}, "size"),
        ({"hidden_act": "mish"}, "setting"),
        ({"position_buckets": 8}, "tensor_shape"),
        ({"position_buckets": None, "max_relative_positions": 1}, "tensor_shape"),
        ({"position_buckets": None, "max_relative_positions": None, "max_position_embeddings": None}, "tensor_shape"),
        ({"norm_rel_ebd": "layer_norm"}, "tensor_missing"),
    ],
)
def test_settings_that_nobody_computes_are_named(said: dict, reason: str, folder: Path) -> None:
    rewritten(folder, **said)
    with pytest.raises(CheckpointError) as raised:
        load_folder(folder)
    assert raised.value.reason == reason
    assert next(iter(said)) in str(raised.value) or reason.startswith("tensor")


@pytest.mark.parametrize("said", [{"talking_head": True}, {"pos_att_type": []}, {"relative_attention": False}])
def test_so_are_those_of_the_first(said: dict, tmp_path: Path) -> None:
    network_in(tmp_path, "Deberta", "Model", odd_settings("Model", 0) | {"position_biased_input": True})
    rewritten(tmp_path, **said)
    with pytest.raises(CheckpointError, match=next(iter(said))):
        load_folder(tmp_path)


def test_an_answer_bent_by_what_nobody_computes_leaves_the_stages(tmp_path: Path) -> None:
    network_in(tmp_path, "DebertaV2", "ForSequenceClassification", odd_settings("ForSequenceClassification", 2))
    rewritten(tmp_path, pooler_hidden_act="mish")
    assert "pooler_hidden_act" in str(load_folder(tmp_path).unanswered)


def test_beside_a_long_sentence_a_short_one_is_as_if_it_were_alone(folder: Path) -> None:
    of = load_folder(folder)
    short, _ = of.batch(["cat", SENTENCES[0]])
    for key in of("cat"):
        np.testing.assert_allclose(short[key], of("cat")[key], atol=1e-5, err_msg=key)


# Distances.


@pytest.mark.parametrize(("buckets", "farthest"), [(-1, 40), (-1, 700), (256, 512), (6, 20), (9, 30), (2, 8), (3, 512)])
def test_each_distance_has_the_row_that_their_library_gives_it(buckets: int, farthest: int) -> None:
    n, span = 700, buckets if buckets > 0 else farthest
    ours = table_rows(n, span, max(0, buckets) // 2, farthest)
    tokens = torch.zeros(1, n, 1)
    theirs = build_relative_position(tokens, tokens, buckets, farthest)[0] + span
    place = torch.arange(n) - torch.arange(n)[:, None] + n - 1
    assert torch.equal(ours[place], theirs.clamp(0, 2 * span - 1))


def test_all_layers_have_one_table() -> None:
    first, *others = (layer.attention for layer in pipeline(TOLD[0]).network.layers)
    for other in others:
        assert other.distances.weight is first.distances.weight
        assert other.distance_norm.weight is first.distance_norm.weight


@pytest.mark.parametrize("name", TOLD)
def test_a_score_is_the_sum_of_its_products_divided_once(name: str) -> None:
    trace = trace_of(name)
    for layer in range(trace.config.layers):
        here = f"layers.{layer}.attention."
        terms = [trace[here + term] for term in TERMS if here + term in trace]
        np.testing.assert_allclose(sum(terms), trace[f"{here}scores"], atol=1e-5)
        root = np.sqrt(len(terms) * trace.config.d_k)
        np.testing.assert_allclose(sum(terms) / root, trace[f"{here}scaled"], atol=1e-5)


def test_what_two_words_find_in_a_distance_is_the_same_wherever_they_stand() -> None:
    ids = [7, 8, 9, 7, 8, 9, 7]
    trace = pipeline(TOLD[0])(ids)
    for term in TERMS:
        values = trace[f"layers.0.attention.{term}"]
        np.testing.assert_allclose(values[:, :4, :4], values[:, 3:, 3:], atol=1e-5)
    distance = trace["layers.0.attention.content_to_position"]
    assert np.abs(distance - distance.swapaxes(1, 2)).max() > 1e-2


@pytest.mark.parametrize("edits", [(), (Edit("layers.{l}.attention.position_to_content", "scale", 2.0),)])
@pytest.mark.parametrize("name", TOLD)
def test_the_sources_of_a_score_tell_its_three_products_apart(name: str, edits: tuple[Edit, ...]) -> None:
    trace = pipeline(name)(example(name), edits)
    for layer in range(trace.config.layers):
        scores = of_attention(trace, trace.graph.sublayers(layer)[0], 1)
        asks, answers = (np.array([name == DISTANCE for name in of]) for of in (scores.of_queries, scores.of_keys))
        found = {
            "content_to_content": scores.parts[~asks][:, ~answers],
            "content_to_position": scores.parts[~asks][:, answers],
            "position_to_content": scores.parts[asks][:, ~answers],
        }
        here = f"layers.{layer}.attention."
        for term, parts in found.items():
            expected = trace[here + term][1] * trace.graph[f"{here}scaled"].factor if here + term in trace else 0
            np.testing.assert_allclose(parts.sum((0, 1)), expected, atol=1e-5)


def test_without_both_products_of_distances_nobody_knows_the_order() -> None:
    of, ids = pipeline(TOLD[0]), example(TOLD[0])
    edits = without_positions(of.graph)
    one, other = of(ids, edits), of(ids[::-1], edits)
    np.testing.assert_allclose(one.Z, other.Z[::-1], atol=1e-5)
    for edit in edits:  # each of the two alone tells it
        one, other = of(ids, [edit]), of(ids[::-1], [edit])
        assert np.abs(one.Z - other.Z[::-1]).max() > 1e-3


def test_a_high_temperature_evens_out_what_distances_add_too() -> None:
    weights = pipeline(TOLD[0])(example(TOLD[0]), [Edit("layers.{l}.attention.scaled", "temperature", 1000.0)])
    weights = weights.over_layers("attention.weights")
    np.testing.assert_allclose(weights, 1 / weights.shape[-1], atol=1e-2)


def test_pieces_are_cut_as_its_own_tokenizer_cuts_them(folder: Path) -> None:
    special = [(name, 0.0) for name in ("[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]")]
    words = [("▁the", -1.0), ("▁cat", -2.0), ("▁s", -3.0), ("at", -3.0), ("▁", -5.0), ("我", -4.0), (".", -2.0)]
    library = transformers.DebertaV2Tokenizer(vocab=[*special, *words], unk_id=3)
    (folder / "tokenizer.json").unlink()
    library.save_pretrained(folder)
    reader = load_folder(folder).reader
    for text in ("the cat sat.", "the  [MASK] sat 我 dog", "cat"):
        reading = reader.read(text)
        assert reading.ids == library(text)["input_ids"]
    assert reader.read("the cat sat [MASK]").tokens == ["[CLS]", "the", "cat", "s", "##at", "[MASK]", "[SEP]"]
    assert reader.read("the cat [SEP] sat").ids == library("the cat", "sat")["input_ids"]
