"""What a browser fetches of ours: Plotly, as Python's plotly brings it, scripts and styles.

Each has an address that tells what is in it, so that a browser keeps it for good and fetches it anew when it changes.
"""

from functools import cache
from hashlib import sha256
from pathlib import Path

import plotly

from model import overview

HERE = Path(__file__).parent
PLOTLY = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
STYLE = HERE / "style.css"
START = HERE / "start.js"  # stands in the start page itself
STYLES = (STYLE, overview.STYLE)
SCRIPTS = {path.stem: path for path in (*sorted((HERE.parent / "components").glob("*.js")), overview.PAINTER)}
ALL = (PLOTLY, *STYLES, *SCRIPTS.values())


@cache
def address(source: Path) -> str:
    """Where a file stands, among the client's own."""
    return f"static/{source.name.split('.')[0]}-{sha256(source.read_bytes()).hexdigest()[:12]}{source.suffix}"


def script(name: str, *used: str) -> str:
    """What fetches the script of a component: the script itself would come with every message, at every click.

    used: scripts whose modules it gets as further arguments. If a broken line does not bring one, the page hears what
    it hears of the client's own scripts.
    """
    found = ", ".join(f'import(new URL("{address(SCRIPTS[one])}", document.baseURI))' for one in (name, *used))
    missing = "error => { dispatchEvent(new Event('vite:preloadError')); throw error }"
    return (
        f"const [own, ...used] = await Promise.all([{found}]).catch({missing})\n"
        "export default part => own.default(part, ...used)\n"
    )
