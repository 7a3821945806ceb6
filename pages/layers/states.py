"""What the states of the residual stream are called: before the first layer, and after each."""

from pages.ui.figures import Axis
from pages.ui.text import texts_of
from pages.ui.view import View

_, word = texts_of("layers")


def steps(view: View) -> list[str]:
    """The name of each state: 1 + layers."""
    return [word("step_0"), *(word("step", layer=layer + 1) for layer in range(view.trace.graph.layers()))]


def numbered(view: View) -> Axis:
    """The same along an axis, as numbers."""
    return Axis(word("axis_number"), [str(number) for number in range(1 + view.trace.graph.layers())])
