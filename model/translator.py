"""The translator: the encoder reads a sentence, the decoder writes it in the other language; both are recorded."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from typing import Literal

import torch
from torch import Tensor

from model import examples
from model.changes import Change, bind
from model.decoder import TARGET_LANGUAGES, TranslationNetwork
from model.edits import PARTS, Edit, EditError, as_edits, grows
from model.encoder import Encoder
from model.pipeline import Pipeline, Reading, TextReader, plain
from model.saved import Kept
from model.search import Hypothesis, Search, beam_search
from model.trace import Guess, Recording, Trace, record
from model.unallocated import WithoutNumbers

Language = Literal["en", "zh"]
CHINESE = re.compile(r"[\u3400-\u9fff]")
BESIDE_CHINESE = re.compile(r"(?<=[\u3000-\u9fff\uff00-\uffef]) | (?=[\u3000-\u9fff\uff00-\uffef])")
APOSTROPHE = re.compile(r" ' (s|t|m|re|ve|ll|d)\b")


@dataclass(frozen=True)
class Translation:
    """One translation: its pieces ([SEP] included), its text, and its probability under the decoder."""

    tokens: tuple[str, ...]
    text: str
    log_probability: float
    score: float  # log_probability / length^0.6, by which beams are ranked
    ids: tuple[int, ...]
    steps: tuple[float, ...]  # log-probability of each piece when it was written


@dataclass(frozen=True)
class Task:
    """A sentence to translate, the target language (None: the other one), and a forced beginning (ids).

    With `written` (ids), the target is exactly these pieces; the decoder does not read the last one.
    """

    sentence: str | tuple[int, ...]
    into: Language | None = None
    forced: tuple[int, ...] = ()
    written: tuple[int, ...] | None = None


class TranslationTrace(Trace):
    """A Trace whose keys go on through the decoder: `decoder.layers.{l}.attention.…`, `.cross.…`, `.ffn.…`.

    `tokens` are the source's. `target_tokens` are the decoder's input, beginning with the language, one row each in the
    decoder's keys. Each row predicted the next piece, so for each there is one piece in `written` and one Guess in
    `answer`. Rows attend only to earlier ones, so their values are those of the step that wrote the piece. Exception:
    with the edit "unmasked", rows also attend to pieces written later. `greedy` and `beams` are the translations found,
    `search` all candidates of the beam search; the trace is of the first beam. If the target was given, there is no
    search.
    """

    target_tokens: list[str]
    target_ids: list[int]
    written: tuple[str, ...]
    written_ids: tuple[int, ...]
    greedy: Translation
    beams: tuple[Translation, ...] = ()
    search: Search

    @property
    def translation(self) -> str:
        return self.beams[0].text


class Translator(Pipeline):
    """Reader, encoder and decoder: call it with a sentence. Safe to share among threads."""

    network: TranslationNetwork
    reader: TextReader

    def __call__(  # type: ignore[override]
        self, x: object, edits: Edit | Iterable[Edit] = (), into: Language | None = None, beams: int = 4
    ) -> TranslationTrace:
        """x: a sentence, or a Task; into: the target language, or None for the one that the sentence is not in.

        A task's forced beginning is cut at its first [SEP], and so that one more piece fits. If the task is `written`,
        there is no search.

        Raises InputError for a sentence that cannot be read, EditError for an edit that does not fit, ValueError for
        ids beyond the vocabulary. Edits apply at every step, so they change the translation. A patch fits only in the
        encoder, since the target grows.
        """
        task = x if isinstance(x, Task) else Task(plain(x), into)  # type: ignore[arg-type]
        edits = as_edits(edits)
        reading = self.reader.read(task.sentence)
        start = self._start(task, reading)
        changes = bind(edits, self.around(reading))
        forced, written = self._beginning(task.forced), task.written
        if written is not None:
            return self._trace(task.sentence, reading, edits, changes, start, written)
        step = self._writer(reading, changes)
        greedy = self._search(step, start, 1, forced)
        search = self._search(step, start, beams, forced) if beams > 1 else greedy
        trace = self._trace(task.sentence, reading, edits, changes, start, search.hypotheses[0].ids)
        trace.greedy = self._translation(greedy.hypotheses[0])
        trace.beams = tuple(map(self._translation, search.hypotheses))
        trace.search = search
        return trace

    def _each(self, inputs: Iterable[object], edits: tuple[Edit, ...], keep: list[str] | None) -> Iterator[Trace]:
        """The Trace of each sentence or Task, searched one after the other."""
        for x in inputs:
            trace = self(x, edits)
            if keep is not None:
                trace._values = Kept({key: trace._values[key] for key in keep}, edits)
            yield trace

    def _trace(
        self,
        x: object,
        reading: Reading,
        edits: tuple[Edit, ...],
        changes: list[Change],
        start: int,
        written: tuple[int, ...],
    ) -> TranslationTrace:
        """One run over the finished target. The decoder reads `start` and all pieces but the last."""
        y = torch.tensor([[start, *written[:-1]]])
        beyond = {change.of: last for change in changes if (last := self._last_target(change)) >= y.size(1)}
        if beyond:  # report all at once: each retry would repeat the whole search
            error = EditError("index", axis="token", index=max(beyond.values()), size=y.size(1))
            error.edits = tuple(beyond)
            raise error
        output, values, idle = self._run(changes, reading.tensor, y)
        guesses = tuple(self._guess(row, place) for place, row in enumerate(output[0]))
        trace = TranslationTrace(
            values, self.graph, x, reading.tokens, reading.ids, guesses, reading.notes, edits, idle
        )
        trace.target_ids, trace.written_ids = y[0].tolist(), written
        trace.target_tokens = [self._word(i) for i in trace.target_ids]
        trace.written = tuple(map(self._word, written))
        return trace

    @cached_property
    def encoder(self) -> Pipeline:
        """The encoder alone; it shares the weights."""
        with WithoutNumbers():
            network = Encoder(self.config)
        own = network.state_dict().keys()
        weights = {key: weight for key, weight in self.network.state_dict().items() if key in own}
        network.load_state_dict(weights, assign=True)
        return Pipeline(self.name, network, self.reader)

    def inputs(self, x: object) -> tuple[Reading, tuple[Tensor, ...]]:
        """The Reading of a sentence (or of its Trace), with the ids of source and target."""
        trace = x if isinstance(x, TranslationTrace) else self(x)
        reading, source = super().inputs(trace)
        return reading, (*source, torch.tensor([trace.target_ids]))

    def run_of(self, x: object) -> Recording:
        """The recorded run of the encoder alone."""
        return record(self.network, self.reader.read(x).tensor, run=self.network.encode)[1]

    def _examples(self) -> Iterator[Mapping[str, Tensor]]:
        for pair in examples.SENTENCES:
            ways: tuple[tuple[str, str, Language], ...] = ((*pair, "zh"), (*pair[::-1], "en"))
            for source, target, into in ways:
                x, y = (self.reader.read(sentence).tensor for sentence in (source, target))
                y = torch.cat([torch.tensor([[self._row(into)]]), y[:, 1:-1]], dim=1)  # the language for [CLS]
                yield record(self.network, x, y)[1]

    def _writer(self, reading: Reading, changes: list[Change]) -> Callable[[Tensor], Tensor]:
        """A function from the target so far to log-probabilities of the next piece, with the edits.

        The encoder runs once, the decoder once for each step.
        """
        encoder = [(change.key, change.apply) for change in changes if not _after_encoder(change)]
        decoder = [(change, self._last_target(change)) for change in changes if _after_encoder(change)]
        Z, _ = record(self.network, reading.tensor, edits=encoder, run=self.network.encode)

        def step(y: Tensor) -> Tensor:
            here = [(change.key, change.apply) for change, last in decoder if last < y.size(1)]
            inputs = y, Z.expand(len(y), -1, -1)
            if here:
                logits = record(self.network, *inputs, edits=here, run=self.network.decode)[0][:, -1]
            else:  # no edits and no recording: only the last row is needed
                logits = self.network.logits(self.network.decoder(*inputs)[:, -1])
            return logits.log_softmax(-1)

        return step

    def _search(self, step: Callable[[Tensor], Tensor], start: int, beams: int, forced: Sequence[int]) -> Search:
        return beam_search(step, start, self._end, beams, self.config.max_len - 1, forced)

    @cached_property
    def target_vocabulary(self) -> Sequence[str]:
        """The target's vocabulary, by id."""
        return [*self.reader.vocabulary, *TARGET_LANGUAGES.values()]

    @property
    def writes(self) -> range:
        """The ids that it can write; a forced beginning may use these."""
        return range(self.network.decoder_config.vocab_size)

    @cached_property
    def _end(self) -> int:
        return self.target_vocabulary.index("[SEP]")

    def _beginning(self, forced: Sequence[int]) -> tuple[int, ...]:
        if not all(number in self.writes for number in forced):
            raise ValueError("a forced piece is not in the vocabulary")
        return tuple(takewhile(lambda number: number != self._end, forced))[: self.config.max_len - 2]

    def _last_target(self, change: Change) -> int:
        """The last target position that an edit names; the edit applies once that is written."""
        quantity = self.graph[change.key]
        growing = {PARTS[axis] for axis in quantity.axes if grows(quantity, axis)}
        return max((getattr(change.edit, part) or 0 for part in growing), default=0)

    def _start(self, task: Task, reading: Reading) -> int:
        """The id with which a target begins."""
        return self._row(task.into or language_after(reading.tokens))

    def _row(self, into: Language) -> int:
        return self.config.vocab_size + list(TARGET_LANGUAGES).index(into)

    def _word(self, i: int) -> str:
        return self.target_vocabulary[i]

    def _guess(self, logits: Tensor, step: int) -> Guess:
        """The likeliest pieces at a step."""
        return self.reader.guess(logits, step)

    #: (source, target) language if fixed; None: either of two.
    pair: tuple[str, str] | None = None

    def spelled(self, ids: Sequence[int]) -> str:
        """The sentence with these ids; unknown pieces are [UNK]."""
        return as_written(self.reader.tokenizer.decode(list(ids), skip_special_tokens=False))

    def _translation(self, hypothesis: Hypothesis) -> Translation:
        tokens = tuple(map(self._word, hypothesis.ids))
        text = self.spelled([i for i in hypothesis.ids if i != self._end])
        return Translation(tokens, text, hypothesis.log_probability, hypothesis.score, hypothesis.ids, hypothesis.steps)


def language_after(tokens: Iterable[str]) -> Language:
    """The language to write: English for a sentence with Chinese characters in it, else Chinese."""
    return "en" if any(map(CHINESE.search, tokens)) else "zh"


def as_written(text: str) -> str:
    """Remove spaces of decoded text within Chinese and in "it's" and "didn't"."""
    return APOSTROPHE.sub(r"'\1", BESIDE_CHINESE.sub("", text))


def _after_encoder(change: Change) -> bool:
    return change.key.startswith("decoder.") or change.key == "logits"
