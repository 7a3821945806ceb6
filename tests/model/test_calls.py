"""First attempts work, or fail with a sentence that says what to do."""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers

from model import CheckpointError, Edit, EditError, InputError, from_transformers, load
from model.errors import ReasonedError
from model.measures.gradients import gradients, input_x_gradient
from model.measures.sweep import sweep
from tests.model.making import theirs

SENTENCE, PLACE = "the cat sat on the [MASK] .", 6
OFF = Edit("layers.1.attention.heads", "zero", head=2)


def test_one_edit_is_a_list_of_one() -> None:
    pipeline, translator = load("text"), load("translation")
    listed = pipeline(SENTENCE, [OFF])
    for trace in (pipeline(SENTENCE, OFF), *pipeline.batch([SENTENCE], OFF)):
        assert trace.edits == (OFF,)
        np.testing.assert_allclose(trace["logits"], listed["logits"], atol=1e-4)
    np.testing.assert_array_equal(
        sweep(pipeline, SENTENCE, [OFF])["logits"], sweep(pipeline, SENTENCE, [[OFF]])["logits"]
    )
    assert translator("a cat", OFF).written_ids == translator("a cat", [OFF]).written_ids


@pytest.mark.parametrize("name", ["text", "translation"])
def test_a_list_of_ids_is_the_sentence(name: str) -> None:
    pipeline = load(name)
    typed = pipeline("the cat sat")
    others = torch.tensor([typed.ids]), transformers.BatchEncoding({"input_ids": [typed.ids]}), np.array(typed.ids)
    for read in (pipeline(list(typed.ids)), pipeline.batch([typed.ids])[0], *map(pipeline, others)):
        assert (read.tokens, read.subject) == (typed.tokens, tuple(typed.ids))
        np.testing.assert_array_equal(read.Z, typed.Z)


def test_a_folder_may_be_a_path() -> None:
    folder = theirs("BertModel")[1]
    assert load(folder) is load(str(folder))
    assert load(Path("text")) is load("text")


@pytest.mark.parametrize("name", ["text", "digits", "translation"])
def test_the_answer_that_a_gradient_is_of_goes_by_its_name_or_its_number(name: str) -> None:
    pipeline = load(name)
    x = np.zeros((28, 28), np.float32) if name == "digits" else "the cat sat [MASK] a mat"
    names = pipeline.reader.labels or getattr(pipeline, "target_vocabulary", pipeline.reader.vocabulary)
    of, against = (
        (names[3], names[8]) if name == "digits" else ("cat", "mat") if name != "translation" else ("猫", "的")
    )
    token = None if name == "digits" else 1
    key = "embedding.tokens"
    named = gradients(pipeline, x, [key], of, against, token)[key]
    np.testing.assert_array_equal(
        named, gradients(pipeline, x, [key], names.index(of), names.index(against), token)[key]
    )


def network() -> transformers.PreTrainedModel:
    return theirs("BertModel")[0]


SAID: dict[str, tuple[Callable[[], object], type[Exception], str]] = {
    "no such key": (
        lambda: load("text")(SENTENCE, Edit("layers.1.attn.heads", "zero")),
        EditError, "no quantity is called 'layers.1.attn.heads'; did you mean 'layers.1.attention.heads' or ",
    ),
    "no such operation": (
        lambda: load("text")(SENTENCE, Edit(OFF.key, "zeros")), EditError, "no operation is called 'zeros'.*'zero'"
    ),
    "no such head": (lambda: load("text")(SENTENCE, Edit(OFF.key, "zero", head=8)), EditError, "no head 8: .*are 8"),
    "an empty sentence": (lambda: load("text")(""), InputError, "the sentence is empty"),
    "no such word": (
        lambda: input_x_gradient(load("text"), SENTENCE, "dogz", token=PLACE), ValueError, "no answer 'dogz'.*'dogs?'"
    ),
    "no such number": (
        lambda: input_x_gradient(load("text"), SENTENCE, 12_000, token=PLACE), ValueError, "from 0 to 11999"
    ),
    "no owner": (lambda: load("bert-base-uncased"), ValueError, "as in google-bert/bert-base-uncased"),
    "no such device": (lambda: load("text").to("meta"), ValueError, "no runs can be computed on 'meta' here: "),
    "torch without it": (lambda: load("text").to("xpu"), ValueError, "on 'xpu' here: Torch not compiled with XPU"),
    "nothing": (lambda: load(None), TypeError, "str.* not NoneType"),  # type: ignore[arg-type]
    "no tokenizer": (
        lambda: from_transformers(network(), None), TypeError, r"tokenizer is a NoneType.*AutoTokenizer.from_pretrained"
    ),
    "a name for a network": (
        lambda: from_transformers("bert-base-uncased", None), TypeError, r"model is a str.*AutoModel.from_pretrained"
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", SAID)
def test_what_does_not_work_says_what_to_do(what: str) -> None:
    call, kind, said = SAID[what]
    with pytest.raises(kind, match=said) as raised:
        call()
    assert "{" not in str(raised.value) and "\n" not in str(raised.value)


@pytest.mark.parametrize("kind", [EditError, InputError, CheckpointError])
def test_every_reason_has_a_sentence(kind: type[ReasonedError]) -> None:
    sources = "".join(path.read_text(encoding="utf-8") for path in Path("model").rglob("*.py"))
    reasons = set(re.findall(rf"{kind.__name__}\(\s*\"(\w+)\"", sources))
    assert reasons and reasons <= kind.sentences.keys()
