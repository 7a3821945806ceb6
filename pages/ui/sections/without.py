"""What is lost without a part of the encoder: how alike all words become, and what becomes of the answer."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from model import Edit, deadline
from model.analysis import placed
from model.without import PARTS, Answers, ffn_off
from pages.ui.figures import ACCENT, AFTER, GREY, Axis, grouped_bars, lines
from pages.ui.runs.worked_out import answered, without_parts
from pages.ui.sections.answers import decimal
from pages.ui.sections.patience import seconds_for, waits
from pages.ui.text import texts_of
from pages.ui.view import View

THE_SAME = 0.99  # a mean cosine from which on words point the same way
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


def answers_with(view: View, rows: Sequence[tuple[Edit, ...]]) -> Answers | None:
    """The answer at the selected token with each of these edits beside the reader's; None while it waits to be asked.

    Draws the button that asks.
    """
    asked = tuple((*view.trace.edits, *row) for row in rows)
    token = view.token if view.says_words else 0
    tokens = len(view.trace.tokens)
    if waits(view.config, tokens, len(asked), (view.choice.pipeline, view.subject, asked, token)):
        return None
    with deadline.within(seconds_for(view.config, tokens, len(asked))):
        return answered(view.choice.pipeline, view.subject, asked, token)


def answer_without_ffn(view: View) -> None:
    """The first guesses as it is, without the feed-forward network of the chosen layer, and without any."""
    found = answers_with(view, ffn_off(view.trace.graph, view.layer))
    if found is None:
        return
    names = [word("ffn_all"), word("ffn_one", layer=view.layer + 1), word("ffn_none")]
    first = found.outputs.index(found.best[0])
    said = in_words(view, found) | {"layer": str(view.layer + 1), "lasts": decimal(found.p[1, first])}
    sentences = [
        text(f"read_ffn_{'same' if found.best[1] == found.best[0] else 'other'}", **said),
        text(f"read_ffn_none{'_same' if found.best[2] == found.best[0] else ''}", **said),
    ]
    answers_picture(view, "without", found, names, " ".join(sentences), word("ffn_title"))


def in_words(view: View, found: Answers) -> dict[str, str]:
    """The first of each of three answers, and its probability, as texts name them."""
    said = {name: view.output_names[i] for name, i in zip(("best", "one", "none"), found.best, strict=True)}
    return said | {name: decimal(row.max()) for name, row in zip(("p", "p_one", "p_none"), found.p, strict=True)}


def answers_picture(view: View, name: str, found: Answers, names: Sequence[str], said: str, title: str) -> None:
    """Three answers, called `names`, as bars beside each other."""
    shown = [view.output_names[i] for i in found.outputs]
    series = dict(zip(names, found.p, strict=True))
    view.picture(
        name,
        grouped_bars(series, Axis("", shown), word("axis_p"), (AFTER, ACCENT, GREY), value_range=(0, 1)),
        told_where(view, said),
        title=title,
        table=pd.DataFrame(found.p.T, index=shown, columns=names),
        still=True,
    )


def told_where(view: View, said: str) -> str:
    """A sentence with the token at which the answer is read, where there is one for each: "At ‘[MASK]’: …"."""
    if not view.says_words:
        return said[:1].upper() + said[1:]
    return text("read_at", token=placed(view.trace.tokens)[view.token]) + said
