"""Tables of measurements: counts are correct, and a table is used only with the weights it was made from."""

import io
import json
from itertools import pairwise, product

import numpy as np
import pytest
import torch

from model import load
from model.decoder import TARGET_LANGUAGES
from model.loading import WeightsError
from model.measures import tables
from model.trace import record
from model.training import head_table, neuron_table
from model.training.alignment import Model1, align, anchors
from model.training.observe import Attended, pair_attention
from model.training.relations import Parsed, Sentence
from model.training.roles import Candidate, gather, measure, measure_apart, piece_run, treebank_runs
from model.training.shares import shares

TOKENS = ["[CLS]", "the", "dog", "saw", "the", "##n", ".", "[SEP]"]


def looking(rows: list[int], keys: int) -> np.ndarray:
    """One head, (1, 1, query, key), that gives 0.9 to one key of each query and spreads the rest."""
    weights = np.full((len(rows), keys), 0.1 / keys)
    weights[range(len(rows)), rows] += 0.9
    return weights[None, None].astype(np.float32)


def role(attended: list[Attended], **more) -> tuple[Candidate, float, float]:
    first = measure(gather([piece_run(one, **more) for one in attended]), fewest=1)[0][0][0]
    return first.candidate, first.share, first.margin


def test_a_role_is_chosen_on_some_sentences_and_its_figures_are_those_of_others() -> None:
    n = len(TOKENS)
    ahead, back = (looking(rows, n) for rows in ([*range(1, n), n - 1], [0, *range(n - 1)]))
    chosen_on, apart = (gather([piece_run(Attended(TOKENS, TOKENS, one))]) for one in (ahead, back))
    first = measure_apart(chosen_on, apart, fewest=1)[0][0][0]
    assert (first.candidate, first.share) == (Candidate("next"), 0)  # not "previous", which always holds there


# -- what is observed ------------------------------------------------------------------------------------------

TEXTS = ("i love you .", "the animal did not cross the street because it was too tired .", "今天天气很好。")


def test_a_batch_of_pairs_shows_what_each_pair_shows_alone() -> None:
    translator = load("translation")
    sources = [translator.reader.read(text).ids for text in TEXTS[:2]]
    first = translator.config.vocab_size + list(TARGET_LANGUAGES).index("zh")
    targets = [[first, *translator.reader.read(text).ids[1:-1]] for text in ("我爱你。", "他累了。")]
    own, cross = pair_attention(translator.network, translator.reader.vocabulary, sources, targets)
    for place, (x, y) in enumerate(zip(sources, targets, strict=True)):
        _, values = record(translator.network, torch.tensor([x]), torch.tensor([y]))
        for layer in range(3):
            for seen, part in ((own, "attention"), (cross, "cross")):
                alone = values[f"decoder.layers.{layer}.{part}.weights"][0].numpy()
                np.testing.assert_allclose(seen[place].weights[layer], alone, atol=1e-4)
        assert own[place].queries == cross[place].queries and own[place].queries[0] == "[ZH]"


# -- shares ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("causal", [False, True])
def test_even_attention_gets_even_shares_and_a_sink_gets_all(causal) -> None:
    even = Attended(TOKENS, TOKENS, np.zeros((2, 3, 8, 8)), causal)
    weights = np.zeros((2, 3, 8, 8), dtype=np.float32)
    weights[0] = even.visible / even.visible.sum(1, keepdims=True)
    weights[1, ..., 0] = 1
    level, sink = shares([Attended(TOKENS, TOKENS, weights, causal)] * 40)
    assert (level.special, level.punctuation) == pytest.approx((level.even_special, level.even_punctuation))
    assert level.to_word == pytest.approx(level.even_word) and level.even_word > 0
    assert (sink.special, sink.punctuation, sink.to_word, sink.sharpness) == pytest.approx((1, 0, 0, 1))
    if not causal:  # the queries are the six tokens between [CLS] and [SEP]
        assert (level.special, level.punctuation, level.sharpness) == pytest.approx((2 / 8, 1 / 8, 1 / 8))


# -- roles -----------------------------------------------------------------------------------------------------


