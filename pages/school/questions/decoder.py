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
FEWEST = 3  # least number of options
SHORT = 2  # letters of a word that probably only connects others: "to", "it", "of"
HARD = 0.5  # weight from which a head attends strongly to a token


@question(
    "source", "tap", least=0.6, minutes=3, hints=2, page="translation", run="translation", picture=cross_attention
)
def read_to_write(case: Case) -> Truth | None:
    """For a translation: the source word that a step attends to most.

    The step and head of cross-attention are chosen for the longest word written, then the largest weight; its source
    token must be the one that all heads together clearly attend to most, and in no other step as much: "to" reads 玩
    only before writing "play". margin: the weight. Next to 公, 园 is no option, since it may belong to the same word.
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
    """Whether a piece is a word long enough not only to connect others."""
    return piece[:1].isalnum() and (len(piece) > SHORT or bool(UNSPACED.search(piece)))


def offered(tokens: Sequence[str], sources: list[int], key: int) -> list[int]:
    """Tokens to choose from; in scripts without spaces, without neighbours that may belong to the same word."""
    return [i for i in sources if abs(i - key) != 1 or not UNSPACED.search(tokens[key] + tokens[i])]


def plain(weights: np.ndarray, key: int, options: list[int]) -> bool:
    """Whether there are other options, and none has nearly as much weight."""
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
    """How often the encoder runs during a translation: once. margin: number of further steps."""
    trace = case.trace
    if not isinstance(trace, TranslationTrace):
        return None
    steps = len(trace.written)
    said = {"steps": steps, "tokens": len(trace.tokens), "text": trace.beams[0].text if trace.beams else ""}
    bars = (("encoder", 1), ("decoder", steps))
    return Truth(1, float(steps - 1), said, bars, {}, span=(1, max(steps, 2)))
