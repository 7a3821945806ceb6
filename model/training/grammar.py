"""Two heads that are shown grammar: of layer 4, the first looks from each word at its governor, the second at those
that it governs.

Left to themselves, heads of so small a network find only some relations (Clark et al. 2019 tell of BERT's, with ten
times the parameters). Here a treebank's arrows are the answer, and the attention itself is what is graded (as in
Strubell et al. 2018, "Linguistically-Informed Self-Attention"). The other heads are never told.
"""

from collections.abc import Iterator
from pathlib import Path

import torch
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from model.heads import MaskedWordNetwork
from model.measures.tables import TAUGHT
from model.training import text
from model.training.attention_budget import Watch
from model.training.relations import Sentence, cut_words, treebank

TREES = "en_ewt-train.conllu.xz"
TREE_TOKENS = 8192  # of a batch
Tree = tuple[Tensor, Tensor]  # ids (token,); governs (token, token): row looks up to column


def read_trees(data: Path, tokenizer: Tokenizer) -> list[Tree]:
    """The treebank's sentences that fit into the network."""
    trees = (as_tree(tokenizer, sentence) for sentence in treebank(data / "ud" / TREES))
    return [(ids, governs) for ids, governs in trees if len(ids) <= text.CONFIG.max_len]


def as_tree(tokenizer: Tokenizer, sentence: Sentence) -> Tree:
    """A sentence's ids, and who governs whom: all pieces of a word look at all pieces of the word above it."""
    ids, places = cut_words(tokenizer, sentence.words)
    governs = torch.zeros(len(ids), len(ids), dtype=torch.bool)
    for dependent, governor, _ in sentence.arcs:
        for place in places[dependent]:
            governs[place, places[governor]] = True
    return torch.tensor(ids), governs


def batches(trees: list[Tree], dice: torch.Generator) -> Iterator[Tree]:
    """Endless padded batches of about TREE_TOKENS pieces: ids (sentence, token), and who governs whom in each."""
    while True:
        order = (torch.tensor([len(ids) for ids, _ in trees]) + 4 * torch.rand(len(trees), generator=dice)).argsort()
        groups = [some.tolist() for some in order.split(TREE_TOKENS // 40)]
        for number in torch.randperm(len(groups), generator=dice):
            ids = pad_sequence([trees[i][0] for i in groups[number]], batch_first=True, padding_value=text.PAD)
            governs = torch.zeros(*ids.shape, ids.shape[1], dtype=torch.bool)
            for row, i in enumerate(groups[number]):
                n = len(trees[i][0])
                governs[row, :n, :n] = trees[i][1]
            yield ids, governs


def grammar_loss(network: MaskedWordNetwork, watch: Watch, ids: Tensor, governs: Tensor) -> Tensor:
    """How little the taught heads look where the treebank's arrows lead: mean of −log of the share that goes there."""
    text.encode_batch(network, ids)
    weights = watch.take()
    wanted = {"up": governs, "down": governs.mT}
    return torch.stack([astray(weights[layer][:, head], wanted[way]) for (layer, head), way in TAUGHT.items()]).mean()


def astray(weights: Tensor, wanted: Tensor) -> Tensor:
    """−log of the share of attention that goes where it is wanted, mean of the queries of whom anything is.

    Args:
        weights: (sentence, query, key).
        wanted: booleans of the same shape.
    """
    share = (weights.float() * wanted).sum(-1)[wanted.any(-1)]
    return -share.clamp(min=1e-6).log().mean()
