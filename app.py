"""Glass Encoder: the frame that every page shares, then the page."""

from pages.ui.frame import frame

frame()
