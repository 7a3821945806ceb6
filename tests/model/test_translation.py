"""Decoder and translator: equal to torch's, and blind to what is not written yet."""

from concurrent.futures import ThreadPoolExecutor
from itertools import product

import numpy as np
import pytest
import torch

from model import Edit, load
from model.search import Node, beam_search
from model.training.text import SEP
from model.translator import Task, Translator, as_written
from tests.networks import untrained_translator

SOURCE = "the dog chased the cat ."


@pytest.fixture
def translator(request: pytest.FixtureRequest) -> Translator:
    """The shipped translator, or an untrained one, for which all laws hold, too."""
    return untrained_translator() if getattr(request, "param", "") == "untrained" else load("translation")


either = pytest.mark.parametrize("translator", ["trained", "untrained"], indirect=True)


@pytest.mark.parametrize("beams", [1, 4])
def test_what_was_written_is_what_the_traced_logits_say(translator: Translator, beams: int) -> None:
    trace = translator(SOURCE, beams=beams)
    best = trace.beams[0]
    log_p = torch.tensor(trace["logits"]).log_softmax(-1).numpy()
    ids = [translator.reader.vocabulary.index(token) for token in best.tokens]
    assert trace.target_ids == [12_001, *ids[:-1]] and trace.target_tokens == ["[ZH]", *best.tokens[:-1]]
    assert best.log_probability == pytest.approx(sum(log_p[range(len(ids)), ids]), abs=1e-4)
    assert best.score == pytest.approx(best.log_probability / len(ids) ** 0.6)
    assert [b.score for b in trace.beams] == sorted((b.score for b in trace.beams), reverse=True)
    if beams == 1:
        assert ids == trace["logits"].argmax(-1).tolist() and best == trace.greedy
        assert [guess.best for guess in trace.answer] == list(best.tokens)


def test_a_wide_beam_finds_the_best_of_all_sentences() -> None:
    table = torch.randn(6, 6, 6, generator=torch.Generator().manual_seed(3)).log_softmax(-1)
    end, longest = 5, 3

    def step(y: torch.Tensor) -> torch.Tensor:
        return table[y[:, -1], y[:, -2] if y.size(1) > 1 else torch.zeros(len(y), dtype=torch.long)]

    def log_p(ids: tuple[int, ...]) -> float:
        y = [0, *ids]
        return sum(float(step(torch.tensor([y[: n + 1]]))[0, y[n + 1]]) for n in range(len(ids)))

    ended = [(*ids, end) for n in range(longest) for ids in product(range(5), repeat=n)]
    best = max(ended, key=lambda ids: log_p(ids) / len(ids) ** 0.6)
    found = beam_search(step, 0, end, beams=300, longest=longest).hypotheses
    finished = [hypothesis for hypothesis in found if hypothesis.ids[-1] == end]
    assert finished[0].ids == best
    assert finished[0].log_probability == pytest.approx(log_p(best), abs=1e-5)


# -- the steps, and what they found ------------------------------------------------------------------------------


def fresh(translator: Translator, source: str, beginning: list[int]) -> np.ndarray:
    """Log-probabilities of the next piece, from a fresh pass over this beginning (the language first)."""
    x = translator.reader.read(source).tensor
    with torch.inference_mode():
        return translator.network(x, torch.tensor([beginning]))[0, -1].log_softmax(-1).numpy()


@either
def test_each_row_of_a_run_is_the_step_that_wrote_its_piece(translator: Translator) -> None:
    source = "i love you ."
    found = translator(source)
    for translation in (found.greedy, *found.beams):
        trace = translator(Task(source, written=translation.ids))
        log_p = torch.tensor(trace["logits"]).log_softmax(-1).numpy()
        assert trace.written == translation.tokens and trace.target_tokens[1:] == list(trace.written[:-1])
        for step, piece in enumerate(translation.ids):
            alone = fresh(translator, source, [found.target_ids[0], *translation.ids[:step]])
            np.testing.assert_allclose(np.exp(log_p[step]), np.exp(alone), atol=2e-6)
            np.testing.assert_allclose(log_p[step], alone, atol=5e-5)
            assert translation.steps[step] == pytest.approx(alone[piece], abs=1e-4)
        assert sum(translation.steps) == pytest.approx(translation.log_probability, abs=1e-4)


def paths(nodes: tuple[Node, ...]) -> dict[tuple[int, ...], Node]:
    return {node.ids: node for node in nodes}


@either
def test_what_the_search_considered_adds_up_and_says_why_it_went_on(translator: Translator) -> None:
    search = translator(SOURCE).search
    by_path = paths(search.nodes)
    for node in search.nodes:
        before = by_path[node.ids[:-1]].log_probability if node.ids[:-1] else 0.0
        assert before + node.own == pytest.approx(node.log_probability, abs=1e-4)
        assert not node.ids[:-1] or by_path[node.ids[:-1]].fate == "kept"
    for step in range(1, 1 + max(len(node.ids) for node in search.nodes)):
        candidates = [node for node in search.nodes if len(node.ids) == step]
        assert [node.rank for node in candidates] == list(range(len(candidates)))
        assert [node.log_probability for node in candidates] == sorted(
            (node.log_probability for node in candidates), reverse=True
        )
        going = [node for node in candidates if node.fate in ("kept", "left")]
        assert len(going) <= 4 and all(node.ids[-1] != SEP for node in going)
        dropped = [node.log_probability for node in candidates if node.fate == "dropped" and node.ids[-1] != SEP]
        assert not dropped or max(dropped) <= min(node.log_probability for node in going)
    ended = {node.ids for node in search.nodes if node.fate == "ended"}
    for hypothesis in search.hypotheses:
        path = [by_path[hypothesis.ids[:n]] for n in range(1, len(hypothesis.ids) + 1)]
        assert sum(node.own for node in path) == pytest.approx(hypothesis.log_probability, abs=1e-4)
        assert hypothesis.ids in ended or hypothesis.ids[-1] != SEP


