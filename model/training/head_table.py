"""heads.json: the measured role of each attention head, with examples, and what to show first."""

import json
from dataclasses import asdict
from itertools import chain
from pathlib import Path

import numpy as np

from model.files import seal
from model.measures.tables import HEADS, TAUGHT, THIRDS, Home
from model.pipeline import Pipeline, TextReader
from model.training.observe import Attended, kinds
from model.training.relations import BETWEEN, Parsed, kept_apart
from model.training.roles import (
    AIMLESS,
    CLEAR,
    Candidate,
    Evidence,
    Measured,
    Run,
    gather,
    measure_apart,
    piece_run,
    treebank_runs,
)

FEWEST = {"en": 200, "zh": 100, "all": 200}  # places that a candidate must be asked for at, in both halves together
LONGEST = 32  # tokens of an example's sentence
EACH = 3  # examples of each third
OTHERS = 4  # further things that a head does, kept beside its role
#: Sentences that a visitor may see first.
SHOWN = {
    "en": (
        "the animal did not cross the street because it was too tired .",
        "she sat by the river bank .",
        "he put the money in the bank .",
        "the dog chased the cat .",
        "the cat chased the dog .",
        "the unhappy children were playing .",
    ),
    "zh": ("今天天气很好，我们去公园玩吧。", "他在银行工作。", "妈妈说她很喜欢这本书。"),
}
PICTURES, SHARP = 24, 0.4


def encoder_runs(
    reader: TextReader, language: str, parsed: list[Parsed], seen: list[Attended], texts: list[str]
) -> list[Run]:
    """What the encoder's heads are measured on: plain sentences with their texts, and a treebank's."""
    runs = [piece_run(attended, text) for attended, text in zip(seen, texts, strict=True)]
    for one in parsed:
        text = BETWEEN[language].join(one.sentence.words)
        runs += treebank_runs(one, text if reader.read(text).tokens == one.attended.keys else "")
    return runs


def cross_runs(seen: list[Attended], aligned: list[np.ndarray], texts: list[str]) -> list[Run]:
    """What cross-attention is measured on: `aligned` is (target piece, source piece), without special tokens."""
    runs = []
    for attended, pairs, text in zip(seen, aligned, texts, strict=True):
        read = np.zeros(attended.visible.shape, dtype=bool)
        read[1:, 1:-1] = pairs
        following = np.roll(read, -1, axis=0)  # the first row, the language's, is empty
        more = {Candidate("aligned"): read, Candidate("aligned_next"): following}
        runs.append(piece_run(attended, text, more))
    return runs


def halves(runs: dict[str, list[Run]]) -> tuple[dict[str, list[Run]], dict[str, list[Run]]]:
    """The runs that roles are chosen on, and those that they are measured on."""
    chosen_on, apart = (
        {name: [run for run in some if kept_apart(run.attended) == half] for name, some in runs.items()}
        for half in (False, True)
    )
    return chosen_on, apart


