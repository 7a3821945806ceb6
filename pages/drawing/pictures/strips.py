"""One token's rows of several quantities that are added up, one below another, on one scale."""

from collections.abc import Mapping, Sequence

import numpy as np

from model import Trace
from pages.drawing.figures import ACCENT, Axis, Figure, heatmap
from pages.drawing.figures.base import signed_colours
from pages.drawing.figures.theme import big, font_size, scaled
from pages.drawing.picture import Numbers, Picture
from pages.drawing.pictures.quantity_map import name_of
from pages.drawing.place import Place
from pages.drawing.text import plain
from pages.drawing.text.numbers import two


def keyless(figure: Figure) -> None:
    """Remove the colour bar of a map, and its room."""
    figure.data[0]["showscale"] = False
    figure.layout["margin"]["b"] -= 2 * font_size() + 10


def strips(
    run: Trace,
    place: Place,
    named: Mapping[str, str],
    column: int,
    said: str,
    *,
    reads: Sequence[str] = (),
    notes: Sequence[str] = (),
    order: Sequence[int] = (),
    across: str = "",
) -> Picture:
    """The chosen token's row of each quantity, with the numbers of one column; a click chooses quantity and column.

    named: key -> the name beside its strip. Shorter rows end early. said: the sentence. notes: a text below each name.
    order: of the columns, if not their own; across: the title of that order.
    """
    wide = max(run[key].shape[1] for key in named)
    vectors = [np.pad(run[key], ((0, 0), (0, wide - run[key].shape[1])), constant_values=np.nan) for key in named]
    order = order if len(order) == wide else range(wide)
    labels = [str(at + 1) for at in order]

    def part(every: Numbers) -> Numbers:
        return every[:, place.token].on(Axis("", [*named.values()]), Axis(plain("axis.d_model")))

    def draw(drawn: Numbers) -> Figure:
        rows, columns = drawn.axes
        sides = rows, Axis(across, labels) if across else columns
        high = scaled(82 + (60 if big() else 42) * len(named))  # in a presentation it is alone
        figure = heatmap(drawn.array[:, [*order]], *sides, square=False, clickable=True, height=high)
        keyless(figure)  # numbers stand beside the line
        figure.layout["xaxis"]["showticklabels"] = not across
        x = order.index(column) + (0 if across else 1)
        chosen = {"color": ACCENT, "width": 2}
        line = {"type": "line", "x0": x, "x1": x, "y0": -0.5, "y1": len(named) - 0.5, "line": chosen}
        side = {"xanchor": "right", "xshift": -4} if 2 * x > wide else {"xanchor": "left", "xshift": 4}
        side |= {"x": x, "showarrow": False, "bgcolor": signed_colours([0])[0]}
        figure.layout["shapes"] = [line]
        if notes:
            names = figure.layout["yaxis"]["ticktext"]
            figure.layout["yaxis"]["ticktext"] = [
                f"<b>{name}</b><br>{note}" for name, note in zip(names, notes, strict=True)
            ]
        figure.layout["annotations"] = [
            {"y": row, "text": f"<b>{two(float(value))}</b>", **side}
            for row, value in enumerate(drawn.array[:, column])
            if np.isfinite(value)
        ]
        return figure.tell(fills=True)

    return Picture(
        draw,
        said,
        Numbers(np.stack(vectors), ("", "token", "d_model"), part, token=place.token),
        picks=lambda row, at: {"stage": name_of([*named][row]), "component": order[at if across else at - 1]},
        reads=reads,
    )
