"""Checkpoint folders are read as transformers reads them, or refused with a reason."""

import json
import os
import shutil
import weakref
from collections.abc import Callable
from contextlib import suppress
from copy import copy, deepcopy
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from model import Edit, InputError, from_transformers, load
from model.by_hand import by_hand
from model.checkpoints import CheckpointError, load_folder
from model.checkpoints.folder import Folder
from model.examples import SENTENCES
from model.measures.sweep import sweep
from tests.model.making import (
    MINILM,
    ONE,
    ROUND,
    SQUARE,
    WORDS,
    Failing,
    answer_of,
    as_pickle,
    close,
    inputs_of,
    ours,
    retold,
    rewritten,
    save_again,
    theirs,
)
from tests.refusals import refused


@pytest.mark.parametrize("name", ["RobertaModel", "BertModel", "DistilBertModel"])
def test_a_filler_that_is_typed_is_counted_as_theirs(name: str) -> None:
    trace = ours(name)("the [PAD] cat [PAD] [PAD] sat [SEP] on a [PAD] mat")
    assert trace.tokens.count("[PAD]") == 4
    close(trace.states(), torch.cat(answer_of(theirs(name)[0], trace).hidden_states))


def test_positions_are_shifted_and_worked_out_by_place_beside_a_filler_that_takes_none() -> None:
    pipeline, key = ours("RobertaModel"), "embedding.positions"
    trace = pipeline("the [PAD] cat sat")
    assert trace.rows == [0, 1, None, 2, 3, 4]
    positions = pipeline.network.embedding.positions
    table, apart = positions.table.numpy(), positions.apart.numpy()
    shifted = pipeline("the [PAD] cat sat", [Edit(key, "shift", 2)])
    np.testing.assert_array_equal(shifted[key], np.insert(table[2:7], 2, apart, axis=0))
    assert pipeline("the [PAD] cat sat", [Edit(key, "shift", 0)]).idle
    (swept,) = sweep(pipeline, trace, [[Edit(key, "shift", 2)]], [pipeline.graph.Z])[pipeline.graph.Z]
    close(swept, shifted.Z)
    worked = [by_hand(pipeline.network, trace, key, (token, 5)).value for token in range(6)]
    np.testing.assert_array_equal(worked, trace[key][:, 5])


def test_a_mean_is_over_the_sentences_that_the_checkpoint_can_read() -> None:
    pipeline, runs = ours("BertForSequenceClassification"), []
    for sentence in (sentence for pair in SENTENCES for sentence in pair):
        with suppress(InputError):
            runs.append(pipeline(sentence))
    assert 0 < len(runs) < 2 * len(SENTENCES)
    heads = np.concatenate([run["layers.1.attention.heads"] for run in runs], axis=1)  # (head, token, d_k)
    held = pipeline(ONE, [Edit("layers.1.attention.heads", "mean", head=2)])["layers.1.attention.heads"]
    close(held[2], np.broadcast_to(heads[2].mean(0), held[2].shape))
    close(pipeline(ONE, [Edit("logits", "mean")])["logits"], np.mean([run["logits"] for run in runs], axis=0))


def test_where_no_sentence_can_be_read_there_is_no_mean(tmp_path: Path) -> None:
    shutil.copytree(theirs("BertModel")[1], tmp_path / "bert")
    tokenizer = json.loads((tmp_path / "bert" / "tokenizer.json").read_text())
    vocabulary = tokenizer["model"]["vocab"]
    tokenizer["model"]["vocab"] = {word + "x" * (word in WORDS): i for word, i in vocabulary.items()}
    (tmp_path / "bert" / "tokenizer.json").write_text(json.dumps(tokenizer))
    with refused("no_corpus"):
        load(str(tmp_path / "bert"))("thex catx", [Edit("layers.0.ffn.activation", "mean")])


def test_special_tokens_have_our_names_whatever_theirs_are() -> None:
    reader = ours("RobertaForMaskedLM").reader
    assert reader.read(ONE).tokens == ["[CLS]", *ONE.split(), "[SEP]"]
    assert reader.read(ONE).ids[-2] == ROUND.index("<mask>")
    assert reader.hide(reader.read("the cat").ids, [1]) == (0, 4, len(ROUND) + 1, 2)


