"""Build a pipeline from a folder: settings become an EncoderConfig, tensors the weights of our Encoder."""

from collections.abc import Callable, Mapping
from dataclasses import fields
from fnmatch import fnmatch
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from torch import Tensor

from model.checkpoints.errors import CheckpointError, setting_error
from model.checkpoints.families import FAMILIES
from model.checkpoints.families.family import ACTS, Family, Head
from model.checkpoints.folder import SHARDS, WHOLE, Folder, Stored
from model.checkpoints.images import CheckpointImageReader, interpolated, side_of_pictures
from model.checkpoints.marian import MarianTranslator, check_positions, reader_of
from model.checkpoints.text import CheckpointTextReader
from model.config import ConfigError, EncoderConfig
from model.decoder import TranslationNetwork
from model.encoder import Encoder
from model.heads import network_for
from model.pipeline import Pipeline, Reader, TextReader
from model.unallocated import WithoutNumbers
from model.variants.shared import set_of

#: Upper bounds of sizes, so that no config.json makes us build a giant network.
MOST = {
    "d_model": 8192, "heads": 256, "layers": 128, "groups": 128, "d_ff": 65_536, "d_embedding": 8192, "max_len": 65_536,
    "vocab_size": 1_000_000, "segments": 16, "buckets": 1024, "farthest": 65_536, "image_size": 2048,
    "patch_size": 2048, "channels": 16, "classes": 100_000, "registers": 64,
}  # fmt: skip
MAY_BE_0 = ("segments", "d_embedding", "registers", "hidden_in_training")
#: Reason of a ConfigError -> the field to divide, the divisor, and a factor of the divisor.
DIVIDE = {
    "heads_do_not_divide": ("d_model", "heads", 1),
    "groups_do_not_divide": ("layers", "groups", 1),
    "rotary_needs_pairs_of_words": ("d_model", "heads", 2),
}
SQUARES = ("image_size", "patch_size")  # may be given as [height, width]
#: Reasons why a checkpoint's answer cannot be computed although its stages can.
OF_THE_ANSWER = ("architecture", "answer_setting", "answer_missing", "tensor_untied")
NO_ANSWER = Head("none")
#: Tensors ignored when a translator's encoder stands alone: the decoder, and copies of E.
OF_A_DECODER = ("*decoder.*", "*.embed_tokens.weight")
OF_RERANKERS = {"Sigmoid": "labels", "Identity": "numbers"}  # of sentence-transformers' CrossEncoder -> our head
#: Prefixes of all names: added by a wrapper, or used by GTE's authors -> ours.
OLD_PREFIXES = {"module.": "", "new.": "gte."}
#: LayerNorm's parameters in the first BERT; the fused Q, K, V matrix of torch.nn.MultiheadAttention.
OLD_NAMES = {
    ".gamma": ".weight",
    ".beta": ".bias",
    ".in_proj_weight": ".in_proj.weight",
    ".in_proj_bias": ".in_proj.bias",
}


def from_transformers(model: Any, tokenizer: Any) -> Pipeline:
    """Pipeline of a transformers model and its tokenizer or image processor, both in memory.

    They are saved to a temporary folder and read from it; later changes of the model have no effect. Raises
    CheckpointError if the folder cannot be read, TypeError if an argument is no model or tokenizer.
    """
    for what, given, example in (("model", model, "AutoModel"), ("tokenizer", tokenizer, "AutoTokenizer")):
        if not hasattr(given, "save_pretrained"):
            raise TypeError(f"this {what} is a {type(given).__name__}; give one of {example}.from_pretrained(…)")
    with TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        return load_folder(folder, type(model).__name__)


