"""Sentences about an encoder whose layers share their weights."""

from model.config import EncoderConfig
from pages.drawing.text import t


def shared_weights(config: EncoderConfig, *more: str) -> list[str]:
    """A sentence that says that layers share weights, and what follows on this page; [] where none do.

    more: names of texts in the table "shared".
    """
    if config.sets == config.layers:
        return []
    said = {"N": config.layers, "sets": config.sets, "each": config.layers // config.sets}
    return [t(f"shared.{name}", **said) for name in ("one" if config.sets == 1 else "some", *more)]
