"""Layers."""

from pages.ui.view import View

view = View("layers")
view.close()
