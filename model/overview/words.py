"""What the overview says, in each language: see en.toml and zh.toml beside it."""

import tomllib
from pathlib import Path


def words_of(language: str) -> dict[str, str]:
    """Name -> text, as the painter asks for it. Names in braces are filled in there."""
    return tomllib.loads((Path(__file__).parent / f"{language}.toml").read_text("utf-8"))["overview"]


#: In English, as notebooks show them.
WORDS = words_of("en")
