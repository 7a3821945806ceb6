"""The model card's figures, measured again from the shipped weights, and the tables that lie beside them.

    python -m model.training evaluate --data DIR
    python -m model.training evaluate --data DIR --model FOLDER

Everything is measured on data that training never saw. Layers and heads count from 1, as in the app. Writes
model/weights/heads.json, neurons.npz and heads.png. With a checkpoint's folder only its heads and neurons are measured.
"""

from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer

from model.files import seal
from model.loading import WEIGHTS, load
from model.measures.tables import TAUGHT, HeadRoles, Home, Role, head_roles, home
from model.pipeline import Pipeline
from model.training import digits, text, translation
from model.training.corpus import LANGUAGES, held_sentences, read_pairs
from model.training.drawings import drawn_digits
from model.training.head_pictures import draw_heads
from model.training.head_table import HeadTable, cross_runs, encoder_runs, halves
from model.training.held_out import Observed, ObservedPairs, observe_others, observe_pairs, observe_sentences
from model.training.neuron_table import write_neurons
from model.training.observe import activations
from model.training.relations import TREEBANKS, Found, kept_apart, neighbour_table, relation_table
from model.training.roles import Candidate, gather, piece_run
from model.training.shares import shares
from model.translator import Translator

BLANKS = ("the cat sat on the [MASK] .", "i [MASK] you .", "我[MASK]你。", "今天天气很[MASK]。")
DRAWN = (
    "the animal did not cross the street because it was too tired .",
    "she said that the old man who lives here sold his house .",
    "他昨天在图书馆看了一本很有意思的书。",
)
SENTENCES = (
    "i love you .",
    "where is the station ?",
    "the dog chased the cat .",
    "我爱你。",
    "今天天气很好。",
    "你好吗？",
)
NAMES = {"en": "English", "zh": "Chinese"}
WAYS = {"to_head": "dependent → head", "to_dependent": "head → dependent"}


def table(columns: Sequence[str], rows: Iterable[tuple[object, ...]]) -> None:
    """Print a table as Markdown writes it."""
    for row in (columns, ["---"] * len(columns), *rows):
        print("| " + " | ".join(map(str, row)) + " |")
    print()


def head_name(layer: int, head: int) -> str:
    return f"layer {layer + 1}, head {head + 1}"


def sizes() -> None:
    files = sorted(path for path in WEIGHTS.iterdir() if path.suffix in (".safetensors", ".json", ".npz"))
    table(("file", "size"), [(path.name, f"{path.stat().st_size / 1e6:.2f} MB") for path in files])


def images(data: Path) -> None:
    """Digits and flat on MNIST's test set and on digits drawn by strokes: as they are, moved, and as small scans; and
    how much [CLS] looks at ink.
    """
    pictures, labels = digits.mnist(data, "test")
    drawn, their_labels = drawn_digits(40, np.random.default_rng(1))
    where = torch.device("cpu")
    scans = "as scans of 16×16 black or white pixels, then prepared"
    tests = {
        "MNIST test set": (pictures, labels),
        "shifted, scaled, turned, then prepared": (digits.moved(pictures), labels),
        scans: (digits.scanned(pictures), labels),
        "drawn by strokes": (drawn, their_labels),
        f"drawn by strokes, {scans}": (digits.scanned(drawn), their_labels),
    }
    rows = []
    for name, classes in (("digits", 10), ("flat", 2)):
        network = load(name).network
        for on, (some, truth) in tests.items():
            rows.append((name, on, f"{digits.accuracy(network, some, truth % classes, where):.2%}"))
        network.eval()
    table(("network", "on", "right"), rows)
    on_ink = digits.ink_share(load("digits").network, pictures[:1000], where)
    load("digits").network.eval()
    print("Of [CLS]'s attention, on patches with ink, layer by layer: " + ", ".join(f"{x:.2f}" for x in on_ink) + "\n")


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


# -- what the heads look at ------------------------------------------------------------------------------------


