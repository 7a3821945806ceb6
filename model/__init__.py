"""A Transformer encoder that shows its work: `load("text")("I love you")` is a run with every number kept."""

from model.checkpoints import CheckpointError, from_transformers
from model.edits import Edit, EditError
from model.loading import WeightsError, load
from model.pipeline import InputError, Pipeline
from model.trace import Trace

__all__ = [
    "CheckpointError", "Edit", "EditError", "InputError", "Pipeline", "Trace", "WeightsError", "from_transformers",
    "load",
]  # fmt: skip
