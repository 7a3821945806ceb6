"""What a browser fetches of ours: Plotly, as Python's plotly brings it, scripts and styles.

Each has an address that tells what is in it, so that a browser keeps it for good and fetches it anew when it changes.
"""

import re
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
COMPONENTS = sorted((HERE.parent / "screen" / "components").glob("*.js"))
SCRIPTS = {path.stem: path for path in (*COMPONENTS, overview.PAD, overview.PAINTER)}
ALL = (PLOTLY, *STYLES, *SCRIPTS.values())
WRITES_NUMBERS = re.compile(rb"^import .*/numbers\.js'\n", re.MULTILINE)
#: For the start page, before all scripts: ours are imported by where they stand, from modules that stand nowhere.
IMPORTS = '<script type="importmap">{"imports": {"static/": "./static/"}}</script>'


@cache
def address(source: Path) -> str:
    """Where a file stands, among the client's own."""
    return f"static/{source.name.split('.')[0]}-{sha256(content(source)).hexdigest()[:12]}{source.suffix}"


def content(source: Path) -> bytes:
    """What is sent as this file: of the painter, all of its modules; with ours, how the painter writes numbers."""
    if source == overview.PAINTER:
        return overview.painter().encode()
    if source in COMPONENTS:
        return WRITES_NUMBERS.sub(lambda _: overview.NUMBERS.read_bytes().replace(b"export ", b""), source.read_bytes())
    return source.read_bytes()


def script(name: str, *used: str) -> str:
    """What brings the script of a component: the script itself would come with every message, at every click.

    used: scripts whose modules it gets as further arguments. The module that Streamlit makes of this has no address of
    its own: IMPORTS says where these are. If a broken line does not bring one, the client says so as of its own.
    """
    modules = {f"used{place}": one for place, one in enumerate(used)}
    brought = {"own": name} | {f"* as {module}": one for module, one in modules.items()}
    lines = [f'import {these} from "{address(SCRIPTS[one])}"' for these, one in brought.items()]
    return "\n".join([*lines, f"export default part => own({', '.join(['part', *modules])})"])
