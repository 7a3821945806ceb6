"""Heads."""

from pages.ui.view import View

view = View("heads")
view.close()
