"""Questions about positions."""

from itertools import combinations

import numpy as np

from model import Edit
from model.measures.order import without_positions
from pages.school.questions.case import Case, Truth, first_answer
from pages.school.questions.pictures import embedded
from pages.school.questions.question import question

CANDIDATES = 6  # tokens of which two change places
DRAWN = 0.05  # the least share of a bar whose length is compared
ROUNDING = 1e-3  # what single precision may leave where nothing should change


@question(
    "places",
    "same",
    least=0.2,
    minutes=3,
    page="tokens",
    at={"panel": "order"},
    equation="embedding.sum",
    picture=embedded,
    bars=True,
)
def swapped(case: Case) -> Truth | None:
    """Without positions, two words change places: the answer stays the same. Taken are those whose swap moves the
    first answer most with positions. margin: by how much; nothing where anything moves without positions, too, or
    where the first answer there is too faint for a bar.
    """
    tokens, trace = case.tokens, case.trace
    near = sorted(case.visible, key=lambda i: abs(i - case.token))
    if (patches := trace.patches) is not None:  # those with most ink
        ink = np.zeros(len(tokens))
        ink[len(tokens) - len(patches) :] = patches.sum(axis=-1)
        near = sorted((i for i in case.visible if ink[i] > 0), key=lambda i: -ink[i])
    pairs = [pair for pair in combinations(sorted(near[:CANDIDATES]), 2) if tokens[pair[0]] != tokens[pair[1]]]
    if not case.answers or not pairs or not case.affords(len(pairs) + 4):
        return None
    none = without_positions(trace.graph)
    swaps = [Edit("embedding.tokens", "swap", token=one, from_token=other) for one, other in pairs]
    now, *moved = case.changed([[], *([swap] for swap in swaps)])
    output = int(now.argmax())
    strongest = int(np.argmax([abs(there[output] - now[output]) for there in moved]))
    there, (one, other) = moved[strongest], pairs[strongest]
    bare, bare_there = case.changed([[*none], [*none, swaps[strongest]]])
    still = float(np.abs(bare_there - bare).max())
    first = int(bare.argmax())
    figures = {"before": now[output], "after": there[output]}
    figures |= {"bare_before": bare[first], "bare_after": bare_there[first]}
    found = {name: float(share) for name, share in figures.items()}
    said: dict[str, object] = {"one": tokens[one], "other": tokens[other], **found}
    said |= {"answer": case.names[output], "bare": case.names[first]}
    seen = still <= ROUNDING and found["bare_before"] >= DRAWN
    margin = float(abs(there[output] - now[output])) if seen else 0.0
    place, told, config = {"token": one, "key": other}, ["why"], trace.config
    if config.places_added:
        told.append("why_added")
        if config.positions == "sinusoidal":
            said["pairs"] = config.embedded // 2
            told += ["why_waves", *["why_scaled"] * (config.input == "words" and config.scale_embedding)]
    options = ("same", "different")
    return Truth("same", margin, said, tuple(found.items()), place, options=options, told=tuple(told))


@question(
    "bare",
    "same",
    least=0.3,
    minutes=3,
    page="what_if",
    at={"panel": "input", "block": "places"},
    equation="embedding.sum",
    picture=embedded,
    bars=True,
)
def without_places(case: Case) -> Truth | None:
    """Whether the first answer stays without positions. margin: how much of the probability moves."""
    return first_answer(case, without_positions(case.trace.graph))
