"""The encoder without one of its parts: how alike all words become, and the answer."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from model import Edit, deadline
from model.measures.without import PARTS, Answers, Fate, without
from pages.drawing.figures import Axis, lines
from pages.drawing.figures.theme import big
from pages.drawing.picture import Picture, outputs_of, says_words
from pages.drawing.screen import Screen
from pages.drawing.text import plain, texts_of
from pages.drawing.text.numbers import decimal, two
from pages.screen.frame.pen import Pen
from pages.screen.runs.worked_out import answered, without_parts
from pages.screen.sections.patience import seconds_for, waits

THE_SAME = 0.99  # the mean cosine at which words count as pointing the same way
text, word = texts_of("without")


def alike_without(screen: Screen, pen: Pen) -> None:
    """How alike all words are after each layer, and the first guess: unchanged, without sums, without norms."""
    found = fates_of(screen)
    if found is None:
        return
    alike = np.stack([fate.alike for fate in found.values()])
    steps, names = [str(layer) for layer in range(alike.shape[1])], [word(f"line_{name}") for name in found]
    rows = [() if name == "all" else without(screen.run.graph, name) for name in found]
    guess = answers_with(screen, rows) if "logits" in screen.run else None
    ends = [two(row[-1]) for row in alike]
    if guess is not None:
        every, most = outputs_of(screen.run), guess.p.max(axis=1)
        best = [plain("common.quoted", token=every[one]) for one in guess.best]
        ends = [f"{one} {decimal(p)}" for one, p in zip(best, most, strict=True)]
    said, whole = [], found["all"]
    if fate := found.get("residual"):
        same = (fate.alike >= THE_SAME) & (whole.alike < THE_SAME)
        layer = int(same.argmax()) if same.any() else -1
        numbers = {"alike": two(fate.alike[layer]), "all": two(whole.alike[layer])}
        said.append(text("read_same" if same.any() else "read_residual", layer=layer, **numbers))
    said += [overflows(name) for name in PARTS if name not in found]
    sentence, sides = " ".join(said), (Axis(word("axis_layer"), steps), word("axis_alike"))
    figure = lines(alike, names, *sides, ends=ends, height=400 if big() else 235).tell(fills=True)
    table = pd.DataFrame(alike.T, index=steps, columns=names)
    pen.show("without", Picture(figure, sentence, title=word("title"), table=table, fixed=True))


def fates_of(screen: Screen) -> dict[str, Fate] | None:
    """What becomes of the tokens without each part; None while it waits for the button, which it draws."""
    asked = screen.choice.pipeline, screen.subject, screen.run.edits
    tokens, runs = len(screen.run.tokens), 2 * (1 + len(PARTS))
    if waits(screen.run.config, tokens, runs, ("without", *asked)):
        return None
    with deadline.within(seconds_for(screen.run.config, tokens, runs)):
        return without_parts(*asked)


def overflows(part: str) -> str:
    """That nothing can be computed without a part."""
    return text("read_overflow", part=word(f"line_{part}"))


def answers_with(screen: Screen, rows: Sequence[tuple[Edit, ...]]) -> Answers | None:
    """The answers at the selected token with each row of edits added to the reader's; None while it waits for the
    button, which it draws.
    """
    run = screen.run
    asked = tuple((*run.edits, *row) for row in rows)
    token = screen.at.token if says_words(run) else 0
    tokens = len(run.tokens)
    if waits(run.config, tokens, len(asked), (screen.choice.pipeline, screen.subject, asked, token)):
        return None
    with deadline.within(seconds_for(run.config, tokens, len(asked))):
        return answered(screen.choice.pipeline, screen.subject, asked, token)
