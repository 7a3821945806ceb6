"""Questions about positions."""

import re
from dataclasses import replace
from itertools import combinations

import numpy as np

from model import Edit
from model.analysis import placed, whole_words
from model.measures.order import without_positions
from pages.school.questions.case import Case, Truth, share_left
from pages.school.questions.pictures import last_bar_covered
from pages.school.questions.question import question

CANDIDATES = 6  # tokens considered for swapping
DRAWN = 0.05  # smallest share of a bar whose length is compared
#: In scripts without spaces, only these are known to be whole words: pronouns, and animals whose neighbours form no
#: longer word with them.
UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
PRONOUN = re.compile("(?<![其吉自])[我你您他她它](?!们)"), re.compile("(?<![其吉自])[我你您他她它](?=们)")
ANIMAL = re.compile(
    "(?<![^ 只匹条头的小大黑白这那和跟与比被把追吃看爱怕咬养有是像，。！？,.!?])[猫狗牛羊马鸡鸭猪鱼鸟兔]"
    "(?![^ 和跟与比被把追吃看爱怕咬养有是像很也都不没会在了的跑叫飞睡喜，。！？,.!?])"
)
ROUNDING = 1e-3  # rounding error of float32 where nothing should change


@question(
    "places",
    "same",
    least=0.2,
    minutes=3,
    page="tokens",
    at={"tab": "order"},
    equation="embedding.sum",
    picture=last_bar_covered,
)
def swapped(case: Case) -> Truth | None:
    """Without positions, swapping two words does not change the answer.

    Chosen is the swap that changes the first answer most with positions. margin: that change; 0 if anything changes
    without positions, too, or the first answer there is too small for a bar. None without two words known to be whole.
    """
    tokens, trace = case.tokens, case.trace
    alike = (combinations(sorted(places[:CANDIDATES]), 2) for places in exchangeable(case))
    kinds = ([(i, j) for i, j in pairs if tokens[i] != tokens[j]] for pairs in alike)
    pairs = next(filter(None, kinds), [])
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
    figures = map(float, (now[output], there[output], bare[first], bare_there[first]))
    shares = dict(zip(("before", "after", "bare_before", "bare_after"), figures, strict=True))
    ending = "们" * (tokens[one + 1 : one + 2] == ["们"])
    names = placed(tokens)
    said = {"one": names[one] + ending, "other": names[other] + ending, **shares}
    said |= {"answer": case.names[output], "bare": case.names[first]}
    seen = still <= ROUNDING and shares["bare_before"] >= DRAWN
    margin = float(abs(there[output] - now[output])) if seen else 0.0
    place, options = {"token": one, "key": other}, ("same", "different")
    told = "why", *how_added(case)
    return Truth("same", margin, said, tuple(shares.items()), place, options=options, told=told)


@question(
    "bare",
    "slide",
    least=0.1,
    minutes=3,
    page="what_if",
    at={"tab": "input", "block": "places"},
    equation="embedding.sum",
    picture=last_bar_covered,
)
def without_places(case: Case) -> Truth | None:
    """The probability of the first answer without positions. margin: how much they contribute."""
    truth = share_left(case, [*without_positions(case.trace.graph)])
    return truth and replace(truth, told=(*truth.told, *how_added(case)))


def how_added(case: Case) -> tuple[str, ...]:
    """Name of the text that says how positions enter X⁰, if they are added to it."""
    return ("places.why_added",) * case.trace.config.places_added


def exchangeable(case: Case) -> list[list[int]]:
    """Groups of tokens of which any two can be swapped, nearest first: patches with ink; in a sentence whole words:
    pronouns, those before 们, animals, and words between spaces.
    """
    if (patches := case.trace.patches) is not None:
        ink = np.zeros(len(case.tokens))
        ink[len(case.tokens) - len(patches) :] = patches.sum(axis=-1)
        return [sorted((i for i in case.visible if ink[i] > 0), key=lambda i: -ink[i])]
    signs = "".join(name if len(name) == 1 else " " for name in case.tokens)  # a sign for each token
    kinds = [[match.start() for match in kind.finditer(signs)] for kind in (*PRONOUN, ANIMAL)]
    whole = [places[0] for places in whole_words(case.tokens) if len(places) == 1]
    spaced = [i for i in whole if case.tokens[i].isalpha() and not UNSPACED.search(case.tokens[i])]
    spaced = [i for i in spaced if "'" not in case.tokens[i - 1 : i + 2]]  # "n" and "t" of "didn't"
    near = sorted(case.visible, key=lambda i: abs(i - case.token))
    return [[i for i in near if i in kind] for kind in (*kinds, spaced)]
