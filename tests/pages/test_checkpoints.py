"""Checkpoints of others on the pages: offered in the drawer, named in the link, read again, refused."""

import gc
import json
import re
import shutil
import weakref
from pathlib import Path
from time import sleep
from types import SimpleNamespace

import huggingface_hub
import numpy as np
import pytest
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from model import Pipeline, load
from model.analysis import outliers
from model.checkpoints.errors import SENTENCES
from model.checkpoints.hub import memory
from pages.drawing.pictures.quantity_map import quantity_map
from pages.drawing.place import Place
from pages.drawing.state import offered
from pages.drawing.text import LANGUAGES, catalogue, t
from pages.layers.page import best_words
from pages.screen.frame import drawer, frame
from pages.screen.runs import pipelines, worked_out
from tests.model.making import MINILM, TEMPLATE, Failing, Hub, retold, rewritten, save_again, theirs
from tests.model.pieces import byte_level, folder_of
from tests.pages.inputs import bring, offer
from tests.pages.opening import at_page, charts, maps, open_page, said, tables, warnings

LOCAL = {"Origin": "http://localhost:8501"}


def test_each_piece_of_a_pair_names_its_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    column, link = catalogue("zh")["tokens.column_segment"], bring(monkeypatch, "MiniLM") | {"lang": "zh"}
    app = open_page("tokens", tab="pieces", **link)
    assert "".join(app.dataframe[0].value[column]) == "A" * 8 + "B" * 7
    app = open_page("tokens", tab="pieces", **link | {"s": "the cat sat on a mat"})
    assert column not in app.dataframe[0].value


@pytest.mark.parametrize("whole", [True, False])
def test_a_checkpoint_that_is_saved_again_is_shown_with_its_new_numbers(
    whole: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(theirs("BertForMaskedLM")[1], tmp_path / "bert")
    (name,) = offer(monkeypatch, tmp_path / "bert")
    sentence = "the cat sat on a [MASK]"
    app = open_page("attention", model=name, s=sentence, layer="2", head="3")

    def shown() -> bool:
        weights = load(str(tmp_path / "bert"))(sentence)["layers.1.attention.weights"][2]
        return any(found.shape == weights.shape and np.allclose(found, weights, atol=1e-6) for found in maps(app))

    assert shown()
    neighbours, best = worked_out.neighbours(name, 5), best_words(name, pipelines.run(name, sentence), 6)
    save_again(tmp_path / "bert", 2)
    assert not shown()
    if whole:
        app.run()
        assert shown() and not app.error
    else:  # like a click on the page, which reruns only the fragment
        assert pipelines.follow_files() and not pipelines.follow_files()
    assert worked_out.neighbours(name, 5)[1].tolist() != neighbours[1].tolist()
    assert best_words(name, pipelines.run(name, sentence), 6)[1].tolist() != best[1].tolist()


def test_a_tokenizer_that_fails_is_named_and_on_one_sentence_leaves_the_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(theirs("BertModel")[1], tmp_path / "hollow")
    retold(tmp_path / "hollow", post_processor=TEMPLATE)
    names = offer(monkeypatch, theirs("BertModel")[1], tmp_path / "hollow", Path("x" * 5000))
    app = at_page("home", **{"lang": "en", "model": names[1]})
    (said,) = [error.value for error in app.run().error]
    assert "hollow" in said and "index out of bounds" in said
    reader = pipelines.pipeline(names[0]).reader
    monkeypatch.setattr(reader, "tokenizer", Failing(reader.tokenizer, type("PanicException", (BaseException,), {})()))
    app = open_page("attention", model=names[0], s="the zebra sat")
    assert warnings(app) == [catalogue("en")["error.input_not_cut"]]


def test_arithmetic_of_many_tokens_is_short_until_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    (name,) = offer(monkeypatch, MINILM)
    link = {
        "model": name,
        "s": "the cat sat on a mat " * 12,
        "layer": "3",
        "token": "5",
        "key": "9",
    }
    app = open_page("attention", tab="steps", stage="heads", **link)
    assert len(tables(app)[-1]) == 1 + 5 + 2  # the names, the largest, the rest and the sum
    assert catalogue("en")["common.others"].format(n=69) in tables(app)[-1][6][0]
    app.toggle(key="working.every_row").set_value(True).run()
    assert len(tables(app)[-1]) == 1 + 74 + 1
    app = open_page("attention", tab="steps", stage="heads", **link | {"s": "the cat sat"})
    assert "working.every_row" not in [toggle.key for toggle in app.toggle]


def test_outliers_do_not_dominate_the_colour_scale_and_are_named() -> None:
    run = load(str(MINILM))("the cat sat on a mat")
    picture, far = quantity_map(run, Place(), "embedding.sum", ""), outliers(run["embedding.sum"])
    assert far is not None and picture.drawn().data[0]["zmax"] == pytest.approx(far.usual)
    read = picture.says().replace("\\", "")
    assert all(f"component {column + 1}" in read for column in far.columns())
    assert f"{np.abs(run['embedding.sum']).max():.2f}" in read
    ours = quantity_map(load("text")("the cat sat on a mat"), Place(), "embedding.sum", "")
    assert "▼" not in ours.says()


def test_folders_of_the_same_name_and_of_ours_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    names = offer(
        monkeypatch, Path("a/bert"), Path("b/bert"), Path("text"), Path("hub/models--org--bert/snapshots/1f"), MINILM
    )
    assert names == ["bert", "bert-2", "text-2", "org--bert", "all-MiniLM-L6-v2"]


def test_a_folder_that_cannot_be_read_says_why_in_one_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "mamba"}')
    (name,) = offer(monkeypatch, tmp_path)
    app = at_page("home", **{"lang": "en", "model": name, "s": "the cat"})
    app.run()
    assert [error.value for error in app.error if "mamba" in error.value and "README" in error.value]
    assert not app.exception
    (back,) = [button for button in app.button if button.label == catalogue("en")["frame.ours"]]
    back.click().run()
    assert app.session_state["choice"].model == "trained" and not app.error


