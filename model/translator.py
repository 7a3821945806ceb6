"""The translator: the encoder reads a sentence, the decoder writes it in the other language, and all of it is kept."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from model import examples
from model.changes import Change, bind
from model.decoder import TARGET_LANGUAGES, TranslationNetwork
from model.edits import PARTS, Edit, grows
from model.pipeline import Pipeline, Reading, TextReader
from model.search import Hypothesis, beam_search
from model.trace import Trace, record

Language = Literal["en", "zh"]
CHINESE = re.compile(r"[\u3400-\u9fff]")
BESIDE_CHINESE = re.compile(r"(?<=[\u3000-\u9fff\uff00-\uffef]) | (?=[\u3000-\u9fff\uff00-\uffef])")
APOSTROPHE = re.compile(r" ' (s|t|m|re|ve|ll|d)\b")


@dataclass(frozen=True)
class Translation:
    """One way to say it: the pieces written ([SEP] included), as a sentence, and how likely the decoder found it."""

    tokens: tuple[str, ...]
    text: str
    log_probability: float
    score: float  # log_probability / length^0.6, by which beams are compared


class TranslationTrace(Trace):
    """A Trace whose keys go on through the decoder: `decoder.layers.{l}.attention.…`, `.cross.…`, `.ffn.…`.

    `tokens` are the source's. `target_tokens` are what the decoder read, one row each in its keys, beginning with the
    language; the logits at each of them chose the next, so `answer` holds one Guess for each. `greedy` and `beams`
    are the translations found; the trace is of the first beam.
    """

    target_tokens: list[str]
    target_ids: list[int]
    greedy: Translation
    beams: tuple[Translation, ...]

    @property
    def translation(self) -> str:
        return self.beams[0].text


class Translator(Pipeline):
    """Reader, encoder and decoder: call it with a sentence. Safe to share among threads."""

    network: TranslationNetwork
    reader: TextReader

    def __call__(  # type: ignore[override]
        self, x: object, edits: Sequence[Edit] = (), into: Language | None = None, beams: int = 4
    ) -> TranslationTrace:
        """x: a sentence; into: the language to write, or None for the other one than the sentence's.

        Raises InputError for a sentence that cannot be read, EditError for an edit that does not fit. Edits hold for
        every step of the writing, so they change what is written. A patch fits in the encoder only: the target grows.
        """
        edits = tuple(edits)
        reading = self.reader.read(x)
        start = self._start(into or language_after(reading))
        changes = bind(edits, self.around(reading))
        greedy = self._search(reading, start, changes, 1)[0]
        found = self._search(reading, start, changes, beams) if beams > 1 else (greedy,)
        # What the decoder reads is what it wrote, but for the last piece, which it does not read any more.
        y = torch.tensor([[start, *found[0].ids[:-1]]])
        output, values, idle = self._run(changes, reading.tensor, y)
        guesses = tuple(self.reader.guess(row, place) for place, row in enumerate(output[0]))
        trace = TranslationTrace(
            values, self.graph, x, reading.tokens, reading.ids, guesses, reading.notes, edits, idle
        )
        trace.target_ids = y[0].tolist()
        trace.target_tokens = [self._word(i) for i in trace.target_ids]
        trace.greedy = self._translation(greedy)
        trace.beams = tuple(map(self._translation, found))
        return trace

    def inputs(self, x: object) -> tuple[Reading, tuple[Tensor, ...]]:
        """A sentence (or a Trace of it) as it was read, with its ids and those of the target as it was written."""
        trace = x if isinstance(x, TranslationTrace) else self(x)
        reading, source = super().inputs(trace)
        return reading, (*source, torch.tensor([trace.target_ids]))

    def run_of(self, x: object) -> dict[str, Tensor]:
        """All that is recorded while a sentence is encoded."""
        return record(self.network, self.reader.read(x).tensor, run=self.network.encode)[1]

    def _examples(self) -> Iterator[dict[str, Tensor]]:
        for pair in examples.SENTENCES:
            ways: tuple[tuple[str, str, Language], ...] = ((*pair, "zh"), (*pair[::-1], "en"))
            for source, target, into in ways:
                x, y = (self.reader.read(sentence).tensor for sentence in (source, target))
                y = torch.cat([torch.tensor([[self._start(into)]]), y[:, 1:-1]], dim=1)  # the language for [CLS]
                yield record(self.network, x, y)[1]

    @torch.inference_mode()
    def _search(self, reading: Reading, start: int, changes: list[Change], beams: int) -> tuple[Hypothesis, ...]:
        """Write step by step under the edits. The encoder runs once, the decoder once for each step."""
        encoder = [(change.key, change.apply) for change in changes if not _after_encoder(change)]
        decoder = [(change, self._last_target(change)) for change in changes if _after_encoder(change)]
        Z, _ = record(self.network, reading.tensor, edits=encoder, run=self.network.encode)

        def step(y: Tensor) -> Tensor:
            here = [(change.key, change.apply) for change, last in decoder if last < y.size(1)]
            logits, _ = record(self.network, y, Z.expand(len(y), -1, -1), edits=here, run=self.network.decode)
            return logits[:, -1].log_softmax(-1)

        return beam_search(step, start, self.reader.vocabulary.index("[SEP]"), beams, self.config.max_len - 1)

    def _last_target(self, change: Change) -> int:
        """The latest place in the target that an edit speaks of: before it is written, there is nothing to change."""
        quantity = self.graph[change.key]
        growing = {PARTS[axis] for axis in quantity.axes if grows(quantity, axis)}
        return max((getattr(change.edit, part) or 0 for part in growing), default=0)

    def _start(self, into: Language) -> int:
        return self.config.vocab_size + list(TARGET_LANGUAGES).index(into)

    def _word(self, i: int) -> str:
        names = list(TARGET_LANGUAGES.values())
        return self.reader.vocabulary[i] if i < self.config.vocab_size else names[i - self.config.vocab_size]

    def _translation(self, hypothesis: Hypothesis) -> Translation:
        tokens = tuple(map(self._word, hypothesis.ids))
        text = as_written(self.reader.tokenizer.decode(list(hypothesis.ids)))
        return Translation(tokens, text, hypothesis.log_probability, hypothesis.score)


def language_after(reading: Reading) -> Language:
    """The language to write: English for a sentence with Chinese characters in it, else Chinese."""
    return "en" if any(map(CHINESE.search, reading.tokens)) else "zh"


def as_written(text: str) -> str:
    """Decoded pieces as people write them: no spaces within Chinese, none in "it's" and "didn't"."""
    return APOSTROPHE.sub(r"'\1", BESIDE_CHINESE.sub("", text))


def _after_encoder(change: Change) -> bool:
    return change.key.startswith("decoder.") or change.key == "logits"
