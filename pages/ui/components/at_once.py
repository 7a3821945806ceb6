"""Another layer, head or token of the run on the screen: the browser draws it before the server has answered.

The numbers of all heads come once for each run: a browser keeps so large a message, and the server then only names it.
What is drawn at once must be what the server draws afterwards; a test in a browser compares the two.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import Any

import numpy as np
import streamlit as st

from pages.ui.server.assets import script

#: Numbers that are sent: those of 48 heads over 64 tokens, 0.8 MB. Of larger runs the server draws each picture.
MOST = 200_000

_numbers = st.components.v2.component("at_once", js=script("at_once"))


@dataclass(frozen=True)
class AtOnce:
    """How a browser draws a picture anew for another place.

    draws: the function of at_once.js that does it. at: the place that the server's figure shows, by the names of
    Choice; None: not chosen. sizes: how many layers and heads there are. values: (layer, head, query, key), what is
    drawn of them all; strongest: (layer, head, query), the key that is outlined where none is chosen. Neither where
    only a frame moves. about: what else the function must know.
    """

    draws: str
    at: Mapping[str, int | None]
    sizes: Mapping[str, int]
    values: np.ndarray | None = None
    strongest: np.ndarray | None = None
    about: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def numbers(self) -> bytes:
        """The numbers as they are sent: their shape as JSON in a line, then all of them as float32."""
        if self.values is None or self.strongest is None:
            return b"[0, 0, 0]\n"
        parts = (np.ascontiguousarray(part, np.float32).tobytes() for part in (self.values, self.strongest))
        return json.dumps(self.values.shape).encode() + b"\n" + b"".join(parts)

    @cached_property
    def run(self) -> str:
        """What the browser knows the numbers by; "" where there are none."""
        return "" if self.values is None else sha256(self.numbers).hexdigest()[:16]

    def send(self, key: str) -> dict[str, Any]:
        """Put the numbers on the page, unseen, for the picture called `key`; returns what comes with the picture."""
        _numbers(key=f"at_once.{key}", data=self.run.encode() + b"\n" + self.numbers)
        place = {"at": dict(self.at), "sizes": dict(self.sizes), "run": self.run}
        return {"draws": self.draws, **place, **self.about}
