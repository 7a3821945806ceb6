"""One torch thread, as the app sets it: products this small only get slower with more. And one look for components."""

from functools import cache

import torch
from streamlit.components.v2 import manifest_scanner

torch.set_num_threads(1)
# AppTest reads the metadata of all that is installed, for each page that it opens: five times the work of the page.
manifest_scanner.scan_component_manifests = cache(manifest_scanner.scan_component_manifests)
