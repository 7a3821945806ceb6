"""The run on one screen without a server: a folder for any static host, computed in the browser."""

import base64
import json
import shutil
import subprocess
import tomllib
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from model import digits as digits_of
from model import examples
from model.analysis import MANY
from model.export import DATA, ExportError, as_recorded
from model.loading import load
from model.measures.tables import head_roles
from model.overview import PAD, STYLE, Answers, Packed, opened, pack, painter, words_of
from model.overview.answers import LENS, MOST_BARS, answers_of
from model.overview.packing import MOST_COLUMNS
from model.overview.pictures import PAGE_OF, key_before, keys_of
from model.overview.site.gallery import FOLDER, INDEX, make_gallery
from model.pipeline import Pipeline, TextReader
from model.trace import Trace

HERE = Path(__file__).parent
OWN = ("drawing.js", "engine.js", "live.js", "page.js", "reader.js", "runs.js", "site.css")
OFFLINE = HERE / "offline.js"
#: Files of npm packages; package-lock.json fixes versions and hashes.
ENGINE = (
    "onnxruntime-web/dist/ort.wasm.bundle.min.mjs",
    "onnxruntime-web/dist/ort-wasm-simd-threaded.wasm",
    "@huggingface/tokenizers/dist/tokenizers.min.mjs",
)
PLACES = 112  # pixels per side of the pad
FIRST_DIGIT = 5
#: Quantities whose arithmetic an opened picture shows.
OPENED = ("x", "s", "w", "heads", "n1", "n2")


def make_site(folder: Path, app: str = "", runs: Sequence[str] = (), sentences: Path | None = None) -> None:
    """Write index.html and everything it needs into a folder, creating it; other files there stay.

    app: address of an app to which pictures link. runs, sentences: encoders and a file of sentences for a gallery of
    runs. Raises ExportError, before writing anything, if npm or a package for ONNX is missing, or an encoder or the
    file cannot be read.
    """
    if bool(runs) != bool(sentences):
        raise ExportError("runs and sentences go together: encoders, and a file with a sentence on each line")
    with TemporaryDirectory() as room:
        site = Path(room) / "site"
        site.mkdir()
        _write(site, app, runs, sentences)
        shutil.copytree(site, folder, dirs_exist_ok=True)


def _write(folder: Path, app: str, runs: Sequence[str], sentences: Path | None) -> None:
    words = {language: _words(language) for language in INDEX}
    if sentences:
        make_gallery(folder, runs, sentences, words)
    _fetch_engine(folder)
    for path in (PAD, STYLE, *(HERE / name for name in OWN)):
        shutil.copy(path, folder)
    (folder / "painter.js").write_text(painter(), encoding="utf-8")
    text = load("text")
    firsts = {language: _first(text, language) for language in INDEX}
    network = _network(text, firsts["en"][1], folder)
    for language, (_, run, answers) in firsts.items():
        (folder / f"{language}.run").write_bytes(_packed(run, network, answers).message)
    (folder / "digit.run").write_bytes(_digit(folder).message)
    about = {
        "words": words,
        "firsts": {language: first for language, (first, *_) in firsts.items()},
        "examples": examples.READY,
        "engine": ["engine.js", "reader.js", *(Path(file).name for file in ENGINE)],
        "app": app.rstrip("/"),
        "pages": PAGE_OF,
        "runs": sentences and {language: f"{FOLDER}/{file}" for language, file in INDEX.items()},
    }
    page = (HERE / "index.html").read_text("utf-8")
    data = json.dumps(about, ensure_ascii=False).replace("<", "\\u003c")
    (folder / "index.html").write_text(page.replace("ABOUT", data), encoding="utf-8")
    version = sha256(b"".join(file.read_bytes() for file in sorted(folder.rglob("*.*"))))
    worker = OFFLINE.read_text("utf-8").replace("VERSION", version.hexdigest()[:16])
    (folder / OFFLINE.name).write_text(worker, encoding="utf-8")


def _words(language: str) -> dict[str, Any]:
    own: dict[str, Any] = tomllib.loads((HERE / f"{language}.toml").read_text("utf-8"))
    return own | {"overview": words_of(language)}


