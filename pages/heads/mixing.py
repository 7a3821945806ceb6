"""What W_O is for: the heads side by side, each in its own places, and mixed; and the answer with W_O and without."""

import numpy as np

from model import Edit
from model.analysis import placed
from pages.ui.figures import Axis, heatmap
from pages.ui.frame.pickers import either
from pages.ui.sections.without import answers_picture, answers_with, in_words
from pages.ui.text import plain, texts_of
from pages.ui.view import View

WAYS = ("mixed", "apart")
text, word = texts_of("mixing")


def mixing(view: View) -> None:
    """What each head adds to the selected token, with W_O and without, and what becomes of the answer."""
    way = either("block", word("way"), WAYS, [word(f"way_{name}") for name in WAYS], view.choice.block)
    prefix, config = view.key("layers.{l}.attention."), view.config
    parts, total = view.trace[prefix + "contributions"][:, view.token], view.trace[prefix + "output"][view.token]
    if way == "apart":
        total = view.trace[prefix + "concat"][view.token]
        own = np.arange(len(total)) // config.d_k == np.arange(config.heads)[:, None]
        parts = np.where(own, total, 0.0)
    rows = [*(word("head", head=head + 1) for head in range(config.heads)), word(f"row_{way}")]
    columns = Axis.counted(plain("axis.d_model"), len(total))
    token = placed(view.tokens)[view.token]
    said = {"token": token, "head": view.head + 1, "d_k": config.d_k, "d_model": len(total)}
    said |= {"first": view.head * config.d_k + 1, "last": (view.head + 1) * config.d_k}
    values = np.vstack([parts, total])
    view.picture(
        "mixing",
        heatmap(values, Axis("", rows), columns, square=False, gaps=False, height=300),
        text(f"read_{way}", **said),
        title=word("title", layer=view.layer + 1, token=token),
        values=values,
        still=True,
    )
    if "logits" in view.trace:
        _answer_without(view)


def _answer_without(view: View) -> None:
    """The first guesses as it is, without W_O in the chosen layer, and without any."""
    here, every = view.key("layers.{l}.attention.output"), "layers.{l}.attention.output"
    found = answers_with(view, [(), (Edit(here, "unmixed"),), (Edit(every, "unmixed"),)])
    if found is None:
        return
    names = [word("with"), word("without_one", layer=view.layer + 1), word("without_any")]
    said = in_words(view, found)
    answers_picture(view, "unmixed", found, names, text("read_answer", layer=view.layer + 1, **said), word("answer"))
