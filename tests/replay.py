"""Record what some 1,000 fixed links show, and compare: a refactoring must leave all of it as it was.

    python -m tests.replay record before.json.gz     # before the change
    python -m tests.replay compare before.json.gz    # after it: lists what differs; exit code 1 if anything does
    python -m tests.replay compare before.json.gz after.json.gz    # two records
    ... --only "attention?" --every 5                # only links that contain this text, only every fifth of those

Each link is opened in a session of its own. Recorded is every element of page and sidebar in order: its type, where it
stands, its texts, labels, options and values, the figure of a chart, the cells of a table, the hash of an image; and of
downloads the hash of their bytes. Left out is what a reader does not see: ids and keys of widgets, containers without a
look of their own, the scripts of components; of source code only the first line is kept. Numbers are rounded to six
significant digits, and numbers that differ by no more than that count as equal. Links are in `tests/replay_links.py`.
"""

import argparse
import atexit
import gzip
import hashlib
import io
import json
import logging
import math
import os
import re
import shutil
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from functools import cache
from inspect import signature
from pathlib import Path
from tempfile import gettempdir
from typing import Any
from unittest.mock import patch

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # else the last digits depend on how many cores there are; NumPy reads it

import numpy as np
import pandas as pd
import streamlit as st
import torch
from google.protobuf.json_format import MessageToDict
from plotly.offline import get_plotlyjs
from streamlit.components.v2 import manifest_scanner
from streamlit.delta_generator import DeltaGenerator
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Block

from pages.ui.state import pictures, sketch
from pages.ui.text import catalogue
from tests.pages.opening import at_page, numbers
from tests.replay_links import links

#: Fields of an element that no reader sees.
UNSEEN = {"id", "form_id", "set_value", "allow_empty", "arrow_data", "lazy_data", "page_script_hash"}
UNSEEN |= {"deferred_file_id"} | {
    f"{kind}_{what}" for kind in ("js", "html", "css") for what in ("content", "source_path")
}
#: Containers without a look of their own.
PLAIN = [
    {},
    {"transparent": {}},
    {
        "flex_container": {
            "gap_config": {"gap_size": "SMALL"}, "direction": "VERTICAL", "justify": "JUSTIFY_START",
            "align": "ALIGN_START",
        },
        "height_config": {"use_content": True},
        "width_config": {"use_stretch": True},
    },
]  # fmt: skip
MOST_SHOWN = 90  # characters of a value in a list of differences
ROUNDING = {"rel_tol": 1.1e-5, "abs_tol": 2e-7}

Element = dict[str, Any]
#: "links": link -> the hashes of its elements; "parts": hash -> element, since most elements stand on many pages.
Record = dict[str, dict[str, Any]]


# -- opening -----------------------------------------------------------------------------------------------------------


@cache
def folder() -> Path:
    """Where the checkpoints of this process lie. Its name has no sign that Markdown would need escaped."""
    path = Path(gettempdir(), f"replay{os.getpid()}")
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return path


@cache
def checkpoints() -> str:
    """MODELS for two encoders with random weights, one of words and one of pictures."""
    from tests.model.test_checkpoints import theirs  # imports transformers, which takes seconds

    for name, kind in (("words", "BertForMaskedLM"), ("pictures", "ViTForImageClassification")):
        shutil.copytree(theirs(kind)[1], folder() / name)
    return f"{folder() / 'words'} {folder() / 'pictures'}"


def opened(link: str) -> tuple[AppTest, dict[str, bytes]]:
    """The page of a link after what the link says is done there (`do`), and the files that were downloaded."""
    page, _, query = link.partition("?")
    values = {"lang": "en"} | dict(pair.split("=", 1) for pair in query.split("&"))
    for drawing in {"ink", "other_ink"} & values.keys():
        if values[drawing].isdigit():
            values[drawing] = sketch.to_code(sketch.example(int(values[drawing])))
    os.environ["MODELS"] = checkpoints() if values.get("model") in ("words", "pictures") else ""
    os.environ["XDG_CACHE_HOME"] = str(folder())  # where what was measured of checkpoints would lie: nothing
    do, theme, say = values.pop("do", ""), values.pop("theme", "light"), catalogue(values["lang"])
    app = at_page(page, **values)
    app.context |= {"theme": theme, "url": f"http://museum.example/{page}"}
    app.run()
    if do == "downloads":
        return app, downloads(app, say)
    if do == "upload":
        app.file_uploader[0].upload("seven.png", pictures.of_drawing(sketch.example(7)), "image/png").run()
    elif do:
        next(button for button in app.button if button.label == say[do]).click().run()
    return app, {}