def _fetch_engine(folder: Path) -> None:
    """Fetch from npm what runs the network and tokenizes sentences in a browser."""
    if not (npm := shutil.which("npm")):
        raise ExportError("for a site npm is needed, which comes with Node.js (Debian: apt-get install npm)")
    with TemporaryDirectory() as room:
        for name in ("package.json", "package-lock.json"):
            shutil.copy(HERE / name, room)
        fetch = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
        if subprocess.run(fetch, cwd=room, stdout=subprocess.DEVNULL, check=False).returncode:
            raise ExportError("npm could not fetch the packages that a site needs")
        for file in ENGINE:
            shutil.copy(Path(room) / "node_modules" / file, folder)


def _network(pipeline: Pipeline, run: Trace, folder: Path) -> dict[str, Any]:
    """Write a network. Returns what the page needs to know about it, taken from one of its runs.

    keys: role -> the key of each layer; limits: those of packing.py and answers.py; load: options of the engine.
    """
    config, graph, reader = pipeline.config, pipeline.graph, pipeline.reader
    with TemporaryDirectory() as room:
        as_recorded(pipeline, Path(room))
        load: dict[str, Any] = {"network": f"{pipeline.name}.onnx", "data": f"{pipeline.name}.data", "path": DATA}
        shutil.copyfile(Path(room) / "model.onnx", folder / load["network"])
        shutil.copyfile(Path(room) / DATA, folder / load["data"])
        load["bytes"] = (folder / load["data"]).stat().st_size
        if isinstance(reader, TextReader):
            shutil.move(Path(room) / "tokenizer.json", folder / "tokenizer.json")
            load |= {"tokenizer": "tokenizer.json", "most": reader.most, "maxLen": reader.max_len}
    layers = [keys_of(graph, layer) for layer in range(config.layers)]
    keys = {"x0": [key_before(graph)], **{role: [layer[role] for layer in layers] for role in layers[0]}}
    wanted = dict.fromkeys(key for of_role in keys.values() for key in of_role)
    for layer in range(config.layers):
        wanted |= dict.fromkeys(opened.leaves(run, layer, OPENED).values())
        wanted |= {opened.names_of(graph, layer)["heads"]: None}  # needed when a head is off
    load |= {"layers": config.layers, "heads": config.heads, "lens": LENS, "keys": [*wanted, "logits", "lens"]}
    limits = {"columns": MOST_COLUMNS, "many": MANY, "bars": MOST_BARS, "lens": LENS}
    return {"keys": keys, "limits": limits, "load": load}


def _packed(run: Trace, network: dict[str, Any], answers: Answers | None = None) -> Packed:
    """A run, with what the page needs to know about its network (see `_network`), and the trained numbers of
    its steps.
    """
    packed, trained = pack(run, answers=answers), opened.Rows()
    for layer in range(run.config.layers):
        opened.add_trained(run, layer, trained)
    about = packed.about | network | trained.described(len(packed.numbers))
    return Packed(about, packed.numbers + b"".join(trained.parts))


def _first(pipeline: Pipeline, language: str) -> tuple[dict[str, Any], Trace, Answers]:
    """The first view: a sentence with a masked word and a head; its run, and its answers."""
    roles, reader = head_roles(), pipeline.reader
    first = roles and roles.first(language)
    assert first and isinstance(reader, TextReader)
    typed = reader.read(first.text)
    run = pipeline(reader.hide(typed.ids, [first.query]))
    place = {"layer": first.layer, "head": first.head, "query": first.query}
    answers = answers_of(run, right={first.query: typed.tokens[first.query]})
    return {"text": first.text, "tokens": typed.tokens, **place}, run, answers


def _digit(folder: Path) -> Packed:
    """The run of a drawing, and ten example drawings, one of each digit."""
    digits = load("digits")
    drawings = [_drawn(picture) for picture in examples.digits()[::2]]
    run = digits(digits_of.prepare(drawings[FIRST_DIGIT] / 3))
    codes = [base64.b64encode(_in_bytes(one)).decode() for one in drawings]
    return _packed(run, _network(digits, run, folder)).with_(drawings=codes, first=FIRST_DIGIT)


def _drawn(picture: np.ndarray) -> np.ndarray:
    """A picture as on the pad: (112, 112), four greys from 0 to 3."""
    large = functional.interpolate(torch.from_numpy(picture)[None, None], (PLACES, PLACES), mode="bilinear")[0, 0]
    return (large * 3).round().numpy().astype(np.uint8)


def _in_bytes(drawing: np.ndarray) -> bytes:
    """Four pixels in each byte, row by row."""
    places = drawing.reshape(-1, 4)
    return (places << np.array([0, 2, 4, 6], np.uint8)).sum(1).astype(np.uint8).tobytes()
