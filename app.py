"""Glass Encoder: the frame that every page shares, then the page."""

import os

# Visitors share the cores, so NumPy's products run on one thread, as torch's do: two would wait for each other, busily.
# NumPy reads this when it is first imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from pages.ui.frame import frame

frame()
