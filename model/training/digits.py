"""The digit encoder: read handwritten digits, as patches, from people's drawings and small scans.

MNIST (LeCun et al. 1998), distorted anew in every epoch: turned, sheared, stretched, bent (Simard et al. 2003), drawn
with thicker, thinner and softer pens; most of the pictures then pass through what `model.digits.prepare` does, in
batches. Some first become the scans of older collections: 16×16 pixels, black or white, the digit stretched to fill
them. What [CLS] gives to patches without ink costs. The shipped weights are the running average of those trained.
"""

import gzip
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.optim.swa_utils import AveragedModel
from tqdm import tqdm

from model.config import PRESETS
from model.digits import BOX, FAINTEST, MIDDLE, SIZE, WHITE_SHARE, DigitError, prepare
from model.encoder import Encoder
from model.heads import network_for
from model.training.attention_budget import Watch
from model.training.checkpoint import (
    load_checkpoint,
    load_shipped,
    save_checkpoint,
    save_snapshot,
    ship,
    ship_snapshots,
)
from model.training.drawings import written_digits
from model.training.optimization import device, half_precision, learning_rate, optimizers_for, take_step

CONFIG = PRESETS["digits"]
BATCH = 256
PEAK_RATE = 5e-3
SMOOTHING = 0.05
AVERAGE_STEPS = 500  # the running average reaches back about so far
SCANNED, SCAN_SIDE = 0.2, 16  # share of the pictures that become scans, and a scan's pixels a side
BLANK, WEIGHT = 0.2, 1.0  # share of its attention that a head may let [CLS] waste, and what more than that costs
WRITTEN = 1200  # hands, drawn by strokes, for each digit; distorted as MNIST's are
SNAPSHOTS = 12  # of the weights, from the first to the last, at even steps of log time
VALIDATION_IMAGES = 5000  # the last of the training set
FILES = {"train": "train", "test": "t10k"}


def read_idx(path: Path) -> Tensor:
    """One gzipped IDX file as uint8: images (image, 28, 28) or labels (image)."""
    with gzip.open(path, "rb") as file:
        content = file.read()
    dimensions = content[3]
    shape = np.frombuffer(content, ">u4", count=dimensions, offset=4)
    return torch.from_numpy(np.frombuffer(content, np.uint8, offset=4 + 4 * dimensions).reshape(shape).copy())


def mnist(data: Path, part: str) -> tuple[Tensor, Tensor]:
    """Images (image, 28, 28) in [0, 1] and labels (image), of the part "train" or "test"."""
    folder = data / "mnist"
    images = read_idx(folder / f"{FILES[part]}-images-idx3-ubyte.gz").float() / 255
    return images, read_idx(folder / f"{FILES[part]}-labels-idx1-ubyte.gz").long()


def split(data: Path) -> tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]]:
    """MNIST's training set without its last images, and these, to validate on."""
    images, labels = mnist(data, "train")
    return (
        (images[:-VALIDATION_IMAGES], labels[:-VALIDATION_IMAGES]),
        (images[-VALIDATION_IMAGES:], labels[-VALIDATION_IMAGES:]),
    )


def between(low: float, high: float, count: int, dice: torch.Generator) -> Tensor:
    """`count` random numbers between low and high, on the dice's device."""
    return low + (high - low) * torch.rand(count, generator=dice, device=dice.device)


def look_up(images: Tensor, places: Tensor) -> Tensor:
    """The values of images (image, 28, 28) at places (image, 28, 28, 2), each an x and a y from -1 to 1."""
    return functional.grid_sample(images[:, None], places, align_corners=False)[:, 0]


def affine(turn: Tensor, scale: Tensor, stretch: Tensor, shear: Tensor, shift: Tensor) -> Tensor:
    """Maps output places back to input places: (image, 2, 3). Angles in degrees; shift (image, 2) in pixels."""
    angle = turn * math.pi / 180
    cos, sin = angle.cos(), angle.sin()
    rotation = torch.stack([cos, -sin, sin, cos], -1).unflatten(-1, (2, 2))
    ones, zeros = torch.ones_like(shear), torch.zeros_like(shear)
    slant = torch.stack([ones, shear, zeros, ones], -1).unflatten(-1, (2, 2))
    sizes = torch.stack([scale * stretch, scale / stretch], -1)
    inverse = torch.linalg.inv(rotation @ slant @ sizes.diag_embed())
    offset = -inverse @ (shift * 2 / SIZE).unsqueeze(-1)
    return torch.cat([inverse, offset], dim=-1)


