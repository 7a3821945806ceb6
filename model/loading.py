"""load(name): build a pipeline from the files under model/weights, or from a checkpoint folder."""

import gc
import json
import os
from collections.abc import Hashable
from dataclasses import replace
from functools import cache
from pathlib import Path
from threading import Lock
from unicodedata import normalize

import torch
from safetensors import SafetensorError, safe_open
from tokenizers import Regex, Tokenizer, normalizers
from torch import Tensor

from model.checkpoints import hub, load_folder
from model.checkpoints.folder import Folder
from model.config import DECODER, PRESETS, EncoderConfig
from model.decoder import TranslationNetwork
from model.files import WEIGHTS, WeightsError, intact
from model.heads import network_for
from model.pipeline import MOST_CHARACTERS, ImageReader, Pipeline, Reader, TextReader
from model.translator import Translator

PRIVATE_USE = 0xE000  # first private-use character of Unicode
NO_PIECE = "□"  # stands for any private-use character typed
#: Other names of the embedding matrix.
TIED = {"logits.weight", "decoder.embedding.E.weight"}
OURS = ("text", "translation", "digits", "flat")
_folders: dict[Path, tuple[Hashable, Pipeline]] = {}  # with the state of the files when read
_one_folder_at_a_time = Lock()


def load_tokenizer() -> Tokenizer:
    """Our tokenizer. Characters not in its vocabulary are normalized by NFKC: full-width ＡＩ becomes AI."""
    path = intact(WEIGHTS / "tokenizer.json")
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # tokenizers raises bare Exception for a damaged file
        raise WeightsError("damaged", path.name) from error
    own = [piece for piece in tokenizer.get_vocab() if len(piece) == 1 and normalize("NFKC", piece) != piece]
    typed = normalizers.Replace(Regex("[\ue000-\uf8ff]"), NO_PIECE)  # they would collide with our placeholders
    hidden = {sign: chr(PRIVATE_USE + number) for number, sign in enumerate(own)}  # ， is in the vocabulary and stays
    hide = [normalizers.Replace(sign, place) for sign, place in hidden.items()]
    show = [normalizers.Replace(place, sign) for sign, place in hidden.items()]
    tokenizer.normalizer = normalizers.Sequence([typed, *hide, normalizers.NFKC(), *show, tokenizer.normalizer])
    tokenizer.model.max_input_chars_per_word = MOST_CHARACTERS  # the limit of 40 only made training faster
    return tokenizer


def read_weights(name: str) -> tuple[dict[str, Tensor], dict[str, float]]:
    """The tensors of model/weights/NAME.safetensors as float32, and the figures measured when it was trained."""
    path = intact(WEIGHTS / f"{name}.safetensors")
    try:
        with safe_open(path, framework="pt", backend="pread") as file:
            weights = {key: file.get_tensor(key).float() for key in file.keys()}  # noqa: SIM118 (not a dict)
            measured = json.loads((file.metadata() or {}).get("measured", "{}"))
    except (SafetensorError, OSError, ValueError) as error:
        raise WeightsError("damaged", path.name) from error
    if not all(values.isfinite().all() for values in weights.values()):
        raise WeightsError("not_finite", path.name)
    return weights, measured


def fill(network: torch.nn.Module, weights: dict[str, Tensor], name: str) -> None:
    """Load the weights. Copies of the embedding matrix are stored only once."""
    tied = {key: weights["embedding.E.weight"] for key in TIED & network.state_dict().keys() if key not in weights}
    try:
        network.load_state_dict(weights | tied)
    except RuntimeError as error:  # torch's word for names or shapes that do not fit
        raise WeightsError("damaged", f"{name}.safetensors") from error


def reader_for(config: EncoderConfig) -> Reader:
    if config.input == "words":
        return TextReader(load_tokenizer(), config.max_len)
    return ImageReader(config, ["even", "odd"] if config.classes == 2 else [str(i) for i in range(config.classes)])


def load(name: str | os.PathLike[str]) -> Pipeline:
    """The trained pipeline "text", "translation", "digits" or "flat", or that of a Hugging Face folder.

    A folder may be a Path. "org/name" is a model on the hub, fetched if necessary; a name without "org/" was fetched
    before or is in an installed package: see `model.checkpoints.hub`. A pipeline is loaded once. A folder is loaded
    again when its files have changed, and the older pipeline is dropped.

    Raises WeightsError for a missing or damaged file of ours, CheckpointError for a folder that cannot be read or
    fetched, and ValueError for an unknown name. Weights are safetensors: nothing is unpickled.
    """
    name = os.fspath(name)
    if name in OURS:
        return trained(name)
    if not os.path.isdir(name) and hub.NAME.fullmatch(name):
        fetched = hub.found(name)
        name = str(fetched if os.path.isdir(fetched) or not ("/" in name or name in hub.PACKAGES) else hub.fetch(name))
    if not os.path.isdir(name):
        raise ValueError(
            f"no folder and no pipeline is called {name[:100]!r}: there are {', '.join(OURS)}; a model of the Hugging "
            "Face hub is called by its owner and its name, as in google-bert/bert-base-uncased"
        )
    with _one_folder_at_a_time:
        folder = Path(name).resolve()
        state = Folder(folder).state
        if folder not in _folders or _folders[folder][0] != state:
            if _folders.pop(folder, None):
                gc.collect()  # free the memory before loading the next
            _folders[folder] = state, load_folder(name)
        return _folders[folder][1]


def let_go(folder: Path) -> None:
    """Drop the pipeline of a folder."""
    with _one_folder_at_a_time:
        _folders.pop(folder.resolve(), None)


@cache
def trained(name: str) -> Pipeline:
    """One of our own, loaded once. Raises WeightsError if its file is missing or damaged."""
    if name == "translation":
        return _load_translator()
    config = PRESETS[name]
    reader = reader_for(config)
    network = network_for(config)
    weights, measured = read_weights(name)
    fill(network, weights, name)
    return Pipeline(name, network, reader, measured)


def _load_translator() -> Translator:
    """The text encoder with its weights, and the decoder trained to read its output."""
    config = replace(PRESETS["text"], head="none")
    network = TranslationNetwork(config, DECODER)
    text = load("text").network.state_dict()
    decoder, measured = read_weights("translation")
    encoder = {key: value for key, value in text.items() if key.startswith(("embedding.", "layers."))}
    fill(network, encoder | decoder, "translation")
    # Shares the encoder's weights instead of copying them.
    network.load_state_dict(encoder, strict=False, assign=True)
    network.tie()
    return Translator("translation", network, TextReader(load_tokenizer(), config.max_len), measured)


@cache
def untrained() -> Pipeline:
    """The paper's base size with random weights, untrained.

    It uses our tokenizer, vocabulary and sentence length. It has no head, so no answer.
    """
    tokenizer = load_tokenizer()
    longest = PRESETS["text"].max_len
    config = replace(PRESETS["004"], vocab_size=tokenizer.get_vocab_size(), max_len=longest, head="none")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        network = network_for(config)
    return Pipeline("untrained", network, TextReader(tokenizer, longest))
