"""Questions about encoder and decoder."""

from collections.abc import Sequence

import numpy as np

from model.analysis import placed
from model.translator import TranslationTrace
from pages.school.questions.case import RIVAL, Case, Truth
from pages.school.questions.pictures import cross_attention, word_read
from pages.school.questions.positions import UNSPACED
from pages.school.questions.question import question

MOST_OPTIONS = 24  # tokens of which one can be tapped
FEWEST = 3  # of which it is a question
SHORT = 2  # letters of a word that mostly only joins others: "to", "it", "of"
HARD = 0.5  # the weight from which on a head looks hard at a token


@question(
    "source", "tap", least=0.6, minutes=3, hints=2, page="translation", run="translation", picture=cross_attention
)
def read_to_write(case: Case) -> Truth | None:
    """Of a translation: which word of the source a step reads most. Taken is the step and head of the cross-attention
    that writes the longest word, and of equally long ones reads most, from the token that all heads together read most,
    plainly, and in no other step as much: "to" reads 玩 only on the way to "play". margin: how much it takes. Beside 公
    no 园 can be chosen, which may be the rest of its word.
    """
    trace = case.trace
    if not isinstance(trace, TranslationTrace) or len(trace.tokens) > MOST_OPTIONS:
        return None
    decoder = trace.graph.decoder
    assert decoder is not None  # a translation has one
    together = trace.over_layers("cross.weights", "decoder.").mean(axis=(0, 1))
    words = [step for step, piece in enumerate(trace.written) if names_something(piece) and case.step in (None, step)]
    sources = [i for i, name in enumerate(trace.tokens) if name[:1].isalnum()]
    layers = range(decoder.layers) if case.layer is None else [case.layer]
    heads = range(decoder.heads) if case.head is None else [case.head]
    found: list[tuple[int, float, tuple[int, int, int]]] = []
    for layer, head in ((layer, head) for layer in layers for head in heads):
        weights = trace[f"decoder.layers.{layer}.cross.weights"][head]
        most = weights.argmax(axis=-1)
        clear = [
            step
            for step in words
            if weights[step].max() >= HARD
            and trace.tokens[most[step]] == word_read(trace, step)
            and together[:, most[step]].argmax() == step
            and plain(together[step], most[step], offered(trace.tokens, sources, most[step]))
        ]
        found += [(len(trace.written[step]), float(weights[step].max()), (layer, head, step)) for step in clear]
    if not found:
        return None
    _, margin, (layer, head, step) = max(found)
    row, names = trace[f"decoder.layers.{layer}.cross.weights"][head, step], placed(trace.tokens)
    key = int(row.argmax())
    said = {"layer": layer + 1, "head": head + 1, "piece": trace.written[step], "key": names[key]}
    said |= {"share": float(row[key]), "tokens": len(names), "even": 1 / len(names)}
    said |= {"begin": trace.target_tokens[0], "last": trace.target_tokens[step], "end": trace.written[-1]}
    bars = tuple((name, float(value)) for name, value in zip(names, row, strict=True))
    place = {"layer": layer, "head": head, "step": step, "token": key}
    options = tuple(names[i] for i in offered(trace.tokens, sources, key))
    return Truth(names[key], margin, said, bars, place, options=options, literal=True)


def names_something(piece: str) -> bool:
    """Whether a piece is a word, and not so short a one that it mostly joins others."""
    return piece[:1].isalnum() and (len(piece) > SHORT or bool(UNSPACED.search(piece)))


def offered(tokens: Sequence[str], sources: list[int], key: int) -> list[int]:
    """The tokens that can be chosen: beside a sign of a script without spaces none that may belong to its word."""
    return [i for i in sources if abs(i - key) != 1 or not UNSPACED.search(tokens[key] + tokens[i])]


def plain(weights: np.ndarray, key: int, options: list[int]) -> bool:
    """Whether there are others, and none has nearly as much."""
    return len(options) >= FEWEST and all(weights[i] < RIVAL * weights[key] for i in options if i != key)


@question(
    "once",
    "number",
    least=2,
    minutes=3,
    hints=2,
    page="translation",
    run="translation",
    picture=cross_attention,
    bars=True,
)
def encoder_runs(case: Case) -> Truth | None:
    """How often the encoder runs while a translation is written: once. margin: how many steps are more than that."""
    trace = case.trace
    if not isinstance(trace, TranslationTrace):
        return None
    steps = len(trace.written)
    said = {"steps": steps, "tokens": len(trace.tokens), "text": trace.beams[0].text if trace.beams else ""}
    bars = (("encoder", 1), ("decoder", steps))
    return Truth(1, float(steps - 1), said, bars, {}, span=(1, max(steps, 2)))
