"""The overview shows the run's own numbers, is small, and opens anywhere."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from model import Edit, Trace, load
from model.analysis import fixed, softmax
from model.config import PRESETS, EncoderConfig
from model.heads import network_for
from model.overview import WORDS, answers_of, pack, painter
from model.overview.opened import ATTENTION, MOST, exact, names_of, parts_of_heads, steps_of
from model.overview.packing import HIDDEN, MOST_BYTES, MOST_ROWS, Packed, as_written, decimals, quantised
from model.overview.pictures import SQUARE, key_before, keys_of, pictures_of
from model.overview.without import without_heads
from model.pipeline import Pipeline
from tests.model.making import MINILM
from tests.networks import (
    CONFIGS,
    COVER,
    QUICK,
    TRANSLATORS,
    ColourReader,
    IdReader,
    draw_norms,
    example,
    pipeline,
    trace_of,
)

TIRED = "the animal [MASK] not cross the street because it was too tired ."
LONG = "the small dog and the old cat sat near a big house . " * 5
#: Formats of numbers, as in run.js.
KINDS = {"u1": "u1", "i1": "i1", "i2": "<i2", "f4": "<f4"}


def unpack(packed: Packed, role: str, layer: int) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of a picture as a browser decodes them, (map, row, column), and the scale of each map."""
    array = packed.about["arrays"][role]
    one = array["layers"][layer]
    shape = array["heads"], array["rows"], array["columns"]
    kind = np.dtype(KINDS[one["kind"]])
    numbers = np.frombuffer(packed.numbers, kind, int(np.prod(shape)), one["at"]).reshape(shape)
    scales = np.array(one["scales"])
    values = (numbers + 0.5 * (one["kind"] == "u1")) * scales[:, None, None]
    return np.where(numbers == HIDDEN.get(one["kind"]), -np.inf, values), scales


def recorded(trace: Trace, role: str, layer: int) -> np.ndarray:
    """Recorded numbers of a picture: (map, row, column)."""
    key = {"x0": key_before(trace.graph), "z": trace.graph.Z}.get(role) or keys_of(trace.graph, layer)[role]
    values = trace[key].astype(np.float64)
    values = values[None] if values.ndim == 2 else values
    values = values[:, :MOST_ROWS]
    return values[..., :MOST_ROWS] if role in SQUARE else values


def assert_equal(trace: Trace, sent: int = 0) -> None:
    """Assert that every number sent is within a quantum of the recorded one, and displayed alike; of pooled columns,
    the strongest.
    """
    packed = pack(trace, layer=sent)
    for role, array in packed.about["arrays"].items():
        for layer in array["layers"]:
            values, scales = unpack(packed, role, layer)
            own = recorded(trace, role, layer)
            assert array["of"] == own.shape[-1]
            strongest = np.stack(
                [
                    np.take_along_axis(part, np.abs(part).argmax(-1)[..., None], -1)[..., 0]
                    for part in np.split(own, range(array["together"], own.shape[-1], array["together"]), axis=-1)
                ],
                axis=-1,
            )
            np.testing.assert_array_equal(np.isneginf(values), np.isneginf(strongest), err_msg=role)
            seen = np.isfinite(strongest)
            far = np.abs(np.where(seen, values - np.where(seen, strongest, 0), 0))
            assert (far <= scales[:, None, None] * 1.0001 + 1e-9).all(), (role, layer, far.max())
            digits = array["layers"][layer]["digits"]
            assert digits >= 1 or np.abs(strongest[seen]).max() > 3000
            shown, own = (as_written(part[seen], digits) for part in (values, strongest))
            np.testing.assert_array_equal(shown, own, err_msg=f"{role} in {digits} decimals")


@pytest.mark.parametrize("name", [*COVER, *TRANSLATORS])
def test_what_is_sent_is_what_the_run_recorded(name: str) -> None:
    trace = trace_of(name)
    assert_equal(trace)
    run = re.search(r'<script type="application/json" id="run">(.*?)</script>', trace.overview().html, re.DOTALL)
    described = json.loads(run[1])
    assert described["tokens"] == trace.tokens[:MOST_ROWS]
    assert [one["symbol"] for one in described["pictures"]] == [one.symbol for one in pictures_of(trace.graph)]