def load_folder(path: str | Path, name: str = "") -> Pipeline:
    """Pipeline of a Hugging Face folder: config.json, model.safetensors (whole or in shards), and the tokenizer.

    `name` replaces the folder's name. Raises CheckpointError if the folder cannot be read. Nothing is unpickled.
    """
    whole = Folder(Path(path), name)
    folder = whole.encoder
    theirs, family = _settings(folder)
    try:
        pipeline = _pipeline(folder, theirs, family, _head(folder, theirs, family))
    except CheckpointError as error:
        if error.reason not in OF_THE_ANSWER:
            raise
        pipeline = _pipeline(folder, theirs, family, NO_ANSWER)
        pipeline.unanswered = error
    pipeline.pooled = whole.pooled()
    if (longest := whole.longest()) and isinstance(pipeline.reader, TextReader):
        pipeline.reader.max_len = min(pipeline.reader.max_len, longest)
    width = pipeline.config.d_model
    for dense in pipeline.pooled.dense if pipeline.pooled else ():
        if len(dense.W) != width:
            shapes = {"found": dense.W.shape[::-1], "expected": (dense.W.shape[1], width)}
            raise CheckpointError("tensor_shape", folder=whole.name, tensor="linear.weight", **shapes)
        width = dense.W.shape[1]
    return pipeline


def config_of(path: str | Path) -> EncoderConfig:
    """Configuration of a folder, from config.json alone. Raises CheckpointError."""
    folder = Folder(Path(path)).encoder
    theirs, family = _settings(folder)
    head = NO_ANSWER if unanswered(path) else _head(folder, theirs, family)
    return _config(folder, theirs, family, head)


def decoder_of(path: str | Path) -> EncoderConfig | None:
    """Configuration of a translator's decoder; None if there is none or the answer is not computed."""
    folder = Folder(Path(path)).encoder
    theirs, family = _settings(folder)
    if family.decoder is None or unanswered(path):
        return None
    return _config(folder, theirs, family.decoder, _head(folder, theirs, family))


def unanswered(path: str | Path) -> CheckpointError | None:
    """Why the folder's answer cannot be computed although its stages can, by config.json; None if it can.

    Raises CheckpointError for a folder that cannot be read at all.
    """
    folder = Folder(Path(path)).encoder
    theirs, family = _settings(folder)
    try:
        _config(folder, theirs, family, _head(folder, theirs, family))
    except CheckpointError as error:
        if error.reason not in OF_THE_ANSWER:
            raise
        return error
    return None


def _pipeline(folder: Folder, theirs: Mapping[str, Any], family: Family, head: Head) -> Pipeline:
    config = _config(folder, theirs, family, head)
    decoder = _config(folder, theirs, family.decoder, head) if family.decoder else None
    with WithoutNumbers():  # the numbers come from the file
        writes = head is not NO_ANSWER
        network = TranslationNetwork(config, decoder) if decoder and writes else network_for(config)
    weights = _renamed(folder, network, family, head, _positions_in_front(folder, family, theirs))
    network.load_state_dict(weights, strict=False, assign=True)
    network.tie()
    if family.slower:
        for layer in network.layers:
            layer.attention.speeds /= family.slower(theirs, config.d_k)
    if decoder:
        kind = MarianTranslator if writes else Pipeline
        return kind(folder.name, network, reader_of(folder, config, decoder))
    if config.head == "masked-word":
        network.logits.weight = network.embedding.E.weight
    return Pipeline(folder.name, network, _reader(folder, family, config, theirs))


# -- config.json ---------------------------------------------------------------------------------------------------


def _settings(folder: Folder) -> tuple[Mapping[str, Any], Family]:
    """Settings in config.json, and the family. For CLIP and SigLIP, the settings of the image encoder."""
    theirs = folder.config()
    family = _family(folder, theirs)
    if family.inside:
        own = theirs.get(family.inside)
        if not isinstance(own, dict):
            raise CheckpointError("no_setting", folder=folder.name, setting=family.inside)
        classes = ("id2label", "label2id", "num_labels")  # the outer config's classes count
        theirs = {name: value for name, value in own.items() if name not in classes} | theirs
    if family.older:
        theirs = family.older(theirs) | theirs
    theirs = {name: _square(value) if name in SQUARES else value for name, value in theirs.items()}
    said = {**family.defaults, **{name: value for name, value in theirs.items() if value is not None}}
    family = next((other for (name, value), other in family.where.items() if said.get(name) == value), family)
    _check_settings(folder, theirs, family.only, "setting")
    return theirs, family


def _square(side: object) -> object:
    """[224, 224] -> 224; anything else unchanged."""
    return side[0] if isinstance(side, list) and len(side) == 2 and side[0] == side[1] else side


