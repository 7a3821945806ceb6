"""The networks that the laws are checked on: every preset with random weights, and every trained pipeline.

`QUICK` are the encoders; `TRANSLATORS` have a decoder, too.
"""

from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import torch

from model import Trace, load
from model.checkpoints import load_folder
from model.config import DECODER, PRESETS, EncoderConfig
from model.decoder import TranslationNetwork
from model.encoder import Encoder
from model.graph import Graph
from model.heads import network_for
from model.loading import load_tokenizer
from model.pipeline import ImageReader, Pipeline, Reading, TextReader
from model.trace import Guess
from model.translator import Translator
from model.variants.layer_scale import LayerScale

TRAINED = ("text", "digits", "flat")
PATCHES = EncoderConfig(
    64, 4, 2, 128, activation="gelu", norm_first=True, final_norm=True, norm_eps=1e-12, input="patches",
    positions="learned", image_size=32, patch_size=8, channels=3, head="classifier", classes=10,
)  # fmt: skip
WORDS = EncoderConfig(24, 2, 2, 40, vocab_size=100)
#: The two giants with two of their twelve layers: the laws are the same in each layer, and a test must be quick.
CONFIGS: dict[str, EncoderConfig] = {
    name: replace(config, layers=2, vocab_size=min(config.vocab_size, 2000)) if config.layers > 6 else config
    for name, config in PRESETS.items()
} | {
    "pre-norm words": EncoderConfig(64, 4, 3, 128, norm_first=True, final_norm=True, positions="learned"),
    "pre-norm patches": EncoderConfig(
        64, 4, 3, 128, activation="gelu", norm_first=True, input="patches", positions="learned", head="classifier",
        classes=10,
    ),
    "two sentences": EncoderConfig(
        64, 4, 2, 128, activation="gelu", positions="learned", scale_embedding=False, segments=2, embedding_norm=True,
        head="classifier", classes=3, pooler="tanh",
    ),
    "narrow words": EncoderConfig(
        64, 4, 2, 128, activation="gelu", positions="learned", scale_embedding=False, d_embedding=24, segments=2,
        embedding_norm=True, vocab_size=500, head="masked-word",
    ),
    "narrow words, added only": EncoderConfig(64, 4, 1, 128, d_embedding=24, vocab_size=200),
    "gated words": EncoderConfig(
        48, 4, 3, 80, activation="gelu", norm_first=True, final_norm=True, first_norm=False, ffn="gated",
        unbiased=("attention", "ffn", "norm", "head"), positions="rotary", rotary_base=500.0, local=(1, 2), window=2,
        local_base=50.0, scale_embedding=False, embedding_norm=True,
        vocab_size=300, head="masked-word",
    ),
    "turned words": replace(
        WORDS, positions="rotary", rotary_base=30.0, segments=2, head="classifier", classes=3, pooling="mean",
        pooler="gelu", pooler_norm=True, unbiased=("head",),
    ),
    "mean of words": replace(WORDS, layers=1, head="classifier", classes=3, pooling="mean"),
    "gated words with biases": replace(
        WORDS, activation="silu", ffn="gated", head="tags", classes=3, pooler="gelu-tanh", pooler_norm=True
    ),
    "by distance": EncoderConfig(
        48, 4, 3, 80, activation="gelu", buckets=8, farthest=6, positions="learned", scale_embedding=False,
        embedding_norm=True, vocab_size=300, head="masked-word",
    ),
    "distances alone": EncoderConfig(
        48, 4, 3, 80, ffn="gated", activation="gelu-tanh", norm="rms", norm_first=True, final_norm=True, divided=False,
        buckets=8, farthest=6, positions="none", scale_embedding=False,
        unbiased=("attention", "ffn", "norm"), vocab_size=300, head="tags", classes=3,
    ),
    "heads of their own width": EncoderConfig(
        48, 4, 2, 80, d_head=5, norm="rms", norm_first=True, final_norm=True, divided=False, buckets=8, farthest=6,
        positions="none", scale_embedding=False, unbiased=("attention", "ffn", "norm"), vocab_size=300,
        head="masked-word",
    ),
    "down slopes": EncoderConfig(
        48, 3, 3, 80, ffn="gated", activation="gelu", sloped=True, positions="none", scale_embedding=False, segments=2,
        embedding_norm=True, unbiased=("gates",), vocab_size=300, head="tags", classes=3,
    ),
    "told apart": EncoderConfig(
        48, 4, 3, 80, activation="gelu", positions="none", scale_embedding=False, embedding_norm=True,
        distance_terms=("content_to_position", "position_to_content"), span=4, near=2, farthest=6, distance_norm=True,
        vocab_size=300, head="masked-word",
    ),
    "told apart, one way": replace(
        WORDS, positions="learned", distance_terms=("position_to_content",), span=5, farthest=5, segments=2,
        distance_matrices=True, head="classifier", classes=3, pooler="gelu",
    ),
    "told apart, keys unbiased": replace(
        WORDS, positions="none", scale_embedding=False, embedding_norm=True, distance_matrices=True, span=6, farthest=6,
        distance_terms=("content_to_position", "position_to_content"), unbiased=("keys",), head="tags", classes=3,
    ),
    "hidden words drop out": replace(
        WORDS, activation="gelu", norm_first=True, final_norm=True, positions="rotary", scale_embedding=False,
        dropped=14, vocab_size=20, head="masked-word",
    ),
    "shared layers": EncoderConfig(
        64, 4, 4, 128, activation="gelu-tanh", groups=2, positions="learned", scale_embedding=False, d_embedding=24,
        segments=2, embedding_norm=True, vocab_size=500, head="masked-word", head_activation="gelu-tanh",
    ),
    "several labels": replace(WORDS, activation="silu", head="labels", classes=3, pooler="tanh"),
    "numbers": replace(WORDS, activation="gelu-tanh", head="numbers", classes=1),
    "tags": replace(WORDS, layers=1, head="tags", classes=3),
    "span": replace(WORDS, layers=1, head="span"),
    "distilled patches": replace(PATCHES, distillation_token=True),
    "two classifiers": replace(PATCHES, distillation_token=True, distillation_head=True),
    "scaled patches": replace(PATCHES, layer_scale=True, registers=3, patch_head="beside"),
    "mean of patches": replace(PATCHES, activation="gelu-quick", final_norm=False, patch_head="alone"),
    "a vector of a picture": replace(
        PATCHES, activation="gelu-quick", final_norm=False, embedding_norm=True, unbiased=("patches",), head="vector",
        projection=24, classes=0,
    ),
    "a probe": replace(PATCHES, activation="gelu-tanh", cls_token=False, head="vector", classes=0),
}  # fmt: skip


