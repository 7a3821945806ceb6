"""The rule for doubt: a plane between digits and all else, in what the digit network's layers make of a drawing.

    python -m model.training doubt --data DIR

Digits are MNIST's, as they are and distorted as in training, and drawn ones; the rest is drawn (`drawings.py`). The
plane is a logistic regression; it is moved to where it leaves a chosen share of held-out digits beyond it. To be run
again whenever model/weights/digits.safetensors is new; takes a few minutes and writes model/weights/doubt.safetensors.
"""

import json
from pathlib import Path

import numpy as np
import torch
from PIL import Image, ImageDraw, ImageFont
from safetensors.numpy import save_file
from torch import Tensor
from torch.nn import functional

from model.encoder import Encoder
from model.files import WEIGHTS, fingerprint, seal
from model.loading import load
from model.measures.doubt import FILE, MADE_FROM, Doubt, margin, summary
from model.training import digits, drawings

STRANGE = 0.010  # of held-out digits may lie beyond the plane
CLOSE = 0.004  # of held-out digits may have a lead that is too small
IMAGES, DISTORTED = 12_000, 8_000  # of MNIST's training set
HANDS = 330  # that draw each digit by strokes
MOVED = 3000  # of the images that the plane was not made from
DECAY = 1e-3  # of the plane's normal
LOOKALIKES = "OISZloszbgq"


def prepared(images: Tensor) -> Tensor:
    """What `model.digits.prepare` makes of images (image, 28, 28)."""
    return torch.stack([torch.from_numpy(digits.prepared_or_blank(image.numpy())) for image in images])


@torch.inference_mode()
def observe(network: Encoder, images: Tensor) -> tuple[np.ndarray, np.ndarray]:
    """The summaries of the layers' states (image, layer · 2 · d_model), and the probabilities (image, class)."""
    summaries, probabilities = [], []
    for some in images.split(500):
        x, states = network.embedding(some), []
        for layer in network.layers:
            x = layer(x)
            states.append(x)
        summaries.append(summary(torch.stack(states, dim=1).numpy()))
        probabilities.append(network.read_out(network.norm(x)).softmax(-1).numpy())
    return np.concatenate(summaries), np.concatenate(probabilities)


def plane_between(ours: np.ndarray, others: np.ndarray) -> np.ndarray:
    """The normal of the plane of a logistic regression, both sides of equal weight; it points to the others."""
    x = np.concatenate([ours, others])
    centre, spread = x.mean(0), x.std(0) + 1e-6
    x = torch.from_numpy((x - centre) / spread)
    y = torch.cat([torch.zeros(len(ours)), torch.ones(len(others))])
    weight = torch.where(y > 0, len(y) / len(others), len(y) / len(ours)) / 2
    normal, offset = torch.zeros(x.size(1), requires_grad=True), torch.zeros(1, requires_grad=True)
    optimizer = torch.optim.LBFGS([normal, offset], max_iter=300, line_search_fn="strong_wolfe")

    def loss() -> Tensor:
        optimizer.zero_grad()
        wrong = functional.binary_cross_entropy_with_logits(x @ normal + offset, y, weight)
        total = wrong + DECAY / 2 * normal.square().sum()
        total.backward()
        return total

    optimizer.step(loss)
    normal = normal.detach().numpy() / spread
    return (normal / np.linalg.norm(normal)).astype(np.float32)


def printed(letters: str, each: int, dice: np.random.Generator) -> Tensor:
    """Letters in a typeface that no plane was made from, turned and slanted: to measure with."""
    font, side = ImageFont.load_default(200), 280

    def one(letter: str) -> np.ndarray:
        sheet = Image.new("L", (side, side))
        ImageDraw.Draw(sheet).text((side / 2, side / 2), letter, fill=255, font=font, anchor="mm")
        slant = dice.uniform(-0.2, 0.2)
        turned = sheet.rotate(dice.uniform(-12, 12))
        slanted = turned.transform(sheet.size, Image.Transform.AFFINE, (1, slant, -slant * side / 2, 0, 1, 0))
        return np.asarray(slanted.resize((112, 112), Image.Resampling.BOX), dtype=np.float32) / 255

    return drawings.prepared(one(letter) for letter in letters for _ in range(each))


def make(data: Path, seed: int = 0) -> None:
    """Measure the rule, write it, and print its error rates for the model card."""
    network = load("digits").network.eval()
    dice, torch_dice = np.random.default_rng(seed), torch.Generator().manual_seed(seed)
    (images, _), (held, _) = digits.split(data)
    distorted = digits.distort(images[IMAGES : IMAGES + DISTORTED], torch_dice)
    ours = torch.cat([prepared(images[:IMAGES]), distorted, drawings.written_digits(HANDS, dice)[0]])
    others = torch.cat(
        [
            drawings.drawn_letters(100, dice),
            drawings.drawn_signs(60, dice),
            drawings.drawn_smileys(1000, dice),
            drawings.drawn_scribbles(2000, dice),
        ]
    )
    normal = plane_between(observe(network, ours)[0], observe(network, others)[0])

    held = prepared(held)
    summaries, probabilities = observe(network, held)
    offset = float(np.quantile(summaries @ normal, 1 - STRANGE))
    least_margin = float(np.quantile(margin(probabilities), CLOSE))
    rule = Doubt(normal, offset, least_margin, {})

    def doubted(images: Tensor) -> float:
        """The share of images that the rule calls doubtful."""
        summaries, probabilities = observe(network, images)
        strange = summaries @ rule.normal > rule.offset
        return float((strange | (margin(probabilities) < rule.least_margin)).mean())

    tests, labels = digits.mnist(data, "test")
    tests = prepared(tests)
    summaries, probabilities = observe(network, tests)
    wrong = torch.from_numpy(probabilities.argmax(-1)) != labels
    plain = "".join(letter for letter in map(chr, [*range(65, 91), *range(97, 123)]) if letter not in LOOKALIKES)
    fresh = np.random.default_rng(seed + 1)
    measured = {
        "test_digits": doubted(tests),
        "test_digits_misread": doubted(tests[wrong]),
        "digits_moved": doubted(digits.moved(images[-MOVED:])),
        "drawn_digits": doubted(drawings.drawn_digits(40, fresh)[0]),
        "drawn_letters": doubted(drawings.drawn_letters(20, fresh)),
        "printed_letters": doubted(printed(plain, 10, fresh)),
        "printed_lookalikes": doubted(printed(LOOKALIKES, 10, fresh)),
        "drawn_signs": doubted(drawings.drawn_signs(20, fresh)),
        "smileys": doubted(drawings.drawn_smileys(500, fresh)),
        "scribbles": doubted(drawings.drawn_scribbles(500, fresh)),
    }
    about = {"offset": offset, "least_margin": least_margin, "weights": fingerprint(WEIGHTS / MADE_FROM)}
    path = WEIGHTS / FILE
    save_file({"normal": normal}, path, {"rule": json.dumps(about), "measured": json.dumps(measured)})
    seal(path)
    print(f"wrote {path}: {about}")
    for name, share in measured.items():
        print(f"{name:20} {share:.1%}")
