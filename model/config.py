"""The configuration of an encoder, a frozen dataclass, and the named presets."""

from dataclasses import dataclass, replace
from typing import Literal

from model.errors import ReasonedError

NORMS = {"layer": "LayerNorm", "rms": "RMSNorm"}


#: What may do without a bias: the Linears of attention or its keys alone, those of the FFN, or of a gated one its first
#: two, those of the head, the last matrix E of a guess, all LayerNorms, the projection of patches.
Biased = Literal["attention", "keys", "ffn", "gates", "norm", "head", "logits", "patches"]


class ConfigError(ReasonedError):
    """A configuration that no encoder can have. `reason` names the rule that it breaks."""


@dataclass(frozen=True)
class EncoderConfig:
    """Sizes and choices of one encoder (symbols of "Attention Is All You Need", table 3).

    N = `layers`, h = `heads`, d_k = d_v = d_model / h, or `d_head`. Raises ConfigError for an impossible setting.
    """

    d_model: int = 512
    heads: int = 8
    layers: int = 6
    d_ff: int = 2048
    d_head: int = 0  # d_k where all heads together are not as wide as d_model; 0: d_model / h  (T5)
    activation: str = "relu"  # a name in activations.py
    norm_first: bool = False  # False: LayerNorm(x + f(x)), the paper; True: x + f(LayerNorm(x))
    final_norm: bool = False
    first_norm: bool = True  # norm_first: False if the first attention has none, after the embedding's LayerNorm
    ffn: Literal["plain", "gated"] = "plain"  # act(x W₁) W₂, the paper; gated: (act(x W₁) ⊙ x W₃) W₂
    unbiased: tuple[Biased, ...] = ()  # parts without a bias, or without β
    layer_scale: bool = False  # each sub-layer's output ⊙ λ  (layer_scale.py)
    norm: Literal["layer", "rms"] = "layer"  # rms: no mean is subtracted, no β added  (rms.py)
    norm_eps: float = 1e-5
    divided: bool = True  # scores ÷ √d_k, the paper; False: as they are  (T5)
    buckets: int = 0  # rows of the relative position bias, a number per distance and head  (MPNet); 0: no bias
    sloped: bool = False  # scores − m_h · distance, with a fixed slope m_h for each head  (ALiBi)
    farthest: int = 128  # distance from which all share the last row
    #: Terms added to the scores from a table of 2 · `span` relative embeddings  (DeBERTa, disentangled.py)
    distance_terms: tuple[Literal["content_to_position", "position_to_content"], ...] = ()
    span: int = 0
    near: int = 0  # beyond this distance, up to `farthest`, several distances share a row; 0: none do
    distance_norm: bool = False  # LayerNorm of the relative embeddings
    distance_matrices: bool = False  # relative embeddings have their own W_Q and W_K
    groups: int = 0  # groups of consecutive layers that share weights  (ALBERT: 1); 0: each layer has its own
    dropout: float = 0.1

    input: Literal["words", "patches", "flat"] = "words"
    #: rotary: queries and keys are rotated, nothing is added
    positions: Literal["sinusoidal", "learned", "rotary", "none"] = "sinusoidal"
    rotary_base: float = 10_000.0  # numbers c and c + d_k/2 of Q and K rotate by position / base^(2c/d_k)
    local: tuple[int, ...] = ()  # rotary: layers, from 0, with attention limited to distance `window`
    window: int = 0
    local_base: float = 10_000.0  # `rotary_base` of those layers
    max_len: int = 64  # words: the longest sentence, [CLS] and [SEP] included
    vocab_size: int = 1000
    scale_embedding: bool = True  # words: E[x] · √d_model
    d_embedding: int = 0  # words: d_E, width of E, E_seg and E_pos, if W_E projects their sum to d_model; 0: d_model
    segments: int = 0  # words: rows of E_seg, one for each sentence of a pair; 0: no E_seg
    dropped: int | None = None  # words: id of [MASK], whose row counts as 0; the others are scaled up  (ESM-2)
    uncounted: int | None = None  # words, learned positions: id of the token without a position; None: all have one
    embedding_norm: bool = False  # LayerNorm after the sum of token, position and segment
    language_first: bool = True  # a decoder: its first input names the language to write, an extra row after E
    own_words: bool = False  # a decoder: has its own vocabulary and E, not the encoder's
    image_size: int = 28
    patch_size: int = 4
    channels: int = 1
    cls_token: bool = True  # patches: whether [CLS] stands before them
    distillation_token: bool = False  # patches: a second learned token, behind [CLS]  (DeiT)
    registers: int = 0  # patches: learned tokens after [CLS] without positions, not read by the answer
    hidden_in_training: float = 0.0  # patches: share that was hidden in training  (ViTMAE)
    learned_side: int = 0  # patches per side when the positions were learned; 0: as many as now

    #: classifier: one of the classes; labels: each true or false; numbers: a number for each label; tags: a class for
    #: each token; span: start and end of an answer in the text; vector: one vector of the picture.
    head: Literal["none", "masked-word", "classifier", "labels", "numbers", "tags", "span", "vector"] = "none"
    classes: int = 0
    pooling: Literal["first", "mean"] = "first"  # classifier, labels, numbers read Z_1 or the mean of all tokens
    #: classifier, labels, numbers: act(Linear(Z_1)) before the last Linear; tags, span: the same of each row
    pooler: str = "none"  # "none", or the activation behind it
    pooler_norm: bool = False  # LayerNorm after the pooler
    head_activation: str = "gelu"  # masked-word: activation before E
    distillation_head: bool = False  # classifier: a second one reads the distillation token; y is the mean of the two
    #: classifier: alone: it reads the mean of the patches; beside: a second matrix reads that, and y is the sum
    patch_head: Literal["", "alone", "beside"] = ""
    projection: int = 0  # vector: output width of a last Linear; 0: no Linear

    def __post_init__(self) -> None:
        sizes = "d_model heads layers d_ff max_len vocab_size image_size patch_size channels"
        for name in sizes.split():
            if getattr(self, name) < 1:
                raise ConfigError("not_positive", name=name, value=getattr(self, name))
        if self.d_head < 0 or (self.d_head and not self.buckets):
            raise ConfigError("width_of_heads", d_head=self.d_head, buckets=self.buckets)
        if not self.d_head and self.d_model % self.heads:
            raise ConfigError("heads_do_not_divide", d_model=self.d_model, heads=self.heads)
        if self.groups < 0 or (self.groups and self.layers % self.groups):
            raise ConfigError("groups_do_not_divide", layers=self.layers, groups=self.groups)
        if self.groups and not self.first_norm:
            raise ConfigError("groups_share_all", groups=self.groups)
        if self.buckets and (self.buckets < 4 or self.farthest <= self.buckets // 4):
            raise ConfigError("too_few_buckets", buckets=self.buckets, farthest=self.farthest)
        if self.by_distance and (self.positions == "rotary" or (self.buckets and self.sloped)):
            raise ConfigError("one_way_of_distances", buckets=self.buckets)
        if self.norm == "rms" and "norm" not in self.unbiased:
            raise ConfigError("rms_adds_nothing", norm=self.norm)
        if not self.divided and not self.buckets:
            raise ConfigError("undivided_needs_distances", buckets=self.buckets)
        if self.distance_terms and (self.by_distance or self.positions == "rotary"):
            raise ConfigError("one_way_of_distances", terms=self.distance_terms)
        if "keys" in self.unbiased and not self.distance_terms:
            raise ConfigError("keys_need_distances", unbiased=self.unbiased)
        if self.distance_terms and (self.span < 1 or (self.near and not 0 < self.near < self.farthest - 1)):
            raise ConfigError("too_few_buckets", buckets=self.span, farthest=self.farthest)
        if self.dropped is not None and (self.input != "words" or self.scale_embedding):
            raise ConfigError("dropout_of_words", input=self.input)
        if self.positions == "none" and self.input != "words":
            raise ConfigError("no_positions_needs_words", input=self.input)
        if self.positions == "sinusoidal" and self.embedded % 2:
            raise ConfigError("odd_d_model", d_model=self.embedded)
        if self.positions == "rotary" and (self.d_k % 2 or self.input != "words"):
            raise ConfigError("rotary_needs_pairs_of_words", d_k=self.d_k, input=self.input)
        if self.local and (
            self.positions != "rotary" or self.window < 0 or not set(self.local) <= {*range(self.layers)}
        ):
            raise ConfigError("no_such_window", local=self.local, window=self.window)
        if self.image_size % self.patch_size:
            raise ConfigError("patches_do_not_fit", image=self.image_size, patch=self.patch_size)
        if self.input == "flat" and self.channels > 1:
            raise ConfigError("flat_has_one_channel", channels=self.channels)
        if self.segments < 0 or (self.segments and self.input != "words"):
            raise ConfigError("segments_need_words", segments=self.segments, input=self.input)
        if self.d_embedding < 0 or (self.d_embedding and self.input != "words"):
            raise ConfigError("narrow_needs_words", width=self.d_embedding, input=self.input)
        if self.distillation_token and self.input != "patches":
            raise ConfigError("distillation_needs_patches", input=self.input)
        behind = self.input == "patches" and self.cls_token
        if not self.cls_token and (self.input != "patches" or self.distillation_token):
            raise ConfigError("no_cls_needs_patches", input=self.input)
        if self.head == "classifier" and not self.cls_token and self.patch_head != "alone":
            raise ConfigError("nothing_to_read", head=self.head)
        if self.head == "vector" and self.input != "patches":
            raise ConfigError("vector_needs_patches", input=self.input)
        if self.projection < 0 or (self.projection and (self.head != "vector" or not self.cls_token)):
            raise ConfigError("projection_needs_vector", head=self.head)
        if self.registers < 0 or (self.registers and (not behind or self.distillation_token)):
            raise ConfigError("registers_need_patches", registers=self.registers, input=self.input)
        if self.pooling == "mean" and (self.input != "words" or self.head not in ("classifier", "labels", "numbers")):
            raise ConfigError("mean_needs_words", input=self.input, head=self.head)
        if self.pooler != "none" and self.head in ("none", "masked-word"):
            raise ConfigError("pooler_needs_classifier", head=self.head)
        if self.distillation_head and (self.head != "classifier" or not self.distillation_token):
            raise ConfigError("distillation_head_needs_token", head=self.head)
        if self.distillation_head and self.pooler != "none":
            raise ConfigError("distillation_head_has_no_pooler", pooler=self.pooler)
        if self.patch_head and (self.head != "classifier" or self.input != "patches" or self.distillation_head):
            raise ConfigError("patch_head_needs_patches", head=self.head)
        if self.patch_head and self.pooler != "none":
            raise ConfigError("patch_head_has_no_pooler", pooler=self.pooler)
        if self.head in ("masked-word", "tags", "span") and self.input != "words":
            raise ConfigError("masked_word_needs_words", input=self.input)
        if self.head in ("classifier", "labels", "numbers", "tags") and self.classes < 1:
            raise ConfigError("no_classes", classes=self.classes)

    @property
    def d_k(self) -> int:
        """Width of one head: d_model / h, or `d_head`."""
        return self.d_head or self.d_model // self.heads

    def window_of(self, layer: int) -> int | None:
        """Largest attention distance in a layer (from 0); None: unlimited."""
        return self.window if layer in self.local else None

    def base_of(self, layer: int) -> float:
        """The rotary base of a layer (from 0)."""
        return self.local_base if layer in self.local else self.rotary_base

    @property
    def by_distance(self) -> bool:
        """Whether scores get a bias that depends on the distance of the tokens."""
        return bool(self.buckets) or self.sloped

    @property
    def places_added(self) -> bool:
        """Whether a position vector is added to each token before the layers."""
        return self.positions in ("sinusoidal", "learned")

    @property
    def sets(self) -> int:
        """How many layers have weights of their own."""
        return self.groups or self.layers

    @property
    def embedded(self) -> int:
        """Width of the vectors to which positions are added: d_E if given, else d_model."""
        return self.d_embedding or self.d_model

    @property
    def patches_per_side(self) -> int:
        return self.image_size // self.patch_size

    @property
    def front(self) -> tuple[str, ...]:
        """The names of the tokens that stand before the patches."""
        if self.input != "patches":
            return ()
        return (
            *["[CLS]"] * self.cls_token,
            *["[DIST]"] * self.distillation_token,
            *(f"[REG{i}]" for i in range(1, self.registers + 1)),
        )

    @property
    def tokens_in_front(self) -> int:
        """How many tokens stand before the patches."""
        return len(self.front)

    @property
    def placeless(self) -> range:
        """Indices of the tokens without a position: the registers."""
        return range(1, 1 + self.registers)

    @property
    def places(self) -> int:
        """How many rows the table of positions has."""
        return self.max_tokens - self.registers

    @property
    def read_alone(self) -> range:
        """Indices of tokens that the head reads individually, not in a mean: the first, or the first two."""
        one = self.head == "classifier" and self.pooling == "first" and self.patch_head != "alone"
        return range(1 + self.distillation_head if one or (self.head == "vector" and self.cls_token) else 0)

    @property
    def tokens_read(self) -> tuple[int, ...]:
        """Indices of all tokens that a head with one answer for the input reads."""
        mean = self.patch_head or (self.head == "classifier" and self.pooling == "mean")
        mean = mean or (self.head == "vector" and not self.cls_token)
        return (*self.read_alone, *(range(self.tokens_in_front, self.max_tokens) if mean else ()))

    @property
    def max_tokens(self) -> int:
        """The most tokens that the encoder takes: all patches and the tokens before them, one image, or `max_len`."""
        patches = self.tokens_in_front + self.patches_per_side**2
        return {"words": self.max_len, "patches": patches, "flat": 1}[self.input]


#: The five lecture notes (000 to 004), our trained models, and three well-known ones.
PRESETS: dict[str, EncoderConfig] = {
    "000": EncoderConfig(
        d_model=64, heads=4, layers=4, d_ff=256, activation="gelu",
        input="patches", positions="learned", head="classifier", classes=10,
    ),
    "001": EncoderConfig(vocab_size=10_000, activation="relu", max_len=512),
    "002": EncoderConfig(vocab_size=1000, final_norm=True, max_len=5000),
    "003": EncoderConfig(
        d_model=64, heads=4, layers=1, d_ff=256, activation="relu",
        input="flat", head="classifier", classes=2,
    ),
    "004": EncoderConfig(vocab_size=10_000, norm_eps=1e-6, max_len=512),
    "text": EncoderConfig(
        d_model=256, heads=8, layers=6, d_ff=1024, activation="gelu", dropout=0.0,
        vocab_size=12_000, max_len=64, head="masked-word",
    ),
    "digits": EncoderConfig(
        d_model=64, heads=4, layers=5, d_ff=256, activation="gelu", dropout=0.0,
        input="patches", positions="learned", head="classifier", classes=10,
    ),
    "flat": EncoderConfig(
        d_model=64, heads=4, layers=1, d_ff=256, activation="relu", dropout=0.0,
        input="flat", head="classifier", classes=2,
    ),
    "bert-base": EncoderConfig(
        d_model=768, heads=12, layers=12, d_ff=3072, activation="gelu", norm_eps=1e-12,
        vocab_size=30_522, max_len=512, positions="learned", scale_embedding=False, segments=2, embedding_norm=True,
    ),
    "albert-base": EncoderConfig(
        d_model=768, heads=12, layers=12, d_ff=3072, activation="gelu-tanh", norm_eps=1e-12, groups=1,
        vocab_size=30_000, max_len=512, positions="learned", scale_embedding=False, d_embedding=128, segments=2,
        embedding_norm=True,
    ),
    "vit-b-16": EncoderConfig(
        d_model=768, heads=12, layers=12, d_ff=3072, activation="gelu", norm_eps=1e-6, norm_first=True,
        final_norm=True, input="patches", positions="learned", image_size=224, patch_size=16, channels=3,
        head="classifier", classes=1000,
    ),
}  # fmt: skip

#: The translator's decoder: the text encoder's sizes, half as deep.
DECODER = replace(PRESETS["text"], layers=3, dropout=0.1, head="none")
