"""Heads: encoders that also compute an answer.

Each is a subclass of Encoder, so module paths (`layers.0.attention.scores`, …, `logits`) have no prefix.
"""

from torch import Tensor, nn

from model.activations import ACTIVATIONS
from model.config import EncoderConfig
from model.encoder import Encoder
from model.sublayers import norm_for
from model.tap import Tap
from model.variants.probe import PoolByProbe


class Answering(Encoder):
    """An encoder with a head, whose `read_out` computes the answer from the encoder's output."""

    def read_out(self, Z: Tensor, mask: Tensor | None = None) -> Tensor:
        """Z: (batch, token, d_model). mask: as in `forward`, False for padding."""
        raise NotImplementedError

    def forward(self, x: Tensor, mask: Tensor | None = None, segments: Tensor | None = None) -> Tensor:
        return self.read_out(super().forward(x, mask, segments), mask)


class MaskedWordNetwork(Answering):
    """Guess the hidden word at each position  (Devlin et al. 2019, section 3.1, task 1).

    logits = LayerNorm(act(Z W + b)) Eᵀ + c: the product with each row of the embedding matrix E.
    """

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__(config)
        self.transform = nn.Sequential(
            nn.Linear(config.d_model, config.embedded, "head" not in config.unbiased),
            ACTIVATIONS[config.head_activation].module(),
            norm_for(config, config.embedded),
        )
        self.logits = nn.Linear(config.embedded, config.vocab_size, "logits" not in config.unbiased)
        self.logits.weight = self.embedding.E.weight  # one matrix for input and output

    def read_out(self, Z: Tensor, mask: Tensor | None = None) -> Tensor:
        """(…, d_model) -> (…, vocabulary)."""
        return self.logits(self.transform(Z))


class FirstToken(nn.Module):
    """Z_1: the vector of the first token."""

    def forward(self, Z: Tensor, mask: Tensor | None = None) -> Tensor:
        return Z[:, 0]


class MeanOfTokens(nn.Module):
    """Z̄: the mean of all tokens' vectors, without padding (mask (batch, 1, 1, key): False)."""

    def forward(self, Z: Tensor, mask: Tensor | None = None) -> Tensor:
        if mask is None:
            return Z.mean(dim=1)
        counted = mask[:, 0, 0, :, None]
        return (Z * counted).sum(dim=1) / counted.sum(dim=1)


class ClassifierNetwork(Answering):
    """y = Linear(Z_L^[CLS]): one score for each class, read from the first position  (lecture note 000).

    With a pooler, y = Linear(act(Z_L^[CLS] W + b))  (Devlin et al. 2019: "pooled output").
    """

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__(config)
        self.pooled, self.pooler = pooling_for(config), pooler_for(config)
        self.logits = nn.Linear(config.d_model, config.classes)

    def read_out(self, Z: Tensor, mask: Tensor | None = None) -> Tensor:
        """(batch, token, d_model) -> (batch, class)."""
        return self.logits(self.pooler(self.pooled(Z, mask)))


class DistilledClassifierNetwork(Answering):
    """y = (Linear(Z_L^[CLS]) + Linear(Z_L^[DIST])) / 2  (Touvron et al. 2021, "Classification with our approach").

    The first was trained on the labels, the second on a teacher network. The mean is of the logits, as in their code.
    """

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__(config)
        self.cls_logits = nn.Linear(config.d_model, config.classes)
        self.distillation_logits = nn.Linear(config.d_model, config.classes)
        self.logits = Tap()

    def read_out(self, Z: Tensor, mask: Tensor | None = None) -> Tensor:
        """(batch, token, d_model) -> (batch, class)."""
        return self.logits((self.cls_logits(Z[:, 0]) + self.distillation_logits(Z[:, 1])) / 2)


class PatchMeanNetwork(Answering):
    """y = Linear(Z̄_L), Z̄ the mean of the patches, as in classifiers based on CLIP and SigLIP."""

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__(config)
        self.patch_mean, self.logits = Tap(), nn.Linear(config.d_model, config.classes)

    def read_out(self, Z: Tensor, mask: Tensor | None = None) -> Tensor:
        """(batch, token, d_model) -> (batch, class)."""
        return self.logits(self.patch_mean(Z[:, self.config.tokens_in_front :].mean(dim=1)))


