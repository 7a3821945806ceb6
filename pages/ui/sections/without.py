"""What is lost without a part of the encoder: how alike all words become, and what becomes of the answer."""

import numpy as np
import pandas as pd

from model import deadline
from model.analysis import likeliest
from model.without import PARTS
from pages.ui.figures import ACCENT, AFTER, GREY, Axis, grouped_bars, lines
from pages.ui.runs.worked_out import without_ffn, without_parts
from pages.ui.sections.answers import decimal, output_names
from pages.ui.sections.patience import seconds_for, waits
from pages.ui.text import texts_of
from pages.ui.view import View

THE_SAME = 0.95  # a mean cosine from which on words point the same way
MOST_GUESSES = 5
text, word = texts_of("without")


def alike_without(view: View) -> None:
    """How alike all words are after each layer: as it is, without residual paths, without LayerNorm, without FFN."""
    asked = view.choice.pipeline, view.subject, view.trace.edits
    tokens, runs = len(view.trace.tokens), 2 * (1 + len(PARTS))
    if waits(view.config, tokens, runs, ("without", *asked)):
        return
    with deadline.within(seconds_for(view.config, tokens, runs)):
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
    view.picture(
        "without",
        lines(alike, names, Axis(word("axis_layer"), steps), word("axis_alike"), height=360),
        " ".join(said),
        title=word("title"),
        table=pd.DataFrame(alike.T, index=steps, columns=names),
        still=True,
    )
    view.way_to("what_if", word("way_changes"), panel="residuals")


def answer_without_ffn(view: View) -> None:
    """The first guesses as it is, without the feed-forward network of the chosen layer, and without any."""
    words = "word" in view.trace.axes("logits")
    token = view.token if words else 0
    asked = view.choice.pipeline, view.subject, view.trace.edits, view.layer, token
    if waits(view.config, len(view.trace.tokens), 3, ("ffn", *asked)):
        return
    with deadline.within(seconds_for(view.config, len(view.trace.tokens), 3)):
        p = without_ffn(*asked)
    best = [int(row.argmax()) for row in p]
    shown = likeliest(p, [min(MOST_GUESSES, p.shape[1]), 1, 1])
    names, every = [word("ffn_all"), word("ffn_one", layer=view.layer + 1), word("ffn_none")], output_names(view)
    kind = "same" if best[0] == best[1] else "other"
    said = {name: every[i] for name, i in zip(("best", "one", "none"), best, strict=True)}
    numbers = {name: decimal(p[row, best[row]]) for row, name in enumerate(("p", "p_one", "p_none"))}
    at = text("read_at", token=view.trace.tokens[token]) if words else ""
    view.picture(
        "without",
        grouped_bars(
            dict(zip(names, p[:, shown], strict=True)),
            Axis("", [every[i] for i in shown]),
            word("axis_p"),
            (AFTER, ACCENT, GREY),
            value_range=(0, 1),
        ),
        at
        + text(f"read_ffn_{kind}", layer=view.layer + 1, **said, **numbers, lasts=decimal(p[1, best[0]]))
        + " "
        + text("read_ffn_none" if best[2] != best[0] else "read_ffn_none_same", **said, **numbers),
        title=word("ffn_title"),
        table=pd.DataFrame(p[:, shown].T, index=[every[i] for i in shown], columns=names),
        still=True,
    )
