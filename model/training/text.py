"""The bilingual text encoder: guess hidden words in English and Chinese sentences.

Masked-word training (Devlin et al. 2019): some of the pieces are chosen; of these 90 % become [MASK] (80 % where it is
measured, as in the paper), half of the others a random piece, half stay, and the network must name the original.
Attention that rests on a few places beyond their budget costs. Batches of the two languages alternate.
"""

import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from torch import Tensor
from torch.nn import functional
from tqdm import tqdm

from model.config import PRESETS
from model.encoder import Encoder, padding_mask
from model.files import seal
from model.heads import MaskedWordNetwork
from model.training.attention_budget import WEIGHT, Watch, budgets, penalty
from model.training.checkpoint import WEIGHTS, load_checkpoint, load_shipped, save_checkpoint, ship
from model.training.corpus import LANGUAGES, held_out, held_sentences, sentences
from model.training.optimization import compiled, device, half_precision, learning_rate, optimizers_for, take_step

CONFIG = PRESETS["text"]
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
PAD, UNK, CLS, SEP, MASK = range(5)
BATCH_TOKENS = {"cpu": 8192, "cuda": 65536}  # smaller ones leave most of a graphics card idle
PEAK_RATE = 1.5e-3
PAUSE = 120  # seconds between two validations, and checkpoints
VALIDATION_SENTENCES = 2000  # of each language
HIDDEN, HIDDEN_AT_PEAK = 0.15, 0.3  # share of the words hidden: as measured, and while the rate is high (Wettig 2023)
MASKED, MASKED_TO_LEARN = 0.8, 0.9  # share of those that become [MASK]: the others teach less


def train_tokenizer(data: Path) -> Tokenizer:
    """WordPiece over both languages: lower-cased English pieces, one piece for each Chinese character."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=40))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece(prefix="##")
    trainer = trainers.WordPieceTrainer(
        vocab_size=CONFIG.vocab_size,
        special_tokens=SPECIAL,
        initial_alphabet=[chr(code) for code in range(33, 127)],  # so that no ASCII sign is ever unknown
        limit_alphabet=4500,
        min_frequency=5,
    )
    lines = (line for language in LANGUAGES for line in sentences(data, language) if not held_out(line))
    tokenizer.train_from_iterator(lines, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", CLS), ("[SEP]", SEP)]
    )
    return tokenizer


def encode(tokenizer: Tokenizer, lines: list[str]) -> list[Tensor]:
    """Sentences as id tensors, shortest useful length 5 ([CLS] and [SEP] included), longest `max_len`."""
    encoded = []
    for start in range(0, len(lines), 10_000):
        for one in tokenizer.encode_batch(lines[start : start + 10_000]):
            if len(one.ids) >= 5:
                encoded.append(torch.tensor(one.ids[: CONFIG.max_len], dtype=torch.int16))
    return encoded


def batches(encoded: list[Tensor], dice: torch.Generator) -> Iterator[Tensor]:
    """Endless padded batches (sentence, token) of about BATCH_TOKENS pieces, each of sentences of like length.

    Put together on the device of the dice, where all sentences lie: a graphics card would wait for a processor.
    """
    lengths = torch.tensor([len(ids) for ids in encoded], device=dice.device)
    pieces, starts = torch.cat(encoded).to(dice.device), lengths.cumsum(0) - lengths
    while True:
        # Sorting by a blurred length keeps padding small and the mixture random.
        order = (lengths + 4 * torch.rand(len(lengths), generator=dice, device=dice.device)).argsort()
        in_order, groups, start = lengths[order].tolist(), [], 0
        while start < len(order):
            longest = in_order[min(start + 32, len(order) - 1)] + 4
            size = max(8, BATCH_TOKENS[dice.device.type] // longest)
            groups.append((order[start : start + size], max(in_order[start : start + size])))
            start += size
        for number in torch.randperm(len(groups), generator=dice, device=dice.device).tolist():
            rows, longest = groups[number]
            column = torch.arange(longest, device=dice.device)
            at = (starts[rows, None] + column).clamp(max=len(pieces) - 1)
            yield torch.where(column < lengths[rows, None], pieces[at].long(), PAD)


def hide(ids: Tensor, dice: torch.Generator, share: float = HIDDEN, masked: float = MASKED) -> tuple[Tensor, Tensor]:
    """The ids with this share of the words hidden, most of them behind [MASK], and where (both (sentence, token))."""
    on = {"generator": dice, "device": dice.device}
    chosen = (torch.rand(ids.shape, **on) < share) & (ids > MASK)
    fate = torch.rand(ids.shape, **on)
    random_piece = torch.randint(len(SPECIAL), CONFIG.vocab_size, ids.shape, **on)
    hidden = torch.where(chosen & (fate < masked), MASK, ids)
    hidden = torch.where(chosen & (fate >= (1 + masked) / 2), random_piece, hidden)
    return hidden, chosen


def encode_batch(network: MaskedWordNetwork, ids: Tensor) -> Tensor:
    """Z (sentence, token, d_model), before the head reads it."""
    return Encoder.forward(network, ids, padding_mask(ids))


def encode_watched(network: MaskedWordNetwork, watch: Watch, ids: Tensor, budget: Tensor) -> tuple[Tensor, Tensor]:
    """Z as encode_batch gives it, and the attention that goes beyond its budget, mean of the layers."""
    Z = encode_batch(network, ids)
    real = ids != PAD
    over = [penalty(A, real[:, None], ids > SEP, budget[ids]) for A in watch.take()]
    return Z, torch.stack(over).mean()


def share_hidden(rate: float) -> float:
    """How many words to hide at this share of the run's peak rate: more while the network learns fast."""
    return HIDDEN + (HIDDEN_AT_PEAK - HIDDEN) * rate


