"""The files under model/weights, checked to be those that were measured.

Beside each file is its SHA-256 (FILE.sha256, as `sha256sum` writes it). A file that does not match is not read.
"""

import hashlib
from pathlib import Path

WEIGHTS = Path(__file__).parent / "weights"


class WeightsError(RuntimeError):
    """A file under model/weights that cannot be used: `file` and `reason` ("missing", "damaged", "not_finite")."""

    def __init__(self, reason: str, file: str) -> None:
        said = reason.replace("_", " ")
        super().__init__(f"model/weights/{file} is {said}; bring it back with: git checkout -- model/weights")
        self.reason = reason
        self.file = file


def fingerprint(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def state(path: Path) -> tuple[int, ...] | None:
    """A value that changes when a file is rewritten, found without reading it; None if there is no file."""
    try:
        found = path.stat()
    except (OSError, ValueError):
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def seal(path: Path) -> None:
    """Write the SHA-256 of a finished file beside it."""
    seal_of(path).write_text(f"{fingerprint(path)}  {path.name}\n", encoding="ascii")


def intact(path: Path) -> Path:
    """The same path if the file matches its seal. Raises WeightsError if file or seal is missing or damaged."""
    for needed in (path, seal_of(path)):
        if not needed.exists():
            raise WeightsError("missing", needed.name)
    if not seal_of(path).read_bytes().startswith(fingerprint(path).encode()):
        raise WeightsError("damaged", path.name)
    return path


def seal_of(path: Path) -> Path:
    """Path of a file's SHA-256."""
    return path.with_name(f"{path.name}.sha256")
