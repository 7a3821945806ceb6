r"""Equations in the symbols of a lecture note: our \hat S is S or A in three notes.

A note is chosen once, as the language is; then all equations use its symbols, or ours where it has none.
"""

import re
from collections.abc import Mapping
from contextvars import ContextVar
from functools import cache

_note: ContextVar[str] = ContextVar("note", default="ours")

_SCORES = r"Q K^{\top}"  # no note has a letter for undivided scores
#: Number of a note -> our LaTeX -> the note's. In the residual stream X^{(0)}, X^{(1)}, …, "#" is the number of the
#: layer, or l.
NOTES: dict[str, Mapping[str, str]] = {
    "000": {
        "n": "N", "N": "L", "d_{model}": "D", "d_k": "D_h", "d_v": "D_h",
        "X^{(#)}": "Z_{#}", "X": "Z_{l-1}", "X'": "Z'_l", "Z": "Z_L", r"Z^{[\text{CLS}]}": r"Z_L^{[\text{CLS}]}",
        r"\hat S": "S", "S": _SCORES, r"\text{head}_i": "Z'_i", r"\text{head}_1": "Z'_1", r"\text{head}_h": "Z'_h",
        "O": r"\text{MHA}(Z_{l-1})", "F": r"\text{FFN}(Z'_l)",
    },
    "001": {
        "X^{(0)}": "X", "X^{(#)}": r"{\text{Output}_{\text{FFN}}}^{(#)}", "X_{\\text{embed}}": r"\text{Embedding}",
        "E_{pos}": r"\text{PositionalEncoding}", "W_Q": r"W_Q^{\top}", "W_K": r"W_K^{\top}", "W_V": r"W_V^{\top}",
        r"\hat S": "A", "S": _SCORES, "A": r"A_{\text{softmax}}", "O": r"\text{Output}_{\text{attention}}",
        r"X_{\text{res}}": "Z", "X'": r"Z_{\text{norm}}", "H": r"\text{Intermediate}\,",
        "F": r"\text{FFN}(Z_{\text{norm}})", "Z": r"\text{EncoderOutput}",
    },
    "004": {
        "X": "X^{(l)}", "E_{pos}": "PE", "W_Q": "W^Q", "W_K": "W^K", "W_V": "W^V", "W_O": "W^O",
        r"\hat S": "S", "S": _SCORES, "O": r"\text{AttnOutput}", r"X_{\text{res}}": r"X_{\text{res1}}",
        "X'": r"X_{\text{norm1}}", "F": r"\text{FFNOutput}", r"X'_{\text{res}}": r"X_{\text{res2}}",
    },
}  # fmt: skip
_STREAM = "X^{(#)}"
#: Symbols that no note has, though they begin like symbols of notes.
_NOWHERE = ("S^{+}", "S^{cc}", "S^{cp}", "S^{pc}", "W_Q^R", "W_K^R")
_LAYER = re.compile(r"X\^\{\((l\+1|\d+)\)\}")


def write_as(note: str) -> None:
    """Set the symbols of equations for the rest of this run: the number of a note, or "ours"."""
    _note.set(note)


def symbols() -> str:
    """The number of the note whose symbols equations use, or "ours"."""
    return _note.get()


def noted(latex: str) -> str:
    """An equation, or a symbol, in the chosen symbols."""
    if (note := symbols()) == "ours":
        return latex
    written = NOTES[note]

    def instead(hit: re.Match[str]) -> str:
        ours = hit[0]
        if ours not in written and (layer := _LAYER.fullmatch(ours)):
            stream, number = written.get(_STREAM), layer[1].replace("l+1", "l")
            theirs = ours if stream is None else stream.replace("#", number)
        else:
            theirs = written.get(ours, ours)
        of_a_cell = latex[hit.end() : hit.end() + 1] == "_"
        return rf"({theirs})" if of_a_cell and len(theirs) > 1 and theirs != ours else theirs

    sides = [side.strip() for side in _symbols(note).sub(instead, latex).split(" = ")]
    return " = ".join(side for place, side in enumerate(sides) if place == 0 or side != sides[place - 1])


@cache
def _symbols(note: str) -> re.Pattern[str]:
    """A pattern for our symbols, longest first, not inside a word or command, and not before a further prime."""
    ours = {*NOTES[note], r"X_{\text{res}}", r"X'_{\text{res}}", r"X_{\text{embed}}", *_NOWHERE} - {_STREAM}
    found = "|".join([_LAYER.pattern, *map(re.escape, sorted(ours, key=len, reverse=True))])
    return re.compile(rf"(?<![A-Za-z\\^_])(?:{found})(?![A-Za-z'])")
