"""A gallery of other encoders' runs: a page for each encoder and sentence, and an index."""

import base64
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from html import escape
from pathlib import Path

import numpy as np

from model.analysis import bright_end
from model.export import ExportError
from model.loading import load
from model.overview.words import words_of
from model.pipeline import InputError, Pipeline, TextReader

FOLDER = "runs"
TEMPLATE = Path(__file__).parent / "runs.html"
#: Language -> index page.
INDEX = {"en": "index.html", "zh": "zh.html"}
MOST_SIDE = 64  # tokens in a thumbnail
MOST_NAMED = 60  # characters of a sentence in an error


@dataclass(frozen=True)
class Page:
    """A run's file, its sentence, and the weights of the head shown first, a byte each, in base64."""

    file: str
    sentence: str
    weights: str


def make_gallery(site: Path, names: Sequence[str], sentences: Path, words: dict[str, dict[str, str]]) -> None:
    """Write runs/ into the folder of a site.

    names: encoders, as `load` takes them; sentences: a file with one per line; words: of the index, in each language.
    Raises ExportError for an encoder, file or sentence that cannot be read.
    """
    lines = _lines(sentences)
    folder = site / FOLDER
    folder.mkdir(parents=True)
    shown = [
        (one := _encoder(name), [_page(one, name, line, folder) for line in lines]) for name in dict.fromkeys(names)
    ]
    for language, file in INDEX.items():
        (folder / file).write_text(_index(shown, language, words), encoding="utf-8")


def _lines(file: Path) -> list[str]:
    try:
        lines = file.read_text("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ExportError(f"{file} cannot be read as text in UTF-8") from error
    found = list(dict.fromkeys(line.strip() for line in lines if line.strip()))
    if not found:
        raise ExportError(f"{file} has no sentence: write one on each line")
    return found


def _encoder(name: str) -> Pipeline:
    try:
        pipeline = load(name)
    except ValueError as error:
        raise ExportError(str(error)) from error
    if not isinstance(pipeline.reader, TextReader):
        raise ExportError(f"{name} reads pictures, and a gallery shows encoders of sentences")
    return pipeline


def _page(pipeline: Pipeline, name: str, sentence: str, folder: Path) -> Page:
    """Write the run of a sentence. Its address does not change when other encoders and sentences are added."""
    try:
        run = pipeline(sentence)
    except InputError as error:
        short = sentence if len(sentence) <= MOST_NAMED else f"{sentence[:MOST_NAMED]}…"
        raise ExportError(f"{name} cannot read “{short}”: {error}") from error
    plain = re.sub("[^a-z0-9]+", "-", pipeline.name.lower()).strip("-")[:40]
    file = f"{plain}-{sha256(f'{name} {sentence}'.encode()).hexdigest()[:8]}.html"
    overview = run.overview()
    replace(overview, title=f"{pipeline.name}: {sentence}", others={"zh": words_of("zh")}).save(folder / file)
    weights = run[f"layers.{overview.place['layer']}.attention.weights"][overview.place["head"], :MOST_SIDE, :MOST_SIDE]
    shares = np.clip(weights / bright_end(weights), 0, 1)
    return Page(file, sentence, base64.b64encode((255 * shares).round().astype(np.uint8).tobytes()).decode())


def _index(shown: list[tuple[Pipeline, list[Page]]], language: str, words: dict[str, dict[str, str]]) -> str:
    own, (other, file) = words[language], next(one for one in INDEX.items() if one[0] != language)
    sections = "\n".join(_section(pipeline, pages, language, own) for pipeline, pages in shown)
    about = {"runs": own["runs"], "about": own["runs_about"], "live": own["live"], "other_name": words[other]["name"]}
    return TEMPLATE.read_text("utf-8").format(
        language=language, sections=sections, other=other, other_file=file, **about
    )


def _section(pipeline: Pipeline, pages: list[Page], language: str, own: dict[str, str]) -> str:
    links = "\n".join(
        f'<a href="{page.file}?lang={language}"><canvas data-weights="{page.weights}" aria-hidden="true"></canvas>'
        f'<span translate="no">{escape(page.sentence)}</span></a>'
        for page in pages
    )
    sizes = own["sizes"].format(**vars(pipeline.config))
    return (
        f'<h2><span translate="no">{escape(pipeline.name)}</span> <small>{sizes}</small></h2>\n<div>\n{links}\n</div>'
    )
