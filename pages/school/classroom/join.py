"""The page for phones: one file with everything inline, in both languages. Its script is join.js."""

import json
import tomllib
from base64 import b64encode
from functools import cache
from hashlib import sha256
from pathlib import Path

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from model.overview import NUMBERS
from pages.server.assets import PHRASED

HERE = Path(__file__).parent
LANGUAGES = ("en", "zh")


async def page(request: Request) -> Response:
    """GET /join, in the language that the phone prefers; a switch leads to the other."""
    html, tag = html_of(spoken(request.headers.get("accept-language", "")))
    headers = {"ETag": tag, "Cache-Control": "no-cache", "Vary": "Accept-Language", "Referrer-Policy": "same-origin"}
    if tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return HTMLResponse(html, headers=headers)


def spoken(wanted: str) -> str:
    """The browser's preferred language among ours: “zh-CN,zh;q=0.9,en;q=0.8” is Chinese."""
    found = []
    for place, one in enumerate(wanted.split(",")):
        name, _, weight = one.partition(";q=")
        try:
            found.append((-float(weight or 1), place, name.strip().lower()[:2]))
        except ValueError:
            continue
    return next((name for *_, name in sorted(found) if name in LANGUAGES), LANGUAGES[0])


@cache
def words(language: str) -> dict[str, str]:
    """The texts of this page. (pages.drawing.text imports the model, which phones do not need.)"""
    return tomllib.loads((HERE / f"{language}.toml").read_text("utf-8"))["join"]


@cache
def html_of(language: str) -> tuple[str, str]:
    """The page, and its version."""
    script, style = ((HERE / name).read_text("utf-8") for name in ("join.js", "join.css"))
    modules = "".join(module.read_text("utf-8") for module in (NUMBERS, PHRASED))
    script = script.replace("// modules\n", modules.replace("export ", ""))
    said = json.dumps({one: words(one) for one in LANGUAGES}, ensure_ascii=False).replace("<", "\\u003c")
    parts = {
        "language": language,
        "title": f"{words(language)['title']} · {words(language)['app']}",
        "noscript": words(language)["noscript"],
        "style_hash": _hash(style),
        "script_hash": _hash(script),
        "style": style,
        "words": said,
        "script": script,
    }
    html = (HERE / "join.html").read_text("utf-8")
    for name, part in parts.items():  # str.format would read the braces of the style
        html = html.replace(f"{{{name}}}", part, 1)
    return html, f'"{sha256(html.encode()).hexdigest()[:16]}"'


def _hash(source: str) -> str:
    """Hash of an inline script or style for the Content-Security-Policy, which allows no others."""
    return f"sha256-{b64encode(sha256(source.encode()).digest()).decode()}"
