"""Pure functions from numbers and labels to Plotly figures. No Streamlit here, and no model."""

from pages.ui.figures.arrows import Arrow, arrows, saw
from pages.ui.figures.base import (
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
from pages.ui.figures.climb import Best, Paths, climb
from pages.ui.figures.colours import colour_tiles
from pages.ui.figures.curves import (
    BLUE,
    ORANGE,
    TALL,
    activation_curve,
    bars,
    bars_with_numbers,
    grouped_bars,
    lines,
    outlines,
    stairs,
    undivided,
    waterfall,
    waves,
)
from pages.ui.figures.drawings import drawing, over_drawing, over_drawings, token_at
from pages.ui.figures.matrices import (
    Matrix,
    Thumbnail,
    abreast,
    block_of,
    heatmap,
    thumbnails,
    tiles,
)
from pages.ui.figures.points import attention_lines, paths, queries_and_keys, scatter
from pages.ui.figures.reads import reads
from pages.ui.figures.writing import Branch, branches, writing
