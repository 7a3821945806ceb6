"""Exported files compute the same in other libraries."""

import sys
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import torch
import transformers
from tokenizers import Tokenizer

from model import Edit, examples, export, load
from model.analysis import softmax
from model.checkpoints import load_folder
from model.checkpoints.text import CheckpointTextReader
from model.config import EncoderConfig
from model.export import ExportError, as_bertviz, as_marian, as_onnx, main, read_bertviz
from model.heads import network_for
from model.pipeline import Pipeline
from tests.networks import draw_norms
from tests.translators import written

SENTENCES = ("我爱你。", "the cat sleeps .", "She didn't see the Ａ dog", "今天天气很好。")


def test_their_library_reads_our_translator_and_computes_the_same(tmp_path: Path) -> None:
    ours = load("translation")
    as_marian(ours, tmp_path / "marian")
    theirs, said = transformers.MarianMTModel.from_pretrained(tmp_path / "marian", output_loading_info=True)
    assert not (said["missing_keys"] or said["unexpected_keys"] or said["mismatched_keys"])
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path / "marian")
    for sentence in SENTENCES:
        trace = ours(sentence)
        read = tokenizer(sentence, return_tensors="pt", return_token_type_ids=False)
        assert read["input_ids"][0].tolist() == trace.ids
        with torch.no_grad():
            logits = theirs(**read, decoder_input_ids=torch.tensor([trace.target_ids])).logits[0]
        np.testing.assert_allclose(logits[:, : ours.config.vocab_size], trace["logits"], atol=5e-5)
        beginning = {"decoder_start_token_id": trace.target_ids[0], "max_length": ours.config.max_len}
        written = theirs.generate(**read, **beginning, num_beams=1, do_sample=False)
        assert written[0, 1:].tolist() == list(trace.greedy.ids)
        assert tokenizer.decode(written[0, :1]) == trace.target_tokens[0]


LENGTHS = ("i love you .", "今天天气很好。", "the animal did not cross the street because it was too tired . " * 3)


def test_an_encoder_leaves_for_onnx_with_its_tokenizer_and_segments_for_any_length_and_a_translators_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch.manual_seed(0)
    config = EncoderConfig(
        16, 2, 1, 24, vocab_size=12_000, segments=2, positions="learned", max_len=64, head="masked-word"
    )
    network = network_for(config)
    draw_norms(network)
    reader = CheckpointTextReader(load("text").reader.tokenizer, config, {"[SEP]": "[SEP]"})
    reader.segments = {0: 0, 1: 1}  # our tokenizer knows a single segment
    two, translator = Pipeline("two", network, reader), load_folder(written(tmp_path / "opus"))
    for of, sentences in ((two, (*LENGTHS, "you [SEP] [SEP] we")), (translator, LENGTHS[:1])):
        folder = tmp_path / of.name
        monkeypatch.setattr(export, "load", lambda _, of=of: of)
        main(["onnx", str(folder)])
        session = onnxruntime.InferenceSession(folder / "model.onnx")
        assert (folder / "tokenizer.json").exists() == (of is two)  # none if ids differ from the .spm file's
        for sentence in sentences:
            trace = of(sentence)
            given = {"input_ids": np.array([trace.ids])}
            given |= {"token_type_ids": np.array([trace.segments])} if of is two else {}
            assert [one.name for one in session.get_inputs()] == list(given)
            (found,) = session.run(["logits" if of is two else "last_hidden_state"], given)
            np.testing.assert_allclose(found[0], trace["logits"] if of is two else trace.Z, atol=1e-5)
        assert set(trace.segments) == ({0, 1} if of is two else set())
    tokenizer = Tokenizer.from_file(str(tmp_path / "two" / "tokenizer.json"))
    assert [tokenizer.encode(sentence).ids for sentence in LENGTHS] == [two(sentence).ids for sentence in LENGTHS]


RECORDED = {
    "text": (
        "i love you .",
        "今天天气很[MASK]。",
        "the animal did not cross the street because it was too tired . " * 3,
    ),
    "digits": tuple(examples.digits()[:2]),
}