def bends(count: int, dice: torch.Generator) -> Tensor:
    """Smooth random displacements (image, 28, 28, 2), of up to about 1.5 pixels, as if on rubber."""
    size = 6
    coarse = torch.randn(count, 2, size, size, generator=dice, device=dice.device)
    smooth = functional.interpolate(coarse, (SIZE, SIZE), mode="bicubic", align_corners=False)
    strength = between(0, 0.8, count, dice)[:, None, None, None]
    return (strength * smooth).permute(0, 2, 3, 1) * 2 / SIZE


def change_pen(images: Tensor, dice: torch.Generator) -> Tensor:
    """Strokes up to two pixels wider or one narrower, edges softer or harder."""
    count = len(images)
    images = images[:, None]
    width = between(-0.8, 1.2, count, dice)[:, None, None, None]
    width = width * (between(0, 1, count, dice) < 0.6)[:, None, None, None]
    thick = functional.max_pool2d(images, 3, stride=1, padding=1)
    thicker = functional.max_pool2d(thick, 3, stride=1, padding=1)
    thin = -functional.max_pool2d(-images, 3, stride=1, padding=1)
    wider = images + width.clamp(0, 1) * (thick - images) + (width - 1).clamp(0, 1) * (thicker - thick)
    # Pixels that thinning would wipe out altogether stay faintly.
    pen = wider + (-width).clamp(0, 1) * (torch.maximum(thin, 0.4 * images) - images)

    soft = functional.avg_pool2d(pen, 3, stride=1, padding=1, count_include_pad=False)
    blur = between(-0.7, 0.8, count, dice)[:, None, None, None].clamp(0)
    pen = pen + blur * (soft - pen)
    hardness = between(-2, 2, count, dice)[:, None, None, None].clamp(0)
    pen = ((pen - 0.5) * (1 + hardness) + 0.5).clamp(0, 1) * (pen > 0)
    return (pen / pen.amax((1, 2, 3), keepdim=True).clamp(min=0.2))[:, 0].clamp(0, 1)


def pixels(images: Tensor) -> Tensor:
    return torch.arange(SIZE, device=images.device, dtype=images.dtype)


