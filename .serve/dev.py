"""dev.py COMMAND…: starts a command, and starts it anew whenever a file of the project is saved: code, words, scripts,
styles. A tab that is open waits for it, and shows what became of the page.
"""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

FOLDERS = ("model", "pages", ".streamlit")
KINDS = {".py", ".toml", ".js", ".css"}
LOOK = 0.5  # seconds between two looks at the files


def saved() -> Iterator[tuple[Path, int]]:
    """When each file was saved last."""
    for file in (Path("app.py"), *(file for folder in FOLDERS for file in Path(folder).rglob("*"))):
        with suppress(FileNotFoundError):  # an editor puts a new file in the place of the old one
            if file.suffix in KINDS:
                yield file, file.stat().st_mtime_ns


signal.signal(signal.SIGTERM, lambda *_: sys.exit())
while True:
    before, server = dict(saved()), subprocess.Popen(sys.argv[1:])
    try:
        while dict(saved()) == before:
            time.sleep(LOOK)
    except KeyboardInterrupt:
        sys.exit()
    finally:
        server.terminate()
        server.wait()