@pytest.mark.parametrize("far", [1e-7, 0.3, 12.6, 400.0, 5e3, 1e6])
def test_numbers_of_any_size_are_sent_so_that_they_are_written_as_they_were_recorded(far: float) -> None:
    """Also ties between two decimals, and the extremes."""
    ties = np.array([[k * far / 64 for k in range(-64, 65)] + [-np.inf]])
    drawn = np.random.default_rng(7).normal(0, far / 3, (3, 400, 130))
    values = np.concatenate([drawn, np.broadcast_to(ties, (3, 1, 130))], 1).astype(np.float32)
    kind, scales, numbers = quantised(values, share=False)
    digits = 2 if kind == "f4" else decimals(scales)
    seen = np.isfinite(values)
    assert digits >= 0 and (numbers[~seen] == HIDDEN.get(kind, -np.inf)).all()
    packed = [fixed(value, digits) for value in (numbers * np.array(scales)[:, None, None])[seen] + 0.0]
    assert [float(one) for one in packed] == [float(fixed(value, digits)) for value in values[seen]]


def test_weights_beyond_0_and_1_are_sent_too() -> None:
    changed = load("text")(TIRED, (Edit("layers.2.attention.weights", "scale", value=-3.0, head=1),))
    assert_equal(changed)


@pytest.mark.parametrize("name", ["trained text", "trained digits", "a probe"])
def test_the_strongest_key_of_each_query_is_exact(name: str) -> None:
    trace = trace_of(name)
    packed = pack(trace)
    for layer, at in packed.about["best"].items():
        weights = trace[f"layers.{layer}.attention.weights"]
        count = weights.shape[0] * weights.shape[1]
        key = np.frombuffer(packed.numbers, "<u2", count, at["key"]).reshape(weights.shape[:2])
        weight = np.frombuffer(packed.numbers, "<f4", count, at["weight"]).reshape(weights.shape[:2])
        np.testing.assert_array_equal(key, weights.argmax(-1))
        np.testing.assert_array_equal(weight, weights.max(-1))


def test_fifteen_tokens_of_our_network_are_small() -> None:
    trace = load("text")(TIRED)
    assert len(trace.tokens) == 15
    assert len(pack(trace).numbers) <= 300_000
    assert len(trace.overview().html.encode()) <= 1_200_000


@pytest.mark.parametrize("name", ["trained text", "vit-b-16"])
def test_a_large_run_is_sent_a_layer_at_a_time_and_no_run_is_huge(name: str) -> None:
    trace = pipeline(name)(LONG if name == "trained text" else example(name))
    packed = pack(trace, layer=1)
    assert len(packed.message) < 2 * MOST_BYTES
    sent = packed.about["arrays"]["w"]["layers"]
    assert 1 in sent
    if len(sent) == 1:
        assert 0 in packed.about["arrays"]["n2"]["layers"], "what enters the layer"


# -- behind an opened picture ------------------------------------------------------------------------------------------

DONE = {
    "scores": lambda q, k: q @ k.swapaxes(-1, -2),
    "weighted_sum": lambda weights, values: weights @ values,
    "softmax": softmax,
    "add": lambda *parts: sum(parts),
    "biased": lambda *parts: sum(parts),
}


def computed(steps: dict, held: dict, name: str, reached: bool = False) -> np.ndarray:
    """Compute a quantity by its steps from the rows held."""
    step = steps.get(name)
    if step is None or (name in held and not reached):
        return held[name]
    values = [computed(steps, held, read) for read in step["reads"]]
    match step["operation"]:
        case "scale":
            return values[0] * step["factor"]
        case "norm":
            centre = values[0] - (0 if step["function"] == "rms" else values[0].mean(-1, keepdims=True))
            trained = [held[f"{name}.{place}"] for place in range(2) if f"{name}.{place}" in held]
            normed = centre / np.sqrt((centre**2).mean(-1, keepdims=True) + step["eps"])
            return normed * trained[0] + (trained[1] if len(trained) > 1 else 0) if trained else normed
        case "layer_scale":
            return values[0] * held[f"{name}.0"]
        case "mask" | "activation":
            return held[name]
        case operation:
            return DONE[operation](*values)