class IdReader:
    """For networks without a vocabulary of their own: the input is a list of ids, the first three one sentence."""

    vocabulary: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()

    def __init__(self, config: EncoderConfig) -> None:
        self.segments = config.segments

    def read(self, x: object) -> Reading:
        ids = [int(i) for i in x]  # type: ignore[union-attr]
        segments = tuple(int(place > 2) for place in range(len(ids))) if self.segments else ()
        return Reading(torch.tensor([ids]), [str(i) for i in ids], ids, segments=segments)

    def guesses(self, logits: torch.Tensor, reading: Reading) -> tuple[Guess, ...]:
        return ()

    def examples(self) -> tuple[object, ...]:
        return ()


@cache
def untrained(name: str) -> Pipeline:
    """A preset with random weights, made big enough that no law holds by smallness."""
    torch.manual_seed(0)
    config = CONFIGS[name]
    network = network_for(config)
    draw_norms(network)
    if config.input == "words":
        return Pipeline(name, network, IdReader(config))
    if config.channels == 1:
        return Pipeline(name, network, ImageReader(config, [str(i) for i in range(config.classes)]))
    return Pipeline(name, network, ColourReader(config))


def draw_norms(network: Encoder) -> None:
    """As they begin, γ = 1, β = 0 and one λ for all would hide a mistake."""
    for scale in (m for m in network.modules() if isinstance(m, LayerScale)):
        torch.nn.init.normal_(scale.scale, 0.0, 1.0)
    for norm in (m for m in network.modules() if isinstance(m, torch.nn.LayerNorm | torch.nn.RMSNorm)):
        torch.nn.init.normal_(norm.weight, 1.0, 0.2)
        if norm.bias is not None:
            torch.nn.init.normal_(norm.bias, 0.0, 0.2)


