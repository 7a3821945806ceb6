"""The decoder and the translator: equal to torch's, blind to what is not written yet, and as good as its word."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
import pytest
import torch

from model import Edit, EditError, InputError, load
from model.config import DECODER, PRESETS
from model.decoder import TranslationNetwork
from model.encoder import causal_mask
from model.loading import load_tokenizer
from model.pipeline import TextReader
from model.search import beam_search
from model.trace import places, record
from model.training.text import SEP
from model.translator import Translator, as_written

SOURCE = "the dog chased the cat ."


@cache
def untrained() -> Translator:
    """The shipped shape with random weights: it writes nonsense, but every law holds for nonsense too."""
    torch.manual_seed(0)
    network = TranslationNetwork(replace(PRESETS["text"], head="none"), DECODER)
    for norm in (m for m in network.modules() if isinstance(m, torch.nn.LayerNorm)):
        torch.nn.init.normal_(norm.weight, 1.0, 0.2)
        torch.nn.init.normal_(norm.bias, 0.0, 0.2)
    torch.nn.init.constant_(network.logits.bias[SEP], 4)  # so that sentences end
    return Translator("translation", network, TextReader(load_tokenizer(), 64))


@pytest.fixture(params=["trained", "untrained"])
def translator(request: pytest.FixtureRequest) -> Translator:
    return load("translation") if request.param == "trained" else untrained()


def example() -> tuple[torch.Tensor, torch.Tensor]:
    dice = torch.Generator().manual_seed(0)
    x, y = torch.randint(5, 12_000, (1, 7), generator=dice), torch.randint(5, 12_000, (1, 5), generator=dice)
    y[0, 0] = 12_001
    return x, y


@torch.no_grad()
def test_it_equals_torchs_decoder(translator: Translator) -> None:
    network, (x, y) = translator.network, example()
    reference = torch.nn.TransformerDecoder(
        torch.nn.TransformerDecoderLayer(256, 8, 1024, activation="gelu", batch_first=True), 3
    ).eval()
    for theirs, ours in zip(reference.layers, network.decoder.layers, strict=True):
        for attention, mine in ((theirs.self_attn, ours.attention), (theirs.multihead_attn, ours.cross)):
            attention.in_proj_weight.copy_(torch.cat([mine.W_Q.weight, mine.W_K.weight, mine.W_V.weight]))
            attention.in_proj_bias.copy_(torch.cat([mine.W_Q.bias, mine.W_K.bias, mine.W_V.bias]))
            attention.out_proj.load_state_dict(mine.W_O.state_dict())
        theirs.linear1.load_state_dict(ours.ffn.W_1.state_dict())
        theirs.linear2.load_state_dict(ours.ffn.W_2.state_dict())
        for number in (1, 2, 3):
            getattr(theirs, f"norm{number}").load_state_dict(getattr(ours, f"norm_{number}").state_dict())
    Z = network.encode(x)
    start = network.decoder.embedding(y)
    expected = reference(start, Z, tgt_mask=~causal_mask(y.size(1)))
    torch.testing.assert_close(network.decoder(y, Z), expected, atol=1e-5, rtol=1e-5)


@torch.no_grad()
def test_what_is_written_later_changes_nothing_earlier(translator: Translator) -> None:
    network, (x, y) = translator.network, example()
    other = y.clone()
    other[0, 3] = 77
    before, after = network(x, y), network(x, other)
    assert torch.equal(before[:, :3], after[:, :3])
    assert not torch.allclose(before[:, 3:], after[:, 3:])


def test_a_value_written_back_changes_nothing_and_noise_anywhere_does(translator: Translator) -> None:
    network, inputs = translator.network, example()
    output, values = record(network, *inputs)
    same, _ = record(network, *inputs, edits=[(key, lambda *_, v=value: v) for key, value in values.items()])
    assert torch.equal(output, same)
    for key in places(network):
        noisy, _ = record(network, *inputs, edits=[(key, lambda v, _: v + torch.randn_like(v))])
        assert not torch.equal(output, noisy), key
    assert not any(module._forward_hooks for module in network.modules())


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
    found = beam_search(step, 0, end, beams=300, longest=longest)
    finished = [hypothesis for hypothesis in found if hypothesis.ids[-1] == end]
    assert finished[0].ids == best
    assert finished[0].log_probability == pytest.approx(log_p(best), abs=1e-5)


def test_it_stops_by_itself_even_if_the_decoder_never_would(translator: Translator) -> None:
    never = Edit("logits", "set", -1e4, neuron=SEP)
    trace = translator(SOURCE, edits=(never,), beams=1)
    assert len(trace.greedy.tokens) == 63 and "[SEP]" not in trace.greedy.tokens


def test_without_cross_attention_the_source_does_not_matter(translator: Translator) -> None:
    cut = tuple(Edit(f"decoder.layers.{layer}.cross.output", "zero") for layer in range(3))
    one, other = (translator(source, edits=cut, into="zh") for source in (SOURCE, "i love you ."))
    assert one.greedy == other.greedy and one.beams == other.beams
    whole, another = (translator(source, into="zh") for source in (SOURCE, "i love you ."))
    assert whole["logits"].shape != another["logits"].shape or not np.allclose(whole["logits"], another["logits"])


def test_edits_hold_while_it_writes(translator: Translator) -> None:
    plain = translator(SOURCE, beams=1)
    first = plain.greedy.tokens[0]
    never = Edit("logits", "set", -1e4, neuron=translator.reader.vocabulary.index(first))
    assert first not in translator(SOURCE, edits=(never,)).greedy.tokens
    # One place of the target: nothing before it changes, and it does not have to exist from the start.
    late = Edit("decoder.layers.0.cross.weights", "set", 1.0, head=2, token=1, looked_at=3)
    trace = translator(SOURCE, edits=(late, Edit("logits", "set", -1e4, neuron=SEP)), beams=1)
    assert trace["decoder.layers.0.cross.weights"][2, 1, 3] == 1
    assert trace.greedy.tokens[0] == first
    patched = translator(SOURCE, edits=(Edit("embedding.tokens", "patch", token=1, source="a dog chased the cat ."),))
    assert not np.allclose(patched.Z, plain.Z)
    with pytest.raises(EditError):
        translator(SOURCE, edits=(Edit("decoder.layers.9.norm_1", "zero"),))


@pytest.mark.parametrize(
    ("source", "first"), [("i love you .", "[ZH]"), ("我爱你。", "[EN]"), ("我 love 你 .", "[EN]")]
)
def test_it_writes_the_other_language_unless_told(translator: Translator, source: str, first: str) -> None:
    assert translator(source, beams=1).target_tokens[0] == first
    assert translator(source, beams=1, into="en").target_tokens[0] == "[EN]"


def test_nothing_to_read_is_an_input_error(translator: Translator) -> None:
    for nothing in ("", "   "):
        with pytest.raises(InputError):
            translator(nothing)


def test_threads_do_not_mix(translator: Translator) -> None:
    sources = [f"{word} is here ." for word in ("he", "she", "it", "the dog", "a cat", "我", "她", "nobody")]
    alone = [translator(source, beams=2) for source in sources]
    with ThreadPoolExecutor(8) as pool:
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


def test_the_masked_word_head_and_the_translator_read_the_same_encoder() -> None:
    words, translation = load("text")(SOURCE), load("translation")(SOURCE)
    shared = [key for key in words if key.startswith(("embedding.", "layers."))]
    assert len(shared) > 100
    for key in shared:
        np.testing.assert_array_equal(words[key], translation[key], err_msg=key)
