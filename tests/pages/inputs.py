"""Inputs for tests of pages: our own, and small checkpoints of other families with random weights."""

from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from tempfile import mkdtemp
from typing import NamedTuple

import pytest

from pages.drawing.state import sketch
from pages.drawing.state.offered import offered
from tests.model.families import deberta, masked, modern, saved_esm, saved_t5
from tests.model.fetched import ROWS, put
from tests.model.making import MINILM, network_in, odd_settings, theirs
from tests.pages.opening import pre_norm, with_network
from tests.translators import written

CAT, SLEPT = "the cat sat on a [MASK]", "the cat sat on a [MASK] and it slept by the door"
PAIR = "the cat sat on a mat [SEP] the dog slept by the door"
DOG, MONEY = "the dog chased the cat .", "he put the money in the bank ."
FIVE = sketch.to_code(sketch.example(5))
DIGIT = {"input": "digit", "ink": FIVE}
CARD = {"input": "picture", "picture": "card"}
SMALL = {"hidden_size": 24, "num_attention_heads": 3}
PICTURES = SMALL | {"num_hidden_layers": 2, "image_size": 32, "patch_size": 8, "num_labels": 5}
TAGS = {"num_labels": 3, "id2label": {0: "O", 1: "B-PER", 2: "I-PER"}, "label2id": {"O": 0, "B-PER": 1, "I-PER": 2}}


class Brought(NamedTuple):
    """A checkpoint of another family: the function that writes its folder, and an input for it."""

    make: Callable[[Path], object]
    link: dict[str, str]


def _words(family: str, head: str, seed: int, link: dict[str, str], /, **more: object) -> Brought:
    settings = odd_settings(family, head, seed) | SMALL | {"intermediate_size": 40, "num_hidden_layers": 2} | more
    return Brought(partial(network_in, family=family, head=head, settings=settings), link)


def _judged(head: str, **more: object) -> Brought:
    """A BERT with a head for labels, numbers, tags or a span."""
    settings = odd_settings("Bert", "Model", 18) | more
    pair = {"s": "the cat sat [SEP] the dog slept by the door", "layer": "1", "head": "1"}  # of which it has one
    return Brought(partial(network_in, family="Bert", head=head, settings=settings), pair)


def _picture(family: str, head: str, **more: object) -> Brought:
    settings = PICTURES | {"intermediate_size": 40} | more
    return Brought(partial(network_in, family=family, head=head, settings=settings), CARD)


