"""Queries, keys, values."""

from pages.ui.view import View

view = View("queries_keys_values")
view.close()
