"""Feed-forward."""

from pages.ui.view import View

view = View("feed_forward")
view.close()
