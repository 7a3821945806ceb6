"""What is there before a server starts.

python -m model.checkpoints all-MiniLM-L6-v2    # in a package, or what to install
python -m model.checkpoints sentence-transformers/all-MiniLM-L6-v2    # fetched from the hub
python -m model.checkpoints convert BAAI/bge-m3    # of pickles alone: written as safetensors
"""

import sys

from model.checkpoints.build import unanswered
from model.checkpoints.convert import ConversionError, convert
from model.checkpoints.errors import CheckpointError
from model.checkpoints.hub import fetch


def main() -> None:
    """Fetch what is no folder here; and say what cannot be read of the others, or answered."""
    names = sys.argv[1:]
    converts = names[:1] == ["convert"]
    for name in names[converts:]:
        try:
            folder = convert(name) if converts else fetch(name)
        except (ConversionError, CheckpointError) as error:
            sys.exit(str(error))
        if converts:
            print(f"written: {folder}")
        try:
            if why := unanswered(folder):
                print(why, file=sys.stderr)
        except CheckpointError as error:
            print(error, file=sys.stderr)


if __name__ == "__main__":
    main()