def _family(folder: Folder, theirs: Mapping[str, Any]) -> Family:
    if (kind := theirs.get("model_type")) is None:
        timm = "timm_" * ("architecture" in theirs and "pretrained_cfg" in theirs)
        raise CheckpointError(f"{timm}no_family", folder=folder.name)
    if kind not in tuple(FAMILIES):
        raise CheckpointError("family", folder=folder.name, family=str(kind)[:40])
    return FAMILIES[kind]


def _head(folder: Folder, theirs: Mapping[str, Any], family: Family) -> Head:
    """Head named by `architectures`, or the family's first if none is named. Raises CheckpointError if unknown."""
    kind = family.called or str(theirs["model_type"]).replace("-", "").replace("_", "")
    architectures = theirs.get("architectures")
    architecture = str(
        architectures[0] if isinstance(architectures, list) and architectures else kind + next(iter(family.heads))
    )
    for end, head in family.heads.items():
        if architecture.lower() == (kind + end).lower():
            if head.otherwise and any(theirs.get(name, known[0]) not in known for name, known in head.only.items()):
                head = head.otherwise
            _check_settings(folder, theirs, head.only, "answer_setting")
            return head
    raise CheckpointError("architecture", folder=folder.name, architecture=architecture[:60])


def _check_whole(folder: Folder, family: Family, head: Head) -> None:
    """Raise CheckpointError if the file lacks part of the head: some checkpoints name a head they do not contain.

    Does nothing before the weights are fetched.
    """
    if not (folder.file(WHOLE) or folder.file(SHARDS)):
        return
    modules = {_modern(name).rpartition(".")[0] for name in folder.weights()}
    for ours, module in head.names.items():
        if not ours.endswith(".bias") and not {module, module.removeprefix(f"{family.prefix}.")} & modules:
            raise CheckpointError("answer_missing", folder=folder.name, tensor=module)


def _check_settings(
    folder: Folder, theirs: Mapping[str, Any], only: Mapping[str, tuple[object, ...]], reason: str
) -> None:
    """Raise CheckpointError for a setting whose value we cannot compute with."""
    for setting, allowed in only.items():
        if theirs.get(setting, allowed[0]) not in allowed:
            raise setting_error(reason, folder.name, setting, theirs[setting])


