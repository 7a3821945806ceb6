"""Training's shared parts: a run that was stopped goes on as if it had not been, and shipped weights load again."""

from dataclasses import replace

import pytest
import torch

from model.config import PRESETS
from model.heads import MaskedWordNetwork
from model.training import checkpoint, text

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
    return network, text.optimizers_for(network)


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


def test_the_rate_rises_stays_and_falls_to_nothing() -> None:
    rates = [checkpoint.learning_rate(done / 100) for done in range(101)]
    assert rates[0] == 0 and rates[100] == 0
    assert rates[1:81] == pytest.approx([1.0] * 80)
    assert rates[80:] == sorted(rates[80:], reverse=True)


def test_hidden_words_are_chosen_and_treated_as_the_recipe_says() -> None:
    dice = torch.Generator().manual_seed(0)
    ids = torch.randint(5, PRESETS["text"].vocab_size, (400, 60), generator=dice)
    ids[:, 0], ids[:, -1] = text.CLS, text.SEP
    hidden, chosen = text.hide(ids, dice)
    assert not chosen[:, 0].any() and not chosen[:, -1].any()  # special pieces are never asked for
    assert torch.equal(hidden[~chosen], ids[~chosen])
    assert chosen[:, 1:-1].float().mean().item() == pytest.approx(0.15, abs=0.01)
    assert (hidden[chosen] == text.MASK).float().mean().item() == pytest.approx(0.8, abs=0.02)
    assert (hidden[chosen] == ids[chosen]).float().mean().item() == pytest.approx(0.1, abs=0.02)


def test_a_sentence_is_held_out_whatever_its_case_and_stops() -> None:
    assert all(
        text.held_out(s) == text.held_out(s.upper() + " !!") for s in (f"sentence {i} of many" for i in range(500))
    )
    letters = [f"{a}{b}{c}" for a in "abcdefghij" for b in "klmnopqrst" for c in "uvwxyz"]
    assert 0 < sum(map(text.held_out, letters)) < 0.03 * len(letters)
