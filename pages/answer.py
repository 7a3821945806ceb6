"""Answer."""

from pages.ui.view import View

view = View("answer")
view.close()
