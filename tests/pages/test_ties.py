"""No sentence names a winner where there is none: every picture, of runs with equal, zero or single numbers."""

import copy
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, partial

import numpy as np
import pytest
import torch

from model import Edit, Trace, load
from model.analysis import tied, winners
from model.measures.alike import MEAN, Found, cosine, of_cosine, row_cosines, vector_of
from model.measures.sources import BIAS, Lead, of_lead
from model.measures.without import kept_of
from model.translator import Task, TranslationTrace
from pages.add_and_norm import pictures as add_and_norm
from pages.add_and_norm.pictures import AddNorm
from pages.answer import pictures as answer
from pages.attention import overlay
from pages.attention import pictures as attention
from pages.drawing.figures import Axis
from pages.drawing.picture import Numbers, Picture, says_words
from pages.drawing.pictures.answers import likeliest_outputs
from pages.drawing.place import Place
from pages.drawing.state import sketch
from pages.drawing.text import LANGUAGES, catalogue, plain, speaking
from pages.drawing.text import SENTENCE as ONE_BY_ONE
from pages.drawing.text.numbers import first, furthest, last
from pages.feed_forward import pictures as feed_forward
from pages.heads import pictures as heads
from pages.layers import pictures as layers
from pages.queries_keys_values import pictures as queries_keys_values
from pages.tokens import pictures as tokens
from pages.translation import pictures as translation
from tests.pages.makers import every_picture

SENTENCE = "the cat sat on a mat ."
#: Words that name a winner, and phrases in which they mean something else.
AHEAD = re.compile(
    r"\b(most(?! towards)|largest|highest|longest|strongest|loudest|first guess|furthest"
    r"|best|shortest|it stays|all the same|as well)\b|最(?!后|指向)|首选"
)
#: A tie of nobody knows what; and who was named in a sentence that a tie has replaced.
UNNAMED = re.compile(r"  | :|(^|。|后，)(共 \d|只有一个：)|[.。] ?(It points|它最指)")
WORDS, DRAWN, ONE, WRITTEN = {"text"}, {"digits"}, {"flat"}, {"translation"}
PREFIX = "layers.1.attention."


class Levelled(Mapping[str, torch.Tensor]):
    """A trace with other numbers in the same shapes; attention weights still sum to 1."""

    def __init__(self, values: Mapping[str, torch.Tensor], level: float, but_one: bool) -> None:
        self.values, self.level, self.but_one = values, level, but_one

    def __getitem__(self, key: str) -> torch.Tensor:
        was = self.values[key]
        level = 1 / was.shape[-1] if key.endswith("weights") and self.level else self.level
        made = torch.full(was.shape, level)
        if self.but_one:
            made.view(-1)[-1] -= 0.2 * level
        return made

    def __getattr__(self, name: str) -> object:
        return getattr(self.values, name)

    def __contains__(self, key: object) -> bool:
        return key in self.values

    def __iter__(self):
        return iter(self.values)

    def __len__(self) -> int:
        return len(self.values)


@cache
def recorded(network: str) -> Trace:
    subjects = {"text": SENTENCE, "translation": Task("i love you .", "zh")}
    return load(network)(subjects.get(network, sketch.ink(sketch.example(5))))


@cache
def run_of(network: str, kind: str) -> Trace:
    """A run with an edit, or with its numbers replaced: all equal, zero, or all but one equal."""
    run = recorded(network)
    if kind in EDITS:
        return load(network)(run.subject, EDITS[kind])
    made = copy.copy(run)
    made._values = Levelled(run._values, {"zero": 0.0}.get(kind, 0.5), but_one=kind == "but one")
    return made


#: Edits that can be made on the pages.
EDITS = {
    "even": [Edit("layers.{l}.attention.weights", "even")],
    "nothing written": [Edit("layers.{l}.attention.heads", "zero"), Edit("layers.{l}.ffn.activation", "zero")],
    "nothing comes in": [Edit("embedding.sum", "zero")],
    "no answer": [Edit("logits", "zero")],
}
LEVELS = ["equal", "zero", "but one"]
KINDS = [*LEVELS, *EDITS]


def built_up(run: Trace, place: Place) -> Picture:
    return answer.built_up(run, level_lead(run), (0, 1), {})


