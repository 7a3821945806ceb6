"""The model card's figures, measured again from the shipped weights.

    python -m model.training evaluate --data DIR

Everything is measured on data that training never saw.
"""

from pathlib import Path

import torch
from tokenizers import Tokenizer

from model.loading import WEIGHTS, load
from model.pipeline import Pipeline
from model.training import digits, text, translation
from model.training.corpus import LANGUAGES, held_sentences, read_pairs
from model.training.relations import neighbour_table, relation_table, treebank

BLANKS = ("the cat sat on the [MASK] .", "i [MASK] you .", "我[MASK]你。", "今天天气很[MASK]。")
SENTENCES = ("i love you .", "where is the station ?", "我爱你。", "今天天气很好。")


def table(columns: tuple[str, ...], rows: list[tuple[object, ...]]) -> None:
    """Print a table as Markdown writes it."""
    for row in (columns, ["---"] * len(columns), *rows):
        print("| " + " | ".join(map(str, row)) + " |")
    print()


def sizes() -> None:
    rows = [(path.name, f"{path.stat().st_size / 1e6:.2f} MB") for path in sorted(WEIGHTS.glob("*.safetensors"))]
    table(("file", "size"), rows)


def images(data: Path) -> None:
    """Digits and flat on MNIST's test set, as it is and moved."""
    pictures, labels = digits.mnist(data, "test")
    where, away = torch.device("cpu"), digits.moved(pictures)
    rows = []
    for name, truth in (("digits", labels), ("flat", labels % 2)):
        network = load(name).network
        rows += [
            (name, "MNIST test set", f"{digits.accuracy(network, pictures, truth, where):.2%}"),
            (name, "shifted, scaled, turned, then prepared", f"{digits.accuracy(network, away, truth, where):.2%}"),
        ]
        network.eval()
    table(("network", "on", "right"), rows)


def pieces(tokenizer: Tokenizer, data: Path) -> None:
    """How much of the held-out sentences the vocabulary covers, and whether they survive being cut and decoded."""
    rows = []
    for language in LANGUAGES:
        encodings = tokenizer.encode_batch(held_sentences(data, language))
        tokens = [token for encoding in encodings for token in encoding.tokens[1:-1]]
        covered = [encoding.ids for encoding in encodings if "[UNK]" not in encoding.tokens]
        again = sum(tokenizer.encode(tokenizer.decode(ids)).ids == ids for ids in covered) / len(covered)
        rows.append((language, len(encodings), f"{tokens.count('[UNK]') / len(tokens):.2%}", f"{again:.2%}"))
    table(("language", "held-out sentences", "pieces that are [UNK]", "the others: same pieces again"), rows)


def words(pipeline: Pipeline, data: Path) -> None:
    """Hidden words on held-out sentences, and what the network says on four of ours."""
    held = text.validation_sentences(data, pipeline.reader.tokenizer)
    measured = text.validate(pipeline.network, held, torch.device("cpu"))
    pipeline.network.eval()
    table(("hidden words", "right at the first try"), [(name, f"{value:.1%}") for name, value in measured.items()])
    table(("sentence", "five best guesses"), [(s, ", ".join(pipeline(s).answer[0].labels[:5])) for s in BLANKS])


def heads(pipeline: Pipeline, data: Path) -> None:
    """Neighbours and grammatical relations on UD English EWT (dev). Layers and heads from 1, as in the app."""
    sentences = treebank(data / "ud" / "en_ewt-dev.conllu.xz")
    rows = [
        ({-1: "previous", 1: "next"}[step], f"layer {layer + 1}, head {head + 1}", f"{share:.2f}", f"{weight:.2f}")
        for step, (layer, head, share, weight) in neighbour_table(pipeline, sentences).items()
    ]
    table(("piece", "best head", "looked at most", "mean weight"), rows)
    rows = [
        (
            found.relation,
            found.count,
            f"layer {found.layer + 1}, head {found.head + 1}",
            "dependent → head" if found.from_dependent else "head → dependent",
            f"{found.accuracy:.1%}",
            f"{found.baseline:.1%} ({found.offset:+d})",
            f"{100 * (found.accuracy - found.baseline):+.1f}",
        )
        for found in relation_table(pipeline, sentences)
    ]
    table(("relation", "times", "best head", "looks", "right", "best fixed offset", "points above"), rows)


def translations(data: Path) -> None:
    """sacreBLEU of greedy translations of the held-out pairs, and four sentences as the app translates them."""
    translator = load("translation")
    _, pairs = read_pairs(data)
    scores, _ = translation.bleu(translator.network, translator.reader.tokenizer, pairs, torch.device("cpu"))
    table(("held-out pairs", "sacreBLEU"), [(name, f"{score:.1f}") for name, score in scores.items()])
    table(("sentence", "translation"), [(s, translator(s).translation) for s in SENTENCES])


def evaluate(data: Path) -> None:
    pipeline = load("text")
    sizes()
    images(data)
    pieces(pipeline.reader.tokenizer, data)
    words(pipeline, data)
    heads(pipeline, data)
    translations(data)
