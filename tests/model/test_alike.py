"""Similarity of two inputs: vectors as sentence-transformers makes them, and a map that adds up to the cosine."""

import json
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from tempfile import mkdtemp
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from model import Edit, Pipeline, Trace, load
from model.checkpoints.folder import MODES
from model.edits import head_off
from model.measures import siamese
from model.measures.alike import MEAN, alike, cosine, moved, of_cosine, of_pair, through_layers, vector_of
from model.measures.siamese import at_words
from model.measures.sources import made_of
from model.variants.pooled import POOLINGS, Dense, Pooled
from pages.drawing.state import images
from tests.model.making import MINILM, SENTENCES, WORDS, network_in, odd_settings, sentence_encoder
from tests.pages.inputs import folder as network

#: Family -> pooling that its folder names.
FOLDERS = {
    "MiniLM": "mean", "MPNet": "mean", "Bert": "cls", "Roberta": "max", "DistilBert": "mean_sqrt_len",
    "Electra": "weightedmean", "Albert": "lasttoken",
}  # fmt: skip
#: The same poolings by hand: Reimers and Gurevych 2019, section 3, and the library's documentation.
BY_HAND = {
    "mean": lambda Z: sum(Z) / len(Z), "cls": lambda Z: Z[0], "max": lambda Z: np.sort(Z, axis=0)[-1],
    "mean_sqrt_len": lambda Z: sum(Z) / len(Z) ** 0.5, "lasttoken": lambda Z: Z[-1],
    "weightedmean": lambda Z: sum(place * row for place, row in enumerate(Z, 1)) / sum(range(1 + len(Z))),
}  # fmt: skip
CARD = images.ready("card")
MOST = 30  # words per sentence


@cache
def folder(name: str) -> Path:
    if name == "MiniLM":
        return MINILM
    made = Path(mkdtemp(prefix=name))
    network_in(made, name, "Model", odd_settings(name, "Model", 2))
    kinds = {"": "Transformer", "1_Pooling": "Pooling", "2_Normalize": "Normalize"}
    parts = [
        {"idx": place, "name": f"{place}", "path": path, "type": f"sentence_transformers.models.{kind}"}
        for place, (path, kind) in enumerate(kinds.items())
    ]
    (made / "modules.json").write_text(json.dumps(parts))
    (made / "1_Pooling").mkdir()
    width = load(str(made)).config.d_model
    said = {"word_embedding_dimension": width, "pooling_mode_mean_tokens": False}
    said |= {next(mode for mode, pooling in MODES.items() if pooling == FOLDERS[name]): True}
    (made / "1_Pooling" / "config.json").write_text(json.dumps(said))
    tokenizer = json.loads((made / "tokenizer_config.json").read_text())
    said = {"tokenizer_class": "PreTrainedTokenizerFast", "pad_token": "<pad>" if "cls_token" in tokenizer else "[PAD]"}
    (made / "tokenizer_config.json").write_text(json.dumps(tokenizer | said))
    return made


def makers(folder: Path) -> Any:
    """The folder as sentence-transformers loads it. Imported here: that takes seconds, in each worker that collects."""
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(folder), device="cpu")


def texts(pipeline: Pipeline, seed: int) -> list[str]:
    """Sentences of all lengths that the encoder reads."""
    dice = np.random.default_rng(seed)
    most = min(MOST, pipeline.reader.max_len - 2)
    return [" ".join(dice.choice(WORDS, dice.integers(1, most + 1))) for _ in range(30)]


@pytest.mark.parametrize("name", FOLDERS)
def test_the_vector_is_that_of_its_makers_and_the_map_adds_up_to_their_cosine(name: str) -> None:
    pipeline, theirs = load(str(folder(name))), makers(folder(name))
    said = texts(pipeline, len(name))
    runs, vectors = pipeline.batch(said), theirs.encode(said)
    for run, vector in zip(runs, vectors, strict=True):
        own = BY_HAND[FOLDERS[name]](run.Z.astype(np.float64))
        np.testing.assert_allclose(run.vector, own / np.linalg.norm(own), atol=1e-6)
        np.testing.assert_allclose(run.vector, vector, atol=1e-6)
    for (one, u), (two, v) in pairwise(zip(runs, vectors, strict=True)):
        cells = of_cosine(one, two)
        assert cells.shape == (len(one.tokens), len(two.tokens))
        assert cells.sum() == pytest.approx(float(u @ v), abs=1e-5)
        np.testing.assert_allclose(of_cosine(two, one), cells.T, atol=1e-12)


@pytest.mark.parametrize("most", [5, 8, 400])
@pytest.mark.parametrize("said", ["sentence_bert_config.json", "tokenizer_config.json"])
def test_of_a_long_sentence_as_much_is_read_as_its_makers_read(said: str, most: int, tmp_path: Path) -> None:
    sentence_encoder(tmp_path)
    there = json.loads((tmp_path / said).read_text()) if (tmp_path / said).exists() else {}
    name = "max_seq_length" if said.startswith("sentence") else "model_max_length"
    (tmp_path / said).write_text(json.dumps(there | {name: most}))
    pipeline = load(str(tmp_path))
    text = " ".join(SENTENCES[0].split() * (3 if most < 20 else 2))
    trace = pipeline(text)
    theirs = makers(tmp_path)
    assert len(trace.tokens) == len(theirs.tokenize([text])["input_ids"][0]) <= most
    np.testing.assert_allclose(trace.vector, theirs.encode([text])[0], atol=1e-5)
    assert [note.reason for note in trace.notes] == ["truncated"] * (most < len(text.split()))


