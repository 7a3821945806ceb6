"""Shared parts of training: an interrupted run continues as if never stopped, and shipped weights load again."""

import lzma
import shutil
from dataclasses import replace

import numpy as np
import pytest
import torch

from model import load, loading
from model.config import PRESETS
from model.files import seal
from model.heads import MaskedWordNetwork
from model.training import checkpoint, corpus, optimization, relations, text, translation

TOKENIZER = loading.WEIGHTS / "tokenizer.json"
SMALL = replace(PRESETS["text"], d_model=32, heads=4, layers=1, d_ff=64, vocab_size=200)


def one_step(network: MaskedWordNetwork, optimizers: list[torch.optim.Optimizer], seed: int) -> float:
    dice = torch.Generator().manual_seed(seed)
    ids = torch.randint(5, SMALL.vocab_size, (4, 12), generator=dice)
    chosen = torch.rand(ids.shape, generator=dice) < 0.5
    loss = text.guess_loss(network, text.encode_batch(network, ids)[chosen], ids[chosen])
    loss.backward()
    for optimizer in optimizers:
        optimizer.step()
        optimizer.zero_grad()
    return loss.item()


def fresh() -> tuple[MaskedWordNetwork, list[torch.optim.Optimizer]]:
    torch.manual_seed(1)
    network = MaskedWordNetwork(SMALL)
    return network, optimization.optimizers_for(network, text.PEAK_RATE)


def test_a_run_resumed_from_its_checkpoint_is_the_same_run(tmp_path) -> None:
    network, optimizers = fresh()
    for seed in range(3):
        one_step(network, optimizers, seed)
    checkpoint.save_checkpoint(tmp_path / "run.safetensors", network, optimizers, step=3)
    expected = [one_step(network, optimizers, seed) for seed in range(3, 6)]

    resumed, its_optimizers = fresh()
    progress = checkpoint.load_checkpoint(tmp_path / "run.safetensors", resumed, its_optimizers)
    assert progress == {"step": 3}
    assert [one_step(resumed, its_optimizers, seed) for seed in range(3, 6)] == pytest.approx(expected, rel=1e-6)