def downloads(app: AppTest, say: dict[str, str]) -> dict[str, bytes]:
    """Open the box of downloads and take along each of the page's pictures: file name -> bytes."""
    files: dict[str, bytes] = {}

    def taking(button: Callable) -> Callable:
        def download_button(*args: Any, **look: Any) -> bool:
            given = signature(button).bind(*args, **look).arguments
            data, name = given["data"], given["file_name"]
            if name not in files:
                content = data() if callable(data) else data
                files[name] = content.encode() if isinstance(content, str) else content
            return button(*args, **look)

        return download_button

    with (
        patch.object(st, "download_button", taking(st.download_button)),
        patch.object(DeltaGenerator, "download_button", taking(DeltaGenerator.download_button)),
    ):
        box = next(box for box in app.expander if box.label == say["common.downloads"])
        app.session_state[box.key] = True
        app.run()
        for which in [box for box in app.selectbox if box.label == say["common.which_picture"]]:  # none on Home
            for place in range(len(which.options)):
                next(box for box in app.selectbox if box.key == which.key).select_index(place).run()
    return files


# -- what is seen ------------------------------------------------------------------------------------------------------


def seen(app: AppTest) -> Iterator[Element]:
    """All that is on the page, in order: the main part, the sidebar, what lies over them, the address."""
    yield from inside(app.main, "main")
    yield from inside(app.sidebar, "sidebar")
    for dialog in app.get("dialog"):
        yield {"kind": "dialog", "in": "over", **as_json(fields(dialog.proto))}
        yield from inside(dialog, "dialog")
    yield {"kind": "address", "in": "", "query": as_json(dict(app.query_params))}


def inside(block: Block, place: str) -> Iterator[Element]:
    """What is in a container, and the container itself where it is seen. place: the path of those that it is in."""
    for node in block.children.values():
        about = fields(node.proto)
        if isinstance(node, Block):
            if about in PLAIN:
                yield from inside(node, place)
            else:
                yield {"kind": node.type, "in": place, **as_json(about)}
                yield from inside(node, f"{place} > {node.type}")
        elif node.type != "empty":
            yield {"kind": node.type, "in": place, **content(node.type, about, node)}


def fields(proto: Any) -> dict[str, Any]:
    found = MessageToDict(proto, preserving_proto_field_name=True)
    return {name: value for name, value in found.items() if name not in UNSEEN}


def content(kind: str, about: dict[str, Any], node: Any) -> dict[str, Any]:
    """What an element shows, as plain data."""
    if kind == "bidi_component":
        sent = node.proto.bytes
        if about.get("component_name") in ("at_once", "overview"):  # numbers for the browser, which are no text
            about |= {"bytes": "", "data": hashed(sent)}
        else:
            told = sent.decode() if about.pop("bytes", "") else about.pop("json", "null")
            about["data"] = told if told.startswith("<") else json.loads(told)
    elif kind == "code" and about.get("language") == "python":
        about["code_text"] = about["code_text"].split("\n", 1)[0]
    elif kind == "download_button":
        about.pop("url", None)
    elif kind in ("dataframe", "table"):
        table: pd.DataFrame = node.value
        about["cells"] = {"columns": list(table.columns), "rows": list(table.index), "values": table.values.tolist()}
    return as_json(about)


