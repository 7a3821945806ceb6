"""The digit pad: draw with mouse, pen or finger; every finished stroke is sent at once.

With the keyboard, arrows move a cursor and the space bar puts the pen down or lifts it. The browser holds strokes over
a base picture; Python gets the result as 112 × 112 places of four greys, packed four to a byte, and the `epoch` of that
base. A new epoch puts Python's base picture on the pad.
"""

import base64
from collections.abc import Callable

import streamlit as st

from pages.server.assets import script

HTML = """<div class="pad"><canvas width="336" height="336" tabindex="0"></canvas></div>"""

CSS = """.pad { font-family: var(--st-font); max-width: 336px }
canvas { width: 100%; aspect-ratio: 1; background: #000; border-radius: var(--st-base-radius);
  border: 1px solid var(--st-border-color); touch-action: none; cursor: crosshair; display: block }
canvas:focus-visible { outline: 3px solid var(--st-primary-color); outline-offset: 2px }
button:disabled { opacity: .5; cursor: default }
.bar { display: flex; gap: .5rem; margin-top: .5rem }
button { flex: 1; padding: .4rem; font: inherit; cursor: pointer; color: var(--st-text-color);
  border: 1px solid var(--st-border-color); border-radius: var(--st-button-radius);
  background: var(--st-background-color) }
@media (max-width: 768px) { .pad { max-width: 240px } }
button:hover, button:focus-visible { border-color: var(--st-primary-color); color: var(--st-primary-color) }"""

_pad = st.components.v2.component("digit_pad", html=HTML, css=CSS, js=script("digit_pad"))


def digit_pad(
    key: str, base: bytes, epoch: int, width: int, example: bool, on_draw: Callable[[bytes], None], **words: str
) -> None:
    """The pad. base: the packed drawing to start from (3136 bytes); a new `epoch` puts it on the pad again.

    width: of the pen. example: whether the base is an example, which the first stroke replaces. on_draw: called with
    the packed drawing after each stroke, first in its run; strokes over an earlier base do not count. words: label,
    undo, clear in the reader's language.
    """

    def drawn() -> None:
        drawn_over, _, drawing = str(st.session_state[key].drawing or "").partition(":")
        if drawn_over != str(epoch):
            return
        try:
            packed = base64.b64decode(drawing, validate=True)
        except ValueError:
            return
        if len(packed) == len(base):
            on_draw(packed)

    data = {"base": base64.b64encode(base).decode(), "epoch": epoch, "width": width, "example": example}
    _pad(key=key, data=data | words, default={"drawing": None}, on_drawing_change=drawn)