def test_while_a_checkpoint_is_loaded_the_page_has_title_sentence_and_what_it_waits_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (name,) = offer(monkeypatch, theirs("BertForMaskedLM")[1])
    link = {"model": name, "s": "the cat sat"}
    with monkeypatch.context() as patch:
        patch.setattr(pipelines, "load", lambda _: st.stop())  # for ever
        app = at_page("attention", lang="en", **link).run()
    assert [text.value for text in app.text] == ["the cat sat"]
    assert catalogue("en")["attention.title"] in [title.value for title in app.subheader]
    assert [status.label for status in app.status] == [t("frame.loading", name=name, megabytes=0)]
    app = open_page("attention", **link)
    assert charts(app) and not app.status and not app.text


def test_a_folder_that_vanishes_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    shutil.copytree(theirs("BertModel")[1], tmp_path / "bert")
    (name,) = offer(monkeypatch, tmp_path / "bert")
    app = open_page("attention", model=name, s="the cat")
    shutil.rmtree(tmp_path / "bert")
    app.run()
    assert [error.value for error in app.error] == [t("error.checkpoint.no_folder", folder="bert")]


def test_where_the_answer_is_not_computed_the_stages_are_and_one_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    shutil.copytree(theirs("BertForMaskedLM")[1], tmp_path / "bert")
    rewritten(tmp_path / "bert", architectures=["BertForMultipleChoice"], problem_type="multiple_choice")
    (name,) = offer(monkeypatch, tmp_path / "bert")
    for page in ("what_if", "answer"):
        app = open_page(page, model=name, s="the cat sat")
        assert charts(app) and not app.error
        if page == "answer":
            assert any("`BertForMultipleChoice`" in info.value for info in app.info)


def test_every_reason_has_a_sentence_in_both_languages() -> None:
    for language in LANGUAGES:
        for reason, sentence in SENTENCES.items():
            said = catalogue(language)[f"error.checkpoint.{reason}"]
            assert set(re.findall(r"\{(\w+)\}", said)) <= set(re.findall(r"\{(\w+)\}", sentence))


def test_our_networks_refuse_text_that_only_the_checkpoint_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    (name,) = offer(monkeypatch, folder_of(byte_level))
    app = open_page("translation", model=name, s="สวัสดี")
    assert warnings(app) == [catalogue("en")["error.input_unknown_only"]]


def test_unknown_words_open_an_example_with_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    (name,) = offer(monkeypatch, theirs("BertForMaskedLM")[1])
    app = open_page("attention", model=name, s="zzz")
    said = catalogue("en")["error.input_unknown_only_theirs"]  # which languages it reads, only its makers know
    assert charts(app) and warnings(app) == [said]


def test_a_character_of_several_pieces_is_one_row_and_hidden_with_its_word(monkeypatch: pytest.MonkeyPatch) -> None:
    (name,) = offer(monkeypatch, folder_of(byte_level))
    link = {"model": name, "s": "the café 龘 أ sat"}
    app = open_page("tokens", tab="pieces", **link)
    shown = ["[CLS]", "the", "␣", "c", "##a", "##f", "##é", "␣", "龘", "␣", "أ", "sat", "[SEP]"]
    table = app.dataframe[0].value
    assert list(table["token"]) == shown
    assert [len(ids.split(", ")) for ids in table["id"]] == [1, 1, 1, 1, 1, 1, 1, 1, 3, 1, 2, 1, 1]
    app = open_page("answer", model=name, s="the أحب sat", hidden="4.5.6.7.8.9")
    assert len(app.segmented_control(key="answer.part").options) == 1 + len("أحب")
    app.segmented_control(key="answer.part").set_value(5).run()
    assert app.session_state["choice"].hidden == (5, 6)


