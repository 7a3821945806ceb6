"""Write the run on one screen as a folder for any host of files."""

import argparse
import sys
from pathlib import Path

from model.export import ExportError
from model.loading import WeightsError
from model.overview.site import make_site


def main() -> None:
    parser = argparse.ArgumentParser("python -m model.overview.site", description=__doc__)
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("app", nargs="?", default="", metavar="APP", help="an app, to whose pages each picture leads")
    parser.add_argument(
        "--runs", nargs="+", default=[], metavar="NAME", help="encoders, folders or org/name, to show runs of"
    )
    parser.add_argument("--sentences", type=Path, metavar="FILE", help="of what, one on each line")
    said = parser.parse_args()
    try:
        make_site(said.folder, said.app, said.runs, said.sentences)
    except (ExportError, WeightsError, OSError) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
