"""Open a page of the app as a visitor with a link would, without a browser."""

import base64
import json
from pathlib import Path

import numpy as np
import plotly.graph_objects as go
from streamlit.testing.v1 import AppTest

APP = Path(__file__).parents[2] / "app.py"


def open_page(name: str, **link: str) -> AppTest:
    """The page after its first run; `link` is the query string. Fails if anything went wrong on it."""
    app = AppTest.from_file(str(APP), default_timeout=60)
    app.query_params.update({"lang": "en", **link})
    app.run()
    app.switch_page(f"pages/{name}.py").run()
    assert_fine(app)
    return app


def assert_fine(app: AppTest) -> None:
    assert not app.exception, [error.value for error in app.exception]
    assert not app.error, [error.value for error in app.error]
    for chart in app.get("plotly_chart"):
        go.Figure(json.loads(chart.proto.spec))  # raises for what Plotly does not know; figures.figure_of does not look


def texts(app: AppTest) -> str:
    """All Markdown on the page, main part and sidebar."""
    return "\n".join(str(element.value) for element in [*app.markdown, *app.caption, *app.info, *app.warning])


def figure(app: AppTest, which: int = 0) -> dict:
    """The Plotly figure number `which` of the page, as the browser gets it."""
    return json.loads(app.get("plotly_chart")[which].proto.spec)


def numbers(typed: dict) -> np.ndarray:
    """The array inside a Plotly typed-array field."""
    values = np.frombuffer(base64.b64decode(typed["bdata"]), typed["dtype"])
    return values.reshape([int(side) for side in typed["shape"].split(",")]) if "shape" in typed else values