MODERN = modern("ForMaskedLM", 1) | SMALL | {
    "num_hidden_layers": 4, "intermediate_size": 40, "layer_types": None, "rope_parameters": None,
    "local_attention": 4, "hidden_activation": "gelu", "norm_bias": False,
}  # fmt: skip
DEBERTA = deberta("ForMaskedLM", 1) | SMALL | {
    "num_hidden_layers": 3, "intermediate_size": 40, "pos_att_type": ["c2p", "p2c"], "position_buckets": 6,
    "max_relative_positions": -1, "share_att_key": True, "norm_rel_ebd": "layer_norm",
    "position_biased_input": False, "type_vocab_size": 0, "hidden_act": "gelu",
}  # fmt: skip
TRANSLATOR = {"decoder_layers": 3, "decoder_attention_heads": 4, "activation_function": "swish", "seed": 3}
READING = {"s": "she is reading a book ."}
NETWORKS = {
    "ModernBert": Brought(
        partial(network_in, family="ModernBert", head="ForMaskedLM", settings=MODERN), {"s": SLEPT}
    ),
    "Deberta": Brought(partial(network_in, family="DebertaV2", head="ForMaskedLM", settings=DEBERTA), {"s": SLEPT}),
    "Esm": Brought(saved_esm, {"s": "MKTVRQ[MASK]RLKSIVR"}),
    "T5": Brought(saved_t5, {"s": "the cat sat on a mat"}),
    "Albert": _words(
        "Albert", "ForMaskedLM", 0, {"s": CAT}, num_hidden_layers=4, num_hidden_groups=2, embedding_size=16
    ),
    "MPNet": _words("MPNet", "ForMaskedLM", 0, {"s": CAT}),
    "jina": Brought(  # scores fall with the distance, and each neuron has a gate
        partial(put, ROWS["jinaai/jina-embeddings-v2-base-en"]), {"s": CAT}
    ),
    "label": _judged("ForSequenceClassification", num_labels=1, problem_type=None),
    "labels": _judged("ForSequenceClassification", num_labels=3, problem_type="multi_label_classification"),
    "numbers": _judged("ForSequenceClassification", num_labels=2, problem_type="regression"),
    "tags": _judged("ForTokenClassification", **TAGS),
    "span": _judged("ForQuestionAnswering"),
    "Dinov2": _picture("Dinov2", "Model", mlp_ratio=2),
    "registers": _picture("Dinov2WithRegisters", "ForImageClassification", mlp_ratio=2, num_register_tokens=4),
    "CLIP": _picture("CLIPVision", "ModelWithProjection", projection_dim=12),
    "SigLIP": _picture("SiglipVision", "Model"),
    "MAE": Brought(
        partial(
            masked, head="ForPreTraining", settings=PICTURES | {"intermediate_size": 40}
        ),
        CARD,
    ),
    "translator": Brought(partial(written, **TRANSLATOR), READING),
    "translator apart": Brought(partial(written, apart=True, **TRANSLATOR), READING),
}  # fmt: skip
#: The families of the model's own tests, by class name.
OF_A_CLASS = {
    "ViTForImageClassification": CARD,
    "DeiTForImageClassification": CARD,
    "DeiTForImageClassificationWithTeacher": CARD,
    "NarrowElectraForMaskedLM": {"s": CAT},
    "WideElectraForMaskedLM": {"s": CAT},
    "BertForSequenceClassification": {"s": CAT},
    "RobertaModel": {"s": "the [PAD] cat sat"},
    "BertModel": {"s": "the [PAD] cat sat"},
    "ViTModel": CARD,
}


@cache
def folder(name: str) -> Path:
    """Folder of a checkpoint, written once."""
    if name == "MiniLM":
        return MINILM
    if name not in NETWORKS:
        return theirs(name)[1]
    made = Path(mkdtemp(prefix=name.partition(" ")[0])) / name.partition(" ")[0]
    NETWORKS[name].make(made)
    return made


def offer(monkeypatch: pytest.MonkeyPatch, *folders: Path) -> list[str]:
    """Set MODELS to these folders; return the names in the drawer."""
    monkeypatch.setenv("MODELS", " ".join(map(str, folders)))
    return list(offered())


def bring(monkeypatch: pytest.MonkeyPatch, name: str) -> dict[str, str]:
    """Link to one of our inputs or to one of these checkpoints."""
    if name.startswith("pre-norm"):
        kind = name.removeprefix("pre-norm ")
        with_network(monkeypatch, pre_norm(kind))
        return {"s": DOG} if kind == "text" else DIGIT
    if name in OURS:
        return OURS[name]
    (model,) = offer(monkeypatch, folder(name))
    own = {"s": PAIR} if name == "MiniLM" else NETWORKS[name].link if name in NETWORKS else OF_A_CLASS[name]
    return {"model": model, **own}


#: Our own inputs, by name.
OURS: dict[str, dict[str, str]] = {
    "nothing chosen": {},
    "words": {"s": DOG},
    "digit": DIGIT,
    "flat": DIGIT | {"input": "flat"},
    "paper": {"s": DOG, "model": "paper"},
    "empty": {"s": ""},
    "hostile": {"s": "=1+1 😀 <b>x</b> $x$ `x` :smile: [link](x) a\u202eb \u0000 c"},
    "long": {"s": "word " * 100},
    "beside": {"s": DOG, "other": MONEY, "shown": "beside"},
    "other": {"s": DOG, "other": MONEY, "shown": "other"},
    "against": {"s": DOG, "other": MONEY, "shown": "against"},
    "changed": {"s": DOG, "edits": "layers.0.attention.heads~zero~head.1", "shown": "difference"},
    "twin": {"s": DOG, "twin": "true", "shown": "beside"},
    "twin digit": DIGIT | {"twin": "true", "shown": "against"},
    "early": DIGIT | {"learned": "3"},
}
