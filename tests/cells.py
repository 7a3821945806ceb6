"""A cell of a notebook, run without Jupyter."""

import ast


def shown(source: str, names: dict[str, object]) -> object:
    """Run a cell as Jupyter does: what its last line is, is shown."""
    lines = ast.parse(source).body
    last = lines.pop() if isinstance(lines[-1], ast.Expr) else None
    exec(compile(ast.Module(lines, []), "notebook", "exec"), names)
    return eval(compile(ast.Expression(last.value), "notebook", "eval"), names) if last else None
