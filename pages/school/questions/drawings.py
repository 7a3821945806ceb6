"""Questions about drawings."""

import numpy as np

from model import Edit
from pages.school.questions.case import Case, Truth
from pages.school.questions.pictures import drawn_digit
from pages.school.questions.question import question


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
    """At which token the class of a picture is read: how much of the probability moves when what the last layer made of
    it is set to zero. margin: by how much [CLS] leads the patch with most ink, and all patches together; no more than
    all patches move that are set to zero before the first layer.
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
    said = {"best": case.names[int(now.argmax())], "patches": len(patches), "moved": moved[0], "rest": max(moved[1:])}
    bars = *zip(options, moved, strict=True), ("early", early)
    margin = min(moved[0] - max(moved[1:]), early)
    return Truth("at_cls", margin, said | {"early": early}, bars, {"token": 0}, options=options)
