"""Questions about drawings."""

import numpy as np

from model import Edit
from pages.school.questions.case import NEAR, Case, Truth
from pages.school.questions.pictures import drawn_digit, looked_at
from pages.school.questions.question import question


@question(
    "looks",
    "slide",
    least=0.3,
    minutes=3,
    page="attention",
    run="drawing",
    picture=looked_at,
    bars=True,
)
def ink_looked_at(case: Case) -> Truth | None:
    """Attention of [CLS] to patches with ink, mean over all heads. margin: how much more than for uniform attention."""
    patches = case.trace.patches
    if patches is None or case.trace.config.tokens_in_front != 1:
        return None
    inked = patches.sum(axis=-1) > 0
    row = case.trace.over_layers("attention.weights")[:, :, 0].mean(axis=(0, 1))
    answer, even = float(row[1:][inked].sum()), float(inked.sum() / len(row))
    said = {"patches": len(patches), "inked": int(inked.sum()), "answer": answer, "even": even, "own": float(row[0])}
    bars, place = (("ink", answer), ("even", even)), {"token": 0}
    return Truth(answer, answer - even, said, bars, place, near=NEAR)


@question(
    "gathered",
    "tap",
    least=0.2,
    minutes=3,
    page="answer",
    run="drawing",
    picture=drawn_digit,
    bars=True,
)
def read_at(case: Case) -> Truth | None:
    """At which token the class is read: how much the probability moves if the last layer's output at it is set to zero.

    margin: the lead of [CLS] over the patch with most ink and over all patches together; at most the change if all
    patches are set to zero before the first layer.
    """
    patches, config = case.trace.patches, case.trace.config
    if patches is None or len(patches) < 2 or config.tokens_in_front != 1 or not case.answers or not case.affords(5):
        return None
    end, last = len(case.tokens), case.trace.graph.Z
    most = end - len(patches) + int(patches.sum(axis=-1).argmax())
    every = range(end - len(patches), end)
    gone = (last, [0]), (last, [most]), (last, every), (case.trace.graph.embedded, every)
    now, *without_them = case.changed([[], *([Edit(key, "zero", token=token) for token in some] for key, some in gone)])
    *moved, early = [float(np.abs(there - now).sum() / 2) for there in without_them]
    options = ("at_cls", "at_patch", "at_patches")
    said = {"patches": len(patches), "moved": moved[0], "rest": max(moved[1:]), "early": early}
    bars = *zip(options, moved, strict=True), ("early", early)
    margin = min(moved[0] - max(moved[1:]), early)
    return Truth("at_cls", margin, said, bars, {"token": 0}, options=options)