@pytest.mark.parametrize("name", ["BertForMaskedLM", "RobertaForMaskedLM"])
def test_unknown_words_are_named_in_both_sentences_and_behind_a_mask(name: str) -> None:
    (note,) = ours(name).reader.read("[MASK] zebra sat [SEP] [MASK] lion rained").notes
    assert note.values["symbols"] == ["zebra", "lion"]


def test_vectors_of_a_real_checkpoint_are_theirs() -> None:
    cut = transformers.AutoTokenizer.from_pretrained(MINILM)
    network = transformers.BertModel.from_pretrained(MINILM, attn_implementation="eager").eval()
    for sentence in SENTENCES[0]:
        trace, given = load(str(MINILM))(sentence), cut(sentence, return_tensors="pt")
        assert given["input_ids"][0].tolist() == trace.ids
        with torch.no_grad():
            close(trace.Z, network(**given).last_hidden_state[0])


def test_tokens_that_no_file_names_have_their_usual_names(tmp_path: Path) -> None:
    shutil.copytree(theirs("RobertaForMaskedLM")[1], tmp_path, dirs_exist_ok=True)
    (tmp_path / "tokenizer_config.json").write_text("{}")  # as on the hub
    unnamed, named = load(str(tmp_path)), ours("RobertaForMaskedLM")
    assert unnamed(ONE).tokens == named(ONE).tokens and "[MASK]" in unnamed(ONE).tokens
    np.testing.assert_array_equal(unnamed(ONE)["logits"], named(ONE)["logits"])


@pytest.mark.parametrize(
    "said", [{}, {"strip_accents": False, "tokenize_chinese_chars": False}, {"do_lower_case": False}]
)
def test_words_without_a_tokenizer_are_made_plain_as_their_library_does(said: dict, tmp_path: Path) -> None:
    shutil.copytree(theirs("BertModel")[1], tmp_path, dirs_exist_ok=True)
    (tmp_path / "tokenizer.json").unlink()
    words = [*SQUARE, "für", "fur", "Cat", "cat", "我", "##们", "们", "the", *(f"w{i}" for i in range(18))]
    (tmp_path / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(said))
    text = "the Cat für 我们"
    library = transformers.BertTokenizer(str(tmp_path / "vocab.txt"), **said)
    assert load(str(tmp_path)).reader.read(text).ids == library(text)["input_ids"]


# Unreadable folders: each gives its reason in one sentence, and nothing in them is run.


def other_tensors(folder: Path, change: Callable[[dict[str, torch.Tensor]], object]) -> None:
    weights = load_file(folder / "model.safetensors")
    weights = {name: tensor.clone() for name, tensor in weights.items()}
    change(weights)
    save_file(weights, folder / "model.safetensors")


def linked_out(folder: Path, name: str) -> None:
    outside = folder.parent / "outside"
    outside.write_bytes((folder / name).read_bytes())
    (folder / name).unlink()
    (folder / name).symlink_to(outside)


def only_a_pickle(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    as_pickle(folder, "pytorch_model.bin")


def cut_short(folder: Path, name: str) -> None:
    (folder / name).write_bytes((folder / name).read_bytes()[:-100])


def as_pipe(folder: Path, name: str) -> None:
    (folder / name).unlink()
    os.mkfifo(folder / name)


def in_bytes(folder: Path, more: dict[str, object]) -> None:
    """Replace the tokenizer by vocab.json and merges.txt."""
    (folder / "tokenizer.json").unlink()
    pieces = {piece: i for i, piece in enumerate([*ROUND, "a", "b"])} | more
    (folder / "vocab.json").write_text(json.dumps(pieces))
    (folder / "merges.txt").write_text("#version: 0.2\n")


def replaced(times: int) -> dict:
    """A normalizer that multiplies letters, again and again."""
    letter = {"type": "Replace", "pattern": {"Regex": "."}, "content": "a a a a a "}
    return {"type": "Sequence", "normalizers": [letter] * times}


def in_shards(folder: Path, file: str) -> None:
    (folder / "model.safetensors").unlink()
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {Q: file}}))