@cache
def untrained_translator() -> Translator:
    """The shipped sizes with random weights: it writes nonsense, for which every law holds, and not much of it."""
    torch.manual_seed(0)
    config = replace(PRESETS["text"], head="none", max_len=20)
    network = TranslationNetwork(config, DECODER)
    draw_norms(network)
    reader = TextReader(load_tokenizer(), config.max_len)
    torch.nn.init.constant_(network.logits.bias[reader.vocabulary.index("[SEP]")], 4)  # so that sentences end
    return Translator("translation", network, reader)


@cache
def others_translator(apart: bool) -> Translator:
    """Somebody else's, as their folder is read; apart: with a list of words for each language."""
    from tests.translators import written  # which takes seconds to load

    folder = Path(mkdtemp(prefix="opus-"))
    made = load_folder(written(folder, apart=apart, decoder_layers=3, decoder_attention_heads=4, scale_embedding=apart))
    assert isinstance(made, Translator)
    return made


class ColourReader(IdReader):
    """For a network of colour images: the input is the image as a tensor (channel, height, width)."""

    def __init__(self, config: EncoderConfig) -> None:
        patches = map(str, range(1, 1 + config.patches_per_side**2))
        self.tokens = [*config.front, *patches]

    def read(self, x: object) -> Reading:
        return Reading(torch.as_tensor(x)[None], self.tokens, [])


def pipeline(name: str) -> Pipeline:
    """ "trained text" -> the shipped pipeline, "004" -> that preset with random weights."""
    if name == "translation":
        return untrained_translator()
    if name in OTHERS:
        return others_translator(apart=OTHERS[name])
    kind, _, rest = name.partition(" ")
    return load(rest) if kind == "trained" else untrained(name)


#: All encoders but the giants, which are the same but for their size; with trained weights those that are shipped.
QUICK = [name for name, config in CONFIGS.items() if config.d_model <= 256 and name not in TRAINED]
QUICK += [f"trained {name}" for name in TRAINED]
#: One of each kind of input, position, norm, FFN and answer: for laws that are one function of a config or a trace.
COVER = [
    "pre-norm words", "pre-norm patches", "003", "narrow words", "gated words", "by distance", "distances alone",
    "down slopes", "told apart", "shared layers", "scaled patches", "a probe",
]  # fmt: skip
#: Somebody else's translators -> whether each language has a list of words.
OTHERS = {"translation with one list of words": False, "translation with two lists of words": True}
TRANSLATORS = ["translation", "trained translation", *OTHERS]


def example(name: str, which: int = 0) -> object:
    """An input for the named network; `which` picks different ones."""
    dice = torch.Generator().manual_seed(which)
    config = pipeline(name).config
    if name == "trained text" or name in TRANSLATORS:
        return ["i love you .", "the cat sat on the [MASK] .", "今天天气很好。", "you love me ."][which % 4]
    if config.input == "words":
        return torch.randint(5, config.vocab_size, (7 + which % 3,), generator=dice).tolist()
    if config.channels > 1:
        return torch.rand(config.channels, config.image_size, config.image_size, generator=dice)
    return stroke(which)


def stroke(which: int = 0) -> "torch.Tensor":
    """A drawing with some ink: a soft diagonal bar, at another place for each `which`."""
    y, x = torch.meshgrid(torch.arange(28.0), torch.arange(28.0), indexing="ij")
    away = (x - y + 3 * (which % 5) - 6).abs() + 3 * ((y - 14).abs() - 9).clamp(min=0)
    return (1.5 - away / 2).clamp(0, 1)


@cache
def trace_of(name: str, which: int = 0) -> Trace:
    return pipeline(name)(example(name, which))


def sources(of: Graph, key: str) -> tuple[str, ...]:
    """The nearest recorded quantities that `key` is computed from, past those that are not recorded."""
    found: dict[str, None] = {}
    for read in of[key].reads:
        found |= dict.fromkeys([read] if of[read].traced else sources(of, read))
    return tuple(found)
