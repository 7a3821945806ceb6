"""Shapes and cost."""

from pages.ui.view import View

view = View("shapes_and_cost")
view.close()