def answer_from_elsewhere(weights: dict[str, torch.Tensor]) -> None:
    weights["cls.predictions.decoder.weight"] = torch.ones(31, 24)


E = "bert.embeddings.word_embeddings.weight"
Q = "bert.encoder.layer.1.attention.self.query.weight"
MODEL = {"type": "WordLevel", "vocab": {word: i for i, word in enumerate(SQUARE)}, "unk_token": "[UNK]"}
CHARS = {"type": "Precompiled", "precompiled_charsmap": "BAAAAP////8="}
BEYOND = {"type": "BertProcessing", "sep": ["[SEP]", 9999], "cls": ["[CLS]", 2]}
HOSTILE: dict[str, tuple[str, Callable[[Path], object]]] = {
    "no config": ("missing", lambda f: (f / "config.json").unlink()),
    "no weights": ("missing", lambda f: (f / "model.safetensors").unlink()),
    "no tokenizer": ("no_tokenizer", lambda f: (f / "tokenizer.json").unlink()),
    "pieces alone": ("pieces", lambda f: (f / "tokenizer.json").rename(f / "spiece.model")),
    "what LoRA trained alone": ("adapter", lambda f: (f / "config.json").rename(f / "adapter_config.json")),
    "what LoRA trained beside it": (
        "adapter", lambda f: other_tensors(f, lambda w: w.update({f"{Q[:-7]}.lora_A.weight": torch.ones(2, 24)}))
    ),
    "config cut short": ("damaged", lambda f: cut_short(f, "config.json")),
    "config too deep": ("damaged", lambda f: (f / "config.json").write_text("[" * 100_000)),
    "weights cut short": ("damaged", lambda f: cut_short(f, "model.safetensors")),
    "tokenizer a pickle": ("damaged", lambda f: as_pickle(f, "tokenizer.json")),
    "only a pickle": ("pickle", only_a_pickle),
    "weights elsewhere": ("outside", lambda f: linked_out(f, "model.safetensors")),
    "a tensor missing": ("tensor_missing", lambda f: other_tensors(f, lambda w: w.pop(Q))),
    "a tensor left over": (
        "tensor_left_over", lambda f: other_tensors(f, lambda w: w.update({"x" * 5000: torch.ones(2)}))
    ),
    "a wrong size": ("tensor_shape", lambda f: other_tensors(f, lambda w: w.update({Q: torch.ones(24, 25)}))),
    "whole numbers": ("tensor_kind", lambda f: other_tensors(f, lambda w: w.update({Q: w[Q].to(torch.int8)}))),
    "infinite": ("tensor_not_finite", lambda f: other_tensors(f, lambda w: w[Q][0, 0].fill_(torch.inf))),
    "a pipe for weights": ("damaged", lambda f: as_pipe(f, "model.safetensors")),
    "a table that points nowhere": ("tokenizer_fails", lambda f: retold(f, normalizer=CHARS)),
    "no piece for the unknown": ("tokenizer_fails", lambda f: retold(f, model=MODEL | {"vocab": {"the": 5, "cat": 6}})),
    "pieces without end": ("tokenizer_fails", lambda f: retold(f, normalizer=replaced(3), model=MODEL)),
    "a tokenizer without end": ("tokenizer_slow", lambda f: retold(f, normalizer=replaced(12))),
    "ids in a template beyond the weights": ("vocabulary", lambda f: retold(f, post_processor=BEYOND)),
    "a shard of 5,000 letters": ("missing", lambda f: in_shards(f, "x" * 5000)),
    "a piece with a number beyond reason": ("vocabulary", lambda f: in_bytes(f, {"far": 2**31})),
    "a tokenizer too large": ("vocabulary", lambda f: shutil.copy(MINILM / "tokenizer.json", f)),
}  # fmt: skip