class HeadTable:
    """What heads.json will hold, attention by attention."""

    def __init__(self) -> None:
        self.heads: dict[str, list[dict]] = {}
        self.sentences: list[dict] = []
        self.striking: list[dict] = []

    def add(self, path: str, chosen_on: dict[str, list[Run]], apart: dict[str, list[Run]]) -> None:
        """Choose what the attentions at `path` (its {l} stands for a layer) do, on each language's runs and on all, and
        measure it on those kept apart. The examples are from there as well.
        """
        before, evidence = _of_each(chosen_on), _of_each(apart)
        everything = {**apart, "all": list(chain.from_iterable(apart.values()))}
        for language, found in evidence.items():
            for layer, heads in enumerate(measure_apart(before[language], found, FEWEST[language])):
                rows = self.heads.setdefault(path.format(l=layer), [{} for _ in heads])
                for head, ranked in enumerate(heads):
                    role = ranked[0]
                    examples = self._examples(everything[language], role.candidate, found[role.candidate], layer, head)
                    rows[head][language] = _row(role) | {
                        "examples": examples,
                        "others": [_row(other) for other in ranked[1:] if other.margin >= CLEAR][:OTHERS],
                    }

    def _examples(
        self, runs: list[Run], candidate: Candidate, found: Evidence, layer: int, head: int
    ) -> dict[str, list[list]]:
        """From each third of the places by strength, its strongest and two more at even steps, each in another run."""
        short = np.array([bool(run.text) and len(run.attended.keys) <= LONGEST for run in runs])
        places = np.flatnonzero(short[found.where[:, 0]])
        order = places[np.argsort(-found.strength[places, layer, head], kind="stable")]
        examples, used = {}, set()
        for third, some in zip(THIRDS, np.array_split(order, len(THIRDS)), strict=True):
            examples[third] = []
            for part in np.array_split(some, EACH):
                fresh = (place for place in part if found.where[place, 0] not in used)
                if (place := next(fresh, None)) is not None:
                    number, asked = found.where[place]
                    used.add(number)
                    examples[third].append(self._example(runs[number], candidate, asked, layer, head))
        return examples

    def _example(self, run: Run, candidate: Candidate, asked: int, layer: int, head: int) -> list:
        """[sentence, query, key, weight]: the right key that gets most."""
        query = int(run.tokens(asked)[0])
        keys = [token for unit in np.flatnonzero(run.right[candidate][asked]) for token in run.tokens(unit)]
        weights = run.attended.weights[layer, head, query]
        key = max(keys, key=weights.__getitem__)
        sentence = {"text": run.text, "keys": run.attended.keys}
        if run.attended.queries is not run.attended.keys:
            sentence["queries"] = run.attended.queries
        if sentence not in self.sentences:
            self.sentences.append(sentence)
        return [self.sentences.index(sentence), query, int(key), round(float(weights[key]), 4)]

    def choose_pictures(self, pipeline: Pipeline) -> None:
        """Rank the pictures of the SHOWN sentences by how much there is to see: PICTURES of each language at most.

        To see is a word that looks most at another one that is not beside it, with SHARP or more. A picture's score is
        the sum of the largest such weight on each key, so that a mere column does not win, over the number of words.
        Heads whose role is a relation or the same word come first, and those that look at nothing in particular last;
        what a visitor sees first is of no head that was taught.
        """
        taught = TAUGHT if pipeline.name == "text" else {}
        languages = self.heads["layers.0.attention"][0]
        for language, sentences in SHOWN.items():
            if language not in languages:
                continue
            found = []
            for sentence in sentences:
                trace = pipeline(sentence)
                words = kinds(trace.tokens) == "word"
                place = np.arange(len(words))
                far = words[:, None] & words & (abs(place[:, None] - place) > 1)
                for layer, head in np.ndindex(pipeline.config.layers, pipeline.config.heads):
                    if (layer, head) in taught:
                        continue
                    weights = trace[f"layers.{layer}.attention.weights"][head]
                    seen = np.where(far & (weights == weights.max(-1, keepdims=True)), weights, 0)
                    query, key = (int(i) for i in np.unravel_index(seen.argmax(), seen.shape))
                    if seen[query, key] >= SHARP:
                        role = self.heads[f"layers.{layer}.attention"][head]["all"]["name"]
                        score = float(seen.max(0).sum() / words.sum())
                        picture = (sentence, layer, head, query, key, round(float(seen[query, key]), 4))
                        rank = 2 if role in ("relation", "same") else int(role not in AIMLESS)
                        found.append((rank, score, picture))
            names = ("text", "layer", "head", "query", "key", "weight")
            for _, _, picture in sorted(found, reverse=True)[:PICTURES]:
                self.striking.append({"language": language} | dict(zip(names, picture, strict=True)))

    def write(self, home: Home) -> Path:
        """Write the table where the pages look for it, with the weights that it was made from."""
        path, weights = home.folder / HEADS, dict(home.weights)
        table = {"weights": weights, "heads": self.heads, "striking": self.striking, "sentences": self.sentences}
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(table, ensure_ascii=False, separators=(",", ":")), encoding="utf-8")
        seal(path)
        return path


def _of_each(runs: dict[str, list[Run]]) -> dict[str, dict[Candidate, Evidence]]:
    """The evidence of each language's runs, and under "all" that of all of them, one language after the other."""
    evidence, before = {language: gather(some) for language, some in runs.items()}, 0
    shifted = []
    for language, some in runs.items():
        shifted.append({candidate: found.shifted(before) for candidate, found in evidence[language].items()})
        before += len(some)
    return {**evidence, "all": _joined(*shifted)}


def _joined(*evidence: dict[Candidate, Evidence]) -> dict[Candidate, Evidence]:
    candidates = dict.fromkeys(candidate for found in evidence for candidate in found)
    return {c: Evidence.join([found[c] for found in evidence if c in found]) for c in candidates}


def _row(measured: Measured) -> dict:
    """A role as heads.json has it: relation and direction only where they say something."""
    row = asdict(measured.candidate) | {
        "share": round(measured.share, 4),
        "margin": round(measured.margin, 4),
        "count": measured.count,
    }
    return {name: value for name, value in row.items() if value is not None}