def assert_cells(trace: Trace, layer: int, head: int, token: int) -> None:
    """Assert that the rows sent are recorded ones, and that the steps reproduce the recorded quantities."""
    steps, keys = steps_of(trace, layer), names_of(trace.graph, layer)

    def own(name: str) -> np.ndarray:
        values = trace[keys[name]].astype(np.float64)
        return values[head] if values.ndim == 3 else values[token]

    for role in ("x", "q", "s", "w", "v", "n1", "n2"):
        if role == "x" and layer:
            continue
        rows = exact(trace, role, layer, head, token)
        assert sum(map(len, rows.parts)) <= 12 * 4 * MOST, role
        held = {}
        for block, part in zip(rows.blocks, rows.parts, strict=True):
            shape = block["heads"], block["rows"], block["columns"]
            values = np.frombuffer(part, "<f4").reshape(shape).astype(np.float64)
            name, many = block["name"], shape[0] > 1 or (role in ATTENTION and shape[1] > 1)
            held[name] = values[head - block["head"] if shape[0] > 1 else 0]
            held[name] = held[name] if many or shape[1] == 1 else held[name][token - block["row"]]
            if name in keys:
                np.testing.assert_array_equal(np.squeeze(held[name]), np.squeeze(own(name)), err_msg=f"{role} {name}")
        for one in ("s", "w", "heads") if role in ("q", "s", "w", "v") else (role,):
            made = computed(steps, held, one, reached=True)
            np.testing.assert_allclose(
                np.squeeze(made), np.squeeze(own(one)), atol=2e-4, rtol=1e-4, err_msg=f"{role} {one}"
            )
    lengths = np.linalg.norm(trace[keys["a"]], axis=-1)
    np.testing.assert_allclose(parts_of_heads(trace, layer).sum(-1), lengths, rtol=1e-4, atol=1e-5)
    loud = exact(trace, "h", layer, head, token).neurons[f"{layer}.{token}"]
    assert [value for _, value, *_ in loud] == pytest.approx([own("h")[neuron] for neuron, *_ in loud], rel=1e-6)


@pytest.mark.parametrize("name", [*COVER, *TRANSLATORS])
def test_a_cell_is_what_its_steps_make_of_the_numbers_that_are_sent(name: str) -> None:
    trace = trace_of(name)
    for layer in range(trace.config.layers):
        assert_cells(trace, layer, 0, 0)


#: As large as visitors' networks.
LARGE = {
    "12 × 12 × 768": replace(PRESETS["bert-base"], vocab_size=200, head="masked-word"),
    "197 patches": CONFIGS["vit-b-16"],
    "16 × 24 heads": EncoderConfig(
        384, 24, 16, 768, norm_first=True, final_norm=True, positions="learned", vocab_size=200, head="masked-word"
    ),
}


@pytest.mark.parametrize("name", LARGE)
def test_of_a_large_run_each_number_is_the_runs_own_too_and_one_row_or_one_head_is_sent(name: str) -> None:
    config = LARGE[name]
    network = network_for(config)
    draw_norms(network)
    if config.input == "words":
        trace = Pipeline(name, network, IdReader(config))([5 + i % 190 for i in range(60)])
    else:
        trace = Pipeline(name, network, ColourReader(config))(torch.rand(3, config.image_size, config.image_size))
    last, head, token = config.layers - 1, config.heads - 1, len(trace.tokens) - 1
    for layer in (0, last):
        assert_equal(trace, layer)
        assert_cells(trace, layer, head, token)
        assert_cells(trace, layer, 1, 2)


def test_what_an_edit_changed_is_sent_and_not_computed() -> None:
    off = Edit("layers.2.attention.heads", "zero", head=6)
    trace = load("text")(TIRED, (off,))
    assert "heads" not in steps_of(trace, 2) and "heads" in steps_of(trace, 1)
    rows = exact(trace, "w", 2, 6, 3)
    (place,) = (i for i, block in enumerate(rows.blocks) if block["name"] == "heads")
    np.testing.assert_array_equal(np.frombuffer(rows.parts[place], "<f4"), trace[off.key].ravel())


