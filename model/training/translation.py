"""The translator, and the text encoder that it shares: two tasks in turn, one set of encoder weights.

Of each sixteen batches, eleven hide words as in the recipe `text` (six of them English), one is of parsed sentences,
from which two heads learn grammar, and four hold sentence pairs to translate, from English and from Chinese by turns.
Start it with `--from` the text weights; it ships both files anew.
"""

import random
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import torch
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pad_sequence
from tqdm import tqdm

from model.config import DECODER
from model.decoder import TARGET_LANGUAGES, TranslationNetwork
from model.encoder import causal_mask, padding_mask
from model.heads import MaskedWordNetwork
from model.training import grammar, text
from model.training.attention_budget import WEIGHT, Watch, budgets, penalty
from model.training.checkpoint import WEIGHTS, load_checkpoint, load_shipped, save_checkpoint, ship
from model.training.corpus import LANGUAGES, Pair, read_pairs
from model.training.optimization import compiled, device, half_precision, learning_rate, optimizers_for, take_step
from model.training.text import CONFIG, PAD, PEAK_RATE, SEP
from model.translator import as_written

LONGEST = 40  # pieces of either side; of the sentence pairs, 99.9 % are shorter
SMOOTHING = 0.1  # of the labels, as the paper does (section 5.4)
#: Of batches, over and over.
TURNS = (
    *("en", "zh", "pairs", "en", "zh", "en", "pairs", "trees"),
    *("en", "zh", "pairs", "en", "zh", "en", "pairs", "zh"),
)
PAIR_TOKENS = {
    "cpu": 8192,
    "cuda": 16384,
}  # of a batch, both sides counted: there are few pairs, and they are soon known
DECAY = 0.75  # share of the training in which the learning rate falls to zero


def encode(tokenizer: Tokenizer, pairs: list[Pair]) -> dict[str, list[Tensor]]:
    """Each language's sentences as ids with [CLS] and [SEP], pairs in step; pairs that are too long are left out."""
    ids = {language: tokenizer.encode_batch([pair[language] for pair in pairs]) for language in LANGUAGES}
    short = [i for i in range(len(pairs)) if all(len(ids[language][i].ids) <= LONGEST for language in LANGUAGES)]
    return {language: [torch.tensor(ids[language][i].ids, dtype=torch.int16) for i in short] for language in LANGUAGES}


def as_batch(sources: list[Tensor], targets: list[Tensor], into: str) -> tuple[Tensor, Tensor]:
    """Padded source ids (pair, source) and target ids (pair, target), whose [CLS] gives way to the language."""
    x = pad_sequence([ids.long() for ids in sources], batch_first=True, padding_value=PAD)
    y = pad_sequence([ids.long() for ids in targets], batch_first=True, padding_value=PAD)
    y[:, 0] = CONFIG.vocab_size + list(TARGET_LANGUAGES).index(into)
    return x, y


def batches(encoded: dict[str, list[Tensor]], dice: torch.Generator, most: int) -> Iterator[tuple[Tensor, Tensor]]:
    """Endless batches of about `most` pieces, both sides counted, into the one language and the other."""
    longer = torch.tensor([max(map(len, pair)) for pair in zip(*encoded.values(), strict=True)])
    while True:
        # Sorting by a blurred length keeps padding small and the mixture random.
        order = (longer + 2 * torch.rand(len(longer), generator=dice)).argsort()
        groups = order.split_with_sizes(list(_sizes(longer[order], most)))
        for turn, number in enumerate(torch.randperm(len(groups), generator=dice)):
            source, into = LANGUAGES if turn % 2 else LANGUAGES[::-1]
            group = groups[number].tolist()
            yield as_batch([encoded[source][i] for i in group], [encoded[into][i] for i in group], into)


def _sizes(longer: Tensor, most: int) -> Iterator[int]:
    """How many pairs, taken in order of their longer side, make up each batch."""
    start = 0
    while start < len(longer):
        about = most // (2 * int(longer[start]))
        size = most // (2 * int(longer[start : start + about].max()))
        size = min(size, len(longer) - start)
        yield size
        start += size


