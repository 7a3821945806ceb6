"""Data of an opened picture: from which quantities its cells are computed, and their exact numbers."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from model.graph import Graph
from model.neurons import pointed_to, pushes, scripts
from model.operations import Quantity
from model.overview.pictures import keys_of
from model.overview.run import Run

#: Operations that the painter computes itself; of all others it gets the result.
DONE = {"scores", "scale", "biased", "mask", "softmax", "weighted_sum", "add", "norm", "layer_scale", "activation"}
ATTENTION = ("q", "k", "s", "w", "v")
#: Picture -> the pictures of its arithmetic, in order; others have only their own.
THROUGH = dict.fromkeys(ATTENTION, ("s", "w", "heads"))
#: Pictures that a file holds as recorded. The painter computes the others from these, except in the FFN.
KEPT = ("x0", "q", "k", "s", "v", "a", "n2")
MOST = 100_000  # numbers per quantity; of larger ones, one head or one row is sent
LOUDEST = 10  # neurons


@dataclass
class Rows:
    """Recorded numbers of several quantities in one sequence of float32, and the position of each."""

    blocks: list[dict[str, Any]] = field(default_factory=list)
    parts: list[bytes] = field(default_factory=list)
    neurons: dict[str, list[Any]] = field(default_factory=dict)  # "layer.token" -> see `loudest`

    def add(self, name: str, layer: int, values: np.ndarray, head: int = 0, row: int = 0) -> None:
        """values: (head, row, column), (row, column) or (column,); the first of them are `head` and `row`."""
        heads, rows, columns = (1,) * (3 - values.ndim) + values.shape
        size = {"heads": heads, "rows": rows, "columns": columns, "at": sum(map(len, self.parts))}
        self.blocks.append({"name": name, "layer": layer, "head": head, "row": row} | size)
        self.parts.append(np.ascontiguousarray(values, "<f4").tobytes())

    def described(self, start: int = 0) -> dict[str, Any]:
        """Position of each quantity, if the numbers begin at `start`."""
        return {"blocks": [one | {"at": start + one["at"]} for one in self.blocks], "neurons": self.neurons}


def names_of(graph: Graph, layer: int) -> dict[str, str]:
    """Name in a layer -> trace key: its pictures, its input, and the outputs of its heads."""
    attention, _ = graph.sublayers(layer)
    return {"x": graph.stream(layer)[0], **keys_of(graph, layer), "heads": f"{attention.prefix}heads"}


def steps_of(trace: Run, layer: int) -> dict[str, dict[str, Any]]:
    """Name -> how the quantity is computed, for those whose arithmetic the painter shows."""
    keys, steps = names_of(trace.graph, layer), {}
    named = {key: name for name, key in keys.items()}
    wanted = [key for name, key in keys.items() if name not in ("q", "k", "v", "a") and (name != "x" or not layer)]
    while wanted:
        quantity = trace.graph[wanted.pop()]
        if not _done(trace, quantity):
            continue
        reads = [named.get(key) or key.removeprefix(f"layers.{layer}.") for key in quantity.reads]
        about = {
            "operation": quantity.operation,
            "reads": reads,
            "factor": quantity.factor,
            "function": quantity.function,
        }
        if quantity.operation == "norm" and quantity.module:
            about["eps"] = trace.network.get_submodule(quantity.module).eps
        steps[named.get(quantity.key) or quantity.key.removeprefix(f"layers.{layer}.")] = about
        wanted += [key for key in quantity.reads if key not in named]
    return steps


def _done(trace: Run, quantity: Quantity) -> bool:
    """Whether the painter can compute it: all its inputs were recorded, and no edit changed it."""
    known = all(trace.graph[key].traced for key in quantity.reads)
    return quantity.operation in DONE and known and quantity.key not in trace.edited


def exact(trace: Run, role: str, layer: int, head: int, token: int, called: Callable[[str], str] = str) -> Rows:
    """The numbers for the arithmetic of a picture's cells: all, or if those are many, only this head's or token's.

    called: the display name of an output.
    """
    rows = Rows()
    if role in ("x0", "x"):
        role, layer = ("n2", layer - 1) if role == "x" and layer else ("x", 0)
    if role == "a":
        rows.add("parts", layer, parts_of_heads(trace, layer))
    elif role == "h":
        loud = loudest(trace, layer, token)
        rows.neurons[f"{layer}.{token}"] = [(*numbers, tuple(map(called, outputs))) for *numbers, outputs in loud]
    else:
        for name, key in leaves(trace, layer, THROUGH.get(role, (role,))).items():
            values = trace[key]
            if values.size <= MOST:
                rows.add(name, layer, values)
            elif values.ndim == 3:
                rows.add(name, layer, values[head], head)
            else:
                rows.add(name, layer, values[token], row=token)
        add_trained(trace, layer, rows)
    return rows


def everything(trace: Run) -> Rows:
    """For a file: what `exact` sends, for all layers, heads and tokens, without the pictures in `KEPT`."""
    rows = Rows()
    for layer in range(trace.config.layers):
        steps = steps_of(trace, layer)
        for name, key in leaves(trace, layer, ("x", "s", "w", "heads", "n1", "n2")).items():
            if name not in KEPT and name != "x" and name not in steps:
                rows.add(name, layer, trace[key])
        add_trained(trace, layer, rows)
        rows.add("parts", layer, parts_of_heads(trace, layer))
        for token in range(len(trace.tokens)):
            rows.neurons[f"{layer}.{token}"] = loudest(trace, layer, token)
    return rows


def leaves(trace: Run, layer: int, roles: Iterable[str]) -> dict[str, str]:
    """Name -> trace key of the quantities in the arithmetic of some pictures that the painter does not compute."""
    keys, steps, found = names_of(trace.graph, layer), steps_of(trace, layer), {}
    wanted, opened = list(roles), set(roles)
    while wanted:
        name = wanted.pop()
        if name not in found and (name not in steps or (name in keys and name != "heads")):
            found[name] = keys.get(name) or next(key for key in (f"layers.{layer}.{name}", name) if key in trace.graph)
        if name in steps and (name in opened or name not in keys):
            opened.discard(name)
            wanted += steps[name]["reads"]
    return found


def add_trained(trace: Run, layer: int, rows: Rows) -> None:
    """Add the trained numbers of a layer's steps: γ and β of a norm, those of a LayerScale."""
    keys = names_of(trace.graph, layer)
    for name, step in steps_of(trace, layer).items():
        if step["operation"] in ("norm", "layer_scale"):
            key = keys.get(name) or next(key for key in (f"layers.{layer}.{name}", name) if key in trace.graph)
            for place, one in enumerate(trace.network.get_submodule(trace.graph[key].module).parameters()):
                rows.add(f"{name}.{place}", layer, one.detach().float().numpy())


