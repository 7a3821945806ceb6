"""One torch thread, as the app sets it: products this small only get slower with more."""

import torch

torch.set_num_threads(1)
