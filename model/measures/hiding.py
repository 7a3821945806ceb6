"""Choose which word of a sentence is worth masking."""

from model.analysis import rank, softmax, whole_words
from model.measures.cost import multiply_adds, total
from model.pipeline import Pipeline, TextReader
from model.trace import Trace, hooked

OFFERED = 3
SURE = 0.5  # the best guess at a more predictable word is obvious from its neighbours
NEAR = 5  # a word not among so many best guesses is preceded by absurd ones
MOST_PRODUCTS = 6_000_000_000  # multiply-adds, about 150 ms


def worth_hiding(pipeline: Pipeline, trace: Trace) -> list[int]:
    """Positions of at most three words worth masking, in order, in a sentence without a mask.

    Candidates are words of one piece that, masked alone, are among the five best guesses. The least certain are taken,
    each word once; after the first, none with more than half of the probability. In a long sentence, only words
    least certain when unmasked are tried. Empty for a network without a masked-word head.
    """
    reader, ids = pipeline.reader, trace.ids
    if pipeline.config.head != "masked-word" or not isinstance(reader, TextReader) or "[MASK]" not in reader.vocabulary:
        return []
    words = [places[0] for places in whole_words(trace.tokens) if len(places) == 1]
    words = [i for i in words if trace.tokens[i][0] != "[" and any(map(str.isalnum, trace.tokens[i]))]
    words.sort(key=lambda i: softmax(trace["logits"][i])[ids[i]])
    words = words[: MOST_PRODUCTS // total(multiply_adds(pipeline.config, len(ids))).number]
    if not words:
        return []
    _, (tensor, *others) = pipeline.inputs(trace)
    assert tensor is not None
    hidden = tensor.repeat(len(words), 1)
    hidden[range(len(words)), words] = reader.vocabulary.index("[MASK]")
    with hooked(pipeline.network, {pipeline.graph.Z: lambda Z: Z[range(len(words)), words][:, None]}):
        guesses = pipeline.network(hidden, *others)[:, 0].float().softmax(-1).numpy()
    found: dict[str, int] = {}
    for p, place in sorted(zip(guesses, words, strict=True), key=lambda guess: (guess[0].max(), guess[1])):
        if rank(p, ids[place]) <= NEAR and (not found or p.max() <= SURE):
            found.setdefault(trace.tokens[place], place)
    return sorted([*found.values()][:OFFERED])