# -- the answer ----------------------------------------------------------------------------------------------------


def test_words_are_ranked_at_every_token_and_read_after_every_layer() -> None:
    text = load("text")
    trace = text(TIRED)
    place = trace.tokens.index("[MASK]")
    answers = answers_of(trace, right={place: "did"})
    p = softmax(trace["logits"].astype(np.float64))
    assert answers.kind == "word" and set(answers.rows) == set(range(15)) and set(answers.lens) == {place}
    for token, bars in answers.rows.items():
        best = np.argsort(-p[token])[: len(bars)]
        assert [name for name, _ in bars] == [text.reader.vocabulary[i] for i in best]
        assert [value for _, value in bars] == pytest.approx(p[token][best], abs=1e-5)
    read = text.read_layers(trace, place)[1:]
    assert len(answers.lens[place]) == len(read)
    for bars, layer in zip(answers.lens[place], read, strict=True):
        assert [value for _, value in bars] == pytest.approx(np.sort(layer)[::-1][: len(bars)], abs=1e-5)


@pytest.mark.parametrize(
    ("name", "kind"), [("004", "none"), ("a vector of a picture", "vector"), ("translation", "decoder")]
)
def test_without_a_head_the_encoders_output_is_shown(name: str, kind: str) -> None:
    packed = pack(trace_of(name))
    assert packed.about["answers"]["kind"] == kind and "z" in packed.about["arrays"]
    assert f"answer_{kind}" in WORDS


def test_of_a_sentence_encoder_the_result_is_one_vector() -> None:
    assert answers_of(load(str(MINILM))("i love you .")).kind == "vector"


def test_a_word_whose_vector_a_change_altered_is_not_read_as_it_is() -> None:
    gone, swapped = Edit("embedding.sum", "remove", token=2), Edit("embedding.tokens", "swap", token=4, from_token=1)
    for edits, altered in (
        ([Edit("embedding.positions", "zero"), Edit("layers.0.attention.Q", "zero")], []),
        ([gone], [2]),
        ([Edit("layers.{l}.norm_2", "zero", token=3)], [3]),
        ([gone, swapped], [1, 2, 4]),
        ([Edit("embedding.tokens", lambda whole: whole / 2)], [*range(9)]),
    ):
        assert answers_of(load("text")("the dog chased the cat .", edits)).described["altered"] == altered


# -- changes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["trained text", "pre-norm patches"])
def test_an_edit_marks_the_picture_that_it_touches_first(name: str) -> None:
    run = pipeline(name)
    marked = {
        "layers.1.attention.Q": "1.q",
        "layers.1.attention.scores": "1.s",
        "layers.1.attention.weights": "1.w",
        "layers.1.attention.heads": "1.a",
        "layers.1.ffn.hidden": "1.h",
        "layers.1.add_2": "1.n2",
        "layers.1.ffn.output": "1.n2",
        "embedding.tokens": "x0",
    }
    for key, picture in marked.items():
        trace = run(example(name), (Edit(key, "scale", value=0.5),))
        assert pack(trace).about["changed"] == [picture], key
    assert pack(run(example(name))).about["changed"] == []


# -- without a head ------------------------------------------------------------------------------------------------

OFF = Edit("layers.0.attention.heads", "zero", head=1)


