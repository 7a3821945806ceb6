"""Home: what this is, and the whole encoder at a glance for the sentence on screen."""

from pages.ui.figures import heatmap
from pages.ui.text import t
from pages.ui.view import View

view = View("home")
weights = view.value("layers.{l}.attention.weights")[view.choice.head]
view.picture(
    "weights",
    heatmap(weights, view.tokens("axis.query"), view.tokens("axis.key"), scale="share", font_size=view.font_size),
    t("home.read_weights", where=view.where()),
    stage="layers.{l}.attention.weights",
)
view.close()