def test_heads_made_to_order_get_their_roles() -> None:
    n, places = len(TOKENS), np.arange(len(TOKENS))
    made = {
        "next": np.minimum(places + 1, n - 1),
        "previous": np.maximum(places - 1, 0),
        "itself": places,
        "delimiter": np.where(places % 2, 0, n - 1),
        "punctuation": np.full(n, 6),
    }
    for name, rows in made.items():
        candidate, share, margin = role([Attended(TOKENS, TOKENS, looking(rows.tolist(), n))])
        assert (candidate, share) == (Candidate(name), 1), name
        assert 0.7 < margin < 0.9, name
    assert role([Attended(TOKENS, TOKENS, np.full((1, 1, n, n), 1 / n, dtype=np.float32))])[:2] == (
        Candidate("broad"),
        1,
    )


def test_the_same_word_is_asked_only_where_it_stands_twice() -> None:
    found = gather([piece_run(Attended(TOKENS, TOKENS, looking([0, 4, 0, 0, 2, 0, 0, 0], 8)))])[Candidate("same")]
    assert found.where[:, 1].tolist() == [1, 4]  # "the" and "the"
    assert found.holds[:, 0, 0].tolist() == [True, False]
    np.testing.assert_allclose(found.strength[:, 0, 0], [0.9 + 0.1 / 8, 0.1 / 8], rtol=1e-5)


def parsed(words: int, governors: list[int], relations: list[str], looks: list[int]) -> Parsed:
    """A parsed sentence w0 w1 …, one piece per word, and one head in which word i attends to token looks[i]."""
    names = [f"w{i}" for i in range(words)]
    tokens = ["[CLS]", *names, "[SEP]"]
    weights = looking([0, *looks, words + 1], words + 2)
    return Parsed(
        Sentence(names, governors, relations), [[i + 1] for i in range(words)], Attended(tokens, tokens, weights)
    )


def test_a_relation_needs_more_than_a_fixed_offset() -> None:
    # Objects are one to four positions after their verb; the head always finds the verb.
    following = [
        parsed(6, [-1, *[0] * 5], ["root", *["obj" if i == far else "x" for i in range(1, 6)]], [1] * 6)
        for far in (1, 2, 3, 4)
    ] * 5
    # The verb always comes next, so "always the next word" finds it as well.
    offset = [parsed(3, [1, -1, 1], ["obj", "root", "x"], [2, 3, 4])] * 20
    for sentences, share, margin in ((following, 1, 0.75), (offset, 1, 0)):
        measured = measure(gather([run for one in sentences for run in treebank_runs(one)]), fewest=20)[0][0]
        (found,) = [one for one in measured if one.candidate == Candidate("relation", "obj", "to_head")]
        assert (found.share, found.margin, found.count) == pytest.approx((share, margin, 20))


def test_what_holds_most_often_is_the_role_but_not_by_an_offset() -> None:
    """The object is one or two positions from its verb; attention decides the head's name."""
    trees = (([-1, 0, 0, 0, 0], ["root", "x", "obj", "x", "x"]), ([-1, 0, 0, 0, 0], ["root", "obj", "x", "x", "x"]))
    for looks, expected in (
        ([2, 3, 4, 5, 5], Candidate("next")),  # finds half of the objects, like any "next" head
        (
            [2, 1, 1, 5, 5],
            Candidate("relation", "obj", "to_head"),
        ),  # "next" in half of the positions, the verb from every object
        ([0, 3, 4, 0, 0], Candidate("delimiter")),
    ):
        sentences = [parsed(5, *tree, looks) for tree in trees] * 10
        runs = [run for one in sentences for run in (*treebank_runs(one), piece_run(one.attended))]
        assert measure(gather(runs), fewest=20)[0][0][0].candidate == expected


# -- alignment -------------------------------------------------------------------------------------------------


def test_model_1_learns_a_dictionary_from_pairs_alone() -> None:
    dice = np.random.default_rng(0)
    sources = [dice.permutation(np.arange(1, 21))[: dice.integers(3, 7)].tolist() for _ in range(400)]
    targets = [[piece + 50 for piece in dice.permutation(source)] for source in sources]
    forth, back = Model1(sources, targets, 100), Model1(targets, sources, 100)
    for source, target in zip(sources[:50], targets[:50], strict=True):
        expected = np.array([[t == s + 50 for s in source] for t in target])
        assert np.array_equal(align(forth, back, source, target), expected)
    every = forth.table(list(range(100)), list(range(100)))
    np.testing.assert_allclose(every.sum(0)[:21], 1, atol=1e-6)  # each source piece's t is a distribution
    assert (every[:, 21:] == 0).all()


