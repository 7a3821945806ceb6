"""What tells one family of Hugging Face checkpoints from another, and what most of them share.

Left stand our names, right theirs; {l} is the number of a layer, {g} that of its group. A name of a module stands for
its weight and its bias.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

from torch import Tensor

from model.activations import ACTIVATIONS
from model.config import EncoderConfig

#: Their names of activations -> ours.
ACTS = {theirs: ours for ours, row in ACTIVATIONS.items() for theirs in row.checkpoints}
WORDS = {"input": "words", "positions": "learned", "scale_embedding": False, "embedding_norm": True}
IMAGES = {"input": "patches", "positions": "learned", "norm_first": True, "final_norm": True}
#: A tensor of theirs -> ours.
LayOut = Callable[[Tensor, EncoderConfig], Tensor]
#: A folder's name, all that config.json says and the number of layers -> fields of EncoderConfig.
More = Callable[[str, Mapping[str, Any], int], dict[str, Any]]


@dataclass(frozen=True)
class Head:
    """What a checkpoint says of its input, and where the weights of that stand.

    `copies` are tensors that some checkpoints store a second time: theirs -> our key, whose numbers they repeat. only:
    settings of theirs, with the values for which our head computes what theirs does.
    """

    kind: Literal["none", "masked-word", "classifier", "tags", "span", "vector"]
    names: Mapping[str, str] = field(default_factory=dict)
    pooler: Literal["none", "tanh", "relu", "gelu"] = "none"
    distillation: bool = False  # a second classifier reads the distillation token
    pooling: str = ""  # the setting that says whether the first token is read or the mean of all
    dense: str = ""  # the setting that names the activation of a Linear before the last, with LayerNorm behind it
    bent_by: str = ""  # the setting that names the activation of a Linear before the last, with nothing behind it
    own_activation: bool = False  # masked-word: bent by the layers' activation, in others by GELU
    #: The classifier reads the mean of the patches: with half of its matrix, or alone.
    patches: Literal["", "alone", "beside"] = ""
    projected: str = ""  # vector: the setting that says to how many numbers it is brought
    copies: Mapping[str, str] = field(default_factory=dict)
    only: Mapping[str, tuple[object, ...]] = field(default_factory=dict)
    otherwise: "Head | None" = None  # the head that it is where a setting is not as `only` says


@dataclass(frozen=True)
class Family:
    """All that tells one family from another.

    prefix: before `names` where a head stands beside the encoder; of a name that an encoder has no parameter for nobody
    asks, and one tensor may hold several parameters. settings: a field of EncoderConfig -> its name in their
    config.json, unless it is among the `fixed`, which are the same in each checkpoint. only: settings of theirs, with
    the values that this Encoder computes. heads: the end of the architecture's name -> its head. unread: what may stand
    in a file and is no part of the encoder or its head. laid_out: a parameter, or a module for its weight and its
    bias -> how it is made of their tensor. more: what else config.json says, after the settings. defaults: what
    their library takes for a setting that a file leaves out. worked_out: what a field is, of all their settings, where
    it is not the one that `settings` names. pictures: the same as defaults, for how pictures are brought to a network.
    older: settings by the names that others once gave them.
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
    inside: str = ""  # the setting that holds those of the encoder of pictures, where another stands beside it
    decoder: "Family | None" = None  # where one writes what the encoder reads: its settings, fixed and not
    where: Mapping[tuple[str, object], "Family"] = field(default_factory=dict)  # a setting and its value -> that family
    older: Callable[[Mapping[str, Any]], dict[str, Any]] | None = None
    called: str = ""  # how its architectures' names begin, where that is not model_type
    interpolated: Literal["", "plain", "antialias"] = ""  # positions, where pictures are of another size than learned
    speeds: tuple[str, ...] = ()  # how fast queries and keys turn, where a file holds that; else it is worked out
    #: By what all speeds are divided, by settings and d_k.
    slower: Callable[[Mapping[str, Any], int], float] | None = None
    letters: bool = False  # vocab.txt holds signs, and a text is cut into them
    positions_from_pad: bool = False  # row pad_token_id of the table of positions is [PAD]'s; then come the places


#: What most of them call the sizes of a layer, and those of sentences.
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
    """Names of the parts of a layer, with what stands before each of them in the file."""
    return {f"{ours}{part}": f"{theirs}{name}" for part, name in names.items()}


def stacked(*modules: str, by_head: bool = False) -> dict[str, LayOut]:
    """For modules that one tensor holds one below the other, how each is taken from it. by_head: in every head."""

    def part(place: int, tensor: Tensor, config: EncoderConfig) -> Tensor:
        heads = config.heads if by_head else 1
        return tensor.unflatten(0, (heads, len(modules), -1))[:, place].flatten(0, 1)

    return {module: partial(part, place) for place, module in enumerate(modules)}


#: The same of queries, keys and values.
THREE_IN_ONE = "layers.{l}.attention.W_Q", "layers.{l}.attention.W_K", "layers.{l}.attention.W_V"


def masked_word(dense: str, norm: str, bias: str, /, *, E: str = "", c: str = "", **more: Any) -> Head:
    """A head that guesses words by E, from what it makes of Z. E, c: where these two are stored a second time."""
    copies = {theirs: ours for theirs, ours in ((E, "embedding.E.weight"), (c, "logits.bias")) if theirs}
    names = {"transform.0": dense, "transform.2": norm, "logits.bias": bias}
    return Head("masked-word", names, copies=copies, **more)


def classifier(dense: str, logits: str, /, **more: Any) -> Head:
    """A head with one Linear more before its last."""
    return Head("classifier", {"pooler.0": dense, "logits": logits}, **more)
