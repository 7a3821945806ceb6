"""Roles of a checkpoint's heads and neurons: shown only after they were measured."""

import lzma
from collections.abc import Iterator
from pathlib import Path

import pytest

from model import load
from model.measures import tables
from model.training import held_out
from model.training.evaluate import evaluate_others
from pages.drawing.text import catalogue
from pages.drawing.text.roles import role_in_words
from tests.model.making import theirs
from tests.model.pieces import byte_level, folder_of
from tests.pages.inputs import offer
from tests.pages.opening import open_page, said

WORDS = ["the", "dog", "slept", "by", "a", "door"]
HEADS, RELATIONS = [2, 3, 0, 6, 6, 3], ["det", "nsubj", "root", "case", "det", "obl"]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small corpus as the README describes it: English sentences, parsed ones, and Chinese."""
    data = tmp_path_factory.mktemp("data")
    rows = enumerate(zip(WORDS, HEADS, RELATIONS, strict=True), 1)
    tree = "\n".join(f"{i}\t{word}\t_\t_\t_\t_\t{head}\t{relation}\t_\t_" for i, (word, head, relation) in rows)
    files = {
        "text/en.txt.xz": "\n".join(["the cat sat on a mat", "it rained while the dog slept"] * 20),
        "text/zh.txt.xz": "\n".join("龘靐齉爩" for _ in range(20)),
        "ud/en_ewt-dev.conllu.xz": "\n\n".join([tree] * 200),
        "ud/zh_gsdsimp-dev.conllu.xz": tree,
    }
    for name, text in files.items():
        (data / name).parent.mkdir(exist_ok=True)
        with lzma.open(data / name, "wt", encoding="utf-8") as file:
            file.write(text)
    return data


@pytest.fixture
def nothing_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(held_out, "held_out", lambda line: True)
    yield tmp_path / "glass-encoder"
    tables._read_heads.cache_clear()
    tables._read_neurons.cache_clear()


def test_a_checkpoint_is_measured_and_shown(
    corpus: Path, nothing_measured: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = theirs("BertForMaskedLM")[1]
    (name,) = offer(monkeypatch, folder)
    link = {"model": name, "s": "the dog slept", "layer": "2", "head": "3"}
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    absent = open_page("heads", tab="role", **link)
    assert catalogue("en")["roles.not_measured_yet"] in said(absent)
    assert f"MODEL={folder}" in absent.code[0].value
    absent = open_page("feed_forward", tab="neuron", neuron="8", **link)
    assert catalogue("en")["neuron.not_measured_yet"] in said(absent)

    evaluate_others(corpus, folder)
    assert {path: path.stat().st_mtime_ns for path in folder.iterdir()} == before
    roles = tables.head_roles(str(folder))
    assert roles.languages == ("en", "all") and len(list(roles)) == 6
    read = said(open_page("heads", tab="role", **link))
    assert role_in_words(roles.of(1, 2)) in read
    assert catalogue("en")["roles.not_measured_yet"] not in read
    contexts = tables.neuron_contexts(str(folder), 1, 7)
    trace = load(str(folder))(" ".join(token for token in contexts.top[0].tokens[1:-1]))
    fired = trace["layers.1.ffn.activation"][:, 7]
    assert fired.max() == pytest.approx(contexts.top[0].activation, rel=2e-3, abs=2e-3)
    assert f"{contexts.top[0].activation:.2f}" in said(open_page("feed_forward", tab="neuron", neuron="8", **link))
    assert tables.head_roles("text") is not None


def test_a_damaged_table_of_a_checkpoint_is_as_good_as_none(corpus: Path, nothing_measured: Path) -> None:
    folder = folder_of(byte_level)
    evaluate_others(corpus, folder)
    assert tables.head_roles(str(folder)) and tables.neuron_contexts(str(folder), 0, 0)
    for path in nothing_measured.glob("*/*[nz]"):
        path.write_bytes(path.read_bytes()[:-9])
    tables._read_heads.cache_clear()
    tables._read_neurons.cache_clear()
    assert tables.head_roles(str(folder)) is None and tables.neuron_contexts(str(folder), 0, 0) is None


def test_pieces_are_shown_as_text_and_it_says_how(monkeypatch: pytest.MonkeyPatch) -> None:
    (name,) = offer(monkeypatch, folder_of(byte_level))
    read = said(open_page("tokens", model=name, s="the unhappy cat <mask>", tab="pieces"))
    assert all(f"[{piece}]" in read for piece in ("the", "cat", "[MASK]"))
    assert catalogue("en")["tokens.read.space"].format(space="Ġ").replace("\\", "") in read
    assert read.count("Ġ") == 1
