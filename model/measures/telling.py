"""Choose the word of a sentence to mask first."""

from collections import Counter
from collections.abc import Collection

import torch

from model.analysis import whole_words
from model.encoder import Encoder
from model.pipeline import Pipeline, TextReader
from model.trace import Trace

MOST_TOKENS = 256  # in the batch with each word masked in turn
PLAINLY = 0.1  # least lead of a clear guess that is right


@torch.inference_mode()
def telling_word(pipeline: Pipeline, trace: Trace, known: Collection[int] = ()) -> int | None:
    """The position of the word to mask first: the encoder should have a guess, but be in doubt.

    Words of one piece are masked in turn, in one batch (in a long sentence only the longest). Chosen is the one whose
    best guess has a probability nearest to one half, preferably among those guessed clearly and rightly; repeated words
    come last. None if there is no whole word. known: positions left out.
    """
    count = Counter(trace.tokens)
    places = [places[0] for places in whole_words(trace.tokens) if len(places) == 1]
    places = [place for place in places if trace.tokens[place].isalpha() and place not in known]
    places = [place for place in places if count[trace.tokens[place]] == 1] or places
    places.sort(key=lambda place: -len(trace.tokens[place]))
    places = places[: max(1, MOST_TOKENS // len(trace.tokens))]
    if not places or pipeline.config.head != "masked-word" or not isinstance(pipeline.reader, TextReader):
        return places[0] if places else None
    x = torch.tensor([pipeline.reader.hide(trace.ids, [place]) for place in places])
    segments = torch.tensor([trace.segments] * len(places)) if trace.segments else None
    Z = Encoder.forward(pipeline.network, x, segments=segments)[range(len(places)), places]
    shares, guesses = pipeline.network.read_out(Z).softmax(-1).topk(2)
    right = guesses[:, 0] == torch.tensor([trace.ids[place] for place in places])
    plainly = right & (shares[:, 0] - shares[:, 1] >= PLAINLY)
    return places[int(((shares[:, 0] - 0.5).abs() + ~plainly).argmin())]
