"""The overview as an object for notebooks, and as one HTML file that needs no network."""

import html
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Self

from model.overview.packing import Packed, pack
from model.overview.run import Run
from model.overview.without import without_heads
from model.overview.words import WORDS

HERE = Path(__file__).parent
PAINTER, STYLE, PAD = HERE / "painter/painter.js", HERE / "painter/painter.css", HERE / "digit_pad.js"
NUMBERS = HERE / "painter/numbers.js"
#: The painter's modules, each after its imports.
MODULES = (
    "numbers", "run", "nodes", "words", "colours", "layout", "arithmetic", "opened", "drawing", "answer",
    "play", "tiles", "painter",
)  # fmt: skip
HEIGHT = 720  # pixels, in a notebook


@cache
def painter() -> str:
    """The painter as one script: its modules concatenated, without their imports."""
    modules = ((HERE / "painter" / f"{name}.js").read_text("utf-8") for name in MODULES)
    return re.sub(r"^(?:import|export) .* from '\./.*\n", "", "\n".join(modules), flags=re.MULTILINE)


@dataclass(frozen=True)
class Overview:
    """A run on one screen. A notebook shows it; `save` writes it as one file.

    place: layer, head and token shown first, from 0. others: language -> words of the page, for addresses that end in
    ?lang=zh or the like.
    """

    packed: Packed
    place: Mapping[str, int]
    title: str
    language: str = "en"
    others: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @classmethod
    def of(cls, trace: Run, layer: int | None = None, head: int | None = None, token: int | None = None) -> Self:
        """The overview of a run, in English. Defaults: a masked token, and the head in which it attends most to another
        token.
        """
        if token is None:
            token = trace.tokens.index("[MASK]") if "[MASK]" in trace.tokens else min(1, len(trace.tokens) - 1)
            token = 0 if trace.picture is not None else token
        usual = _striking(trace, token, range(trace.config.layers) if layer is None else [layer])
        place = {"layer": usual[0], "head": usual[1] if head is None else head, "token": token}
        title = "" if trace.picture is not None else " ".join(trace.tokens)
        packed = pack(trace, whole=True, exact=True)
        return cls(packed.with_(words=WORDS, notes={}, **without_heads(trace, token)), place, title)

    def __repr__(self) -> str:
        return f"Overview of {self.title or 'a picture'}: show it in a notebook, or save(path)"

    @property
    def html(self) -> str:
        """A whole page, with script and style in it."""
        run = self.packed.with_(others=self.others).text.replace("<", "\\u003c")
        title = html.escape(self.title)
        return (
            f'<!doctype html><html lang="{self.language}"><head><meta charset="utf-8"><title>{title}</title>'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            '<link rel="icon" href="data:,">'
            f"<style>{STYLE.read_text('utf-8')}</style></head>"
            f'<body class="overview-page"><h1 translate="no">{title}</h1><div class="overview"></div>'
            f'<script type="application/json" id="run">{run}</script><script type="module">{painter()}\n'
            "const run = fromText(JSON.parse(document.getElementById('run').textContent))\n"
            "const asked = new URLSearchParams(location.search).get('lang')\n"
            "if (Object.hasOwn(run.others, asked)) {\n"
            "run.words = run.others[document.documentElement.lang = asked]\n}\n"
            f"overview(document.querySelector('.overview'), run, {{ place: {json.dumps(self.place)} }})\n"
            "</script></body></html>"
        )

    def _repr_html_(self) -> str:
        return (
            f'<iframe srcdoc="{html.escape(self.html)}" title="{html.escape(self.title)}" '
            f'style="width:100%;min-width:320px;height:{HEIGHT}px;border:0"></iframe>'
        )

    def save(self, path: str | Path) -> Path:
        """Write the page into a file, which opens from disk; returns its path."""
        path = Path(path)
        path.write_text(self.html, encoding="utf-8")
        return path


def _striking(trace: Run, token: int, layers: range | list[int]) -> tuple[int, int]:
    """The layer and head in which a token attends most to another one, except [CLS] and [SEP]."""
    others = [i for i, name in enumerate(trace.tokens) if i != token and name not in ("[CLS]", "[SEP]")]
    best = -1.0, (layers[0], 0)
    for layer in layers if others else ():
        weights = trace[f"layers.{layer}.attention.weights"][:, token][:, others].max(-1)
        head = int(weights.argmax())
        best = max(best, (float(weights[head]), (layer, head)))
    return best[1]
