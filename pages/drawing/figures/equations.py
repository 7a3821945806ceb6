"""Equations as text, for Plotly, tables and drawings, which typeset no LaTeX."""

import re
import unicodedata

from pages.drawing.figures import label
from pages.drawing.figures.notation import noted
from pages.drawing.text import plain

#: English words in equations -> names of the texts that translate them.
EQUATION_WORDS = {
    "may look at": "may_look_at",
    "otherwise": "otherwise",
    r"\text{mask}": "mask",
    r"\text{the first row of } Z": "first_row",
    r"\text{the second row of } Z": "second_row",
    r"\text{the mean of the patches' rows of } Z": "patch_mean",
    r"\text{the mean of all rows of } Z": "token_mean",
    "all pixels in one row": "one_row",
    "patches of": "patches_of",
    "pixels": "pixels",
    "image": "image",
}
_SIGNS = {
    r"\cdot": "·", r"\times": "×", r"\odot": "⊙", r"\mu": "μ", r"\sigma": "σ", r"\epsilon": "ε", r"\gamma": "γ",
    r"\beta": "β", r"\lambda": "λ", r"\ldots": "…", r"\infty": "∞", r"\sum": "Σ", r"\top": "T", r"\in": "∈",
    r"\delta": "δ",
    r"\div": "÷", r"\|": "|", r"\left": "", r"\right": "", r"\;": " ", r"\,": " ", r"\!": "", r"\quad": " ",
    r"\cos": "cos", r"\sin": "sin", r"\Theta": "Θ", r"\perp": "⊥", r"\lvert ": "|", r" \rvert": "|", r"\le ": "≤ ",
    r"\approx": "≈", r"-\infty": "−∞", " - ": " − ", "->": "→",
}  # fmt: skip
_RAISED = dict(zip("0123456789()+-lNOQKVT", "⁰¹²³⁴⁵⁶⁷⁸⁹⁽⁾⁺⁻ˡᴺᴼꟴᴷⱽᵀ", strict=True))
_LOWERED = dict(zip("0123456789n", "₀₁₂₃₄₅₆₇₈₉ₙ", strict=True))

#: Equations of measures that several pages compute; the graph has no quantity for them.
COSINE = r"\cos(a, b) = \frac{a \cdot b}{\lVert a \rVert\, \lVert b \rVert}"
MEAN_WEIGHTS = r"\bar A^{(l)} = \tfrac1h \left(A^{(l)}_1 + \cdots + A^{(l)}_h\right)"
ROLLOUT = r"R^{(l)} = \left(\tfrac12 \bar A^{(l)} + \tfrac12 I\right) R^{(l-1)},\quad R^{(0)} = I"


def in_words(latex: str) -> str:
    """LaTeX with its words in the reader's language."""
    for english, name in EQUATION_WORDS.items():
        latex = latex.replace(english, plain(f"equation.{name}"))
    return latex


def in_one_line(latex: str) -> str:
    """Equations side by side, closer together; if they stand below one another, the first."""
    first = re.sub(r"\\begin\{gathered\}(.*?)\\\\.*", r"\1", latex)
    return first.replace(r"\qquad", r"\;\;").strip()


def plain_math(latex: str) -> str:
    r"""LaTeX in the chosen symbols, as one line of text: \hat S = \frac{S}{\sqrt{d_k}} is Ŝ = S / √d_k."""
    return as_text(noted(latex))


def as_text(latex: str) -> str:
    """LaTeX as one line of text, in its own symbols."""
    cases = re.compile(r"\\begin\{cases\}(.+?)&(.+?)\\\\(.+?)&(.+?)\\end\{cases\}")
    text = cases.sub(r"\1 (\2), \3 (\4)", latex)
    text = re.sub(r"\\(hat|bar|tilde) ?\{?(\w)('*)\}?", lambda hit: _accented(hit[2], hit[1]) + hit[3], text)
    for sign in sorted(_SIGNS, key=len, reverse=True):
        text = text.replace(sign, _SIGNS[sign])
    before = None
    while text != before:  # from the innermost braces outwards
        before = text
        text = re.sub(r"\\(?:text|operatorname|mathbb|mathcal)\{([^{}]*)\}", r"\1", text)
        text = re.sub(r"_\{([^{}]*)\}", lambda hit: "_" + _bracketed(hit[1]), text)
        text = re.sub(r"\^\{([^{}]*)\}", lambda hit: _raised(hit[1]), text)
        text = re.sub(r"\\sqrt\{([^{}]*)\}", lambda hit: "√" + _bracketed(hit[1]), text)
        text = re.sub(
            r"\\frac\{([^{}]*)\}\{([^{}]*)\}", lambda hit: f"{_bracketed(hit[1])} / {_bracketed(hit[2])}", text
        )
    text = re.sub(r"\^\(?⊥\)?", "⊥", text)
    text = re.sub(r"\^(\d)", lambda hit: _raised(hit[1]), text)
    text = text.replace("{", "").replace("}", "")
    return re.sub(r"\s+([,;)])", r"\1", re.sub(r"(?<=\() +", "", " ".join(text.split())))


def _accented(letter: str, accent: str) -> str:
    return unicodedata.normalize("NFC", letter + {"hat": "\u0302", "bar": "\u0304", "tilde": "\u0303"}[accent])


def _raised(text: str) -> str:
    if all(sign in _RAISED for sign in text):
        return "".join(_RAISED[sign] for sign in text)
    return "^" + _bracketed(text)


def _bracketed(text: str) -> str:
    """A text in brackets, unless it is a single term."""
    return text if re.fullmatch(r"[√^\w']+|√\([^()]*\)", text) else f"({text})"


def html_math(latex: str) -> str:
    """LaTeX in the chosen symbols as HTML for Plotly, with exponents and subscripts."""
    raised = re.sub(r"\^(?:\(([^()]*)\)|(\w+))", r"<sup>\1\2</sup>", label(plain_math(latex)))
    inner = re.sub(r"(?<=[_,]\w)_([0-9n])\b", lambda hit: _LOWERED[hit[1]], raised)  # subscripts of subscripts
    return re.sub(r"_(?:\(([^()]*)\)|(\w+))", r"<sub>\1\2</sub>", inner)
