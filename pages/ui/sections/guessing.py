"""What a reader guesses of an answer: the bars before it is shown, and his guess among them."""

import numpy as np

from pages.ui.figures import bars_with_numbers
from pages.ui.page import Page


def empty_bars(page: Page, most: int) -> None:
    """A bar for each class, or for each of the first words, without its length; a tap on a class is the guess, where
    that is asked for.
    """
    assert page.asking is not None  # or nothing would be behind a curtain
    names = [str(rank + 1) for rank in range(most)] if page.says_words else list(page.output_names)
    guess = page.guess("digit")
    empty, full = np.zeros(len(names)), np.ones(len(names))
    guesses = [] if guess is None else [(names.index(str(guess)), 1.0)]
    figure = bars_with_numbers(empty, names, ["?"] * len(names), there=full, guesses=guesses)
    for bars in figure.data[:2]:
        bars |= {"hovertemplate": None, "hoverinfo": "none"}  # they have no length yet
    if page.asking.question.key != "digit":
        page.behind_curtain("guesses", figure)
        return
    tap = page.asking.tap
    page.behind_curtain("guesses", figure, lambda row, _: tap(row))


def guessed(page: Page) -> int | None:
    """The output that the visitor guessed, where he has."""
    asking = page.asking
    if asking is None or asking.guess is None or asking.question.key not in ("word", "digit"):
        return None
    return list(asking.case.names).index(str(asking.guess))
