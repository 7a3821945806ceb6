"""Which word of a sentence is worth hiding from a network that guesses hidden words."""

from model.analysis import rank, softmax, whole_words
from model.measures.cost import multiply_adds, total
from model.pipeline import Pipeline, TextReader
from model.trace import Trace, hooked

OFFERED = 3
SURE = 0.5  # a word of which the best guess is surer is read off its neighbours: there is nothing to ask
NEAR = 5  # a word that hidden is not among so many best guesses has an absurd one before it
MOST_PRODUCTS = 6_000_000_000  # multiply-adds, some 150 ms


def worth_hiding(pipeline: Pipeline, trace: Trace) -> list[int]:
    """The places of at most three words of a sentence in which none is hidden, in their order.

    Of the words that, hidden alone, are among the five best guesses, those whose best guess is least sure, each once,
    and but for the first of them none whose best guess has more than half of the probability. Only words of one piece;
    in a sentence so long that hiding each takes too long, those least sure while they are seen. None for a network
    that guesses no hidden words.
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