def test_anchors_leave_no_doubt() -> None:
    source, target = ["tom", ",", "tom", "7", "[UNK]", "."], ["7", "tom", "[UNK]", "。"]
    found = {(source[s], target[t]) for t, s in np.argwhere(anchors(source, target))}
    assert found == {("7", "7"), (".", "。")}


def test_the_source_of_the_next_piece_stands_one_row_higher() -> None:
    queries, keys = ["[ZH]", "我", "你"], ["[CLS]", "i", "you", "[SEP]"]
    attended = Attended(queries, keys, looking([1, 2, 0], 4))
    (run,) = head_table.cross_runs([attended], [np.array([[True, False], [False, True]])], ["i you"])
    assert np.argwhere(run.right[Candidate("aligned")]).tolist() == [[1, 1], [2, 2]]
    assert np.argwhere(run.right[Candidate("aligned_next")]).tolist() == [[0, 1], [1, 2]]
    assert gather([run])[Candidate("aligned_next")].holds.all()


# -- neurons ---------------------------------------------------------------------------------------------------


def test_contexts_lie_at_the_top_the_middle_and_the_low_end() -> None:
    dice = np.random.default_rng(0)
    sentence = np.repeat(np.arange(200), 5)
    activation = dice.permutation(np.linspace(-1, 1, 2000))[:1000, None].repeat(2, axis=1)
    activation[:, 1] = -1
    activation[7, 1] = 0.5  # active once
    places, count = neuron_table.strongest(activation, sentence)
    positive = np.sort(activation[activation[:, 0] > 0, 0])
    assert count.tolist() == [len(positive), 1]
    found = activation[places[0], 0]
    best = {number: activation[sentence == number, 0].max() for number in range(200)}
    assert found[:3].tolist() == sorted(best.values(), reverse=True)[:3]  # the strongest of each sentence
    assert len(set(sentence[places[0, :3]])) == 3
    assert found[3:5] == pytest.approx(np.median(positive), abs=0.02)
    assert found[5:] == pytest.approx(np.quantile(positive, 0.1), abs=0.02)
    assert places[1].tolist() == [7, -1, -1, -1, -1, -1, -1]


# -- the files -------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Its own folder of weights, with empty caches."""
    monkeypatch.setattr(tables, "WEIGHTS", tmp_path)
    for file in tables.MADE_FROM["translation"]:
        (tmp_path / file).write_bytes(file.encode())
    forget()
    yield tmp_path
    forget()


def forget() -> None:
    for reader in (tables.fingerprint, tables._read_heads, tables._read_neurons):
        reader.cache_clear()


def write_heads() -> None:
    """Two layers of one head: the first attends to the next token, more in Chinese than in English, the second at
    random.
    """
    n, dice = len(TOKENS), np.random.default_rng(0)
    runs = {}
    for language in ("en", "zh"):
        some = []
        for number in range(40):
            ahead = looking([*range(1, n), n - 1], n)[0] * (number / 160 + (0.7 if language == "zh" else 0.45))
            ahead += (1 - ahead.sum(-1, keepdims=True)) / n
            weights = np.stack([ahead, dice.dirichlet(np.ones(n), (1, n)).astype(np.float32)])
            some.append(piece_run(Attended(TOKENS, TOKENS, weights), f"{language} {number}"))
        runs[language] = some
    made = head_table.HeadTable()
    made.add("layers.{l}.attention", runs, runs)
    made.add("decoder.layers.{l}.cross", runs, runs)
    made.striking = [
        {"language": "en", "text": "en 3", "layer": 0, "head": 0, "query": 1, "key": 2, "weight": 0.9},
    ]
    made.write(tables.home("translation"))