@pytest.fixture(scope="module", params=RECORDED)
def recorded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """Name of a pipeline of ours, and its exported file with all recorded quantities."""
    folder = tmp_path_factory.mktemp(request.param)
    main(["onnx", str(folder), request.param, "--recorded"])
    return request.param, folder / "model.onnx"


def test_every_recorded_quantity_leaves_for_onnx_and_heads_can_be_off(recorded: tuple[str, Path]) -> None:
    name, file = recorded
    pipeline, session = load(name), onnxruntime.InferenceSession(file)
    config = pipeline.config
    on = np.ones((config.layers, config.heads), np.float32)
    off = [(0, 0), (config.layers - 1, 2)]
    without = on.copy()
    without[tuple(zip(*off, strict=True))] = 0
    cuts = [Edit(f"layers.{layer}.attention.heads", "zero", head=head) for layer, head in off]
    for subject in RECORDED[name]:
        for heads, edits in ((on, []), (without, cuts)):
            trace = pipeline(subject, edits=edits)
            given: dict[str, np.ndarray] = {"heads": heads}
            if name == "text":
                given |= {"asked": np.array([3, 1]), "input_ids": np.array([trace.ids])}
            else:
                given["pixel_values"] = subject[None]
            assert [one.name for one in session.get_inputs()] == list(given)
            names = [one.name for one in session.get_outputs()]
            assert names == [*trace.keys(), "lens"]
            found = dict(zip(names, session.run(names, given), strict=True))
            for key in trace:
                largest = np.abs(trace[key]).max()
                np.testing.assert_allclose(found[key][0] / largest, trace[key] / largest, atol=1e-4, err_msg=key)
            for token in (3, 1) if name == "text" else (0,):
                lens = found["lens"][:, (3, 1).index(token)] if name == "text" else found["lens"]
                read = pipeline.read_states(trace.states()[1:], token)
                np.testing.assert_allclose(softmax(lens), read, atol=1e-4)


def test_a_recorded_network_is_as_small_as_its_weights_and_names_no_folder(recorded: tuple[str, Path]) -> None:
    name, file = recorded
    content = file.read_bytes() + (file.parent / export.DATA).read_bytes()
    numbers = sum(value.numel() for value in load(name).network.parameters())
    assert len(content) < 2 * numbers + 250_000
    assert str(Path(export.__file__).parent).encode() not in content


def test_what_cannot_be_written_for_onnx_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ExportError, match="pictures"):
        as_onnx(load("digits"), tmp_path / "digits")
    monkeypatch.setattr(export, "find_spec", lambda name: None if name == "onnxscript" else sys)
    with pytest.raises(ExportError, match=r"pip install onnxscript$"):
        as_onnx(load("text"), tmp_path / "text")
    assert not [*tmp_path.iterdir()]


def test_a_run_is_read_back_as_bertviz_takes_it(tmp_path: Path) -> None:
    both = {"encoder_attention": "attention", "decoder_attention": "decoder.attention",
            "cross_attention": "decoder.cross"}  # fmt: skip
    for model, keys in (("text", {"attention": "attention"}), ("translation", both)):
        main(["bertviz", str(tmp_path / "run.json"), "i love you .", model])
        found, trace = read_bertviz(tmp_path / "run.json"), load(model)("i love you .")
        sides = {"tokens": trace.tokens}
        if keys is both:
            sides = {"encoder_tokens": trace.tokens, "decoder_tokens": trace.target_tokens, "include_layers": [0, 1, 2]}
        assert found.keys() == {*keys, *sides} == as_bertviz(trace).keys()
        assert {side: found[side] for side in sides} == sides
        for name, kind in keys.items():
            side, _, part = kind.rpartition(".")
            ours = trace.over_layers(f"{part}.weights", f"{side}." if side else "")
            np.testing.assert_array_equal(np.stack([layer[0] for layer in found[name]]), ours)


def test_where_a_second_sentence_begins_is_told_to_bertviz() -> None:
    assert as_bertviz(load("text")("you [SEP] we"))["sentence_b_start"] == 3
    assert "sentence_b_start" not in as_bertviz(load("text")("you and we"))


def test_the_command_line_says_what_it_takes() -> None:
    for said in ([], ["onnx"], ["bertviz", "file"], ["folder"]):
        with pytest.raises(SystemExit, match=r"python -m model\.export bertviz FILE"):
            main(said)
