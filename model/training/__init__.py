"""Training recipes: `python -m model.training text|digits|flat --data DIR`."""
