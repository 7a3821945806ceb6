"""The few outlying numbers of token vectors: where colours end without them, and the sentence about them."""

from collections.abc import Sequence

import numpy as np

from model import Trace
from model.analysis import FAR_OUT, Outliers, outliers
from pages.drawing.figures import Axis
from pages.drawing.picture import Numbers, place_in_words
from pages.drawing.scales import weights_end
from pages.drawing.text import plain, t
from pages.drawing.text.numbers import two

MOST_MARKED = 8  # columns; if more hold outliers, columns do not explain them


def far_out(run: Trace, key: str, numbers: Numbers) -> Outliers | None:
    """The outliers in a map of token vectors; None in differences and other quantities.

    None also for heads side by side, where most numbers are small anyway.
    """
    quantity = run.quantity(key)
    if numbers.differs or quantity.axes[-1] not in ("d_model", "d_E") or quantity.operation == "concat":
        return None
    return outliers(numbers.array)


def strongest(run: Trace, key: str, numbers: Numbers) -> float:
    """The value of the strongest colour: the largest, or `Outliers.usual` where there are outliers; for attention
    weights `weights_end`.
    """
    if run.quantity(key).operation == "softmax" and not numbers.differs:
        return weights_end(run, key)
    far = far_out(run, key, numbers)
    return far.usual if far else numbers.largest


def marked(far: Outliers | None) -> list[int]:
    """The columns with outliers; none, if they are many."""
    columns = far.columns() if far else []
    return columns if len(columns) <= MOST_MARKED else []


def in_words(far: Outliers, values: np.ndarray, axes: Sequence[Axis], end: float) -> str:
    """How many outliers there are, which is furthest, and in which columns. end: the value of the strongest colour."""
    components = Axis(
        axes[1].title, [plain("common.place", axis=plain("axis.d_model"), place=i + 1) for i in range(values.shape[1])]
    )
    furthest = tuple(far.cells[0])
    said = {"n": len(far.cells), "all": f"{values.size:,}", "times": f"{FAR_OUT:g}", "end": f"{end:.3g}"}
    said |= {"place": place_in_words((axes[0], components), furthest), "value": two(values[furthest])}
    columns = plain("common.comma").join(components.labels[column] for column in marked(far))
    told = t("common.outliers", **said)
    return f"{told} {t('common.outlier_columns', columns=columns)}" if columns else told
