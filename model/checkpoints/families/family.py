"""How a family of Hugging Face checkpoints is described, and what most families share.

Tables map our names to theirs; {l} is the layer's number, {g} its group's. A module's name stands for its weight and
bias.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

from torch import Tensor

from model.activations import ACTIVATIONS
from model.config import EncoderConfig

#: Their name of an activation -> ours.
ACTS = {theirs: ours for ours, row in ACTIVATIONS.items() for theirs in row.checkpoints}
WORDS = {"input": "words", "positions": "learned", "scale_embedding": False, "embedding_norm": True}
IMAGES = {"input": "patches", "positions": "learned", "norm_first": True, "final_norm": True}
#: Their tensor -> ours.
LayOut = Callable[[Tensor, EncoderConfig], Tensor]
#: Folder's name, content of config.json, number of layers -> fields of EncoderConfig.
More = Callable[[str, Mapping[str, Any], int], dict[str, Any]]


@dataclass(frozen=True)
class Head:
    """A checkpoint's head, and the names of its weights.

    names: our name -> theirs. copies: tensors that some checkpoints store twice, their name -> our key. only: setting
    of theirs -> the values that we can compute with.
    """

    kind: Literal["none", "masked-word", "classifier", "tags", "span", "vector"]
    names: Mapping[str, str] = field(default_factory=dict)
    pooler: Literal["none", "tanh", "relu", "gelu"] = "none"
    distillation: bool = False  # a second classifier reads the distillation token
    pooling: str = ""  # setting: whether it reads the first token or the mean
    dense: str = ""  # setting: activation of a Linear before the last, followed by LayerNorm
    bent_by: str = ""  # setting: activation of a Linear before the last, without LayerNorm
    own_activation: bool = False  # masked-word: use the layers' activation instead of GELU
    #: classifier: the mean of the patches is read alone, or by half of the matrix, beside [CLS].
    patches: Literal["", "alone", "beside"] = ""
    projected: str = ""  # vector: setting of its width
    copies: Mapping[str, str] = field(default_factory=dict)
    only: Mapping[str, tuple[object, ...]] = field(default_factory=dict)
    otherwise: "Head | None" = None  # the head if a setting is not among `only`


@dataclass(frozen=True)
class Family:
    """A family of checkpoints.

    prefix: in front of `names` if the file also holds a head. settings: field of EncoderConfig -> their setting;
    `fixed` holds the fields that are the same in every checkpoint. names: our parameter or module -> theirs; entries
    without a parameter in an encoder are ignored, and one tensor may hold several parameters. only: their setting ->
    the values that we can compute with. heads: ending of the architecture's name -> head. unread: patterns of tensors
    to ignore. laid_out: our parameter (or module) -> how it is made from their tensor. more: further fields of
    EncoderConfig. defaults: the transformers library's values of missing settings; pictures: those of image
    preprocessing. worked_out: fields computed from several settings. older: settings under former names, renamed.
    """

    prefix: str
    settings: Mapping[str, str]
    fixed: Mapping[str, Any]
    names: Mapping[str, str]
    heads: Mapping[str, Head]
    only: Mapping[str, tuple[object, ...]] = field(default_factory=dict)
    unread: tuple[str, ...] = ()
    laid_out: Mapping[str, LayOut] = field(default_factory=dict)
    more: More | None = None
    defaults: Mapping[str, Any] = field(default_factory=dict)
    worked_out: Mapping[str, Callable[[Mapping[str, Any]], int]] = field(default_factory=dict)
    pictures: Mapping[str, Any] = field(default_factory=dict)
    inside: str = ""  # setting that holds the image encoder's own settings, if there is a text encoder, too
    decoder: "Family | None" = None  # a translator's decoder: only its settings and fixed fields are used
    where: Mapping[tuple[str, object], "Family"] = field(default_factory=dict)  # (setting, value) -> family to use
    older: Callable[[Mapping[str, Any]], dict[str, Any]] | None = None
    called: str = ""  # start of the architectures' names, if not model_type
    interpolated: Literal["", "plain", "antialias"] = ""  # how positions are resized to another image size
    speeds: tuple[str, ...] = ()  # rotation frequencies, if the file holds them; else they are computed
    #: A divisor of all rotation frequencies, from the settings and d_k.
    slower: Callable[[Mapping[str, Any], int], float] | None = None
    letters: bool = False  # vocab.txt holds characters, one token each
    positions_from_pad: bool = False  # in the position table, row pad_token_id is [PAD]'s, and position 0 follows


#: Usual names of a layer's sizes, and of sizes concerning sentences.
LAYERS = {
    "d_model": "hidden_size",
    "heads": "num_attention_heads",
    "layers": "num_hidden_layers",
    "d_ff": "intermediate_size",
    "activation": "hidden_act",
    "norm_eps": "layer_norm_eps",
}
SENTENCES = {"vocab_size": "vocab_size", "max_len": "max_position_embeddings"}

OF_TOKENS = {
    "ForTokenClassification": Head("tags", names={"tags": "classifier"}),
    "ForQuestionAnswering": Head("span", names={"of_bounds": "qa_outputs"}),
}


def in_layers(theirs: str, names: Mapping[str, str], ours: str = "layers.{l}.") -> dict[str, str]:
    """Add the prefix of a layer to our names and to theirs."""
    return {f"{ours}{part}": f"{theirs}{name}" for part, name in names.items()}


def stacked(*modules: str, by_head: bool = False) -> dict[str, LayOut]:
    """For modules stacked in one tensor: how to take each from it. by_head: they are stacked within every head."""

    def part(place: int, tensor: Tensor, config: EncoderConfig) -> Tensor:
        heads = config.heads if by_head else 1
        return tensor.unflatten(0, (heads, len(modules), -1))[:, place].flatten(0, 1)

    return {module: partial(part, place) for place, module in enumerate(modules)}


#: `stacked` for Q, K and V.
THREE_IN_ONE = "layers.{l}.attention.W_Q", "layers.{l}.attention.W_K", "layers.{l}.attention.W_V"


def masked_word(dense: str, norm: str, bias: str, /, *, E: str = "", c: str = "", **more: Any) -> Head:
    """A masked-word head. E, c: names of stored copies of the embedding and the output bias."""
    copies = {theirs: ours for theirs, ours in ((E, "embedding.E.weight"), (c, "logits.bias")) if theirs}
    names = {"transform.0": dense, "transform.2": norm, "logits.bias": bias}
    return Head("masked-word", names, copies=copies, **more)


def classifier(dense: str, logits: str, /, **more: Any) -> Head:
    """A classifier with one Linear before its last."""
    return Head("classifier", {"pooler.0": dense, "logits": logits}, **more)