def translation_loss(network: TranslationNetwork, x: Tensor, y: Tensor, smoothing: float = SMOOTHING) -> Tensor:
    """Cross-entropy of each next target piece, given the source and the true pieces before it."""
    mask = padding_mask(x)
    states = network.decoder(y[:, :-1], network.encode(x, mask), mask)
    asked = y[:, 1:] != PAD
    logits = network.logits(states[asked]).float()
    return functional.cross_entropy(logits, y[:, 1:][asked], label_smoothing=smoothing)


def watched_loss(
    network: TranslationNetwork, watch: Watch, x: Tensor, y: Tensor, budget: Tensor
) -> tuple[Tensor, Tensor]:
    """The translation loss, and the attention beyond its budget: encoder, decoder and cross, mean of all layers."""
    loss = translation_loss(network, x, y)
    seen, y = watch.take(), y[:, :-1]
    source, target = x != PAD, y != PAD
    written = target & (y > SEP) & (y < CONFIG.vocab_size)
    causal = causal_mask(y.size(1)).to(y.device) & target[:, None]
    over = [penalty(A, source[:, None], x > SEP, budget[x]) for A in seen[: CONFIG.layers]]
    for attention, cross in zip(seen[CONFIG.layers :: 2], seen[CONFIG.layers + 1 :: 2], strict=True):
        over += [penalty(attention, causal, written, budget[y]), penalty(cross, source[:, None], written, budget[x])]
    return loss, torch.stack(over).mean()


def two_networks() -> nn.ModuleDict:
    """The masked-word network and the translator on one and the same encoder."""
    translator, words = TranslationNetwork(CONFIG, DECODER), MaskedWordNetwork(CONFIG)
    words.embedding, words.layers = translator.embedding, translator.layers
    words.logits.weight = translator.embedding.E.weight
    return nn.ModuleDict({"text": words, "translation": translator})


@torch.no_grad()
def write(network: TranslationNetwork, x: Tensor, into: str, longest: int = LONGEST) -> list[list[int]]:
    """Greedy translations of a batch of sources (pair, source): the target ids without language and [SEP]."""
    mask = padding_mask(x)
    Z = network.encode(x, mask)
    y = torch.full((len(x), 1), CONFIG.vocab_size + list(TARGET_LANGUAGES).index(into), device=x.device)
    while y.size(1) < longest and not (y == SEP).any(dim=1).all():
        best = network.logits(network.decoder(y, Z, mask)[:, -1]).argmax(-1)
        y = torch.cat([y, best[:, None]], dim=1)
    return [row[: row.index(SEP)] if SEP in row else row for row in y[:, 1:].tolist()]


@torch.no_grad()
def bleu(
    network: TranslationNetwork, tokenizer: Tokenizer, pairs: list[Pair], where: torch.device
) -> tuple[dict[str, float], dict[str, list[str]]]:
    """sacreBLEU of greedy translations into each language, and the translations themselves.

    Lower-cased, since the vocabulary is; Chinese is compared character by character (sacreBLEU's `zh`).
    """
    import sacrebleu

    measured, written = {}, {}
    for source, into in (LANGUAGES, LANGUAGES[::-1]):
        lines: list[str] = []
        for start in range(0, len(pairs), 100):
            some = [torch.tensor(tokenizer.encode(pair[source]).ids) for pair in pairs[start : start + 100]]
            x = pad_sequence(some, batch_first=True, padding_value=PAD).to(where)
            lines += [as_written(tokenizer.decode(ids)) for ids in write(network, x, into)]
        truth = [pair[into].lower() for pair in pairs]
        score = sacrebleu.corpus_bleu(lines, [truth], tokenize="zh" if into == "zh" else "13a", lowercase=True)
        measured[f"bleu_{source}_{into}"], written[into] = score.score, lines
    return measured, written


def validate(
    networks: nn.ModuleDict, held: dict[str, list[Tensor]], pairs: dict[str, list[Tensor]], where: torch.device
) -> dict[str, float]:
    """Hidden words guessed right, and the translator's cross-entropy (nats a piece) in each direction."""
    measured = text.validate(networks["text"], held, where)
    translator = networks["translation"].eval()
    for source, into in (LANGUAGES, LANGUAGES[::-1]):
        x, y = as_batch(pairs[source][:500], pairs[into][:500], into)
        with torch.no_grad(), half_precision(where):
            measured[f"nats_{source}_{into}"] = translation_loss(translator, x.to(where), y.to(where), 0.0).item()
    translator.train()
    return measured


