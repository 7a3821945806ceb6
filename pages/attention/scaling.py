"""Why scores are divided by √d_k, shown on random queries and keys of any length and on the chosen head's."""

import numpy as np
import pandas as pd

from model import Trace
from model.measures.scaling import DRAWS, KEYS, WIDTHS, at_every_width, every_way, random_scores, shares
from pages.drawing.figures import undivided
from pages.drawing.picture import Picture, touched
from pages.drawing.place import Place
from pages.drawing.text import texts_of

MEASURES = ("spread", "largest", "slope")
WAYS = {"undivided": "", "divided": "_divided", "by_d_k": "_flat"}  # -> suffix of the values' names in texts
text, word = texts_of("scaling")


def why_scaled(run: Trace, place: Place, d_k: int) -> Picture:
    """The effect of division on the weights of random vectors of length d_k, and on one head's, unless a change breaks
    how its weights follow from divided scores (and numbers of distances added to them).
    """
    own_d_k, prefix = run.config.d_k, place.of("layers.{l}.attention.")
    scores = random_scores(d_k)
    weights = np.stack([shares(scores / by) for by in (1, np.sqrt(d_k), d_k)])
    scored, visible = (run[prefix + name][place.head] for name in ("scores", "masked"))
    summed = [prefix + "biased"] * run.config.by_distance
    distances = run[prefix + "relative"][place.head] if summed else 0.0
    own = np.array(every_way(np.where(np.isfinite(visible), scored, -np.inf), own_d_k, distances)).T
    every = at_every_width()
    here = every[:, :, WIDTHS.index(d_k)]
    (spread, spread_divided, _), (slope, slope_divided, _) = here[0], here[2]
    kind = "stuck" if slope < slope_divided / 2 else "less" if slope < slope_divided else "open"
    spreads = {"spread": f"{spread:.1f}", "spread_divided": f"{spread_divided:.1f}"}
    slopes = {"slope": f"{slope:.3f}", "slope_divided": f"{slope_divided:.3f}"}
    said = f"{text('read', d_k=d_k, root=f'{d_k**0.5:.1f}', **spreads)} {text(f'read_{kind}', **slopes)}"
    masked, *relied = (prefix + name for name in ("masked", "weights", "scaled"))
    divided = not touched(run, place.head, *relied, *summed, shares=[masked])
    ways = [word(way) for way in WAYS]
    titles = [word("shares", d_k=d_k), *(word(name) for name in MEASURES)]
    rows = pd.MultiIndex.from_product([[word(name) for name in MEASURES], ways])
    axes, own_point = (word("axis_key"), "dₖ"), (own_d_k, own, word("own")) if divided else None
    figure = undivided(weights, every, WIDTHS, d_k, ways, titles, axes, own=own_point)
    return Picture(
        figure.tell(fills=True),
        said,
        title=word("title"),
        table=pd.DataFrame(
            np.column_stack([every.reshape(-1, len(WIDTHS)), own.ravel()]), rows, [*WIDTHS, word("own")]
        ),
        of_head=(place.layer, place.head),
    )


def about_scaling() -> str:
    """The sentence that says how the random vectors are drawn."""
    return text("about", draws=DRAWS, keys=KEYS)