def _config(folder: Folder, theirs: Mapping[str, Any], family: Family, head: Head) -> EncoderConfig:
    value: Any
    settings: dict[str, Any] = {}
    written = theirs
    theirs = {**family.defaults, **{name: value for name, value in theirs.items() if value is not None}}
    kinds = {field.name: type(field.default) for field in fields(EncoderConfig)}

    def refused(name: str, reason: str = "size") -> CheckpointError:
        return setting_error(reason, folder.name, name, theirs.get(name))

    for ours, name in family.settings.items():
        if ours in family.fixed:
            continue
        if (value := theirs.get(name)) is None:
            raise CheckpointError("no_setting", folder=folder.name, setting=name)
        if ours in family.worked_out:
            value = _worked_out(family.worked_out[ours], theirs)
        if kinds[ours] is int and (type(value) is not int or not (ours not in MAY_BE_0) <= value <= MOST[ours]):
            raise refused(name)
        if kinds[ours] is bool and type(value) is not bool:
            raise refused(name, "setting")
        if ours == "activation":
            value = ACTS.get(str(value), value)
        of_float = isinstance(value, float | int) and (0 < value < 1 or (value == 0 and ours in MAY_BE_0))
        if kinds[ours] is float and not of_float:
            raise refused(name)
        settings[ours] = value
    if "max_len" in settings:
        settings["max_len"] -= _positions_in_front(folder, family, theirs)
        if settings["max_len"] < 1:
            raise refused(family.settings["max_len"])
    if "patch_size" in settings:  # no patch reads pixels beyond the last whole patch
        settings["image_size"] -= settings["image_size"] % settings["patch_size"]
        if not settings["image_size"]:
            raise refused(family.settings["patch_size"])
    if family.positions_from_pad:
        settings["uncounted"] = _positions_in_front(folder, family, theirs) - 1
    if settings.get("d_embedding") == settings["d_model"]:
        settings["d_embedding"] = 0
    if family.more:
        settings |= family.more(folder.name, written, settings["layers"])
    if family.interpolated:
        settings |= _size_of_pictures(folder, family, settings)
    if head.projected:
        settings["projection"] = value = theirs.get(head.projected)
        if type(value) is not int or not 0 < value <= MOST["d_model"]:
            raise refused(head.projected)
    kind: str = head.kind
    if head.kind in ("classifier", "tags"):
        settings["classes"] = len(_label_names(theirs))
    if head.kind == "classifier":
        kind = _kind_of_classes(folder, theirs, settings["classes"])
        if (head.distillation or head.patches) and kind != "classifier":
            said = {"num_labels": settings["classes"]} if settings["classes"] == 1 else theirs
            setting = next(name for name in ("num_labels", "problem_type") if name in said)
            raise setting_error("answer_setting", folder.name, setting, said[setting])
    elif head.kind == "span" and (labels := len(_label_names(theirs))) != 2:
        raise setting_error("answer_setting", folder.name, "num_labels", labels)
    try:
        settings |= {"head": kind, "pooler": head.pooler, "distillation_head": head.distillation}
        if head.pooling and theirs.get(head.pooling) == "mean":
            settings["pooling"] = "mean"
        if head.dense:
            bent = ACTS[theirs.get(head.dense, "gelu")]
            settings |= {"head_activation": bent} if kind == "masked-word" else {"pooler": bent, "pooler_norm": True}
        if head.bent_by:
            bent = str(theirs.get(head.bent_by, "gelu"))
            settings["pooler"] = ACTS.get(bent, bent)
        if head.own_activation:
            settings["head_activation"] = {**family.fixed, **settings}["activation"]
        settings["patch_head"] = head.patches
        _check_whole(folder, family, head)
        return EncoderConfig(**family.fixed, **settings, dropout=0.0)
    except ConfigError as error:
        if error.reason == "too_few_buckets":
            raise refused(family.settings["buckets" if settings["buckets"] < 4 else "farthest"]) from error
        if error.reason == "odd_d_model":
            raise refused(family.settings["d_model"], "setting") from error
        if error.reason not in DIVIDE:
            raise
        *parts, times = DIVIDE[error.reason]
        whole, part = (family.settings[str(name)] for name in parts)
        sizes = {"value": theirs[whole], "part": f"{times}·" * (times > 1) + part, "by": times * theirs[part]}
        raise CheckpointError("not_divided", folder=folder.name, setting=whole, **sizes) from error


def _worked_out(of: Callable[[Mapping[str, Any]], int], theirs: Mapping[str, Any]) -> int:
    """Size computed from several settings; 0 (none) if one of them is not a number."""
    try:
        return of(theirs)
    except (KeyError, TypeError, ValueError, OverflowError):
        return 0