def box(images: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
    """The first and last pixel with ink of each image, along x, then y."""
    inked = images >= FAINTEST * images.amax((1, 2), keepdim=True).clamp(min=0.1)
    for other in (1, 2):
        there = inked.any(other)
        yield torch.where(there, pixels(images), SIZE).amin(1), torch.where(there, pixels(images), -1).amax(1)


def grid(x: Tensor, y: Tensor) -> Tensor:
    """Places to look up, from those along both sides (image, side) each."""
    side = x.shape[1]
    return torch.stack([x[:, None, :].expand(-1, side, -1), y[:, :, None].expand(-1, -1, side)], dim=-1)


def prepare_batch(images: Tensor) -> Tensor:
    """`model.digits.prepare` for images (image, 28, 28) with ink bright: the longest side 20 px, centred by mass."""
    pixel = pixels(images)
    places, scales, corners = [], [], []
    for other, (first, last) in enumerate(box(images), 1):
        mass = images.sum(other)
        mean = (mass * pixel).sum(1) / mass.sum(1).clamp(min=1e-3)
        scales.append(BOX / (last + 1 - first).clamp(min=1))
        corners.append((first, mean))
    scale = torch.minimum(*scales)
    for first, mean in corners:
        # Where the box's corner goes, a whole pixel; then each output pixel's place in the input.
        corner = (MIDDLE - (mean + 0.5 - first) * scale - 0.001).ceil()
        source = first[:, None] + (pixel + 0.5 - corner[:, None]) / scale[:, None]
        places.append(source * 2 / SIZE - 1)
    prepared = look_up(images, grid(*places))
    ink = torch.where(prepared >= FAINTEST, prepared, torch.nan).flatten(1)
    white = ink.nanquantile(1 - WHITE_SHARE, dim=1)[:, None, None].nan_to_num(1).clamp(min=0.2)
    return (prepared / white).clamp(0, 1)


def scan(images: Tensor, threshold: Tensor) -> Tensor:
    """Each digit's box stretched over SCAN_SIDE² pixels, black or white: (image, 16, 16). threshold: (image)."""
    middle = (torch.arange(SCAN_SIDE, device=images.device) + 0.5) / SCAN_SIDE
    places = [(first[:, None] + middle * (last + 1 - first)[:, None]) * 2 / SIZE - 1 for first, last in box(images)]
    return (look_up(images, grid(*places)) > threshold[:, None, None]).float()


def as_scanned(images: Tensor, dice: torch.Generator) -> Tensor:
    """Scans of them in the middle of a 28×28 field, as large as `prepare` makes them: the longest side 20 px."""
    small = scan(images, between(0.25, 0.6, len(images), dice))[:, None]
    large = functional.interpolate(small, (BOX, BOX), mode="bilinear", antialias=True)[:, 0]
    return functional.pad(large, [(SIZE - BOX) // 2] * 4)


def distort(images: Tensor, dice: torch.Generator) -> Tensor:
    """New drawings of the same digits: (image, 28, 28) in and out."""
    count = len(images)
    shift = torch.stack([between(-3, 3, count, dice), between(-3, 3, count, dice)], dim=-1)
    matrices = affine(
        turn=between(-15, 15, count, dice),
        scale=between(0.7, 1.2, count, dice),
        stretch=between(0.9, 1.11, count, dice),
        shear=between(-0.2, 0.2, count, dice),
        shift=shift,
    )
    places = functional.affine_grid(matrices, [count, 1, SIZE, SIZE], align_corners=False)
    drawn = change_pen(look_up(images, places + bends(count, dice)), dice)
    fate = between(0, 1, count, dice)[:, None, None]
    drawn = torch.where(fate > 1 - SCANNED, as_scanned(drawn, dice), drawn)
    return torch.where(fate < 0.1, drawn, prepare_batch(drawn))


def batches(images: Tensor, labels: Tensor, dice: torch.Generator) -> Iterator[tuple[Tensor, Tensor]]:
    """One epoch of distorted images, in random order; the last, smaller batch is left out."""
    order = torch.randperm(len(images), generator=dice, device=dice.device)
    for chosen in order.split(BATCH)[: len(order) // BATCH]:
        yield distort(images[chosen], dice), labels[chosen]


def moved(images: Tensor) -> Tensor:
    """The hard test: shifted by up to 4 px, scaled by 0.7 to 1.2, turned by up to 15°, then prepared."""
    dice = torch.Generator().manual_seed(0)
    count = len(images)
    matrices = affine(
        turn=between(-15, 15, count, dice),
        scale=between(0.7, 1.2, count, dice),
        stretch=torch.ones(count),
        shear=torch.zeros(count),
        shift=torch.stack([between(-4, 4, count, dice), between(-4, 4, count, dice)], dim=-1),
    )
    drawn = look_up(images, functional.affine_grid(matrices, [count, 1, SIZE, SIZE], align_corners=False))
    return torch.stack([torch.from_numpy(prepared_or_blank(image.numpy())) for image in drawn])


def scanned(images: Tensor) -> Tensor:
    """The other hard test: scans of 16×16 black or white pixels that the digit fills, then prepared."""
    scans = scan(images, torch.full((len(images),), 0.4))
    return torch.stack([torch.from_numpy(prepared_or_blank(np.pad(image.numpy(), 1))) for image in scans])


def snapshot_steps(total: int) -> list[int]:
    """After which steps of training the weights are kept: 0, then even steps of log time, up to the last one."""
    return [0, *(round(step) for step in np.geomspace(10, total, SNAPSHOTS - 1))]


def prepared_or_blank(image: np.ndarray) -> np.ndarray:
    """A refused image counts as one that cannot be read."""
    try:
        return prepare(image)
    except DigitError:
        return np.zeros((SIZE, SIZE), np.float32)


@torch.no_grad()
def accuracy(network: Encoder, images: Tensor, labels: Tensor, where: torch.device) -> float:
    """Share of images whose highest score is their label's."""
    network.eval()
    guesses = [network(some.to(where)).argmax(-1).cpu() for some in images.split(500)]
    network.train()
    return (torch.cat(guesses) == labels).float().mean().item()


@torch.no_grad()
def mean_loss(network: Encoder, images: Tensor, labels: Tensor, where: torch.device) -> float:
    """Cross-entropy of the labels, mean of all images, in nats."""
    network.eval()
    scores = torch.cat([network(some.to(where)).cpu() for some in images.split(500)])
    network.train()
    return functional.cross_entropy(scores, labels).item()


def running_average(averages: list[Tensor], weights: list[Tensor], count: Tensor) -> None:
    """One step of an exponential average, short at first, so that the random beginning is soon forgotten."""
    reach = min(AVERAGE_STEPS, 1 + float(count) / 5)
    torch._foreach_lerp_(averages, weights, 1 / reach)


def scores_for(network: Encoder, images: Tensor) -> Tensor:
    """What network(images) returns, without the last layer's work for the patches: only [CLS] is read out of it."""
    x = network.embedding(images)
    for layer in network.layers[:-1]:
        x = layer(x)
    last, cls = network.layers[-1], x[:, :1]
    cls = last.norm_1(cls + last.attention(cls, x))
    return network.read_out(last.norm_2(cls + last.ffn(cls)))


def wasted(weights: list[Tensor], images: Tensor) -> Tensor:
    """How much more than BLANK of [CLS]'s attention goes to itself and to patches without ink, mean of all heads.

    Args:
        weights: of each layer, (image, head, query, key), [CLS] being the first query.
        images: (image, 28, 28).
    """
    inked = functional.max_pool2d(images, CONFIG.patch_size) >= FAINTEST  # (image, row, column)
    blank = functional.pad(~inked.flatten(1), (1, 0), value=True)[:, None]  # (image, 1, key)
    over = [((A[:, :, 0].float() * blank).sum(-1) - BLANK).clamp(min=0).mean() for A in weights]
    return torch.stack(over).mean()


@torch.no_grad()
def ink_share(network: Encoder, images: Tensor, where: torch.device) -> list[float]:
    """For each layer, the share of [CLS]'s attention that goes to patches that `hold_ink`, mean of its heads."""
    watch = Watch.over(network)
    network.train()  # no dropout in this one: only so that the watch keeps what it sees
    network(images.to(where))
    inked = functional.max_pool2d(images.to(where), CONFIG.patch_size).flatten(1) >= FAINTEST
    return [(A[:, :, 0, 1:] * inked[:, None]).sum(-1).mean().item() for A in watch.take()]


def train(data: Path, checkpoints: Path, epochs: int, seed: int, start_from: Path | None) -> None:
    """Train for `epochs` epochs in all, resuming from `checkpoints` if it holds a run, and ship the average."""
    torch.manual_seed(seed)
    where = device()
    (images, labels), (held_images, held_labels) = split(data)
    by_strokes, their_labels = written_digits(WRITTEN, np.random.default_rng(seed))
    images, labels = torch.cat([images, by_strokes]).to(where), torch.cat([labels, their_labels]).to(where)
    held_moved, held_scanned = moved(held_images), scanned(held_images)

    network = network_for(CONFIG).to(where).train()
    if start_from:
        load_shipped(start_from, network)
    average = AveragedModel(network, multi_avg_fn=running_average)
    both = nn.ModuleDict({"network": network, "average": average})
    optimizers = optimizers_for(network, PEAK_RATE, memory=0.99)
    checkpoint, epoch = checkpoints / "digits.safetensors", 0
    if checkpoint.exists():
        epoch = int(load_checkpoint(checkpoint, both, optimizers)["epoch"])
    steps = len(images) // BATCH
    watch = Watch.over(network)

    kept = snapshot_steps(epochs * steps)

    def keep(step: int) -> None:
        """A snapshot of the average, and how well it reads."""
        figures = {"step": step, "loss": mean_loss(average.module, held_images, held_labels, where)}
        save_snapshot(checkpoints / "digits", average.module, {**figures, **validate()})

    def validate() -> dict[str, float]:
        return {
            "validation_accuracy": accuracy(average.module, held_images, held_labels, where),
            "validation_moved_accuracy": accuracy(average.module, held_moved, held_labels, where),
            "validation_scanned_accuracy": accuracy(average.module, held_scanned, held_labels, where),
        }

    if epoch == 0:
        keep(0)
    with tqdm(total=epochs * steps, initial=epoch * steps, unit="batch", mininterval=10) as bar:
        while epoch < epochs:
            dice = torch.Generator(where).manual_seed(seed * 100_003 + epoch)  # so that a resumed run is the same run
            for step, (drawn, digits) in enumerate(batches(images, labels, dice)):
                with half_precision(where):
                    scores = scores_for(network, drawn).float()
                loss = functional.cross_entropy(scores, digits, label_smoothing=SMOOTHING)
                over = wasted(watch.take(), drawn)
                (loss + WEIGHT * over).backward()
                rate = learning_rate((epoch + step / steps) / epochs, decay=0.5) * PEAK_RATE
                take_step(network, optimizers, rate)
                average.update_parameters(network)
                bar.update()
                if epoch * steps + step + 1 in kept:
                    keep(epoch * steps + step + 1)
                if step % 20 == 0:
                    bar.set_postfix(loss=f"{loss.item():.3f}", over=f"{over.item():.3f}", rate=f"{rate:.1e}")
            epoch += 1
            bar.write(f"epoch {epoch}: {validate()}")
            save_checkpoint(checkpoint, both, optimizers, epoch=epoch)

    test_images, test_labels = mnist(data, "test")
    measured = {
        **validate(),
        "test_accuracy": accuracy(average.module, test_images, test_labels, where),
        "test_moved_accuracy": accuracy(average.module, moved(test_images), test_labels, where),
        "test_scanned_accuracy": accuracy(average.module, scanned(test_images), test_labels, where),
        "epochs": epochs,
    }
    print(f"shipped {ship('digits', average.module, measured)}: {measured}")
    print(f"shipped {ship_snapshots('learning', checkpoints / 'digits')}")
