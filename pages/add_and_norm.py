"""Add & Norm."""

from pages.ui.view import View

view = View("add_and_norm")
view.close()
