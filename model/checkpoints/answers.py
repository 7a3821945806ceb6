"""What a checkpoint's head says of an input, by the kind of the head."""

from collections.abc import Sequence

from torch import Tensor

from model.trace import Guess


def guesses(head: str, labels: Sequence[str], found: Tensor, tokens: Sequence[str]) -> tuple[Guess, ...]:
    """The answer. found: what the head puts out, with the batch in front.

    One Guess of classes, of labels or of numbers; of "tags" one for each token; of "span" two over all tokens, where
    the part begins and where it ends.
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
