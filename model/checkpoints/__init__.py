"""Other people's encoders: from a Hugging Face folder to a pipeline like any other, without their library.

`families/` says how each family's names and settings are ours; `folder.py` reads the files; `text.py` reads sentences
with the checkpoint's own tokenizer; `build.py` puts the weights into our Encoder.
"""

from model.checkpoints.build import config_of, decoder_of, from_transformers, load_folder
from model.checkpoints.errors import CheckpointError
from model.checkpoints.families import FAMILIES

__all__ = ["FAMILIES", "CheckpointError", "config_of", "decoder_of", "from_transformers", "load_folder"]