def guess_loss(network: MaskedWordNetwork, Z: Tensor, ids: Tensor) -> Tensor:
    """Cross-entropy of the guesses at Z (guess, d_model) against the true ids (guess)."""
    return functional.cross_entropy(network.read_out(Z).float(), ids)


@torch.no_grad()
def validate(network: MaskedWordNetwork, held: dict[str, list[Tensor]], where: torch.device) -> dict[str, float]:
    """Share of hidden words guessed right, for each language, on the same hidden words every time."""
    network.eval()
    measured = {}
    for language, encoded in held.items():
        dice = torch.Generator().manual_seed(0)
        hits = []
        for start in range(0, len(encoded), 100):
            rows = [ids.long() for ids in encoded[start : start + 100]]
            ids = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=PAD)
            hidden, _ = hide(ids, dice)
            chosen = hidden == MASK  # not those that were replaced or left: to see them is half the answer
            with half_precision(where):
                guesses = network.read_out(encode_batch(network, hidden.to(where))[chosen.to(where)])
            hits.append(guesses.argmax(-1).cpu() == ids[chosen])
        measured[f"masked_word_top1_{language}"] = torch.cat(hits).float().mean().item()
    network.train()
    return measured


def validation_sentences(data: Path, tokenizer: Tokenizer) -> dict[str, list[Tensor]]:
    """For each language, the first VALIDATION_SENTENCES of those that are held out."""
    return {
        language: encode(tokenizer, held_sentences(data, language))[:VALIDATION_SENTENCES] for language in LANGUAGES
    }


def training_sentences(data: Path, tokenizer: Tokenizer) -> dict[str, list[Tensor]]:
    kept = {language: [line for line in sentences(data, language) if not held_out(line)] for language in LANGUAGES}
    return {language: encode(tokenizer, lines) for language, lines in kept.items()}


def report(bar: tqdm, count: int, steps: int, loss: Tensor, over: Tensor, rate: float) -> None:
    """Move the bar of progress on, and sometimes say how far training is."""
    bar.update(count)
    if steps % 20 == 0:
        bar.set_postfix(loss=f"{loss.item():.3f}", over=f"{over.item():.3f}", rate=f"{rate:.2f}")


def train(data: Path, checkpoints: Path, tokens: float, peak: float, seed: int, start_from: Path | None) -> None:
    """Train on `tokens` pieces in all (padding not counted), resuming from `checkpoints` if it holds a run.

    peak: share of PEAK_RATE to which the rate rises.
    """
    torch.manual_seed(seed)
    where = device()
    vocabulary = WEIGHTS / "tokenizer.json"
    if not vocabulary.exists():
        train_tokenizer(data).save(str(vocabulary))
        seal(vocabulary)
    tokenizer = Tokenizer.from_file(str(vocabulary))
    train_set, held = training_sentences(data, tokenizer), validation_sentences(data, tokenizer)

    network = MaskedWordNetwork(CONFIG).to(where).train()
    optimizers = optimizers_for(network, PEAK_RATE)
    checkpoint, seen, steps = checkpoints / "text.safetensors", 0.0, 0
    if checkpoint.exists():
        progress = load_checkpoint(checkpoint, network, optimizers)
        seen, steps = progress["tokens"], int(progress["step"])
    elif start_from:
        load_shipped(start_from, network)
    dice = torch.Generator(where).manual_seed(seed + steps)
    streams = [batches(train_set[language], dice) for language in LANGUAGES]
    budget = budgets(tokenizer).to(where)
    encode_fast = compiled(partial(encode_watched, network, Watch.over(network)), where)
    loss_fast = compiled(partial(guess_loss, network), where)

    due = time.monotonic() + PAUSE
    with tqdm(total=tokens, initial=seen, unit="tok", unit_scale=True, mininterval=10) as bar:
        while seen < tokens:
            ids = next(streams[steps % 2])
            rate = learning_rate(seen / tokens)
            hidden, chosen = hide(ids, dice, share_hidden(rate), MASKED_TO_LEARN)
            with half_precision(where):
                Z, over = encode_fast(hidden, budget)
                # The head reads only the places where a guess is asked for: that saves most of its time.
                loss = loss_fast(Z[chosen], ids[chosen])
            (loss + WEIGHT * over).backward()
            take_step(network, optimizers, rate * peak * PEAK_RATE)
            count = int((ids != PAD).sum())
            seen, steps = seen + count, steps + 1
            report(bar, count, steps, loss, over, rate)
            if time.monotonic() > due or seen >= tokens:
                due = time.monotonic() + PAUSE
                bar.write(f"{steps} steps, {seen / 1e6:.1f} M tokens: {validate(network, held, where)}")
                save_checkpoint(checkpoint, network, optimizers, tokens=seen, step=steps)
    ship("text", network, {**validate(network, held, where), "tokens": seen})