def test_a_head_table_reads_back(folder) -> None:
    write_heads()
    roles = tables.head_roles("text")
    assert list(tables.head_roles("translation"))[:2] == list(roles) == [(f"layers.{i}.attention", 0) for i in (0, 1)]
    ahead = roles.of(0, 0)
    assert (ahead.name, ahead.share, ahead.relation, ahead.clear) == ("next", 1, None, True)
    some = [tables.Role("next", *found, 1) for found in ((0.19, 0.15), (0.6, 0.05), (0.34, 0.3))]
    assert [role.clear for role in some] == [False, False, True]
    assert ahead.count == 2 * roles.of(0, 0, "en").count
    thirds = [[example.weight for example in ahead.examples[third]] for third in tables.THIRDS]
    assert [len(third) for third in thirds] == [3, 3, 3]
    for stronger, weaker in pairwise(thirds):
        assert min(stronger) >= max(weaker)
    assert [ahead.examples[third][0].text[:2] for third in ("high", "low")] == ["zh", "en"]
    for example in (one for third in ahead.examples.values() for one in third):
        assert example.key == example.query + 1 and example.keys == example.queries == tuple(TOKENS)
    texts = {one.text for third in roles.of(0, 0, "zh").examples.values() for one in third}
    assert len(texts) == 9 and all(text.startswith("zh") for text in texts)
    (picture,) = roles.striking
    assert (picture.text, picture.role) == ("en 3", ahead)
    with pytest.raises(KeyError):
        roles.at("decoder.layers.0.cross", 0)


def test_a_table_made_from_other_weights_is_none(folder) -> None:
    assert tables.head_roles("text") is None and tables.neuron_contexts("text", 0, 0) is None  # none yet
    write_heads()
    write_neurons()
    forget()
    assert tables.head_roles("digits") is None and tables.neuron_contexts("digits", 0, 0) is None
    assert tables.head_roles("text") and tables.neuron_contexts("text", 0, 0)
    (folder / "translation.safetensors").write_bytes(b"newer")
    forget()
    assert tables.head_roles("text") and tables.head_roles("translation") is None
    assert tables.neuron_contexts("translation", 0, 0)  # the encoder is unchanged
    (folder / "text.safetensors").write_bytes(b"newer")
    forget()
    assert tables.head_roles("text") is None and tables.neuron_contexts("text", 0, 0) is None


def write_neurons() -> np.ndarray:
    dice = np.random.default_rng(0)
    tokens = [TOKENS, ["[CLS]", "you", "[SEP]"]] * 10
    values = dice.normal(size=(sum(map(len, tokens)), 2, 4)).astype(np.float16)
    neuron_table.write_neurons(tokens, values, tables.home("text"))
    return values


def test_a_neuron_table_reads_back(folder) -> None:
    values = write_neurons()
    flat = np.array([*TOKENS, "[CLS]", "you", "[SEP]"] * 10)
    word = ~np.isin(flat, ["[CLS]", "[SEP]"])
    for layer, neuron in product(range(2), range(4)):
        found = tables.neuron_contexts("text", layer, neuron)
        column = values[word, layer, neuron]
        assert found.active == pytest.approx((column > 0).mean(), abs=1e-3)
        assert found.top[0].activation == column.max()
        (place,) = np.flatnonzero(word & (values[:, layer, neuron] == column.max()))
        assert found.top[0].tokens[found.top[0].place] == flat[place]
        assert found.low[0].activation <= found.middle[0].activation <= found.top[-1].activation
    left, piece, right = tables.Context(tuple(TOKENS), 2, 1.0).around(2)
    assert (left, piece, right) == (("[CLS]", "the"), "dog", ("saw", "the"))
    with pytest.raises(IndexError):
        tables.neuron_contexts("text", 2, 0)


def without_a_role(table: dict) -> dict:
    del table["heads"]["layers.1.attention"][0]["zh"]
    return table


def arrays_of(content: bytes, **more: np.ndarray) -> bytes:
    """The file of neurons with some arrays replaced."""
    with np.load(io.BytesIO(content)) as file:
        arrays = dict(file) | more
    written = io.BytesIO()
    np.savez(written, **arrays)
    return written.getvalue()


@pytest.mark.parametrize(
    ("file", "damage"),
    [
        (tables.HEADS, lambda content: content[:-100]),
        (tables.HEADS, lambda content: json.dumps(without_a_role(json.loads(content))).encode()),
        (tables.NEURONS, lambda content: content[:-200]),
        (tables.NEURONS, lambda content: arrays_of(content, pieces=np.array([{}], dtype=object))),
        (tables.NEURONS, lambda content: arrays_of(content, pieces=np.array(TOKENS[:5]))),
    ],
)
def test_a_damaged_table_is_named(folder, file, damage) -> None:
    write_heads()
    write_neurons()
    (folder / file).write_bytes(damage((folder / file).read_bytes()))
    forget()
    with pytest.raises(WeightsError, match=rf"{file} is damaged"):
        tables.head_roles("text")
        tables.neuron_contexts("text", 0, 0)