@pytest.mark.parametrize("edits", [(), (OFF, Edit("layers.0.ffn.output", "scale", 0.5))])
@pytest.mark.parametrize("name", [*COVER, "trained text", "trained translation"])
def test_a_file_answers_without_a_head_as_the_run_without_it(name: str, edits: tuple[Edit, ...]) -> None:
    """And the bars equal `moved` of such runs; none if the answer is no word or class."""
    whole = pipeline(name)
    trace = whole(example(name), edits)
    token, found = min(2, len(trace.tokens) - 1), without_heads(trace, min(2, len(trace.tokens) - 1))
    heads = [(layer, head) for layer in range(trace.config.layers) for head in range(trace.config.heads)]
    assert pack(trace).about["off"] == (["0.1"] if edits else [])
    if "logits" not in trace or trace.graph.decoder:
        assert found == {}
        return
    place = token if "word" in trace.axes("logits") else -1
    assert found["without"]["token"] == place and [*found["lean"]] == [place]
    assert [*found["without"]["answers"]] == [f"{layer}.{head}" for layer, head in heads]
    p = softmax(np.atleast_2d(trace["logits"])[place].astype(np.float64))
    for layer, head in heads:
        run = whole(example(name), (*edits, Edit(f"layers.{layer}.attention.heads", "zero", head=head)))
        q = softmax(np.atleast_2d(run["logits"])[place].astype(np.float64))
        assert found["lean"][place][layer][head] == pytest.approx(np.abs(q - p).sum() / 2, abs=1e-4)
        bars, rows = found["without"]["answers"][f"{layer}.{head}"], answers_of(run).rows
        assert [share for _, share in bars] == pytest.approx(
            np.sort(q)[::-1][: len(bars)] if place >= 0 else q, abs=1e-4
        )
        if place in rows:  # ids alone name no classes
            assert [name for name, _ in bars] == [name for name, _ in rows[place]]


def test_a_large_run_and_one_from_a_file_have_no_answers_without_a_head(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = trace_of("trained digits")
    trace.save(tmp_path / "run.safetensors")
    assert without_heads(Trace.load(tmp_path / "run.safetensors"), 0) == {}
    monkeypatch.setattr("model.overview.without.MOST", 1000)
    assert without_heads(trace, 0) == {} and "without" not in trace.overview().packed.about


# -- as a file ------------------------------------------------------------------------------------------------------


def test_the_file_holds_all_that_it_needs_and_names_no_address(tmp_path: Path) -> None:
    page = load("text")(TIRED).overview(layer=2, head=6)
    assert page.place == {"layer": 2, "head": 6, "token": 3}
    written = page.save(tmp_path / "run.html").read_text("utf-8")
    addresses = set(re.findall(r"https?://[^\s\"'<>)]+", written))
    assert addresses <= {"http://www.w3.org/2000/svg"}  # a namespace, not fetched
    assert "src=" not in written and "@import" not in written and not re.search(r"url\((?!#)", written)
    assert page._repr_html_().startswith("<iframe srcdoc=")


# -- words -----------------------------------------------------------------------------------------------------------


def test_the_painter_says_what_there_are_words_for_and_nothing_else() -> None:
    source = painter()
    asked = set(re.findall(r"words\.(\w+)", source)) | set(
        re.findall(r"'((?:read|film|cell|picture|answer|less|legend_)\w*)'", source)
    )
    captions = {one.caption for name in QUICK for one in pictures_of(trace_of(name).graph)}
    assert asked <= WORDS.keys() | {"answer"}, asked - WORDS.keys()
    made = {key for key in WORDS if re.match("cell|answer_|film_|read_|picture", key)}
    assert WORDS.keys() - asked - captions - made == {"embedding", "position", "segment"} - captions
    assert all(f"{{{name}}}" not in text for text in WORDS.values() for name in ("tokens", "word"))


def test_classes_stand_in_their_order_and_are_read_after_every_layer() -> None:
    trace = trace_of("trained digits")
    answers = answers_of(trace, name=lambda label: f"digit {label}")
    assert answers.kind == "class" and answers.reads == 0
    assert [name for name, _ in answers.rows[-1]] == [f"digit {number}" for number in range(10)]
    assert [value for _, value in answers.rows[-1]] == pytest.approx(trace.answer[0].probabilities)
    read = pipeline("trained digits").read_layers(trace)[1:]
    found = np.array([[value for _, value in bars] for bars in answers.lens[-1]])
    np.testing.assert_allclose(found, read, atol=1e-5)


def test_by_default_a_hidden_token_is_shown_in_the_head_that_attends_most_to_another() -> None:
    trace = load("text")(TIRED)
    place = trace.overview().place
    assert trace.tokens[place["token"]] == "[MASK]"
    words = [i for i, token in enumerate(trace.tokens) if token not in ("[CLS]", "[SEP]", "[MASK]")]
    weights = trace.over_layers("attention.weights")[:, :, place["token"]][:, :, words]
    assert weights[place["layer"], place["head"]].max() == weights.max()