def test_a_cell_is_the_product_of_two_rows_and_of_one_row_there_is_one_cell() -> None:
    one, two = load(str(MINILM)).batch(["A man is eating food.", "A woman plays."])
    u, v = (np.linalg.norm(run.Z.mean(axis=0)) for run in (one, two))
    expected = one.Z[3] @ two.Z[2] / (len(one.Z) * len(two.Z) * u * v)
    assert of_cosine(one, two)[3, 2] == pytest.approx(float(expected), abs=1e-7)
    for pooling, place in (("cls", (0, 0)), ("lasttoken", (-1, -1))):
        cells = of_cosine(one, two, Pooled(pooling))
        assert (cells != 0).sum() == 1 and cells[place] == pytest.approx(cells.sum())


@pytest.mark.parametrize("name", ["MPNet", "Bert", "DistilBert"])
def test_what_heads_and_ffns_bring_to_a_cell_adds_up_to_it(name: str) -> None:
    pipeline = load(str(folder(name)))
    one, two = map(pipeline, texts(pipeline, 4)[:2])
    largest, cells = np.abs(of_cosine(one, two)).max(), of_cosine(one, two)
    for i, j in {(0, 0), (len(cells) - 1, 0), (len(cells) // 2, cells.shape[1] - 1), (len(cells) - 1, -1)}:
        whole = of_pair(one, two, (i, j))
        assert float(whole.value) == pytest.approx(cells[i, j], abs=1e-7)
        parts = made_of(one, whole)
        assert sum(float(part.value) for part in parts) == pytest.approx(cells[i, j], abs=1e-5 * largest)
        for output in (part for part in parts if part.name.endswith("attention.output")):
            heads = made_of(one, output)
            assert sum(float(part.value) for part in heads) == pytest.approx(float(output.value), abs=1e-5 * largest)
            taken = made_of(one, heads[-2])  # after the heads, their bias
            assert len(taken) == len(one.tokens)
            found = sum(float(part.value) for part in taken)
            assert found == pytest.approx(float(heads[-2].value), abs=1e-5 * largest)


@pytest.mark.parametrize("name", ["MiniLM", "Roberta", "Albert"])
def test_pairs_of_words_add_up_to_the_cosine_with_what_is_left_and_more_points_leave_less(name: str) -> None:
    pipeline = load(str(folder(name)))
    one, two = pipeline("the cat sat"), pipeline("a dog ran home")
    few, many = (at_words(pipeline, one, two, texts=2, points=points) for points in (1, 16))
    for found in (few, many):
        assert found.cells.shape == (len(one.tokens), len(two.tokens))
        whole = found.cells.sum() + found.of_random + found.gap
        assert whole == pytest.approx(float(one.vector @ two.vector), abs=1e-5)
        assert not found.cells[[0, -1]].any() and not found.cells[:, [0, -1]].any(), "special tokens stay as they are"
        assert found.cells.any()
    assert abs(many.gap) < max(0.03, abs(few.gap) / 4)


def test_a_pair_of_words_brings_how_fast_both_vectors_grow_on_the_way_to_them(monkeypatch: pytest.MonkeyPatch) -> None:
    pipeline = load(str(MINILM)).to(torch.float64)
    one, two = pipeline("cats sleep"), pipeline("a kitten is asleep")
    monkeypatch.setattr(siamese.np.random, "default_rng", lambda seed: SimpleNamespace(choice=lambda words: words[5]))
    found = at_words(pipeline, one, two, texts=1, points=1)
    letters = [i for i, piece in enumerate(pipeline.reader.vocabulary) if piece.lstrip("▁Ġ").isalpha()]
    nothing = [pipeline((each.ids[0], *[letters[5]] * (len(each.ids) - 2), each.ids[-1])) for each in (one, two)]

    def slope(run: Trace, start: Trace, token: int) -> np.ndarray:
        """Numerical slope of the mean row, half-way."""
        middle = (run["embedding.tokens"] + start["embedding.tokens"]) / 2
        step = np.zeros_like(middle)
        step[token] = 1e-5 * (run["embedding.tokens"] - start["embedding.tokens"])[token]
        ends = [
            pipeline(run.ids, Edit("embedding.tokens", lambda x, to=middle + sign * step: torch.tensor(to))).Z.mean(
                axis=0
            )
            for sign in (1, -1)
        ]
        return (ends[0] - ends[1]) / 2e-5

    u, v = (run.Z.mean(axis=0) for run in (one, two))
    lengths = np.linalg.norm(u) * np.linalg.norm(v)
    for i, j in ((1, 1), (2, 3)):
        by_hand = slope(one, nothing[0], i) @ slope(two, nothing[1], j) / lengths
        assert found.cells[i, j] == pytest.approx(by_hand, rel=1e-4)
    start, there = (run.Z.mean(axis=0) for run in nothing)
    assert found.of_random == pytest.approx((u @ there + start @ v - start @ there) / lengths, abs=1e-6)


@pytest.mark.parametrize("pooling", POOLINGS)
def test_a_linear_behind_the_pooling_is_shared_out_with_its_bias(pooling: str) -> None:
    one, two = load(str(MINILM)).batch(["A man is eating food.", "A woman plays."])
    dice = np.random.default_rng(3)
    dense = Dense(dice.normal(size=(384, 12)).astype(np.float32), dice.normal(size=12).astype(np.float32))
    way = Pooled(pooling, ("Dense", "Normalize"), (dense,))
    found = cosine(vector_of(one, way), vector_of(two, way)).value
    cells = of_cosine(one, two, way)
    assert cells.sum() == pytest.approx(found, abs=1e-5)
    plain = Pooled(pooling, ("Dense",), (Dense(dense.W, None),))
    assert float(of_pair(one, two, (2, 1), plain).value) == pytest.approx(of_cosine(one, two, plain)[2, 1], abs=1e-9)


@pytest.mark.parametrize("name", ["MiniLM", "T5", "CLIP", "SigLIP", "ViTModel"])
def test_after_the_last_layer_the_vector_is_the_networks_own_and_before_it_that_of_a_shallower_one(name: str) -> None:
    pipeline = load(str(network(name)))
    x = CARD if pipeline.config.input == "patches" else "the cat sat on a mat"
    run, way = pipeline(x), None if pipeline.graph.vector else pipeline.pooled or MEAN
    found = through_layers(pipeline, run, way)
    assert len(found) == 1 + run.config.layers
    np.testing.assert_allclose(found[-1], vector_of(run, way), atol=1e-6)
    idle = [Edit(f"layers.1.{name}", "zero") for name in ("attention.output", "ffn.output")]
    if pipeline.config.norm_first and run.config.layers == 2:  # the last layer then adds nothing
        np.testing.assert_allclose(found[1], vector_of(pipeline(x, idle), way), atol=1e-5)


@pytest.mark.parametrize("name", ["MiniLM", "Bert", "T5", "translator"])
def test_texts_are_sorted_by_their_cosine_with_a_query(name: str) -> None:
    pipeline = load(str(folder(name) if name in FOLDERS else network(name)))
    pipeline = getattr(pipeline, "encoder", pipeline)  # a translator's encoder
    query, *texts_of = texts(pipeline, 5)
    found = alike(pipeline, query, texts_of)
    assert sorted(one.place for one in found) == [*range(len(texts_of))]
    runs, way = [pipeline(text) for text in texts_of], pipeline.pooled or MEAN
    alone = [cosine(vector_of(pipeline(query), way), vector_of(run, way)).value for run in runs]
    np.testing.assert_allclose([one.cosine for one in found], sorted(alone, reverse=True), atol=1e-6)
    for one in found:
        assert one.tokens == runs[one.place].tokens and one.cosine == pytest.approx(alone[one.place], abs=1e-6)
        assert len(one.adds) == len(one.tokens) and one.adds.sum() == pytest.approx(one.cosine, abs=1e-5)


@pytest.mark.parametrize("name", ["MiniLM", "Bert"])
def test_how_a_change_moves_the_cosine_of_two_texts_is_as_measured_one_by_one(name: str) -> None:
    pipeline = load(str(folder(name)))
    first, second = texts(pipeline, 2)[:2]
    one, two, way, last = pipeline(first), pipeline(second), pipeline.pooled, pipeline.config.layers - 1
    edits = [
        [head_off(0, 0)],
        [head_off(last, 1)],
        [Edit("layers.0.ffn.output", "zero")],
        [Edit(f"layers.{last}.ffn.activation", "mean", neuron=3)],
        [Edit(one.graph.stream(last)[0], "patch", token=1, from_token=0, source=second)],
        [Edit(one.graph.embedded, "remove", token=1)],
    ]
    found, turned = moved(pipeline, one, edits, way, two.vector), moved(pipeline, one, edits, way)
    for row, some in enumerate(edits):
        changed = pipeline(first, some).vector
        without = cosine(changed, two.vector).value - cosine(one.vector, two.vector).value
        assert found[row] == pytest.approx(without, abs=1e-5)
        assert turned[row] == pytest.approx(1 - cosine(changed, one.vector).value, abs=1e-5)


def test_where_a_vector_is_no_sum_over_tokens_there_is_no_map(tmp_path: Path) -> None:
    sentence_encoder(tmp_path)  # its Dense has a tanh
    one = load(str(tmp_path))("the cat sat")
    with pytest.raises(ValueError, match="no sum"):
        of_cosine(one, one)
    ours: Trace = load("text")("the cat sat")
    for map_of in (of_cosine, partial(at_words, load("text"))):
        with pytest.raises(ValueError, match="not known"):
            map_of(ours, ours)
    assert of_cosine(ours, ours, MEAN).sum() == pytest.approx(1)
