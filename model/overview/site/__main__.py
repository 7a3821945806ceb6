"""Write the run on one screen as a folder for any host of files.

    python -m model.overview.site FOLDER [APP]

APP is the address of an app, as https://glass.example.edu: each picture then leads to its page there.
"""

import sys
from pathlib import Path

from model.export import ExportError
from model.loading import WeightsError
from model.overview.site import make_site

if __name__ == "__main__":
    match sys.argv[1:]:
        case [folder, *app] if len(app) < 2:
            try:
                make_site(Path(folder), *app)
            except (ExportError, WeightsError) as error:
                sys.exit(str(error))
        case _:
            sys.exit(__doc__)