def _size_of_pictures(folder: Folder, family: Family, settings: Mapping[str, Any]) -> dict[str, int]:
    """Image size that the network receives, if its positions were learned for another size; else {}."""
    side, patch = side_of_pictures(folder.pictures()), settings["patch_size"]
    learned = settings["image_size"]
    if side is None or side == learned or side % patch or learned % patch or side > MOST["image_size"]:
        return {}
    return {"image_size": side, "learned_side": learned // patch}


def _positions_in_front(folder: Folder, family: Family, theirs: Mapping[str, Any]) -> int:
    """Number of rows in the position table before position 0; the last of them belongs to [PAD]."""
    if not family.positions_from_pad:
        return 0
    pad = theirs.get("pad_token_id", 1)
    if type(pad) is not int or not 0 <= pad < 100:
        raise setting_error("size", folder.name, "pad_token_id", pad)
    return pad + 1


def _label_names(theirs: Mapping[str, Any]) -> dict[str, Any]:
    """Number -> class name. LABEL_0, LABEL_1, … if there are not `num_labels` names; two if that is missing, too."""
    names, said = theirs.get("id2label"), theirs.get("num_labels")
    number = said if type(said) is int and 0 < said <= MOST["classes"] else 0
    if isinstance(names, dict) and names and number in (0, len(names)):
        return names
    return {str(i): f"LABEL_{i}" for i in range(number or 2)}


def _kind_of_classes(folder: Folder, theirs: Mapping[str, Any], classes: int) -> str:
    """Head of a classification: "classifier" (softmax), "labels" (a sigmoid each) or "numbers" (raw values).

    Decided like transformers' text-classification pipeline, but a reranker's own activation takes precedence.
    """
    more = theirs.get("sentence_transformers")
    own = more.get("activation_fn") if isinstance(more, dict) else None
    own = str(own or theirs.get("sbert_ce_default_activation_function") or "").rpartition(".")[-1]
    if own in OF_RERANKERS and classes == 1:
        return OF_RERANKERS[own]
    kind = theirs.get("problem_type")
    if kind == "regression":
        return "numbers"
    if kind == "multi_label_classification" or (classes == 1 and kind in (None, "single_label_classification")):
        return "labels"
    if kind in (None, "single_label_classification"):
        return "classifier"
    raise setting_error("answer_setting", folder.name, "problem_type", kind)


def _labels(theirs: Mapping[str, Any], config: EncoderConfig) -> list[str]:
    names = _label_names(theirs) if config.classes else {}
    return [str(names.get(str(i), f"LABEL_{i}"))[:80] for i in range(config.classes)]


# -- the weights ---------------------------------------------------------------------------------------------------


def _renamed(folder: Folder, network: Encoder, family: Family, head: Head, in_front: int) -> dict[str, Tensor]:
    """The tensors by our keys, with our shapes, all finite. Raises CheckpointError."""
    found = {_modern(name): tensor for name, tensor in folder.weights().items()}
    check_positions(folder, found)
    prefix = f"{family.prefix}." if any(name.startswith(f"{family.prefix}.") for name in found) else ""
    config = network.config
    weights: dict[str, Tensor] = {}
    read: set[str] = set()
    for key, wanted in network.named_parameters():  # shared parameters appear once
        name = _their_name(key, family, head, prefix, config)
        others = (theirs for one in family.heads.values() for theirs, ours in one.copies.items() if ours == key)
        names = name, name.removeprefix(prefix), *others  # some lack the prefix, some exist only as a copy
        if (theirs := next((one for one in names if one in found), None)) is None:
            raise CheckpointError("tensor_missing", folder=folder.name, tensor=name)
        stored = found[theirs]
        read.add(theirs)  # one tensor may hold several of our parameters
        lay_out = _laid_out(family, key, config)
        rows = in_front if key == "embedding.positions.table" else 0
        expected = (wanted.shape[0] + rows, *wanted.shape[1:])
        stretched = config.learned_side if key == "embedding.positions.table" else 0
        if stretched:
            expected = (expected[0] - config.patches_per_side**2 + stretched**2, *expected[1:])
        ours = _numbers(folder, theirs, stored, lay_out, expected)
        if stretched:
            ours = interpolated(ours, stretched, config.patches_per_side, family.interpolated == "antialias")
        if rows:
            weights["embedding.positions.apart"] = ours[rows - 1]
        weights[key] = ours[rows:] if rows else ours
    weights |= _speeds(folder, found, family, prefix, config, read)
    unread = (*family.unread, *_other_heads(family))
    if family.decoder and head is NO_ANSWER:
        unread += OF_A_DECODER
    for name, stored in found.items():
        if name in read:
            continue
        if key := head.copies.get(name):
            ours, lay_out = weights[key], _laid_out(family, key, config)
            if not _fits(stored.shape, lay_out, ours.shape) or not torch.equal(lay_out(stored.read()).float(), ours):
                other = _their_name(key, family, head, prefix, config)
                raise CheckpointError("tensor_untied", folder=folder.name, tensor=name, other=other)
        elif head is NO_ANSWER and prefix and not name.startswith(prefix):
            continue  # part of an answer that is not computed
        elif not any(fnmatch(name, pattern) for pattern in unread):
            reason = "adapter" if ".lora_" in name else "tensor_left_over"
            raise CheckpointError(reason, folder=folder.name, tensor=name)
    return weights


def _speeds(
    folder: Folder, found: Mapping[str, Stored], family: Family, prefix: str, config: EncoderConfig, read: set[str]
) -> dict[str, Tensor]:
    """Rotation frequencies of each layer, if the file stores them: some store rounded ones."""
    speeds = {}
    for layer in range(config.layers):
        for name in (prefix + theirs.replace("{l}", str(layer)) for theirs in family.speeds):
            if name in found:
                read.add(name)
                numbers = _numbers(folder, name, found[name], _as_it_is, (config.d_k // 2,))
                speeds[f"layers.{layer}.attention.speeds"] = numbers
    return speeds


def _numbers(
    folder: Folder, name: str, stored: Stored, lay_out: Callable[[Tensor], Tensor], expected: tuple[int, ...]
) -> Tensor:
    """Their tensor as ours, in float32. Raises CheckpointError for a wrong shape or dtype, or values not finite."""
    if not _fits(stored.shape, lay_out, expected):
        raise CheckpointError("tensor_shape", folder=folder.name, tensor=name, found=stored.shape, expected=expected)
    tensor = stored.read()
    if not tensor.is_floating_point():
        kind = str(tensor.dtype).removeprefix("torch.")
        raise CheckpointError("tensor_kind", folder=folder.name, tensor=name, kind=kind)
    ours = lay_out(tensor).float()
    if not ours.sum(dtype=torch.float64).isfinite():
        raise CheckpointError("tensor_not_finite", folder=folder.name, tensor=name)
    return ours


def _other_heads(family: Family) -> set[str]:
    """Patterns of the tensors of all heads: a checkpoint may keep the head of an earlier training."""
    names = (name for head in family.heads.values() for name in (*head.names.values(), *head.copies))
    return {f"{name.partition('.')[0]}.*" for name in names if not name.startswith(f"{family.prefix}.")}


def _laid_out(family: Family, key: str, config: EncoderConfig) -> Callable[[Tensor], Tensor]:
    """The function that turns their tensor into our parameter."""
    row, _ = _row(key)
    lay_out = family.laid_out.get(row) or family.laid_out.get(row.rpartition(".")[0])
    return (lambda tensor: lay_out(tensor, config)) if lay_out else _as_it_is


def _as_it_is(tensor: Tensor) -> Tensor:
    return tensor


def _fits(shape: tuple[int, ...], lay_out: Callable[[Tensor], Tensor], wanted: tuple[int, ...]) -> bool:
    """Whether a tensor of this shape has the wanted shape once laid out; reads no values."""
    try:
        return lay_out(torch.empty(shape, device="meta")).shape == wanted
    except (IndexError, RuntimeError):  # too few axes, or too many values to count
        return False


def _modern(name: str) -> str:
    for old, new in OLD_PREFIXES.items():
        name = new + name.removeprefix(old) if name.startswith(old) else name
    for old, new in OLD_NAMES.items():
        name = name.removesuffix(old) + new if name.endswith(old) else name
    return name


def _row(key: str) -> tuple[str, str]:
    """A parameter's key as in the tables of names, with {l}, and its layer number ("" outside the layers)."""
    parts = key.split(".")
    layer = parts[parts.index("layers") + 1] if "layers" in parts else ""
    return key.replace(f"layers.{layer}.", "layers.{l}.", 1) if layer else key, layer


def _their_name(key: str, family: Family, head: Head, prefix: str, config: EncoderConfig) -> str:
    """A parameter's name in the file: layers.3.norm_1.bias -> bert.encoder.layer.3.….LayerNorm.bias."""
    row, layer = _row(key)
    group = str(set_of(int(layer), config.layers, config.groups)) if layer else ""
    module, _, last = row.rpartition(".")
    if module == "labels":  # the files call the Linear of labels like that of classes
        module, row = "logits", f"logits.{last}"
    for names, before in ((head.names, ""), (family.names, prefix)):
        if row in names:
            return (before + names[row]).replace("{l}", layer).replace("{g}", group)
        if module in names:
            return (before + names[module]).replace("{l}", layer).replace("{g}", group) + f".{last}"
    raise KeyError(key)


# -- the input -----------------------------------------------------------------------------------------------------


def _reader(folder: Folder, family: Family, config: EncoderConfig, theirs: Mapping[str, Any]) -> Reader:
    labels = _labels(theirs, config)
    if config.input == "patches":
        side = {**family.defaults, **theirs}["image_size"]
        side = side if config.image_size <= side < config.image_size + config.patch_size else config.image_size
        return CheckpointImageReader(config, {**family.pictures, **folder.pictures()}, labels, side)
    tokenizer = folder.tokenizer(config.vocab_size, family.letters)
    roles = folder.roles(tokenizer.get_vocab())
    return CheckpointTextReader(tokenizer, config, roles, labels, proteins=family.letters)
