"""What training asks of attention: not to rest in a few places, to choose, and of a digit's [CLS] to look at ink."""

import math

import numpy as np
import pytest
import torch
from torch.nn import functional

from model.digits import hold_ink
from model.loading import load
from model.training.attention_budget import BLUR, FREE, blur, excess
from model.training.digits import BLANK, CONFIG, wasted
from model.training.grammar import as_tree, astray
from model.training.relations import Sentence

N = 8
LOOKS = torch.tensor([[False] + [True] * (N - 2) + [False]])  # [CLS], six words, [SEP]
MAY_LOOK = torch.ones(1, 1, N, dtype=torch.bool)
BUDGET = torch.tensor([[0.5, *[4.0] * (N - 2), 0.5]])


def rows(row: list[float], heads: int = FREE + 2) -> torch.Tensor:
    """(1, head, query, key): every query of every head looks alike."""
    return torch.tensor(row).expand(1, heads, N, N)


def test_what_goes_beyond_a_budget_is_what_counts() -> None:
    even = [1 / N] * N
    assert excess(rows(even), MAY_LOOK, LOOKS, BUDGET).item() == pytest.approx(2 * 0.5 / N, abs=1e-6)
    assert excess(rows([0, *[1 / 6] * 6, 0]), MAY_LOOK, LOOKS, BUDGET).item() == pytest.approx(0, abs=1e-6)
    assert excess(rows([1.0, *[0.0] * 7]), MAY_LOOK, LOOKS, BUDGET).item() == pytest.approx(1 - 0.5 / N, abs=1e-6)


def test_even_attention_is_blurred_one_word_is_not_and_the_last_heads_are_free() -> None:
    even, one = rows([1 / N] * N), rows([0.0, 1.0, *[0.0] * 6])
    assert blur(even, MAY_LOOK, LOOKS).item() == pytest.approx(1 - BLUR, abs=1e-6)
    assert blur(one, MAY_LOOK, LOOKS).item() == 0
    halves = torch.cat([one[:, :-FREE], even[:, -FREE:]], dim=1)
    assert blur(halves, MAY_LOOK, LOOKS).item() == 0
    two = rows([0.0, 0.5, 0.5, *[0.0] * 5])
    assert blur(two, MAY_LOOK, LOOKS).item() == max(0, math.log(2) / math.log(N) - BLUR)


def test_padding_has_no_say_in_how_blurred_a_head_is() -> None:
    scores = torch.randn(1, FREE + 2, N, N, generator=torch.Generator().manual_seed(0)).requires_grad_()
    padded = torch.cat([scores, torch.full((1, FREE + 2, N, 3), -torch.inf)], dim=-1)
    may_look = torch.tensor([True] * N + [False] * 3)[None, None]
    cost = blur(padded.softmax(-1), may_look, LOOKS)
    cost.backward()
    assert cost.item() == pytest.approx(blur(scores.softmax(-1), MAY_LOOK, LOOKS).item(), abs=1e-6)
    assert scores.grad is not None
    assert scores.grad.isfinite().all()
    assert scores.grad[:, :-FREE].abs().sum() > 0


def test_what_has_its_cost_are_patches_that_hold_no_ink() -> None:
    picture = torch.zeros(CONFIG.image_size, CONFIG.image_size)
    picture[0, ::4] = torch.tensor([0.0, 0.01, 0.049, 0.051, 0.3, 0.5, 1.0])  # a pixel in each patch of the first row
    patches = picture.unfold(0, 4, 4).unfold(1, 4, 4).reshape(-1, 16)
    looks = functional.one_hot(torch.arange(len(patches)) + 1, 1 + len(patches))[:, None, None].float()
    cost = [wasted([look[None]], picture[None]).item() for look in looks]  # all on one patch, one after another
    np.testing.assert_array_equal(np.array(cost) == 0, hold_ink(patches.numpy()))
    assert [c == 0 for c in cost[:7]] == [False] * 3 + [True] * 4
    assert max(cost) == pytest.approx(1 - BLANK), "all beyond what is allowed"


def test_what_looks_along_the_treebank_s_arrows_costs_nothing() -> None:
    words = ["the", "old", "dog", "saw", "one", "small", "cat", "."]
    kinds = ["det", "amod", "nsubj", "root", "nummod", "amod", "obj", "punct"]
    tree = Sentence(words, [2, 2, 3, -1, 6, 6, 3, 3], kinds)
    ids, governs = as_tree(load("text").reader.tokenizer, tree)
    assert len(ids) == len(words) + 2
    looked_at = {
        word: [words[h] for h in row.nonzero().flatten()] for word, row in zip(words, governs[1:-1, 1:-1], strict=True)
    }
    assert looked_at["dog"] == ["saw"]
    assert looked_at["small"] == ["cat"]
    assert not governs[4].any()  # the root has nobody above it
    even = torch.full(governs.shape, 1 / len(ids))
    assert astray(governs.float()[None], governs[None]).item() == 0
    assert astray(even[None], governs[None]).item() == pytest.approx(math.log(len(ids)), abs=1e-5)
    both = governs.mT.float() / governs.mT.sum(-1, keepdim=True).clamp(min=1)
    assert astray(both[None], governs.mT[None]).item() == pytest.approx(0, abs=1e-6)  # however it is shared out
