"""Of token vectors, the few numbers that stand far out: where the colours end without them, and what is said."""

from collections.abc import Sequence

import numpy as np

from model import Trace
from model.analysis import FAR_OUT, Outliers, outliers
from pages.drawing.figures import Axis
from pages.drawing.picture import Numbers, place_in_words
from pages.drawing.scales import weights_end
from pages.drawing.text import plain, t
from pages.drawing.text.numbers import written

MOST_MARKED = 8  # columns; where more hold such numbers, it is not the column that is special


def far_out(run: Trace, key: str, numbers: Numbers) -> Outliers | None:
    """The few numbers of token vectors that stand far out, where a map shows them as they are.

    Not of heads side by side, where most numbers are small in any case.
    """
    quantity = run.quantity(key)
    if numbers.differs or quantity.axes[-1] not in ("d_model", "d_E") or quantity.operation == "concat":
        return None
    return outliers(numbers.array)


def strongest(run: Trace, key: str, numbers: Numbers) -> float:
    """The value of the strongest colour: the largest, or what 99 % of the numbers stay below if a few stand far out; of
    attention weights see `weights_end`.
    """
    if run.quantity(key).operation == "softmax" and not numbers.differs:
        return weights_end(run, key)
    far = far_out(run, key, numbers)
    return far.usual if far else numbers.largest


def marked(far: Outliers | None) -> list[int]:
    """The columns in which they stand, as long as those are few."""
    columns = far.columns() if far else []
    return columns if len(columns) <= MOST_MARKED else []


def in_words(far: Outliers, values: np.ndarray, axes: Sequence[Axis], end: float) -> str:
    """How many they are, which is the furthest, and where they stand. end: the value of the strongest colour."""
    components = Axis(axes[1].title, [plain("common.place_d_model", place=i + 1) for i in range(values.shape[1])])
    furthest = tuple(far.cells[0])
    said = {"n": len(far.cells), "all": f"{values.size:,}", "times": f"{FAR_OUT:g}", "end": f"{end:.3g}"}
    said |= {"place": place_in_words((axes[0], components), furthest), "value": written(f"{values[furthest]:.2f}")}
    columns = plain("common.comma").join(components.labels[column] for column in marked(far))
    told = t("common.outliers", **said)
    return f"{told} {t('common.outlier_columns', columns=columns)}" if columns else told