def attention_shares(observed: dict[str, Observed], pairs: dict[str, ObservedPairs]) -> None:
    """Where words look, layer by layer: at special tokens, at punctuation, at the word that gets most."""
    kinds_of = [("encoder", language, one.seen) for language, one in observed.items()]
    kinds_of += [("decoder", f"→ {language}", one.own) for language, one in pairs.items()]
    kinds_of += [("cross", f"→ {language}", one.cross) for language, one in pairs.items()]
    rows = [
        (
            *name,
            layer,
            f"{row.special:.2f} ({row.even_special:.2f})",
            f"{row.punctuation:.2f} ({row.even_punctuation:.2f})",
            f"{row.word} {row.to_word:.2f} ({row.even_word:.2f})",
            f"{row.sharpness:.2f}",
        )
        for *name, seen in kinds_of
        for layer, row in enumerate(shares(seen), 1)
    ]
    print("In brackets: what even attention would give.\n")
    columns = ("attention", "language", "layer", "on special tokens", "on punctuation", "on the word above even most")
    table((*columns, "largest weight"), rows)


def points_above(found: Found) -> float:
    """How far a head stands above the best fixed offset, in points as they are printed."""
    return round(100 * (found.accuracy - found.baseline), 1)


def relations(observed: dict[str, Observed]) -> None:
    """Neighbours and grammatical relations on the treebanks."""
    rows = [
        (language, {-1: "previous", 1: "next"}[step], head_name(layer, head), f"{share:.2f}", f"{weight:.2f}")
        for language, one in observed.items()
        for step, (layer, head, share, weight) in neighbour_table([p.attended for p in one.parsed]).items()
    ]
    table(("language", "piece", "best head", "looked at most", "mean weight"), rows)
    for language, one in observed.items():
        chosen_on, apart = ([p for p in one.parsed if kept_apart(p.attended) == half] for half in (False, True))
        found = relation_table(chosen_on, apart, TREEBANKS[language][1])
        above = [points_above(row) for row in found]
        untaught = relation_table(chosen_on, apart, TREEBANKS[language][1], without=TAUGHT)
        alone = sum(points_above(row) >= 10 for row in untaught)
        print(
            f"{TREEBANKS[language][0]}, heads chosen on {len(chosen_on)} sentences, measured on {len(apart)}: ", end=""
        )
        print(f"{sum(points >= 10 for points in above)} of {len(found)} relations 10 points or more above", end="")
        print(f"; without the heads that were taught: {alone}.\n")
        rows = [
            (
                row.relation,
                row.count,
                head_name(row.layer, row.head),
                WAYS["to_head" if row.from_dependent else "to_dependent"],
                f"{row.accuracy:.1%}",
                f"{row.baseline:.1%} ({row.offset:+d})",
                f"{points:+.1f}",
            )
            for row, points in zip(found, above, strict=True)
        ]
        table(("relation", "times", "best head", "looks", "right", "best fixed offset", "points above"), rows)


def alignment(pairs: dict[str, ObservedPairs]) -> None:
    """How often each cross-attention head looks most at the source of the piece just read, and of the next one."""
    rows: dict[tuple[int, ...], list[str]] = {}
    columns = ["cross-attention"]
    for language, one in pairs.items():
        for name, tables in (("statistical", one.likely), ("sure", one.sure)):
            evidence = gather(cross_runs(one.cross, tables, one.sources))
            just_read, following = (evidence[Candidate(name)].holds for name in ("aligned", "aligned_next"))
            columns.append(f"→ {language}, {name} ({len(just_read)})")
            for place in np.ndindex(just_read.shape[1:]):
                shares_of = [f"{holds[:, *place].mean():.2f}" for holds in (just_read, following)]
                rows.setdefault(place, []).append(" / ".join(shares_of))
    print("Share of pieces whose source is looked at most: of the piece just read / of the one written next.\n")
    table(columns, [(head_name(*place), *row) for place, row in rows.items()])


def describe(role: Role) -> str:
    what = f"{role.relation}, {WAYS[role.direction]}" if role.relation else role.name.replace("_", " ")
    return f"{what} {role.share:.0%} ({100 * role.margin:+.0f}, {role.count})"


def encoder_heads(pipeline: Pipeline, observed: dict[str, Observed]) -> HeadTable:
    made, reader = HeadTable(), pipeline.reader
    made.add(
        "layers.{l}.attention",
        *halves({name: encoder_runs(reader, name, one.parsed, one.seen, one.texts) for name, one in observed.items()}),
    )
    return made


