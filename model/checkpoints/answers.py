"""A checkpoint's answer, by the kind of its head."""

from collections.abc import Sequence

from torch import Tensor

from model.trace import Guess


def guesses(head: str, labels: Sequence[str], found: Tensor, tokens: Sequence[str]) -> tuple[Guess, ...]:
    """Answer from the head's output `found`, which has a batch dimension in front.

    One Guess of classes, labels or numbers; for "tags" one per token; for "span" two over all tokens: start and end.
    """
    match head:
        case "labels":
            return (Guess(tuple(labels), tuple(found[0].sigmoid().tolist())),)
        case "numbers":
            return (Guess(tuple(labels), tuple(found[0].tolist())),)
        case "tags":
            shares = found[0].softmax(-1).tolist()
            return tuple(Guess(tuple(labels), tuple(of_token), place) for place, of_token in enumerate(shares))
        case "span":
            return tuple(Guess.among(tuple(tokens), bound) for bound in found[0])
    return (Guess.among(tuple(labels), found[0]),)