def test_a_forced_beginning_is_kept_and_the_writing_goes_on_from_there(translator: Translator) -> None:
    free = translator(SOURCE)
    dropped = (node for node in free.search.nodes if node.fate == "dropped" and SEP not in node.ids)
    node = next(node for node in dropped if len(node.ids) == 2)
    trace = translator(Task(SOURCE, forced=node.ids))
    assert all(translation.ids[:2] == node.ids for translation in (trace.greedy, *trace.beams))
    forced = [one for one in trace.search.nodes if one.fate == "forced"]
    assert [one.ids for one in forced] == [node.ids[:1], node.ids]
    assert forced[-1].log_probability == pytest.approx(node.log_probability, abs=1e-4)
    assert trace.beams[0].log_probability == pytest.approx(sum(trace.beams[0].steps), abs=1e-4)
    for step, piece in enumerate(trace.greedy.ids):
        alone = fresh(translator, SOURCE, [trace.target_ids[0], *trace.greedy.ids[:step]])
        assert step < 2 or piece == alone.argmax()
        assert trace.greedy.steps[step] == pytest.approx(alone[piece], abs=1e-4)


def test_what_was_written_anyway_may_be_forced_and_no_end_can_be(translator: Translator) -> None:
    free = translator(SOURCE, beams=1)
    assert translator(Task(SOURCE, forced=free.greedy.ids), beams=1).greedy.ids == free.greedy.ids
    assert translator(Task(SOURCE, forced=(SEP, 77)), beams=1).greedy.ids == free.greedy.ids
    assert len(translator(Task(SOURCE, forced=(77,) * 200), beams=1).target_tokens) <= translator.config.max_len
    for beyond in (-1, 12_000):
        with pytest.raises(ValueError, match="vocabulary"):
            translator(Task(SOURCE, forced=(beyond,)))


def test_it_stops_by_itself_even_if_the_decoder_never_would(translator: Translator) -> None:
    never = Edit("logits", "set", -1e4, neuron=SEP)
    trace = translator(SOURCE, edits=(never,), beams=1)
    assert len(trace.greedy.tokens) == translator.config.max_len - 1 and "[SEP]" not in trace.greedy.tokens


@pytest.mark.parametrize(
    ("source", "first"), [("i love you .", "[ZH]"), ("我爱你。", "[EN]"), ("我 love 你 .", "[EN]")]
)
def test_it_writes_the_other_language_unless_told(translator: Translator, source: str, first: str) -> None:
    assert translator(source, beams=1).target_tokens[0] == first
    assert translator(source, beams=1, into="en").target_tokens[0] == "[EN]"


def test_threads_do_not_mix() -> None:
    translator = load("translation")
    sources = [f"{word} is here ." for word in ("he", "the dog", "我", "nobody")]
    alone = [translator(source, beams=2) for source in sources]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda source: translator(source, beams=2), sources))
    for one, other in zip(alone, together, strict=True):
        assert one.keys() == other.keys() and one.beams == other.beams
        assert all(np.array_equal(one[key], other[key]) for key in one)


@pytest.mark.parametrize(
    ("pieces", "written"),
    [
        ("it ' s nice , isn ' t it ?", "it's nice , isn't it ?"),
        ("我 爱 你 。", "我爱你。"),
        ("我 用 new york 的 地 图 。", "我用new york的地图。"),
        ("the dogs ' house", "the dogs ' house"),
    ],
)
def test_pieces_are_put_together_as_people_write(pieces: str, written: str) -> None:
    assert as_written(pieces) == written


def test_unknown_pieces_that_are_written_stand_in_the_sentence() -> None:
    beams = load("translation")("the the the the").beams
    unknown = [one.tokens.count("[UNK]") for one in beams]
    assert any(unknown) and unknown == [one.text.count("[UNK]") for one in beams]
    assert not any("[SEP]" in one.text for one in beams)


@pytest.mark.parametrize(
    ("source", "written", "aligned"),
    [
        ("我爱你。", "i love you.", {"i": "我", "love": "爱", "you": "你"}),
        ("i love you .", "我爱你。", {"我": "i", "爱": "love", "你": "you"}),
        ("she is reading a book .", "她在读一本书。", {"她": "she", "读": "reading", "书": "book"}),
    ],
)
def test_trained_it_translates_and_looks_at_the_word_that_it_is_translating(
    source: str, written: str, aligned: dict[str, str]
) -> None:
    trace = load("translation")(source)
    assert trace.translation == written and trace.greedy.tokens[-1] == "[SEP]"
    last = trace["decoder.layers.2.cross.weights"].mean(0)
    looked_at = {
        token: trace.tokens[weights.argmax()] for token, weights in zip(trace.beams[0].tokens, last, strict=True)
    }
    assert aligned.items() <= looked_at.items()


def test_the_translator_holds_no_second_copy_of_the_encoder() -> None:
    text, translation = load("text").network, load("translation").network
    shared = dict(text.named_parameters())
    encoder = {name: weight for name, weight in translation.named_parameters() if not name.startswith("decoder.")}
    assert len(encoder) > 90
    for name, weight in encoder.items():
        if name in shared and name != "logits.bias":
            assert weight.data_ptr() == shared[name].data_ptr(), name
    assert translation.logits.weight is translation.embedding.E.weight is translation.decoder.embedding.E.weight
