r"""A line of LaTeX as HTML, for arithmetic that changes with every click.

Streamlit's KaTeX sets any formula, but takes a browser longer than the picture beside it. Arithmetic needs little:
indices, powers, fractions, roots, a brace under a number. A library parses the LaTeX, each part becomes a span, and
style.css places the spans. Lines break after operators.
"""

import html
import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import count
from xml.etree.ElementTree import Element

from latex2mathml.converter import convert_to_element

SPACE = "\N{NO-BREAK SPACE}"
#: Signs with room on both sides; after one of them, or at the beginning, a sign belongs to its number.
BETWEEN = frozenset("=+−·×≤≥<>≈∈→")
BEGINNING = BETWEEN | frozenset("([{,")
DECIMAL = re.compile(r"\d+\.\d+")
MARK = "77777777"  # begins the stand-in of each decimal while the rest is set
STAND_IN = re.compile(rf"{MARK}(\d+)\.0")
HATS = {"^": "ˆ", "¯": "ˉ", "‾": "ˉ", "~": "˜"}


def formula(latex: str) -> str:
    """A formula as a paragraph that keeps its LaTeX in an attribute.

    Raises KeyError for LaTeX that no arithmetic has used yet.
    """
    numbers, places = DECIMAL.findall(latex), count()
    made = _paragraph(DECIMAL.sub(lambda _: f"{MARK}{next(places)}.0", latex))
    made = STAND_IN.sub(lambda found: numbers[int(found[1])], made)
    return f'<p class="formula" data-latex="{html.escape(latex)}">{made}</p>'


@lru_cache(maxsize=4096)
def _paragraph(latex: str) -> str:
    """A formula with stand-ins for decimals, cached: a click changes only the decimals."""
    return _set(convert_to_element(latex))


def _set(part: Element, small: bool = False) -> str:
    """A part of a formula. small: inside an index or a power, where operators get no room."""
    parts, said = list(part), _said(part)
    match part.tag:
        case "math" | "mrow":
            return _row(parts, small)
        case "mn" | "mo" | "mtext":
            return html.escape(said)
        case "mi":
            letter = len(said) == 1 and (said.isascii() or said.islower())
            return f"<i>{html.escape(said)}</i>" if letter else html.escape(said)
        case "mspace":
            return f'<span style="margin-left:{part.get("width")}"></span>'
        case "mstyle":
            return f'<span style="color:{part.get("mathcolor", "inherit")}">{_row(parts, small)}</span>'
        case "msub" | "msup" | "msubsup":
            return _indexed(part, small)
        case "mfrac":
            above, below = map(_set, parts)
            return _stack(f'<span class="over">{above}</span><span class="unseen">/</span>', f"<span>{below}</span>")
        case "msqrt":
            return f'√<span class="root">{_row(parts, small)}</span>'
        case "munder":  # a number over a brace over a count
            number, brace = parts[0]
            assert _said(brace) == "⏟"
            count = f'<span class="small">{_set(parts[1], True)}</span>'
            return _stack(f'<span>{_set(number)}</span><span class="brace"></span>', count, look="stack braced")
        case "mover":
            look = "hat low" if _said(parts[0]).islower() else "hat"
            return f'<span class="{look}">{_set(parts[0], small)}<span>{HATS[_said(parts[1])]}</span></span>'
    raise KeyError(part.tag)


def _said(part: Element) -> str:
    """The sign, number or word of a part; the library writes signs as entities.

    ∥ replaces ‖, which browsers would take from a Chinese font, as wide as a letter.
    """
    return html.unescape(part.text or "").replace("‖", "∥")


def _row(parts: Iterable[Element], small: bool) -> str:
    """Parts side by side, with room round operators."""
    made, before = "", "("
    for part in parts:
        sign = _said(part) if part.tag == "mo" else "x"
        between = sign in BETWEEN and before not in BEGINNING
        said = _set(part, small)
        made += said if small else f"{SPACE}{said} " if between else f"{said} " if sign == "," else said
        before = sign
    return made


def _indexed(part: Element, small: bool) -> str:
    """A symbol with index, power or both; a sum with its limits."""
    base, *others = part
    lower = "" if part.tag == "msup" else _set(others[0], True)
    upper = "" if part.tag == "msub" else _set(others[-1], True)
    symbol = _set(base, small)
    if _said(base) == "∑":
        limits = (f'<span class="small">{limit}</span>' for limit in (upper, lower))
        return _stack(next(limits), f'<span class="sum">{symbol}</span>', next(limits))
    if upper and lower:
        return f'{symbol}<span class="both"><sup>{upper}</sup><sub>{lower}</sub></span>'
    return symbol + (f"<sub>{lower}</sub>" if lower else "") + (f"<sup>{upper}</sup>" if upper else "")


def _stack(*parts: str, look: str = "stack") -> str:
    """Parts on top of one another."""
    return f'<span class="{look}">{"".join(parts)}</span>'
