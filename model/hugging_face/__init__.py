"""Other people's encoders: from a Hugging Face folder to a pipeline like any other, without their library.

`families.py` says how each family's names and settings are ours; `folder.py` reads the files; `text.py` reads sentences
with the checkpoint's own tokenizer; `build.py` puts the weights into our Encoder.
"""

from model.hugging_face.build import config_of, decoder_of, from_transformers, load_folder
from model.hugging_face.errors import CheckpointError
from model.hugging_face.families import FAMILIES

__all__ = ["FAMILIES", "CheckpointError", "config_of", "decoder_of", "from_transformers", "load_folder"]
