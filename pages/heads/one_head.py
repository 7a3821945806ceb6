"""One head against all of its layer: whether the answer needs it or can do with it alone, and what W_O makes of it."""

import numpy as np
import pandas as pd

from model.analysis import along, placed
from model.without import one_against_all
from pages.ui.figures import ACCENT, ADDED, AFTER, BEFORE, GREY, Axis, grouped_bars
from pages.ui.sections.answers import decimal
from pages.ui.sections.without import answers_with, told_where
from pages.ui.state.link import select
from pages.ui.text import plain, texts_of
from pages.ui.view import View

text, word = texts_of("one_head")


def needed(view: View) -> None:
    """How likely the first guess stays without each head of the layer, and with each as the only one."""
    found = answers_with(view, one_against_all(view.trace.graph, view.layer))
    if found is None:
        return
    heads, every, first = view.config.heads, view.output_names, found.best[0]
    p = found.p[:, found.outputs.index(first)]
    names = [word("without"), word("only")]
    best = {"without": found.best[1 + view.head], "only": found.best[1 + heads + view.head]}
    said = {"head": view.head + 1, "layer": view.layer + 1, "heads": heads, "best": every[first], "p": decimal(p[0])}
    said |= {"p_without": decimal(p[1 + view.head]), "p_only": decimal(p[1 + heads + view.head])}
    said |= {name: every[output] for name, output in best.items()}
    said["spared"], said["enough"] = (
        sum(output == first for output in some) for some in (found.best[1 : 1 + heads], found.best[1 + heads :])
    )
    sentences = [text("read_as_it_is", **said)]
    sentences += [text(f"read_{name}_{'same' if best[name] == first else 'other'}", **said) for name in best]
    sentences.append(text("read_count", **said))
    figure = grouped_bars(
        {names[0]: p[1 : 1 + heads], names[1]: p[1 + heads :]},
        Axis.counted(word("axis_head"), heads),
        word("axis_p", best=every[first]),
        (AFTER, ACCENT),
        value_range=(0, 1),
    )
    line = {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": p[0], "y1": p[0]}
    figure.layout["shapes"] = [line | {"line": {"color": GREY, "width": 2, "dash": "dot"}}, lit(view.head)]
    view.picture(
        "needed",
        figure,
        told_where(view, " ".join(sentences)),
        title=word("needed", layer=view.layer + 1),
        table=pd.DataFrame({names[0]: p[1 : 1 + heads], names[1]: p[1 + heads :]}, index=range(1, 1 + heads)),
        on_pick=lambda _, head: select(head=head),
        still=True,
    )


def lit(head: int) -> dict:
    """A band behind the bars of the chosen head."""
    place = {"type": "rect", "yref": "paper", "x0": head - 0.5, "x1": head + 0.5, "y0": 0, "y1": 1}
    return place | {"fillcolor": "#7F7F7F", "opacity": 0.15, "line": {"width": 0}, "layer": "below"}


def pushes(view: View) -> None:
    """What W_O makes of each head at the selected token: how long that is, and how far it reaches along the sum."""
    prefix = view.key("layers.{l}.attention.")
    parts, total = view.trace[prefix + "contributions"][:, view.token], view.trace[prefix + "output"][view.token]
    W_O = view.pipeline.network.get_submodule(prefix + "W_O")
    bias = np.zeros(len(total)) if W_O.bias is None else W_O.bias.numpy()
    lengths, reach = np.linalg.norm(parts, axis=-1), along(parts, total)
    own = float(lengths[view.head])
    names = [word("length"), word("along")]
    said = {
        "token": placed(view.tokens)[view.token],
        "head": view.head + 1,
        "length": f"{own:.2f}",
        "along": f"{reach[view.head]:.2f}",
        "cosine": f"{reach[view.head] / own if own else 0:.2f}",
        "lengths": f"{lengths.sum():.2f}",
        "bias": f"{float(along(bias[None], total)[0]):.2f}",
        "reach": f"{reach.sum():.2f}",
        "total": f"{np.linalg.norm(total):.2f}",
    }
    figure = grouped_bars(
        {names[0]: lengths, names[1]: reach},
        Axis.counted(word("axis_head"), len(parts)),
        plain("add_and_norm.axis_length"),
        (BEFORE, ADDED),
    )
    figure.layout["shapes"] = [lit(view.head)]
    view.picture(
        "pushes",
        figure,
        text("read_pushes", **said),
        title=word("pushes", token=said["token"]),
        table=pd.DataFrame({names[0]: lengths, names[1]: reach}, index=range(1, 1 + len(parts))),
        on_pick=lambda _, head: select(head=head),
        law_of=[prefix + "output"],
    )