@pytest.mark.parametrize("what", HOSTILE)
def test_a_folder_that_cannot_be_read_says_why(what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reason, spoil = HOSTILE[what]
    folder = tmp_path / "bert"
    shutil.copytree(theirs("BertForMaskedLM")[1], folder)
    spoil(folder)
    monkeypatch.setattr("model.checkpoints.folder.SECONDS", 2)
    with refused(reason) as raised:
        load(str(folder))
    said = str(raised.value)
    assert "\n" not in said and len(said) < 300
    assert not (folder / "exploded").exists()


UNANSWERED: dict[str, tuple[str, Callable[[Path], object]]] = {
    "another head": ("architecture", lambda f: rewritten(f, architectures=["BertForMultipleChoice"])),
    "a part with three bounds": (
        "answer_setting",
        lambda f: rewritten(f, architectures=["BertForQuestionAnswering"], id2label=dict.fromkeys("012", "x")),
    ),
    "another answer matrix": ("tensor_untied", lambda f: other_tensors(f, answer_from_elsewhere)),
}


@pytest.mark.parametrize("what", UNANSWERED)
def test_the_stages_are_there_where_the_answer_cannot_be_computed(what: str, tmp_path: Path) -> None:
    reason, change = UNANSWERED[what]
    shutil.copytree(theirs("BertForMaskedLM")[1], tmp_path / "bert")
    change(tmp_path / "bert")
    pipeline = load(str(tmp_path / "bert"))
    assert pipeline.unanswered.reason == reason and "\n" not in str(pipeline.unanswered)
    trace = pipeline(ONE)
    assert trace.answer == () and "logits" not in trace
    network = transformers.BertModel.from_pretrained(tmp_path / "bert", attn_implementation="eager").eval()
    close(trace.states(), torch.cat(answer_of(network, trace).hidden_states))


def test_a_folder_that_is_saved_again_is_read_again_and_the_older_let_go(tmp_path: Path) -> None:
    shutil.copytree(theirs("BertForMaskedLM")[1], tmp_path / "bert")
    older = load(str(tmp_path / "bert"))
    (tmp_path / "bert" / "README.md").write_text("nothing that is read")
    assert load(f"{tmp_path}/./bert") is older
    before, gone = older(ONE)["logits"], weakref.ref(older)
    del older
    network = save_again(tmp_path / "bert", 1)
    newer = load(str(tmp_path / "bert"))
    assert gone() is None and not np.allclose(newer(ONE)["logits"], before, atol=1e-2)
    close(newer(ONE)["logits"], answer_of(network, newer(ONE)).logits[0])
    tokenizer = tmp_path / "bert" / "tokenizer.json"
    tokenizer.write_text(tokenizer.read_text().replace('"cat"', '"cow"'))
    assert "cow" in load(str(tmp_path / "bert"))("the cow sat").tokens


@pytest.mark.parametrize("name", ["RobertaModel", "ViTForImageClassification"])
def test_a_network_in_memory_is_read_as_its_folder_would_be(name: str) -> None:
    network, folder = theirs(name)
    if name.startswith("ViT"):
        reader = transformers.ViTImageProcessor.from_pretrained(folder)
    else:
        reader = transformers.PreTrainedTokenizerFast.from_pretrained(folder)
    here, x = from_transformers(network, reader), inputs_of(name)[0]
    assert here.name == name
    for key in (trace := ours(name)(x)):
        np.testing.assert_array_equal(here(x)[key], trace[key])
    half = from_transformers(deepcopy(network).half(), reader)
    close(half(x).Z, from_transformers(deepcopy(network).half().float(), reader)(x).Z)


def test_a_sentence_on_which_a_tokenizer_fails_is_none_and_whoever_stops_it_is_heard() -> None:
    reader = copy(ours("BertModel").reader)
    panic = type("PanicException", (BaseException,), {})
    for error, raised in ((panic(), InputError), (Exception(), InputError), (KeyboardInterrupt(), KeyboardInterrupt)):
        reader.tokenizer = Failing(ours("BertModel").reader.tokenizer, error)
        assert reader.read("the cat").tokens == ["[CLS]", "the", "cat", "[SEP]"]
        with pytest.raises(raised):
            reader.read("the zebra")


def test_what_is_no_name_of_a_folder_is_said_briefly() -> None:
    with pytest.raises(ValueError, match="no folder") as raised:
        load("x" * 5000)
    assert len(str(raised.value)) < 300
    with pytest.raises(CheckpointError, match="no folder") as raised:
        load_folder("x" * 5000)
    assert len(str(raised.value)) < 300


def test_a_file_that_is_cut_short_in_place_takes_nothing_from_a_network_that_was_read(tmp_path: Path) -> None:
    maps = Path("/proc/self/maps")
    if not maps.exists():
        pytest.skip("only Linux lists what a process has mapped")
    folder = tmp_path / "cut"
    shutil.copytree(theirs("BertModel")[1], folder)
    kept = load(str(folder))
    assert str(folder) not in maps.read_text()  # else the next lines would end this process
    os.truncate(folder / "model.safetensors", 1000)
    np.testing.assert_array_equal(kept(ONE).Z, ours("BertModel")(ONE).Z)
    assert kept.network.embedding.E.weight.dtype == torch.float32
    with refused("damaged"):
        load(str(folder))


def test_a_file_that_is_cut_short_while_it_is_read_is_damaged(tmp_path: Path) -> None:
    shutil.copytree(theirs("BertModel")[1], tmp_path, dirs_exist_ok=True)
    stored = Folder(tmp_path).weights()
    os.truncate(tmp_path / "model.safetensors", 1000)
    with refused("damaged"):
        for tensor in stored.values():
            tensor.read()


def test_no_number_is_read_of_a_tensor_that_is_too_large(tmp_path: Path) -> None:
    shutil.copytree(theirs("BertModel")[1], tmp_path, dirs_exist_ok=True)
    table = {"dtype": "F32", "shape": [2**40], "data_offsets": [0, 2**42]}
    header = json.dumps({"embeddings.position_embeddings.weight": table})
    with (tmp_path / "model.safetensors").open("wb") as file:
        file.write(len(header).to_bytes(8, "little") + header.encode())
        file.truncate(8 + len(header) + 2**42)  # a sparse file of four terabytes
    with refused("tensor_shape"):
        load(str(tmp_path))


def test_words_that_are_stored_under_the_answer_alone_are_read(tmp_path: Path) -> None:
    shutil.copytree(theirs("BertForMaskedLM")[1], tmp_path, dirs_exist_ok=True)
    other_tensors(tmp_path, lambda w: w.update({"cls.predictions.decoder.weight": w.pop(E)}))
    np.testing.assert_array_equal(load(str(tmp_path))(ONE)["logits"], ours("BertForMaskedLM")(ONE)["logits"])


def test_weights_in_shards_are_one_and_a_shard_that_is_elsewhere_is_named(tmp_path: Path) -> None:
    network, folder = theirs("BertForMaskedLM")
    network.save_pretrained(tmp_path, max_shard_size="20KB")
    shutil.copy(folder / "tokenizer.json", tmp_path)
    assert len(list(tmp_path.glob("*.safetensors"))) > 1
    np.testing.assert_array_equal(load(str(tmp_path))(ONE)["logits"], ours("BertForMaskedLM")(ONE)["logits"])
    index = json.loads((tmp_path / "model.safetensors.index.json").read_text())
    index["weight_map"][Q] = "../outside.safetensors"
    (tmp_path.parent / "outside.safetensors").write_bytes((folder / "model.safetensors").read_bytes())
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    with pytest.raises(CheckpointError, match=r"outside\.safetensors"):
        load(str(tmp_path))


def test_the_hubs_own_cache_is_read(tmp_path: Path) -> None:
    snapshot, blobs = tmp_path / "models--org--bert" / "snapshots" / "1f", tmp_path / "models--org--bert" / "blobs"
    snapshot.mkdir(parents=True)
    blobs.mkdir()
    for file in theirs("BertModel")[1].iterdir():
        shutil.copy(file, blobs / file.name)
        (snapshot / file.name).symlink_to(Path("../../blobs") / file.name)
    assert load(str(snapshot))(ONE).tokens == ["[CLS]", *ONE.split(), "[SEP]"]
