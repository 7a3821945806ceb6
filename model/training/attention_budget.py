"""What keeps attention on words: a place may be looked at so much, and a head look about so much; more than that costs.

Left alone, heads that find nothing rest on [CLS], [SEP] or the full stop ("attention sinks": Clark et al. 2019,
section 3.2; Xiao et al. 2024). Nothing is lost by taking that rest away, but it moves to whatever is still free. So
each kind of token has a budget, in multiples of what it would get if everybody looked everywhere alike. And a head
that may not rest anywhere would rather look at everything a little: so most heads have to choose.
"""

from dataclasses import dataclass, field

import torch
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from model.sublayers import ScaledDotProductAttention

#: How many times its even share a token may get, on average over the words that look.
SPECIAL, PUNCTUATION, WORD = 0.5, 1.0, 4.0
BLUR = 0.6  # how even a choosing head's attention may be: its entropy, 0 for one word alone, 1 for all alike
FREE = 2  # the last heads of each layer may stay as blurred as they like: an average is of use too
WEIGHT = 1.0  # of the penalty, beside the cross-entropy


def budgets(tokenizer: Tokenizer, extra: int = 0) -> Tensor:
    """The budget of each piece of the vocabulary, and of `extra` special pieces behind it: (piece,)."""
    words = tokenizer.get_vocab()
    budget = torch.full((len(words) + extra,), SPECIAL)
    for word, i in words.items():
        if word not in ("[PAD]", "[CLS]", "[SEP]"):
            budget[i] = WORD if any(c.isalnum() for c in word) else PUNCTUATION
    return budget


def excess(weights: Tensor, may_look: Tensor, looks: Tensor, budget: Tensor) -> Tensor:
    """How much attention goes beyond the budgets, as a share of all attention.

    Args:
        weights: softmax weights, (sentence, head, query, key).
        may_look: where a query may look at a key, (sentence, query or 1, key) of booleans.
        looks: the queries that count, (sentence, query) of booleans: words, not padding, not special tokens.
        budget: of each key, in multiples of its even share, (sentence, key).
    """
    asked = looks[:, None, :, None]
    count = looks.sum(1).clamp(min=1)[:, None, None]
    even = may_look / may_look.sum(-1, keepdim=True).clamp(min=1) * looks[:, :, None]
    allowed = budget[:, None] * (even.sum(1)[:, None] / count)  # (sentence, 1, key)
    received = (weights.float() * asked).sum(2) / count  # (sentence, head, key)
    return (received - allowed).clamp(min=0).sum(-1).mean()


def blur(weights: Tensor, may_look: Tensor, looks: Tensor) -> Tensor:
    """How much more even than BLUR those heads look that have to choose. Arguments as for `excess`."""
    # Where nobody may look the weight is 0, and there the slope of p log p is infinite.
    entropy = torch.special.entr(weights[:, :-FREE].float().clamp(min=1e-9)).sum(-1)  # (sentence, head, query)
    evenness = entropy / may_look.sum(-1).clamp(min=2).log()[:, None]
    mean = (evenness * looks[:, None]).sum(-1) / looks.sum(1).clamp(min=1)[:, None]
    return (mean - BLUR).clamp(min=0).mean()


def penalty(weights: Tensor, may_look: Tensor, looks: Tensor, budget: Tensor) -> Tensor:
    """What one layer's attention costs: `excess` and `blur`."""
    return excess(weights, may_look, looks, budget) + blur(weights, may_look, looks)


@dataclass
class Watch:
    """Collects the attention weights of a network while it trains; `attention` and `cross` of each layer, in order."""

    seen: list[Tensor] = field(default_factory=list)
    handles: list[RemovableHandle] = field(default_factory=list)

    @classmethod
    def over(cls, part: nn.Module) -> "Watch":
        watch = cls()
        for module in part.modules():
            if isinstance(module, ScaledDotProductAttention):
                watch.handles.append(module.weights.register_forward_hook(watch.keep))
        return watch

    def keep(self, module: nn.Module, _inputs: tuple, weights: Tensor) -> None:
        if module.training:  # whoever measures takes nothing away
            self.seen.append(weights)

    def take(self) -> list[Tensor]:
        """What was seen since the last time."""
        seen = list(self.seen)
        self.seen.clear()
        return seen