def parts_of_heads(run: Trace, place: Place) -> Picture:
    return answer.heads_and_ffns(run, level_lead(run, heads=True), (0, 1), place.token, {})


def level_lead(run: Trace, heads: bool = False) -> Lead:
    sources = of_lead(recorded("text" if says_words(run) else "digits"), 0, 1, heads=heads).parts
    return Lead(0.5 * len(sources), {BIAS: 0.0} | dict.fromkeys(sources, 0.5), exact=True)


def lost(make: Callable[..., Picture], rows: Callable[[Trace], int]) -> Callable[[Trace, Place], Picture]:
    """A picture of the effect on the answer, where all effects are equal."""

    def made(run: Trace, place: Place) -> Picture:
        count = len(run.outputs)
        return make(run, place, found=kept_of(np.full((rows(run), count), 1 / count), 5))

    return made


def warmer(run: Trace, place: Place) -> Picture:
    return answer.at_temperature(run, place if says_words(run) else replace(place, token=0), tau=2)


def next_pieces(run: TranslationTrace, place: Place) -> Picture:
    return translation.next_pieces(run, place, load("translation").target_vocabulary)


def changed(run: Trace, place: Place) -> Picture:
    look = {"title": "", "choose": lambda output: {}, "said": ""}
    return likeliest_outputs(run, place, unchanged=recorded("flat"), **look)


def lens(run: Trace, token: int) -> np.ndarray:
    return np.full((1 + run.config.layers, len(run.outputs)), 1 / len(run.outputs))


def guessed(run: Trace, place: Place) -> Picture:
    return layers.words(run, place, layers.guesses(lens(run, place.token)))


def searched(run: Trace, place: Place) -> Picture:
    own = vector_of(run, MEAN)
    found = [Found(at, cosine(own, own).value, run.tokens, np.full(len(run.tokens), 0.1)) for at in range(3)]
    return answer.search_results(run, place, found, ["one", "another", "a third"])


def cosines_by_layers(run: Trace, place: Place) -> Picture:
    states = run.states()[:, place.token]
    curves = dict.fromkeys(("vector", "inputs", "token"), row_cosines(states, states[-1]))
    return layers.by_layers(run, place, curves, run.tokens[place.token])


def of_two(run: Trace, place: Place) -> Picture:
    """A picture of the difference of two runs."""
    axes = [Axis("", run.tokens)] * 2
    numbers = Numbers.of(run, f"{PREFIX}weights", 1).on(*axes).less(np.zeros((1, 1)))
    return Picture(lambda: None, numbers.in_words("difference"))


def of_other(run: Trace, place: Place) -> Picture:
    return Picture(lambda: None, Numbers.of(run, f"{PREFIX}weights", 1).on(*[Axis("", run.tokens)] * 2).of_the_other())


