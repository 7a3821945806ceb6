"""Other people's encoders: a Hugging Face folder becomes a pipeline, without the transformers library.

`families/` maps each family's names and settings to ours; `folder.py` reads the files; `text.py` reads sentences with
the checkpoint's own tokenizer; `build.py` loads the weights into our Encoder.
"""

from model.checkpoints.build import config_of, decoder_of, from_transformers, load_folder
from model.checkpoints.errors import CheckpointError
from model.checkpoints.families import FAMILIES

__all__ = ["FAMILIES", "CheckpointError", "config_of", "decoder_of", "from_transformers", "load_folder"]