def head_table(pipeline: Pipeline, observed: dict[str, Observed], pairs: dict[str, ObservedPairs]) -> None:
    """Write heads.json of our text encoder and translator, and print what it says."""
    made = encoder_heads(pipeline, observed)
    made.add(
        "decoder.layers.{l}.attention",
        *halves({name: list(map(piece_run, one.own, one.sources)) for name, one in pairs.items()}),
    )
    made.add(
        "decoder.layers.{l}.cross",
        *halves({name: cross_runs(one.cross, one.likely, one.sources) for name, one in pairs.items()}),
    )
    made.choose_pictures(pipeline)
    made.write(home("translation"))
    roles = head_roles("translation")
    print_roles(roles, LANGUAGES)
    rows = [
        (one.text, head_name(one.layer, one.head), f"{tokens[one.query]} → {tokens[one.key]}", f"{one.weight:.2f}")
        for one in roles.striking
        for tokens in (pipeline.reader.read(one.text).tokens,)
    ]
    table(("striking", "head", "looks", "weight"), rows)


def print_roles(roles: HeadRoles, languages: Sequence[str]) -> None:
    rows = [
        (path, head + 1, *(describe(roles.at(path, head, language)) for language in ("all", *languages)))
        for path, head in roles
    ]
    print("Share of places where it holds (points above the baseline, places).\n")
    table(("attention", "head", "role", *(f"in {NAMES[language]}" for language in languages)), rows)
    encoder = [roles.at(path, head) for path, head in roles if path.startswith("layers.")]
    telling = sum(role.clear and role.name not in ("delimiter", "broad") for role in encoder)
    print(f"{telling} of the encoder's {len(encoder)} heads have a clear role other than delimiter or broad.\n")


def neuron_table(pipeline: Pipeline, observed: dict[str, Observed], where: Home) -> None:
    """Write neurons.npz, and print how often its neurons are active."""
    ids = list(chain.from_iterable(one.ids for one in observed.values()))
    tokens = [one.keys for each in observed.values() for one in each.seen]
    active = write_neurons(tokens, activations(pipeline.network, ids), where)
    rows = [(layer, f"{row.mean():.1%}", (row == 0).sum(), (row < 0.01).sum()) for layer, row in enumerate(active, 1)]
    columns = ("layer", "neurons active at a piece", "neurons never active", "active at less than 1 % of pieces")
    table(columns, rows)


def translations(data: Path) -> None:
    """sacreBLEU of greedy translations of held-out pairs, all, short, long, and a few sentences as the app has them."""
    translator = load("translation")
    _, pairs = read_pairs(data)
    for fewest, most in ((0, 64), (0, 6), (12, 64)):
        some = [pair for pair in pairs if fewest <= len(pair["en"].split()) <= most]
        scores, _ = translation.bleu(translator.network, translator.reader.tokenizer, some, torch.device("cpu"))
        columns = (f"held-out pairs of {fewest} to {most} English words", "sacreBLEU")
        table(columns, [(name, f"{score:.1f}") for name, score in scores.items()])
    table(("sentence", "translation"), [(s, translator(s).translation) for s in SENTENCES])


def evaluate(data: Path) -> None:
    pipeline = load("text")
    images(data)
    pieces(pipeline.reader.tokenizer, data)
    words(pipeline, data)
    observed, pairs = observe_sentences(pipeline, data), observe_pairs(load("translation"), data)
    attention_shares(observed, pairs)
    relations(observed)
    alignment(pairs)
    head_table(pipeline, observed, pairs)
    neuron_table(pipeline, observed, home("text"))
    draw_heads(pipeline, DRAWN, WEIGHTS / "heads.png")
    seal(WEIGHTS / "heads.png")
    translations(data)
    sizes()


def evaluate_others(data: Path, folder: Path) -> None:
    """Measure the heads and neurons of a checkpoint of sentences, and write the tables where the pages look for them.

    Nothing is written into the checkpoint's own folder. Raises CheckpointError for a folder that cannot be read.
    """
    pipeline, where = load(str(folder)), home(str(folder))
    pipeline = pipeline.encoder if isinstance(pipeline, Translator) else pipeline
    if pipeline.config.input != "words":
        raise SystemExit(f"{folder} reads pictures; heads and neurons are measured on sentences")
    observed = observe_others(pipeline, data)
    if not observed:
        raise SystemExit(f"{folder} reads neither {' nor '.join(NAMES.values())}, which the corpus is written in")
    encoder_heads(pipeline, observed).write(where)
    print_roles(head_roles(str(folder)), list(observed))
    neuron_table(pipeline, observed, where)
    print(f"The pages show both for {folder}; they lie in {where.folder}")
