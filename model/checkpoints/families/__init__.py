"""Families of Hugging Face checkpoints: one file each, with a table that maps the checkpoint to our Encoder."""

from model.checkpoints.families import (
    albert,
    bert,
    clip,
    deberta,
    dinov2,
    distilbert,
    electra,
    esm,
    gte,
    marian,
    modern,
    nomic,
    roberta,
    roformer,
    t5,
    vit,
)  # fmt: skip
from model.checkpoints.families.family import Family

FILES = (
    bert, roberta, distilbert, electra, albert, esm, t5, deberta, vit, modern, nomic, gte, roformer, clip, dinov2,
    marian,
)  # fmt: skip
#: By `model_type` in config.json.
FAMILIES: dict[str, Family] = {kind: family for file in FILES for kind, family in file.FAMILIES.items()}