def test_a_long_text_is_read_as_far_as_the_network_and_a_page_may_take(monkeypatch: pytest.MonkeyPatch) -> None:
    (name,) = offer(monkeypatch, MINILM)
    app = open_page("tokens", model=name, s=("the cat sat on a mat " * 90).strip())
    as_its_makers = json.loads((MINILM / "sentence_bert_config.json").read_text())["max_seq_length"]
    assert len(pipelines.read(app.session_state["choice"])[1].tokens) == min(pipelines.MOST_PIECES, as_its_makers)
    assert catalogue("en")["note.truncated"].partition("{")[0] in said(app)
    assert not any("characters" in warning.value for warning in app.warning)


def test_a_folder_below_that_of_the_owner_is_named_in_the_drawer_and_a_refused_one_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer(monkeypatch)
    monkeypatch.setattr(offered, "_added", {})
    app = open_page("attention", s="the cat sat on a mat")
    assert "MODELS_FROM" in said(app) and not [box for box in app.text_input if box.key == "drawer.add"]
    monkeypatch.setenv("MODELS_FROM", str(tmp_path))
    shutil.copytree(theirs("BertModel")[1], tmp_path / "mine")
    shutil.copytree(theirs("BertModel")[1], tmp_path / "other")
    rewritten(tmp_path / "other", model_type="mamba")
    app = open_page("attention", s="the cat sat on a mat")
    before = len(charts(app))
    for name in ("other", "../mine", "none"):
        app.text_input(key="drawer.add").set_value(name).run()
        (error,) = app.error
        assert name.removeprefix("../") in error.value and app.session_state["model"] == "trained"
        assert len(charts(app)) == before and not app.exception
    app.text_input(key="drawer.add").set_value("mine").run()
    assert app.session_state["model"] == "mine" and not app.error
    weights = load(str(tmp_path / "mine"))("the cat sat on a mat")["layers.0.attention.weights"]
    assert any(shown.shape == weights[0].shape and np.allclose(shown, weights[0], atol=1e-6) for shown in maps(app))
    shutil.copytree(tmp_path / "mine", tmp_path / "deeper")
    rewritten(tmp_path / "deeper", num_hidden_layers=3)
    shutil.copytree(theirs("ViTModel")[1], tmp_path / "seer")
    offered._added.clear()  # as another worker, which heard of none of them
    for link in ({"model": "mine", "s": "the cat"}, {"input": "picture", "model": "seer"}):
        app = open_page("attention", **link)
        assert app.session_state["choice"].model == link["model"] and charts(app) and not warnings(app)
    for name, told in (("deeper", "layer.2"), ("other", "link")):  # a link asks for what config.json allows
        app = at_page("attention", lang="en", model=name).run()
        assert any(told in message.value for message in (*app.error, *app.warning)) and not app.exception
        assert bool(app.error) == (name == "deeper")


GONE = {
    "taken away": shutil.rmtree,
    "of another family": lambda folder: rewritten(folder, model_type="mamba"),
    "without weights": lambda folder: (folder / "model.safetensors").unlink(),
    "found unreadable by another visitor": lambda folder: offered.withdraw(folder.name),
}