NEAREST = (["a", "b", "c"], np.full(3, 0.4), np.ones((4, 8)))
MAKES: dict[Callable, tuple[set[str], Callable[..., Picture]]] = {
    attention.attention_map: (WORDS | DRAWN | ONE, attention.attention_map),
    attention.lines: (WORDS, partial(attention.lines, key=f"{PREFIX}weights")),
    attention.mean_through_layers: (WORDS | DRAWN, attention.mean_through_layers),
    overlay.over_one: (DRAWN, partial(overlay.over_one, key=f"{PREFIX}weights")),
    overlay.over_heads: (DRAWN, overlay.over_heads),
    overlay.over_layers: (DRAWN, partial(overlay.over_layers, name="rollout")),
    heads.all_heads: (WORDS | DRAWN | ONE, heads.all_heads),
    heads.chosen_head: (WORDS | DRAWN, heads.chosen_head),
    heads.written: (WORDS | DRAWN, heads.written),
    heads.mixed: (WORDS | DRAWN, partial(heads.mixed, focus=f"{PREFIX}output")),
    feed_forward.loudest: (WORDS | DRAWN, partial(feed_forward.loudest, words=lambda neuron: ["miss"])),
    feed_forward.curve: (WORDS | DRAWN, feed_forward.curve),
    feed_forward.without_ffn: (WORDS | DRAWN, lost(feed_forward.without_ffn, lambda run: 3)),
    heads.needed: (WORDS | DRAWN, lost(heads.needed, lambda run: 1 + 2 * run.config.heads)),
    add_and_norm.one_vector: (WORDS | DRAWN | ONE, add_and_norm.one_vector),
    add_and_norm.on_the_way: (WORDS | DRAWN | ONE, add_and_norm.on_the_way),
    add_and_norm.maps: (WORDS, lambda run, at: add_and_norm.maps(run, at, AddNorm(run, at).norm, None)),
    layers.similarity: (WORDS | DRAWN, layers.similarity),
    layers.origin: (WORDS | DRAWN, layers.origin),
    layers.path: (WORDS | DRAWN, layers.path),
    layers.by_layers: (WORDS | DRAWN, cosines_by_layers),
    layers.lengths_on_the_way: (WORDS | DRAWN | ONE, layers.lengths_on_the_way),
    layers.words: (WORDS, guessed),
    layers.classes: (DRAWN | ONE, partial(layers.classes, lens=lens)),
    queries_keys_values.scores: (WORDS | DRAWN, queries_keys_values.scores),
    queries_keys_values.products: (WORDS, queries_keys_values.products),
    queries_keys_values.passed_on: (WORDS, queries_keys_values.passed_on),
    queries_keys_values.plane: (WORDS | DRAWN, queries_keys_values.plane),
    tokens.one_sum: (WORDS | DRAWN | ONE, tokens.one_sum),
    tokens.nearest: (WORDS, partial(tokens.nearest, found=NEAREST)),
    translation.lines: (WRITTEN, translation.lines),
    translation.next_pieces: (WRITTEN, next_pieces),
    answer.at_temperature: (WORDS | DRAWN | ONE, warmer),
    answer.every_place: (WORDS, partial(answer.every_place, logit=(2, 5), hidden={})),
    answer.built_up: (WORDS | DRAWN, built_up),
    answer.heads_and_ffns: (WORDS | DRAWN, parts_of_heads),
    answer.alike_map: (
        WORDS | DRAWN,
        lambda run, at: answer.alike_map(run, at, run, of_cosine(run, run, MEAN), (0, 1)),
    ),
    answer.search_results: (WORDS, searched),
    answer.sentence_map: (WORDS, lambda run, at: answer.sentence_map(run, at, run, of_cosine(run, run, MEAN))),
    answer.row_sums: (WORDS | DRAWN, lambda run, at: answer.row_sums(run, at, of_cosine(run, run, MEAN))),
    likeliest_outputs: (ONE, changed),
    Numbers.in_words: (WORDS, of_two),
    Numbers.of_the_other: (WORDS, of_other),
}
for step in ("scores", "scaled", "heads"):  # as many sentences of one function
    MAKES[partial(attention.step_map, step)] = WORDS, partial(attention.step_map, prefix=PREFIX, step=step)
#: Pictures without sentences about numbers, or called above in another way.
OTHERS = {
    "gradients_by_layer",
    "lengths_by_layer", "labels", "tags", "span", "why_scaled", "pushes", "of_one", "token_map", "difference",
    "colours", "cut", "pixels_of_one", "similarity_of_words", "similarity_of_patches", "components", "turns",
    "biases", "vectors_of_distances", "order", "aligning_heads", "moved_most", "band", "quantity_map", "matrix",
    "parts_picture", "vectors", "probe_looks", "as_makers", "step_map", "heads_by_origin", "without_mask",
    "as_one", "in_patches", "cell_by_heads", "strips", "one_by_one", "all_positions",
    "with_noise",
}  # fmt: skip


def test_every_picture_is_called_with_equal_numbers() -> None:
    assert {make.__name__ for make in every_picture() if make not in MAKES} - OTHERS == set()


def _name(of: Callable) -> str:
    return f"{of.func.__name__}-{of.args[0]}" if isinstance(of, partial) else of.__name__