def parts_of_heads(trace: Run, layer: int) -> np.ndarray:
    """(token, head + 1): component of each head's contribution in the direction of attention's output; last, that of
    b_O.

    For a row o of Concat·W_O, a contribution c counts c · o / |o|; together they are the length of o.
    """
    attention, _ = trace.graph.sublayers(layer)
    output = trace[keys_of(trace.graph, layer)["a"]].astype(np.float64)
    along = output / np.maximum(np.linalg.norm(output, axis=-1, keepdims=True), 1e-12)
    parts = np.einsum("hio,io->ih", trace[f"{attention.prefix}contributions"].astype(np.float64), along)
    rest = np.linalg.norm(output, axis=-1) - parts.sum(-1)
    return np.concatenate([parts, rest[:, None]], -1).astype(np.float32)


def loudest(trace: Run, layer: int, token: int) -> list[tuple[int, float, float, tuple[str, ...]]]:
    """The strongest neurons of a token: index, value, value before the activation, and the words to which it points.

    Words are in the script of the input; for pictures they are classes. Empty without a head.
    """
    prefix = trace.graph.sublayers(layer)[1].prefix
    values, before = trace[keys_of(trace.graph, layer)["h"]][token], trace[f"{prefix}hidden"][token]
    order = [i for i in np.argsort(-np.abs(values), kind="stable")[:LOUDEST].tolist() if values[i]]
    said: list[tuple[str, ...]] = [()] * len(order)
    if "logits" in trace.graph and order:
        written = None if trace.picture is not None else scripts(trace.tokens)
        found = (pointed_to(scores, trace.outputs, written) for scores in pushes(trace.network, layer, order))
        said = [tuple(map(trace.outputs.__getitem__, places)) for places in found]
    exactly = [[float(f"{numbers[i]:.7g}") for i in order] for numbers in (values, before)]
    return list(zip(order, *exactly, said, strict=True))
