"""Numbers in LaTeX, as in arithmetic by hand."""

import math

DECIMALS = 5  # of a number on the page


def rounded(value: float) -> float:
    """A number rounded as `number` shows it: five decimals; five significant digits if small."""
    if value == 0 or not math.isfinite(value):
        return value + 0.0
    return round(value, max(DECIMALS, DECIMALS - 1 - math.floor(math.log10(abs(value)))))


def number(value: float, decimals: int | None = None) -> str:
    """A number in LaTeX: -0.29352, 0.012346, 1.2346 \\times 10^{-7}, -\\infty. LaTeX sets - as a minus sign.

    decimals: fixed number of decimals.
    """
    if math.isinf(value):
        return r"\infty" if value > 0 else r"-\infty"
    if decimals is not None:
        return f"{round(value, decimals) + 0.0:.{decimals}f}"
    value = rounded(value)
    if value == 0 or abs(value) >= 1e-4:
        whole, _, part = f"{value:.9f}".partition(".")
        return f"{whole}.{part.rstrip('0'):0<{DECIMALS}}"
    mantissa, exponent = f"{value:.{DECIMALS - 1}e}".split("e")
    power = f"10^{{{int(exponent)}}}"
    return power if float(mantissa) == 1 else rf"{mantissa} \times {power}"


def operand(value: float) -> str:
    """A number as an operand: in parentheses if negative."""
    return f"({number(value)})" if value < 0 else number(value)