def test_shipped_weights_load_again_and_stay_tied(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(checkpoint, "WEIGHTS", tmp_path)
    network, _ = fresh()
    path = checkpoint.ship("text", network, {"masked_word_top1_en": 0.5})
    torch.manual_seed(2)
    other = MaskedWordNetwork(SMALL)
    checkpoint.load_shipped(path, other)
    assert other.logits.weight is other.embedding.E.weight
    torch.testing.assert_close(other.logits.weight, network.logits.weight, atol=1e-3, rtol=1e-3)  # float16 on disk


def test_a_sentence_is_held_out_whatever_its_case_and_stops() -> None:
    assert all(
        corpus.held_out(s) == corpus.held_out(s.upper() + " !!") for s in (f"sentence {i} of many" for i in range(500))
    )
    letters = [f"{a}{b}{c}" for a in "abcdefghij" for b in "klmnopqrst" for c in "uvwxyz"]
    assert 0 < sum(map(corpus.held_out, letters)) < 0.03 * len(letters)


# -- sentence pairs ------------------------------------------------------------------------------------------


def test_no_sentence_that_is_measured_on_is_trained_on_in_a_pair(tmp_path) -> None:
    words = list(map(chr, range(0x4E00, 0x5200)))
    lines = {"en": [f"this is sentence {word} ." for word in words], "zh": [f"这是第{word}句。" for word in words]}
    for folder, name, some in (
        ("text", "en.txt.xz", lines["en"]),
        ("text", "zh.txt.xz", lines["zh"]),
        ("pairs", "pairs.tsv.xz", map("\t".join, zip(lines["en"][::2], lines["zh"][::2], strict=True))),
    ):
        (tmp_path / folder).mkdir(exist_ok=True)
        with lzma.open(tmp_path / folder / name, "wt", encoding="utf-8") as file:
            file.write("\n".join(some))
    train, _ = corpus.read_pairs(tmp_path)
    for language in corpus.LANGUAGES:
        held = corpus.held_sentences(tmp_path, language)
        assert held and all(map(corpus.held_out, held))
        assert not {pair[language] for pair in train} & set(held)
    # A cost of the rule for Chinese: only the hash of the English side decides about a pair.
    assert len(held) < sum(map(corpus.held_out, lines["zh"]))


def test_no_held_out_pair_shares_a_sentence_with_training(tmp_path) -> None:
    lines = [f"this is sentence {word} .\t这是第{i % 90}句。" for i, word in enumerate(map(chr, range(0x4E00, 0x5200)))]
    (tmp_path / "pairs").mkdir()
    with lzma.open(tmp_path / "pairs" / "pairs.tsv.xz", "wt", encoding="utf-8") as file:
        file.write("\n".join(lines))
    train, held = corpus.read_pairs(tmp_path)
    assert held and train and len(train) + len(held) < len(lines)  # some are dropped: their Chinese side is held out
    for language in ("en", "zh"):
        assert not {pair[language] for pair in train} & {pair[language] for pair in held}


def test_the_shipped_halves_make_the_translator_again(tmp_path, monkeypatch) -> None:
    torch.manual_seed(0)
    monkeypatch.setattr(checkpoint, "WEIGHTS", tmp_path)
    monkeypatch.setattr(loading, "WEIGHTS", tmp_path)
    shutil.copy(TOKENIZER, tmp_path)
    seal(tmp_path / TOKENIZER.name)
    networks = translation.two_networks().eval()
    checkpoint.ship("text", networks["text"], {})
    path = checkpoint.ship("translation", networks["translation"], {"bleu_en_zh": 1.0})
    assert path.stat().st_size < 2 * 3.3e6, "the decoder alone is stored"
    monkeypatch.setattr(loading, "load", loading.trained.__wrapped__)  # load this folder's encoder, not a cached one
    again = loading.trained.__wrapped__("translation")
    assert again.measured == {"bleu_en_zh": 1.0}
    x, y = torch.tensor([[2, 50, 51, 3]]), torch.tensor([[12_001, 60, 61]])
    with torch.no_grad():
        torch.testing.assert_close(again.network(x, y), networks["translation"](x, y), atol=0.02, rtol=0.02)


# -- relations -----------------------------------------------------------------------------------------------

TREE = """# text = the dog sleeps
1\tthe\t_\t_\t_\t_\t2\tdet\t_\t_
2-3\tdogs\t_\t_\t_\t_\t_\t_\t_\t_
2\tdog\t_\t_\t_\t_\t3\tnsubj\t_\t_
3\tunhappily\t_\t_\t_\t_\t0\troot\t_\t_
"""


def test_a_treebank_is_read_and_words_find_their_pieces(tmp_path) -> None:
    with lzma.open(tmp_path / "tree.xz", "wt", encoding="utf-8") as file:
        file.write(f"{TREE}\n{TREE}\n")
    sentence, twin = relations.treebank(tmp_path / "tree.xz")
    assert sentence == twin == relations.Sentence(["the", "dog", "unhappily"], [1, 2, -1], ["det", "nsubj", "root"])
    (one, _) = relations.read(load("text"), [sentence, twin])
    tokens, weights = one.attended.keys, one.attended.weights
    assert ["".join(tokens[i].removeprefix("##") for i in place) for place in one.places] == sentence.words
    among = relations.word_weights(weights, one.places)
    assert among.shape == (6, 8, 3, 3)
    outside = weights[..., [0, -1]].sum(-1)
    rest = np.stack([outside[..., place].mean(-1) for place in one.places], axis=-1)
    np.testing.assert_allclose(among.sum(-1) + rest, 1, atol=1e-5)


def test_a_head_that_follows_a_relation_is_found() -> None:
    words, governors = ["the", "big", "dog", "sleeps"], [2, 2, 3, -1]
    tokens = ["[CLS]", *words, "[SEP]"]
    weights = np.full((6, 8, 6, 6), 1 / 6, dtype=np.float32)
    for dependent, governor in enumerate(governors[:3]):
        weights[2, 4, dependent + 1] = 0.1 / 3
        weights[2, 4, dependent + 1, [0, dependent + 1, governor + 1]] = 0.4, 0.3, 0.2  # the first two are ignored
    sentence = relations.Sentence(words, governors, ["det", "amod", "nsubj", "root"])
    parsed = relations.Parsed(sentence, [[i] for i in range(1, 5)], relations.Attended(tokens, tokens, weights))
    found = {row.relation: row for row in relations.relation_table([parsed], [parsed] * 3, fewest=4)}
    assert set(found) == {"det", "amod", "nsubj"}
    assert all(row.accuracy == 1 and row.count == 3 for row in found.values())
    assert (found["det"].baseline, found["det"].offset) == (1, 2)
    # Even attention finds the first word, so any head finds "det"; only this head finds "nsubj".
    row = found["nsubj"]
    assert (row.layer, row.head, row.from_dependent) == (2, 4, True)


def test_a_head_is_chosen_on_one_half_of_the_sentences_and_measured_on_the_other() -> None:
    def where(finds: tuple[int, int]) -> relations.Parsed:
        """A sentence in which only that head links the subject and its verb."""
        weights = np.full((2, 2, 5, 5), 0.1, dtype=np.float32)
        weights[..., 1, 3] = weights[..., 2, 3] = 0.3
        weights[*finds, 1, 2] = weights[*finds, 2, 1] = 0.6
        tokens = ["[CLS]", "dogs", "sleep", "well", "[SEP]"]
        sentence = relations.Sentence(tokens[1:-1], [1, -1, 1], ["nsubj", "root", "advmod"])
        return relations.Parsed(sentence, [[1], [2], [3]], relations.Attended(tokens, tokens, weights))

    found = {row.relation: row for row in relations.relation_table([where((0, 1))], [where((1, 0))] * 3, fewest=4)}
    row = found["nsubj"]
    assert (row.layer, row.head, row.accuracy, row.count, row.baseline) == (0, 1, 0, 3, 1)