def as_json(value: Any) -> Any:
    """As JSON: arrays as lists, numbers rounded, images inside text hashed, without the folder of this process."""
    if isinstance(value, dict):
        if "bdata" in value:
            return {"shape": value.get("shape", ""), "values": as_json(numbers(value).ravel().tolist())}
        return {str(name): as_json(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(part) for part in value]
    if isinstance(value, float):
        return float(f"{value:.6g}") if math.isfinite(value) else str(value)
    if isinstance(value, str):
        value = value.replace(str(folder()), "…")
        return hashed(value.encode()) if value.startswith("data:") else value
    return value if isinstance(value, int | None) else str(value)


def hashed(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


@cache
def plotly() -> bytes:
    """The 5 MB of JavaScript in each HTML file."""
    return get_plotlyjs().encode()


def file_seen(name: str, content: bytes) -> Element:
    """A download: of an NPZ the hash of each array, else of its bytes, without Plotly and a figure's random id."""
    if name.endswith(".npz"):
        with np.load(io.BytesIO(content)) as arrays:
            about: Any = {key: f"{arrays[key].shape} {hashed(arrays[key].tobytes())}" for key in arrays}
    else:
        content = content.replace(plotly(), b"")
        content = re.sub(rb"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", b"", content)
        about = {"begins": as_json(content[:200].decode(errors="replace")), "bytes": hashed(content)}
    return {"kind": "file", "in": "downloads", "name": name, **about}


# -- recording ---------------------------------------------------------------------------------------------------------


def record(wanted: Sequence[str]) -> Record:
    """What these links show, each opened in a new session."""
    torch.set_num_threads(1)
    compiled, shown = ScriptCache(), {}
    parts: dict[str, Element] = {}
    with (  # scripts are compiled once, and components looked for once, as in a server
        patch("streamlit.testing.v1.local_script_runner.ScriptCache", lambda: compiled),
        patch.object(manifest_scanner, "scan_component_manifests", cache(manifest_scanner.scan_component_manifests)),
        patch.dict(os.environ),
    ):
        for link in wanted:
            app, files = opened(link)
            elements = [*seen(app), *(file_seen(name, content) for name, content in files.items())]
            shown[link] = [hashed(json.dumps(element, sort_keys=True).encode()) for element in elements]
            parts.update(zip(shown[link], elements, strict=True))
    return {"links": shown, "parts": parts}


def write(file: str, found: Record) -> None:
    with gzip.open(file, "wt", 4, encoding="utf-8") as out:
        json.dump(found, out, ensure_ascii=False)


def read(file: str) -> Record:
    with gzip.open(file, "rt", encoding="utf-8") as found:
        return json.load(found)


# -- comparing ---------------------------------------------------------------------------------------------------------


def differences(before: Record, after: Record) -> dict[str, list[str]]:
    """Each difference -> the links that show it. Compared are the links that are in both records."""
    parts = before["parts"] | after["parts"]
    change = cache(lambda one, other: changed(parts[one], parts[other]))
    found: dict[str, list[str]] = defaultdict(list)
    for link in before["links"].keys() & after["links"].keys():
        for one, other in paired(before["links"][link], after["links"][link], parts):
            told = change(one, other) if one and other else "is new" if other else "is gone"
            if told:
                found[f"{in_words(parts[one or other])}: {told}"].append(link)
    return {said: sorted(set(links)) for said, links in sorted(found.items())}


def paired(one: list[str], other: list[str], parts: dict[str, Element]) -> Iterator[tuple[str, str]]:
    """The elements of two pages that are not equal, each with the one in its place; "" where there is none.

    Equal elements are paired first, then between them those of the same type, of charts those of the same name.
    """
    for equal, ours, theirs in matched(one, other, lambda part: part):
        if equal:
            continue
        for alike, some, those in matched(ours, theirs, lambda part: type_of(parts[part])):
            if alike or [type_of(parts[part])[0] for part in some] == [type_of(parts[part])[0] for part in those]:
                yield from zip(some, those, strict=True)
            else:
                yield from ((part, "") for part in some)
                yield from (("", part) for part in those)


def matched(one: list[str], other: list[str], key: Callable[[str], Any]) -> Iterator[tuple[bool, list[str], list[str]]]:
    """Two lists cut where they begin or cease to agree in `key`: whether they do, and both pieces."""
    matcher = SequenceMatcher(None, [key(part) for part in one], [key(part) for part in other], autojunk=False)
    for tag, start, stop, there, until in matcher.get_opcodes():
        yield tag == "equal", one[start:stop], other[there:until]


def type_of(element: Element) -> tuple[str, str]:
    """What an element is; and, of charts, which one."""
    data = element.get("data")
    return element.get("component_name", element["kind"]), data.get("file", "") if isinstance(data, dict) else ""


def in_words(element: Element) -> str:
    """An element in a few words: what it is, where, and how it begins."""
    data = element.get("data")
    told = next((element[field] for field in ("label", "body", "name") if field in element), data)
    told = told.get("alt", told) if isinstance(told, dict) else told
    return f"{element.get('component_name', element['kind'])} in {element['in']} {short(told)[:40]}"


def changed(one: Any, other: Any, path: str = "") -> str:
    """The first place where two values differ, and the values there; "" where they are the same but for rounding."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        places: Any = one.keys()
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        places = range(len(one))
    else:
        number = isinstance(one, int | float) and isinstance(other, int | float)
        same = math.isclose(one, other, **ROUNDING) if number else one == other
        if isinstance(one, str) and isinstance(other, str):  # from shortly before they part
            begin = next((i for i, signs in enumerate(zip(one, other, strict=False)) if len({*signs}) > 1), 20)
            begin = max(0, begin - 20)
            one, other = one[begin:], other[begin:]
        return "" if same else f"{path}: {short(one)} → {short(other)}"
    return next(filter(None, (changed(one[at], other[at], f"{path}.{at}".lstrip(".")) for at in places)), "")


def short(value: Any) -> str:
    written = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return repr(written if len(written) <= MOST_SHOWN else f"{written[:MOST_SHOWN]}…")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("do", choices=("record", "compare"))
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--only", default="", help="only links that contain this text")
    parser.add_argument("--every", type=int, default=1, help="only each so many-th link")
    asked = parser.parse_args()
    logging.disable(logging.WARNING)  # Streamlit's, of a run without a server
    wanted, start = [link for link in links() if asked.only in link][:: asked.every], time.monotonic()
    now = read(asked.files[1]) if len(asked.files) > 1 else record(wanted)
    took = time.monotonic() - start
    if asked.do == "record":
        write(asked.files[0], now)
        print(f"{len(now['links'])} links in {took:.0f} s, {len(now['parts'])} different elements")
        return 0
    before = read(asked.files[0])
    found = differences(before, now)
    for said, where in sorted(found.items(), key=lambda one: -len(one[1])):
        more = f" (and {len(where) - 1} more)" if len(where) > 1 else ""
        print(f"{where[0]}{more}\n    {said}")
    shared = before["links"].keys() & now["links"].keys()
    concerned = {link for where in found.values() for link in where}
    only = f"{len(before['links'].keys() - shared)} only before, {len(now['links'].keys() - shared)} only now"
    print(f"{len(shared)} links in {took:.0f} s ({only}): {len(concerned)} differ, in {len(found)} ways")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
