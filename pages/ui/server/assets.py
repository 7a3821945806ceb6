"""What a browser fetches of ours: Plotly, as Python's plotly brings it, the scripts of components/, and style.css.

Each has an address that tells what is in it, so that a browser keeps it for good and fetches it anew when it changes.
"""

from functools import cache
from hashlib import sha256
from pathlib import Path

import plotly

HERE = Path(__file__).parent
PLOTLY = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
STYLE = HERE / "style.css"
START = HERE / "start.js"  # stands in the start page itself
SCRIPTS = {path.stem: path for path in sorted((HERE.parent / "components").glob("*.js"))}
ALL = (PLOTLY, STYLE, *SCRIPTS.values())


@cache
def address(source: Path) -> str:
    """Where a file stands, among the client's own."""
    return f"static/{source.name.split('.')[0]}-{sha256(source.read_bytes()).hexdigest()[:12]}{source.suffix}"


def script(name: str) -> str:
    """What fetches the script of a component: the script itself would come with every message, at every click.

    If a broken line does not bring it, the page hears what it hears of the client's own scripts.
    """
    found = f'import(new URL("{address(SCRIPTS[name])}", document.baseURI))'
    missing = "error => { dispatchEvent(new Event('vite:preloadError')); throw error }"
    return f"const own = await {found}.catch({missing})\nexport default own.default\n"
