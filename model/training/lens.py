"""The calibrated lens: an affine map for each layer, from what it hands on to what the last one hands on.

    python -m model.training lens --data DIR

Fitted to the network's own answers (Belrose et al. 2023, "Eliciting Latent Predictions from Transformers with the Tuned
Lens"), by least squares onto Z and then by the divergence of the two answers; on sentences that training saw, half at
hidden words, half at others. Measured on sentences that it did not see. To be run again whenever
model/weights/text.safetensors is new; takes about five minutes of one core and writes model/weights/lens.safetensors.
"""

import json
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor
from torch.nn import functional

from model.encoder import padding_mask
from model.files import WEIGHTS, fingerprint, seal
from model.heads import MaskedWordNetwork
from model.loading import load, load_tokenizer
from model.measures.lens import FILE, MADE_FROM
from model.training.corpus import LANGUAGES, held_out, sentences
from model.training.text import MASK, PAD, encode, hide, validation_sentences

SENTENCES, HELD = 3_000, 500  # of each language
STEPS, BATCH, RATE, DECAY = 150, 256, 1e-3, 1e-3
RIDGE = 1e-3  # of the mean square of a state


@torch.inference_mode()
def observe(network: MaskedWordNetwork, encoded: list[Tensor], dice: torch.Generator) -> tuple[Tensor, Tensor]:
    """The states (1 + layers, place, d_model) at hidden words, then at as many others; the hidden words (place / 2)."""
    hidden_at, others_at, words = [], [], []
    for some in (encoded[start : start + 100] for start in range(0, len(encoded), 100)):
        rows = [ids.long() for ids in some]
        ids = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=PAD)
        masked, _ = hide(ids, dice)
        states = [network.embedding(masked)]
        for layer in network.layers:
            states.append(layer(states[-1], padding_mask(masked)))
        chosen, seen = masked == MASK, (masked != MASK) & (masked != PAD)
        others = torch.stack(states)[:, seen]
        hidden_at.append(torch.stack(states)[:, chosen])
        others_at.append(others[:, torch.randperm(others.size(1), generator=dice)[: int(chosen.sum())]])
        words.append(ids[chosen])
    return torch.cat([*hidden_at, *others_at], dim=1).clone(), torch.cat(words)


def fitted(network: MaskedWordNetwork, states: Tensor, Z: Tensor, dice: torch.Generator) -> tuple[Tensor, Tensor]:
    """A (d_model, d_model) and b (d_model,): state · A + b is read by the head as Z is. Both are (place, d_model)."""
    mean, goal = states.mean(0), Z.mean(0)
    x, size = states - mean, states.size(1)
    square = x.mT @ x
    A = torch.linalg.solve(square + RIDGE * square.trace() / size * torch.eye(size), x.mT @ (Z - goal))
    start, b = A.clone(), goal - mean @ A
    A, b = A.requires_grad_(), b.requires_grad_()
    optimizer = torch.optim.Adam([A, b], RATE)
    decay = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, STEPS)
    for _ in range(STEPS):
        some = torch.randint(len(states), (BATCH,), generator=dice)
        with torch.no_grad():
            asked = network.read_out(Z[some]).log_softmax(-1)
        found = network.read_out(states[some] @ A + b).log_softmax(-1)
        apart = functional.kl_div(found, asked, log_target=True, reduction="batchmean")
        loss = apart + DECAY * (A - start).square().sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        decay.step()
    return A.detach(), b.detach()


@torch.inference_mode()
def measure(network: MaskedWordNetwork, states: Tensor, Z: Tensor, words: Tensor) -> dict[str, float]:
    """Nats at hidden words: cross-entropy of the word that stood there; at all places: divergence from the answer."""
    entropy, apart = [], []
    for start in range(0, len(states), BATCH):
        found = network.read_out(states[start : start + BATCH]).log_softmax(-1)
        asked = network.read_out(Z[start : start + BATCH]).log_softmax(-1)
        apart.append((asked.exp() * (asked - found)).sum(-1))
        own = words[start : start + BATCH]
        entropy.append(-found[: len(own)].gather(1, own[:, None]))
    return {"cross_entropy": float(torch.cat(entropy).mean()), "divergence": float(torch.cat(apart).mean())}


def make(data: Path, seed: int = 0) -> None:
    """Fit the maps, measure them, and write them where the cross-entropy falls after every layer."""
    pipeline = load("text")
    network, cut = pipeline.network, load_tokenizer()
    dice = torch.Generator().manual_seed(seed)
    seen: list[Tensor] = []
    held = [ids for encoded in validation_sentences(data, cut).values() for ids in encoded[:HELD]]
    for language in LANGUAGES:
        trained = [line for line in sentences(data, language) if not held_out(line)]
        seen += encode(cut, trained[:: len(trained) // SENTENCES][:SENTENCES])
    states, _ = observe(network, seen, dice)
    checked, words = observe(network, held, dice)
    maps, offsets, measured = [], [], []
    for layer, (own, apart) in enumerate(zip(states[:-1], checked[:-1], strict=True)):
        A, b = (each.half() for each in fitted(network, own, states[-1], dice))
        raw = measure(network, apart, checked[-1], words)
        now = measure(network, apart @ A.float() + b.float(), checked[-1], words)
        print(layer, {key: (round(raw[key], 3), round(now[key], 3)) for key in raw}, flush=True)
        maps.append(A)
        offsets.append(b)
        measured.append({"raw": raw, "calibrated": now})
    own = measure(network, checked[-1], checked[-1], words)
    print("own answer", own)
    if any(one["calibrated"]["cross_entropy"] >= one["raw"]["cross_entropy"] for one in measured):
        raise SystemExit("after some layer the calibrated lens is no better: not written")
    path = WEIGHTS / FILE
    about = {"measured": json.dumps(measured), "weights": fingerprint(WEIGHTS / MADE_FROM)}
    save_file({"A": torch.stack(maps), "b": torch.stack(offsets)}, path, about)
    seal(path)
    print(f"wrote {path}")
