"""Questions about the answer."""

import numpy as np

from pages.school.questions.case import Case, Truth, leads
from pages.school.questions.pictures import drawn_digit, words_to_choose
from pages.school.questions.question import question

MOST_OPTIONS = 24  # classes of which one can be tapped
SEEN = 0.01  # smallest share visible as a bar


@question("word", "word", least=0.1, minutes=4, hints=2, page="answer", equation="answer", picture=words_to_choose)
def hidden_word(case: Case) -> Truth | None:
    """The word that the network guesses. margin: lead of its probability; 0 if the second is invisible."""
    if not case.answers or "word" not in case.trace.axes("logits"):
        return None
    shares = case.shares(case.trace["logits"])
    first, second, *others = (int(i) for i in np.argsort(-shares)[:5])
    if case.names[first].startswith("##"):
        return None
    said = {"best": case.names[first], "first": float(shares[first]), "size": len(shares)}
    bars = tuple((case.names[i], float(shares[i])) for i in (first, second, *others))
    margin = float(shares[first] - shares[second]) if shares[second] >= SEEN else 0.0
    return Truth(case.names[first], margin, said, bars, {"token": case.token}, literal=True)


@question(
    "digit", "tap", least=0.1, minutes=2, hints=2, page="answer", equation="answer", picture=drawn_digit, bars=True
)
def read_class(case: Case) -> Truth | None:
    """The class that the network reads in the input. margin: by how much its probability leads the next."""
    if not case.answers or "word" in case.trace.axes("logits") or len(case.names) > MOST_OPTIONS:
        return None
    shares = case.shares(case.trace["logits"])
    first, second = (int(i) for i in np.argsort(-shares)[:2])
    ahead = leads(np.delete(shares, first))
    said = {"best": case.names[first], "second": case.names[second], "size": len(shares)}
    said |= {"first": float(shares[first]), "then": float(shares[second])}
    bars = tuple((name, float(share)) for name, share in zip(case.names, shares, strict=True))
    margin, options = float(shares[first] - shares[second]), tuple(case.names)
    told, place = ("why", *["why_second"] * ahead), {"token": case.token}
    return Truth(case.names[first], margin, said, bars, place, options=options, literal=True, told=told)