@pytest.mark.parametrize(
    ("network", "make", "kind"),
    [
        pytest.param(network, make, kind, id=f"{network}-{_name(of)}-{kind}")
        for of, (networks, make) in MAKES.items()
        for network in sorted(networks)
        for kind in (KINDS if network == max(networks) else LEVELS[:1])  # an edited run is met once by each picture
    ],
)
def test_no_sentence_names_a_winner_where_there_is_none(network: str, make: Callable[..., Picture], kind: str) -> None:
    run = run_of(network, kind)
    layer, head = min(1, run.config.layers - 1), min(1, run.config.heads - 1)
    place = Place(layer, head, token=min(2, len(run.tokens) - 1))
    if isinstance(run, TranslationTrace):
        place = replace(place, step=min(1, len(run.written) - 1))
    for language in LANGUAGES:
        with speaking(language):
            said = make(run, place).says()
        if kind in ("equal", "zero"):
            assert not AHEAD.search(said), said
        assert "nan" not in said.split() and "{" not in said and not UNNAMED.search(said)


CASES = [
    ([0.1, 0.5, 0.3], (1, "0.50", 1)), ([0.1, 0.504, 0.496], (1, "0.50", 2)), ([0.25] * 4, (0, "0.25", 4)),
    ([-1.0, np.nan, -2.0], (0, "−1.00", 1)), ([0.0, 0.0], (0, "0.00", 2)),
]  # fmt: skip


@pytest.mark.parametrize(("values", "wanted"), CASES)
def test_numbers_tie_when_they_are_written_alike(values: list[float], wanted: tuple[int, str, int]) -> None:
    found = first(values)
    assert (found.place, found.value, found.ties) == wanted
    assert found.ahead == (wanted[2] == 1)
    if np.isfinite(values).all() and min(values) >= 0:
        assert tied(values) == found.ties == len(winners(values))


def test_equal_deviations_on_both_sides_are_written_plus_minus() -> None:
    assert [furthest(row).value for row in ([-0.5, 0.1], [-0.5, 0.5])] == ["−0.50", "±0.50"]
    assert last([3.0, 1.0]).value == "1.00"


#: Names of where a sentence looks, but in those texts the winner's.
WHERE = re.compile(r"\{(query|token|piece|number|truth|weight|patch|where(?=\}[)）]))\}")
WON = re.compile(r"sure|next|path|mixed|fires|heads|read.(pairs|sentences|words|pair)|why.alone|class|below|above")


@pytest.mark.parametrize("language", LANGUAGES)
def test_where_a_sentence_looks_stays_where_its_winner_goes(language: str) -> None:
    tie, seen = first([2, 2, 1]), 0
    for name, text in catalogue(language).items():
        for sentence, _ in ONE_BY_ONE.findall(text) if not WON.search(name) else ():
            if winners := re.findall(r"\{(\w+):", sentence):
                places = [place for place in WHERE.findall(sentence) if place not in winners]
                values = {place: f"<{place}>" for place in re.findall(r"\{(\w+)", text)} | dict.fromkeys(winners, tie)
                with speaking(language):
                    said = plain(name, **values)
                assert all(f"<{place}>" in said for place in places), said
                seen += len(places)
            assert winners or "‖" not in sentence, sentence
    assert seen > 20


def test_a_sentence_without_a_winner_says_so_and_the_others_stay() -> None:
    rows = first([1, 2]), first([2, 2]), first([2, 2, 1]), first([1]), last([1, 1, 2]), furthest([-1, -1, 0])
    said = [plain("contribution.read_norms", token="it", head=1, value=row) for row in rows]
    ends = [
        ", head 1 writes most: 2.00.", ": both heads are at 2.00.",
        ": 2 of 3 heads tie at the top: 2.00 (rounded).",
        ": there is only one head: 1.00.", ": 2 of 3 heads tie at the bottom: 1.00 (rounded).",
        ": 2 of 3 heads tie at the top in size: −1.00 (rounded).",
    ]  # fmt: skip
    assert said == [f"At “it”{end}" for end in ends]
    for spared, told in (("0", "none of the 8"), ("7", "7 of 8"), ("8", "all 8")):
        counted = plain("contribution.read_count", heads="8", spared=spared, enough=spared)
        assert f" {told} runs without one head" in counted and f" {told} runs with one head alone" in counted
    assert plain("heads.said_entropy", value="2.00", most="2.00") == "Averages of all rows: entropy 2.00 of 2.00 bits"
    assert "Head 8 of 8 " in plain("queries_keys_values.about_weights", head=8, heads=8)
