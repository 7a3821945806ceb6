"""Lecture note 003: all 784 pixels as one token, and two classes, even and odd.

The same images, distortions and figures as for the digit encoder; a fraction of the time.
"""

from pathlib import Path

import torch
from torch.nn import functional
from tqdm import tqdm

from model.config import PRESETS
from model.heads import network_for
from model.training.checkpoint import load_checkpoint, load_shipped, save_checkpoint, ship
from model.training.digits import accuracy, batches, mnist, moved, split
from model.training.optimization import device, learning_rate, take_step

CONFIG = PRESETS["flat"]
PEAK_RATE = 2e-3


def train(data: Path, checkpoints: Path, epochs: int, seed: int, start_from: Path | None) -> None:
    """Train for `epochs` epochs in all, resuming from `checkpoints` if it holds a run. Class 0 is even, class 1 odd."""
    torch.manual_seed(seed)
    where = device()
    (images, labels), (held_images, held_labels) = split(data)
    images, odd, held_odd, held_moved = images.to(where), labels.to(where) % 2, held_labels % 2, moved(held_images)

    network = network_for(CONFIG).to(where).train()
    if start_from:
        load_shipped(start_from, network)
    optimizer = torch.optim.AdamW(network.parameters(), lr=PEAK_RATE, weight_decay=0.01)
    checkpoint, epoch = checkpoints / "flat.safetensors", 0
    if checkpoint.exists():
        epoch = int(load_checkpoint(checkpoint, network, [optimizer])["epoch"])

    def validate() -> dict[str, float]:
        return {
            "validation_accuracy": accuracy(network, held_images, held_odd, where),
            "validation_moved_accuracy": accuracy(network, held_moved, held_odd, where),
        }

    with tqdm(total=epochs, initial=epoch, unit="epoch") as bar:
        while epoch < epochs:
            dice = torch.Generator(where).manual_seed(seed * 100_003 + epoch)  # so that a resumed run is the same run
            rate = learning_rate(epoch / epochs, warmup=0, decay=0.7) * PEAK_RATE
            for drawn, parity in batches(images, odd, dice):
                loss = functional.cross_entropy(network(drawn), parity)
                loss.backward()
                take_step(network, [optimizer], rate)
            epoch += 1
            bar.update()
            bar.write(f"epoch {epoch}: loss {loss.item():.3f}, {validate()}")
            save_checkpoint(checkpoint, network, [optimizer], epoch=epoch)

    test_images, test_labels = mnist(data, "test")
    measured = {
        **validate(),
        "test_accuracy": accuracy(network, test_images, test_labels % 2, where),
        "test_moved_accuracy": accuracy(network, moved(test_images), test_labels % 2, where),
        "epochs": epochs,
    }
    print(f"shipped {ship('flat', network, measured)}: {measured}")
