"""Checkpoints that resume exactly, and the weights that ship."""

import json
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from torch import nn

from model.decoder import TranslationNetwork
from model.files import WEIGHTS, seal
from model.loading import fill


def save_checkpoint(path: Path, network: nn.Module, optimizers: list[torch.optim.Optimizer], **progress: float) -> None:
    """Weights, optimizer state and progress in one safetensors file; replaces the old one in one step."""
    tensors = {f"network.{name}": value for name, value in network.state_dict().items()}
    for number, optimizer in enumerate(optimizers):
        for parameter, state in optimizer.state_dict()["state"].items():
            for name, value in state.items():
                tensors[f"optimizer.{number}.{parameter}.{name}"] = torch.as_tensor(value)
    # Tied weights share memory, which safetensors does not store: keep a copy of each.
    tensors = {name: value.detach().cpu().clone().contiguous() for name, value in tensors.items()}
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_suffix(".new")
    save_file(tensors, fresh, metadata={"progress": json.dumps(progress)})
    fresh.replace(path)


def load_checkpoint(path: Path, network: nn.Module, optimizers: list[torch.optim.Optimizer]) -> dict[str, float]:
    """Put a checkpoint back into a network and its optimizers; returns the progress that was saved."""
    with safe_open(path, framework="pt") as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
        progress = json.loads(file.metadata()["progress"])
    network.load_state_dict({k.removeprefix("network."): v for k, v in tensors.items() if k.startswith("network.")})
    for number, optimizer in enumerate(optimizers):
        saved = optimizer.state_dict()
        for key, value in tensors.items():
            kind, _, rest = key.partition(".")
            if kind == "optimizer" and rest.startswith(f"{number}."):
                _, parameter, name = rest.split(".", 2)
                saved["state"].setdefault(int(parameter), {})[name] = value
        optimizer.load_state_dict(saved)
    return progress


def load_shipped(path: Path, network: nn.Module) -> None:
    """Start from finished weights, as `ship` wrote them; what a translator's file leaves out stays as it is."""
    stored = {name: value.float() for name, value in load_file(path).items()}
    if isinstance(network, TranslationNetwork):
        stored = network.state_dict() | stored
    fill(network, stored, path.stem)


def ship(name: str, network: nn.Module, measured: dict[str, float]) -> Path:
    """Write model/weights/NAME.safetensors in float16, with the last validation's figures inside.

    What is tied to the embedding matrix is stored once; of a translator, only what its encoder's file lacks.
    Raises ValueError for a number that float16 does not hold.
    """
    state = network.state_dict()
    if isinstance(network, TranslationNetwork):
        state = {key: value for key, value in state.items() if key == "logits.bias" or key.startswith("decoder.")}
        del state["decoder.embedding.E.weight"]
    elif "embedding.E.weight" in state:
        state.pop("logits.weight", None)
    tensors = {key: value.detach().cpu().half().contiguous() for key, value in state.items()}
    if lost := [key for key, value in tensors.items() if not value.isfinite().all()]:
        raise ValueError(f"not finite, and so not shipped: {', '.join(lost)}")
    path = WEIGHTS / f"{name}.safetensors"
    save_file(tensors, path, metadata={"measured": json.dumps(measured)})
    seal(path)
    return path


def save_snapshot(folder: Path, network: nn.Module, figures: dict[str, float]) -> None:
    """FOLDER/STEP.safetensors: the weights after so many steps in float16, with their figures inside."""
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {key: value.detach().cpu().half().contiguous() for key, value in network.state_dict().items()}
    path = folder / f"{figures['step']:06}.safetensors"
    save_file(tensors, path, metadata={"figures": json.dumps(figures)})


def ship_snapshots(name: str, folder: Path) -> Path:
    """Write model/weights/NAME.safetensors: each tensor of all snapshots in one, (snapshot, …), and their figures.

    Without the weights of the last, which are those of the finished network.
    """
    paths = sorted(folder.glob("*.safetensors"))
    figures = []
    for path in paths:
        with safe_open(path, framework="pt") as file:
            figures.append(json.loads(file.metadata()["figures"]))
    earlier = [load_file(path) for path in paths[:-1]]
    tensors = {key: torch.stack([one[key] for one in earlier]) for key in earlier[0]}
    path = WEIGHTS / f"{name}.safetensors"
    save_file(tensors, path, metadata={"measured": json.dumps({"snapshots": figures})})
    seal(path)
    return path
