"""Pure functions from numbers and labels to Plotly figures. No Streamlit here, and no model."""

from pages.drawing.figures.arrows import Arrow, arrows, saw
from pages.drawing.figures.base import (
    ACCENT,
    ADDED,
    AFTER,
    BEFORE,
    GREY,
    GUESS,
    INK,
    LEGEND,
    ROLE_COLOURS,
    Axis,
    Figure,
    coloured,
    figure_of,
    frame,
    guessed,
    label,
    on_screen,
    on_white,
    role_colours,
    sign_colours,
)
from pages.drawing.figures.climb import Best, Paths, climb
from pages.drawing.figures.colours import colour_tiles
from pages.drawing.figures.curves import (
    BLUE,
    ORANGE,
    TALL,
    activation_curve,
    bars,
    bars_with_numbers,
    grouped_bars,
    lines,
    stacks,
    stairs,
    undivided,
    waterfall,
    waves,
)
from pages.drawing.figures.drawings import drawing, over_drawing, over_drawings, token_at
from pages.drawing.figures.matrices import (
    Matrix,
    abreast,
    block_of,
    heatmap,
    ranked_bars,
    tiles,
)
from pages.drawing.figures.points import attention_lines, paths, queries_and_keys
from pages.drawing.figures.writing import Branch, branches, writing
