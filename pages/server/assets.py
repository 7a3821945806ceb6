"""The files that browsers fetch from us: Plotly's script (from Python's plotly), our scripts and styles.

Addresses contain a hash of the content, so browsers keep a file for good and fetch it again when it changes.
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
START = HERE / "start.js"  # inlined in the start page
PHRASED = HERE / "phrased.js"
STYLES = (STYLE, overview.STYLE)
COMPONENTS = sorted((HERE.parent / "screen" / "components").glob("*.js"))
SCRIPTS = {path.stem: path for path in (*COMPONENTS, overview.PAD, overview.PAINTER)}
ALL = (PLOTLY, *STYLES, *SCRIPTS.values())
#: What components import that is inlined in each, as in the page for phones.
INLINED = {file.name: file for file in (overview.NUMBERS, PHRASED)}
IMPORT = re.compile(r"^import .*/(\w+\.js)'\n", re.MULTILINE)
#: For the start page, before all scripts: resolves our scripts' addresses in modules that have none themselves.
IMPORTS = '<script type="importmap">{"imports": {"static/": "./static/"}}</script>'


@cache
def address(source: Path) -> str:
    """The address of a file, in the folder of Streamlit's own."""
    return f"static/{source.name.split('.')[0]}-{sha256(content(source)).hexdigest()[:12]}{source.suffix}"


def content(source: Path) -> bytes:
    """The content sent for this file: for the painter all its modules; for components with INLINED."""
    if source == overview.PAINTER:
        return overview.painter().encode()
    if source in COMPONENTS:
        whole = source.read_text("utf-8")
        return IMPORT.sub(lambda of: INLINED[of[1]].read_text("utf-8").replace("export ", ""), whole).encode()
    return source.read_bytes()


def script(name: str, *used: str) -> str:
    """A short module that imports a component's script, since Streamlit sends a component's code with every message.

    used: scripts whose modules are passed as further arguments. The module has no address, so IMPORTS resolves theirs.
    If a script does not arrive, the client reports it like its own.
    """
    modules = {f"used{place}": one for place, one in enumerate(used)}
    brought = {"own": name} | {f"* as {module}": one for module, one in modules.items()}
    lines = [f'import {these} from "{address(SCRIPTS[one])}"' for these, one in brought.items()]
    return "\n".join([*lines, f"export default part => own({', '.join(['part', *modules])})"])