class VectorNetwork(Answering):
    """LayerNorm(Z_L^[CLS]) W: one vector for a picture, which CLIP compares with the caption's.

    Source: Radford et al. 2021, "Learning Transferable Visual Models From Natural Language Supervision", figure 3.
    """

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__(config)
        self.cls_norm = norm_for(config)
        self.vector = nn.Linear(config.d_model, config.projection, bias=False) if config.projection else nn.Identity()

    def read_out(self, Z: Tensor, mask: Tensor | None = None) -> Tensor:
        """(batch, d_model or projection)."""
        return self.vector(self.cls_norm(Z[:, 0]))


class ProbedNetwork(Answering):
    """One vector for a picture without [CLS]: attention pooling of Z_L  (probe.py)."""

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__(config)
        self.pool = PoolByProbe(config)

    def read_out(self, Z: Tensor, mask: Tensor | None = None) -> Tensor:
        """(batch, 1, d_model)."""
        return self.pool(Z)


class PatchClassifierNetwork(Answering):
    """y = Z_L^[CLS] W + b + Z̄_L W', Z̄ the mean of the patches: one Linear of both, side by side.

    Source: Oquab et al. 2024, "DINOv2", section 7.1 and its linear heads.
    """

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__(config)
        self.cls_logits = nn.Linear(config.d_model, config.classes)
        self.patch_logits = nn.Linear(config.d_model, config.classes, bias=False)
        self.patch_mean, self.logits = Tap(), Tap()

    def read_out(self, Z: Tensor, mask: Tensor | None = None) -> Tensor:
        """(batch, token, d_model) -> (batch, class)."""
        mean = self.patch_mean(Z[:, self.config.tokens_in_front :].mean(dim=1))
        return self.logits(self.cls_logits(Z[:, 0]) + self.patch_logits(mean))


class LabelsNetwork(Answering):
    """y = Linear(act(Z_L^[CLS] W + b)). Each label is independent: σ(y) for true or false, y for a number."""

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__(config)
        self.pooled, self.pooler = pooling_for(config), pooler_for(config)
        self.labels = nn.Linear(config.d_model, config.classes)

    def read_out(self, Z: Tensor, mask: Tensor | None = None) -> Tensor:
        """(batch, label)."""
        return self.labels(self.pooler(self.pooled(Z, mask)))


class TagsNetwork(Answering):
    """y = Linear(Z_L): scores of each class for each token  (Devlin et al. 2019, section 5.3)."""

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__(config)
        self.pooler = pooler_for(config)
        self.tags = nn.Linear(config.d_model, config.classes)

    def read_out(self, Z: Tensor, mask: Tensor | None = None) -> Tensor:
        """(batch, token, class)."""
        return self.tags(self.pooler(Z))


class SpanNetwork(Answering):
    """y = (Z_L [S, E] + b)ᵀ: scores of each token as start and end of the answer  (Devlin et al. 2019, section 4.2)."""

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__(config)
        self.pooler = pooler_for(config)
        self.of_bounds = nn.Linear(config.d_model, 2)
        self.bounds = Tap()

    def read_out(self, Z: Tensor, mask: Tensor | None = None) -> Tensor:
        """(batch, 2, token)."""
        return self.bounds(self.of_bounds(self.pooler(Z)).mT)


def pooling_for(config: EncoderConfig) -> nn.Module:
    """The module that reads Z for a classifier of the whole input."""
    return MeanOfTokens() if config.pooling == "mean" else FirstToken()


def pooler_for(config: EncoderConfig) -> nn.Module:
    """The module before the last Linear: act(x W + b), LayerNorm of that, or x unchanged."""
    if config.pooler == "none":
        return nn.Identity()
    dense = nn.Linear(config.d_model, config.d_model, "head" not in config.unbiased)
    return nn.Sequential(dense, ACTIVATIONS[config.pooler].module(), *[norm_for(config)] * config.pooler_norm)


def network_for(config: EncoderConfig) -> Encoder:
    """The encoder with the head that the configuration names."""
    classifier = DistilledClassifierNetwork if config.distillation_head else ClassifierNetwork
    if config.patch_head:
        return (PatchMeanNetwork if config.patch_head == "alone" else PatchClassifierNetwork)(config)
    if config.head == "vector":
        return (VectorNetwork if config.cls_token else ProbedNetwork)(config)
    kinds = {
        "none": Encoder, "masked-word": MaskedWordNetwork, "classifier": classifier, "labels": LabelsNetwork,
        "numbers": LabelsNetwork, "tags": TagsNetwork, "span": SpanNetwork,
    }  # fmt: skip
    return kinds[config.head](config)
