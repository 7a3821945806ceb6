"""Questions about drawings."""

import numpy as np

from model import Edit, learning, load
from pages.school.questions.case import Case, Truth
from pages.school.questions.pictures import drawn_digit
from pages.school.questions.question import question


@question(
    "cut",
    "number",
    least=0.5,
    minutes=2,
    hints=2,
    page="tokens",
    at={"panel": "pieces"},
    picture=drawn_digit,
    covers=(),
)
def pieces_of_a_picture(case: Case) -> Truth | None:
    """Of how many tokens a picture is read. It is always clear where it is cut."""
    trace, config = case.trace, case.trace.config
    answers = config.head == "classifier" and len(config.read_alone) == config.tokens_in_front > 0
    if trace.patches is None or len(trace.patches) < 2 or not answers:
        return None
    side, count = config.patches_per_side, len(case.tokens)
    said = {"side": side, "patches": side * side, "front": config.tokens_in_front, "count": count}
    said |= {"pixels": config.image_size, "size": config.image_size // side, "all": config.image_size**2}
    bars = (("patches", side * side), ("front", config.tokens_in_front))
    return Truth(count, 1.0, said, bars, {"token": 0}, span=(1, config.image_size**2), near=config.tokens_in_front)


@question(
    "empty",
    "slide",
    least=0.2,
    minutes=4,
    page="attention",
    at={"stage": "weights"},
    equation="layers.{l}.attention.weights",
    picture=drawn_digit,
    covers=(),
)
def empty_patches(case: Case) -> Truth | None:
    """How much a head takes from patches without ink. Taken is the head that takes most. margin: how much less that is
    than if it looked evenly.
    """
    patches = case.trace.patches
    if patches is None or case.trace.config.channels != 1 or len(patches) < 2:
        return None
    empty = np.zeros(len(case.tokens), bool)
    empty[len(case.tokens) - len(patches) :] = ~(patches > 0).any(axis=-1)
    if not empty.any() or empty.sum() == len(patches):
        return None
    shares = {
        (layer, head): float(case.trace[f"layers.{layer}.attention.weights"][head, case.token, empty].sum())
        for layer, head in case.heads
    }
    (layer, head), answer = max(shares.items(), key=lambda item: item[1])
    said = {"layer": layer + 1, "head": head + 1, "token": case.tokens[case.token], "answer": answer}
    even = float(empty.mean())
    said |= {"empty": int(empty.sum()), "patches": len(patches), "even": even, "rest": 1 - answer}
    bars = (("empty", answer), ("rest", 1 - answer))
    return Truth(answer, even - answer, said, bars, {"layer": layer, "head": head, "token": case.token}, near=0.1)


@question(
    "gathered",
    "tap",
    least=0.2,
    minutes=3,
    page="layers",
    at={"panel": "lens"},
    run="drawing",
    picture=drawn_digit,
    covers=(),
)
def read_at(case: Case) -> Truth | None:
    """At which token the class of a picture is read: how much of the probability moves when what the last layer made of
    it is set to zero. margin: by how much [CLS] leads the patch with most ink, and all patches together.
    """
    patches, config = case.trace.patches, case.trace.config
    if patches is None or len(patches) < 2 or config.tokens_in_front != 1 or not case.answers or not case.affords(4):
        return None
    end, last = len(case.tokens), case.trace.graph.Z
    most = end - len(patches) + int(patches.sum(axis=-1).argmax())
    gone = ([0], [most], range(end - len(patches), end))
    now, *without_them = case.changed([[], *([Edit(last, "zero", token=token) for token in some] for some in gone)])
    moved = [float(np.abs(there - now).sum() / 2) for there in without_them]
    options = ("at_cls", "at_patch", "at_patches")
    said = {"best": case.names[int(now.argmax())], "patches": len(patches), "moved": moved[0], "rest": max(moved[1:])}
    bars = tuple(zip(options, moved, strict=True))
    return Truth("at_cls", moved[0] - max(moved[1:]), said, bars, {"token": 0}, options=options)


@question(
    "learns",
    "tap",
    least=0.1,
    minutes=3,
    hints=2,
    page="answer",
    at={"panel": "learned"},
    picture=drawn_digit,
    covers=(),
)
def learned_after(case: Case) -> Truth | None:
    """From which snapshot of its training on the network gives more than half to what it reads in this drawing at the
    end. margin: how far from a half that is there, or at the snapshot before, whichever is nearer.
    """
    if case.pipeline is not load("digits") or not case.affords(learning.SNAPSHOTS):
        return None
    ink, steps = case.trace.subject, [f"{one.step:,}" for one in learning.snapshots()]
    rows = [case.shares(learning.after(number)(ink)["logits"]) for number in range(learning.SNAPSHOTS)]
    best = int(rows[-1].argmax())
    shares = [float(row[best]) for row in rows]
    first = max((number + 1 for number, share in enumerate(shares) if share < 0.5), default=0)
    if first in (0, len(shares)):  # from the start by chance, or never
        return None
    said: dict[str, object] = {"answer": steps[first], "before": steps[first - 1], "all": steps[-1]}
    said |= {"best": case.names[best], "share": shares[first], "less": shares[first - 1]}
    said["accuracy"] = learning.snapshots()[first].accuracy
    margin = min(shares[first] - 0.5, 0.5 - shares[first - 1])
    bars = tuple(zip(steps, shares, strict=True))
    return Truth(steps[first], margin, said, bars, {}, options=tuple(steps), literal=True)