def train(data: Path, checkpoints: Path, tokens: float, peak: float, seed: int, start_from: Path | None) -> None:
    """Train both on `tokens` pieces in all (padding not counted), resuming from `checkpoints` if it holds a run.

    peak: share of PEAK_RATE to which the rate rises.
    """
    torch.manual_seed(seed)
    where = device()
    tokenizer = Tokenizer.from_file(str(WEIGHTS / "tokenizer.json"))
    train_set, held = text.training_sentences(data, tokenizer), text.validation_sentences(data, tokenizer)
    train_pairs, held_pairs = read_pairs(data)
    random.Random(seed).shuffle(held_pairs)
    encoded, encoded_held = encode(tokenizer, train_pairs), encode(tokenizer, held_pairs)

    networks = two_networks().to(where).train()
    words, translator = networks["text"], networks["translation"]
    optimizers = optimizers_for(networks, PEAK_RATE)
    checkpoint, seen, steps = checkpoints / "translation.safetensors", 0.0, 0
    if checkpoint.exists():
        progress = load_checkpoint(checkpoint, networks, optimizers)
        seen, steps = progress["tokens"], int(progress["step"])
    elif start_from:
        load_shipped(start_from, words)
        if (decoder := start_from.with_name("translation.safetensors")).exists():
            load_shipped(decoder, translator)
    dice = torch.Generator().manual_seed(seed + steps)
    words_dice = torch.Generator(where).manual_seed(seed + steps)
    streams = {language: text.batches(train_set[language], words_dice) for language in LANGUAGES}
    pair_stream, trees = (
        batches(encoded, dice, PAIR_TOKENS[where.type]),
        grammar.batches(grammar.read_trees(data, tokenizer), dice),
    )
    budget, watch = budgets(tokenizer, extra=len(TARGET_LANGUAGES)).to(where), Watch.over(translator)
    encode_fast = compiled(partial(text.encode_watched, words, watch), where)
    guess_fast = compiled(partial(text.guess_loss, words), where)
    grammar_fast = compiled(partial(grammar.grammar_loss, words, watch), where)
    translate_fast = compiled(partial(watched_loss, translator, watch), where)

    due = time.monotonic() + text.PAUSE
    with tqdm(total=tokens, initial=seen, unit="tok", unit_scale=True, mininterval=10) as bar:
        while seen < tokens:
            rate = learning_rate(seen / tokens, decay=DECAY)
            turn = TURNS[steps % len(TURNS)]
            if turn in LANGUAGES:
                ids = next(streams[turn])
                hidden, chosen = text.hide(ids, words_dice, text.share_hidden(rate), text.MASKED_TO_LEARN)
                count = int((ids != PAD).sum())
                with half_precision(where):
                    Z, over = encode_fast(hidden, budget)
                    loss = guess_fast(Z[chosen], ids[chosen])
            elif turn == "trees":
                ids, governs = next(trees)
                count = int((ids != PAD).sum())
                with half_precision(where):
                    loss, over = grammar_fast(ids.to(where), governs.to(where)), torch.zeros(())
            else:
                x, y = next(pair_stream)
                count = int((x != PAD).sum() + (y != PAD).sum())
                with half_precision(where):
                    loss, over = translate_fast(x.to(where), y.to(where), budget)
            (loss + WEIGHT * over).backward()
            take_step(networks, optimizers, rate * peak * PEAK_RATE)
            seen, steps = seen + count, steps + 1
            text.report(bar, count, steps, loss, over, rate)
            if time.monotonic() > due or seen >= tokens:
                due = time.monotonic() + text.PAUSE
                figures = validate(networks, held, encoded_held, where)
                bar.write(f"{steps} steps, {seen / 1e6:.1f} M tokens: {figures}")
                save_checkpoint(checkpoint, networks, optimizers, tokens=seen, step=steps)
    figures = validate(networks, held, encoded_held, where)
    scores, _ = bleu(translator.eval(), tokenizer, held_pairs, where)
    ship("text", words, {k: v for k, v in figures.items() if k.startswith("masked_word")})
    ship("translation", translator, scores)
