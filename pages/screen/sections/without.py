"""What is lost without a part of the encoder: how alike all words become, and what becomes of the answer."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from model import Edit, deadline
from model.measures.without import PARTS, Answers
from pages.drawing.figures import Axis, lines
from pages.drawing.picture import Picture, says_words
from pages.drawing.screen import Screen
from pages.drawing.text import texts_of
from pages.screen.frame.pen import Pen
from pages.screen.runs.worked_out import answered, without_parts
from pages.screen.sections.patience import seconds_for, waits

THE_SAME = 0.99  # a mean cosine from which on words point the same way
text, word = texts_of("without")


def alike_without(screen: Screen, pen: Pen) -> None:
    """How alike all words are after each layer: as it is, without residual paths, without LayerNorm, without FFN."""
    asked = screen.choice.pipeline, screen.subject, screen.run.edits
    tokens, runs = len(screen.run.tokens), 2 * (1 + len(PARTS))
    if waits(screen.run.config, tokens, runs, ("without", *asked)):
        return
    with deadline.within(seconds_for(screen.run.config, tokens, runs)):
        found = without_parts(*asked)
    alike = np.stack([fate.alike for fate in found.values()])
    steps = [str(layer) for layer in range(alike.shape[1])]
    names = [word(f"line_{name}") for name in found]
    said = [text("read_end", all=f"{found['all'].alike[-1]:.2f}")]
    for name in PARTS:
        if name in found:
            length = f"{found[name].length[-1]:,.0f}"
            usual = f"{found['all'].length[-1]:,.0f}"
            said.append(text(f"read_{name}", alike=f"{found[name].alike[-1]:.2f}", length=length, usual=usual))
        else:
            said.append(text("read_overflow", part=word(f"line_{name}")))
    same = (found["residual"].alike >= THE_SAME) & (found["all"].alike < THE_SAME) if "residual" in found else None
    if same is not None and same.any():
        said.insert(2, text("read_same", layer=int(same.argmax()), alike=f"{found['all'].alike[same.argmax()]:.2f}"))
    figure = lines(alike, names, Axis(word("axis_layer"), steps), word("axis_alike"), height=360)
    table = pd.DataFrame(alike.T, index=steps, columns=names)
    pen.show("without", Picture(figure, " ".join(said), title=word("title"), table=table, fixed=True))
    pen.way_to("what_if", word("way_changes"), tab="residuals")


def answers_with(screen: Screen, rows: Sequence[tuple[Edit, ...]]) -> Answers | None:
    """The answer at the selected token with each of these edits beside the reader's; None while it waits to be asked.

    Draws the button that asks.
    """
    run = screen.run
    asked = tuple((*run.edits, *row) for row in rows)
    token = screen.at.token if says_words(run) else 0
    tokens = len(run.tokens)
    if waits(run.config, tokens, len(asked), (screen.choice.pipeline, screen.subject, asked, token)):
        return None
    with deadline.within(seconds_for(run.config, tokens, len(asked))):
        return answered(screen.choice.pipeline, screen.subject, asked, token)
