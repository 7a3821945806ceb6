"""What each head writes into the residual stream, whether the answer needs it, and what W_O makes of all of them."""

import numpy as np
import pandas as pd

from model import Trace
from model.analysis import placed
from model.without import one_against_all
from pages.ui.figures import ACCENT, AFTER, GREY, Axis, grouped_bars, heatmap
from pages.ui.sections.answers import decimal
from pages.ui.sections.band import Column, band
from pages.ui.sections.cell_map import chosen_cell
from pages.ui.sections.without import answers_with, told_where
from pages.ui.sections.working import working
from pages.ui.server.cache import once_a_run
from pages.ui.state.link import select
from pages.ui.text import texts_of
from pages.ui.view import View

text, word = texts_of("contribution")


def lengths(run: Trace, prefix: str) -> np.ndarray:
    """Length of what each head writes into each token: (head, token). prefix: of the attention's keys."""
    kept = _lengths(run)
    if prefix not in kept:
        kept[prefix] = np.linalg.norm(run[prefix + "contributions"], axis=-1)
    return kept[prefix]


@once_a_run
def _lengths(run: Trace) -> dict[str, np.ndarray]:
    return {}


def written(view: View, prefix: str) -> None:
    """How much each head writes, token by token."""
    own = lengths(view.trace, prefix)
    drawn = view.measure(lambda run: lengths(run, prefix).T, ("token", "head"))
    axes = view.token_axis("axis.token"), Axis.counted(word("axis_head"), len(own))
    loudest = int(own[:, view.token].argmax())
    said = {"token": placed(view.tokens)[view.token], "head": loudest + 1, "value": f"{own[loudest, view.token]:.3f}"}
    look = {"cell": (view.token, view.head), "clickable": True, "square": False}
    view.picture(
        "norms",
        heatmap(drawn.values, *axes, scale=drawn.scale("positive"), **look),
        text("read_norms" if own[:, view.token].any() else "read_norms_none", **said),
        title=word("norms"),
        values=own.T,
        on_pick=lambda row, column: select(token=row, head=column),
        shows=drawn.on(*axes),
    )


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
    series = {names[0]: p[1 : 1 + heads], names[1]: p[1 + heads :]}
    axes = Axis.counted(word("axis_head"), heads), word("axis_p", best=every[first])
    figure = grouped_bars(series, *axes, (AFTER, ACCENT), value_range=(0, 1))
    as_it_is = {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": p[0], "y1": p[0]}
    chosen = {"type": "rect", "yref": "paper", "x0": view.head - 0.5, "x1": view.head + 0.5, "y0": 0, "y1": 1}
    figure.layout["shapes"] = [
        as_it_is | {"line": {"color": GREY, "width": 2, "dash": "dot"}},
        chosen | {"fillcolor": "#7F7F7F", "opacity": 0.15, "line": {"width": 0}, "layer": "below"},
    ]
    view.picture(
        "needed",
        figure,
        told_where(view, " ".join(sentences)),
        title=word("needed", layer=view.layer + 1),
        table=pd.DataFrame(series, index=range(1, 1 + heads)),
        on_pick=lambda _, head: select(head=head),
        still=True,
    )


def mixed(view: View, prefix: str) -> None:
    """Concat and the output side by side, and the arithmetic of the chosen cell of one of them."""
    config, output = view.config, view.trace[prefix + "output"]
    strongest, first = int(np.linalg.norm(output, axis=1).argmax()), view.head * config.d_k
    said: dict[str, object] = {"head": view.head + 1, "first": first + 1, "last": first + config.d_k}
    said |= {"token": placed(view.tokens)[strongest], "value": f"{np.linalg.norm(output[strongest]):.2f}"}
    focus = prefix + ("concat" if view.choice.stage == "concat" else "output")
    columns = [Column(prefix + name, word(name)) for name in ("concat", "output")]
    law_of = [column.key for column in columns]
    band(view, "mixed", columns, text("read_mixed", **said), title=word("mixed"), focus=focus, law_of=law_of)
    working(view, focus, chosen_cell(view, focus))
