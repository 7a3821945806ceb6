"""Tokens and positions."""

from pages.ui.view import View

view = View("tokens")
view.close()
