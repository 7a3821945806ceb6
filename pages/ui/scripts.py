"""The scripts that a browser runs for us: Plotly, as Python's plotly brings it, and those of components/.

Each has an address that tells what is in it, so that a browser keeps it for good and fetches it anew when it changes.
"""

from functools import cache
from hashlib import sha256
from pathlib import Path

import plotly

COMPONENTS = Path(__file__).parent / "components"
SOURCES = {
    "plotly": Path(plotly.__file__).parent / "package_data" / "plotly.min.js",
    **{path.stem: path for path in sorted(COMPONENTS.glob("*.js"))},
}


@cache
def address(name: str) -> str:
    """Where a script stands, among the client's own files."""
    return f"static/{name}-{sha256(SOURCES[name].read_bytes()).hexdigest()[:12]}.js"


def script(name: str) -> str:
    """What fetches the script of a component: the script itself would come with every message, at every click."""
    return f'const own = await import(new URL("{address(name)}", document.baseURI))\nexport default own.default\n'