@pytest.mark.parametrize(("what", "kind"), [*((what, "BertModel") for what in GONE), ("taken away", "ViTModel")])
def test_a_folder_that_can_be_read_no_more_is_offered_no_more_and_ours_reads_on(
    what: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer(monkeypatch)
    monkeypatch.setattr(offered, "_added", {})
    monkeypatch.setenv("MODELS_FROM", str(tmp_path))
    name = f"{kind}{len(what)}"
    shutil.copytree(theirs(kind)[1], tmp_path / name)
    app = open_page("attention", model=name, s="the dog slept", **({"input": "picture"} if kind == "ViTModel" else {}))
    assert app.session_state["choice"].model == name and charts(app)
    GONE[what](tmp_path / name)
    for _ in range(2):
        app.run()
        assert not app.exception and catalogue("en")["error.unexpected"] not in said(app)
        assert len([*app.error, *app.warning]) == 1
        if app.warning:
            break
    (warning,) = app.warning
    choice = app.session_state["choice"]
    assert name in warning.value and choice.model == "trained" and choice.sentence == "the dog slept" and charts(app)
    assert name not in offered.offered()
    assert not app.run().warning


@pytest.mark.parametrize(
    ("address", "headers", "here"),
    [
        (None, LOCAL, True),  # as Streamlit has 127.0.0.1 and ::1
        ("::ffff:127.0.0.1", LOCAL, True),
        (None, {"Origin": "http://127.0.0.1:8501"}, True),
        (None, {"Origin": "http://[::1]:8501"}, True),
        ("192.168.0.7", LOCAL, False),
        (None, LOCAL | {"X-Forwarded-For": "192.168.0.7"}, False),  # through our nginx
        (None, LOCAL | {"X-Forwarded-For": "127.0.0.1"}, False),
        (None, {"Origin": "https://encoder.example.org"}, False),  # through a proxy that does not say so
        (None, {"Origin": "https://localhost.example.org"}, False),
        (None, {"Origin": "http://["}, False),
        (None, {}, False),
    ],
)
def test_of_the_hub_those_on_this_machine_name_models(
    address: str | None, headers: dict[str, str], here: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(st, "context", SimpleNamespace(ip_address=address, headers=headers))
    assert frame._is_on_this_machine() is here


def test_networks_named_by_visitors_use_bounded_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    offer(monkeypatch)
    monkeypatch.setattr(offered, "_added", {})
    monkeypatch.setenv("MODELS_FROM", str(tmp_path))
    for name in "abcd":
        shutil.copytree(theirs("BertModel")[1], tmp_path / "runs" / name / "0412")
        (tmp_path / name).symlink_to(tmp_path / "runs" / name / "0412")
    one = memory([str(tmp_path / "a")])
    monkeypatch.setattr(pipelines, "MOST_NAMED", 2 * one)
    kept, beside, load_one = [], [], pipelines.load

    def loads(name: str) -> Pipeline:
        beside.append([one for one in "abc" if pipelines.pipeline.cache_key(one) in pipelines.pipeline.cache])
        return load_one(name)

    monkeypatch.setattr(pipelines, "load", loads)
    for name in "abac":
        assert offered.could_add(name), "a link is offered by its own name"
        kept.append(weakref.ref(pipelines.pipeline(name)))
    loaded = {name for name in "abc" if pipelines.is_loaded(name)}
    assert loaded == {"a", "c"}, "b is the one that was asked for longest ago"
    assert beside == [[], ["a"], ["a"]], "and gone before c is loaded"
    gc.unfreeze()
    gc.collect()
    assert kept[0]() and kept[3]() and not kept[1]()
    monkeypatch.setattr(pipelines, "MOST_NAMED", one - 1)
    app = open_page("attention")
    app.text_input(key="drawer.add").set_value("d").run()
    (error,) = app.error
    assert error.value.startswith("`d` takes") and "d" not in offered.offered()


def test_on_a_machine_of_ones_own_a_name_on_the_hub_is_fetched_in_the_drawer_and_by_no_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    online = Hub(tmp_path)
    monkeypatch.setattr(huggingface_hub, "snapshot_download", online)
    offer(monkeypatch)
    monkeypatch.setattr(offered, "_added", {})
    monkeypatch.setenv("MODELS_FROM", "hub")
    app = at_page("attention", lang="en", model="org--bert", s="the cat sat").run()  # a visitor from elsewhere
    assert "MODELS_FROM" in said(app) and not [box for box in app.text_input if box.key == "drawer.add"]
    monkeypatch.setattr(frame, "_is_on_this_machine", lambda: True)
    shown: list[float] = []
    monkeypatch.setattr(DeltaGenerator, "progress", lambda _, share: shown.append(share))
    monkeypatch.setattr(drawer, "pipeline", lambda name: (sleep(0.5), pipelines.pipeline(name)))
    monkeypatch.chdir(tmp_path)
    shutil.copytree(online.online, tmp_path / "here" / "bert")  # below the working directory, and not on the hub
    app = at_page("attention", lang="en", model="org--bert", s="the cat sat").run()
    assert app.session_state["choice"].model == "trained" and not online.cache.exists()
    online.fails = ConnectionError("no route")
    app.text_input(key="drawer.add").set_value("org/bert").run()
    assert [error.value for error in app.error] == [
        t("error.checkpoint.hub_unreachable", folder="org/bert", why="ConnectionError")
    ]
    online.fails = None
    for name in ("../bert", str(online.online), "here/bert"):
        app.text_input(key="drawer.add").set_value(name).run()
        assert app.error and app.session_state["model"] == "trained"
    app.text_input(key="drawer.add").set_value("org/bert").run()
    assert app.session_state["model"] == "org--bert" and not app.error
    assert shown[-1] == 1 and sorted(shown) == shown
    offered._added.clear()  # as another worker, which reads what this one fetched
    online.fails = ConnectionError("no route")
    app = open_page("attention", model="org--bert", s="the cat sat")
    assert app.session_state["choice"].model == "org--bert" and not warnings(app)
    weights = load(str(online.online))("the cat sat")["layers.0.attention.weights"]
    assert any(found.shape == weights[0].shape and np.allclose(found, weights[0], atol=1e-6) for found in maps(app))
