"""The pictures of a translation: what a step looks at, which piece comes next, what a mask hides, which heads align."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd

from model.analysis import placed, rank, softmax
from model.translator import TranslationTrace
from pages.drawing.figures import ACCENT, AFTER, Axis, Figure, bars_with_numbers, grouped_bars, heatmap, writing
from pages.drawing.figures.theme import big
from pages.drawing.picture import Numbers, Picture, picks_from
from pages.drawing.pictures.answers import Choose
from pages.drawing.place import Place
from pages.drawing.text import plain, t, texts_of
from pages.drawing.text.numbers import decimal, first, percent, signed

CROSS, OWN = "decoder.layers.{l}.cross.weights", "decoder.layers.{l}.attention.weights"
SIDE = "decoder."
FEWEST, MOST = 5, 12  # likeliest pieces shown
LEAST = 0.02  # what gets less has no line
text, word = texts_of("translation")


def each_probability(run: TranslationTrace) -> np.ndarray:
    """That of each piece that was written or given, after those before it."""
    return softmax(run["logits"].astype(np.float64))[np.arange(len(run.written)), run.written_ids]


def lines(run: TranslationTrace, place: Place, lit: int | None = None, paired: bool = False) -> Picture:
    """Lines from the word being written to the source, and arcs to what is written already; of the chosen head.

    lit: the word of the source that is marked. paired: whether the translator knows one pair of languages only.
    """
    head, step, steps = place.head, place.step or 0, len(run.written)
    keys = [place.of(row) for row in (CROSS, OWN)]
    taken, source = run[keys[0]][head, step], run.tokens
    target = [*run.target_tokens, run.written[-1]]

    def draw(across: Numbers, back: Numbers) -> Figure:
        sides = Axis(word("source"), source), Axis(word("target"), target)
        arcs = np.append(back.array, 0)
        figure = writing(
            *sides, step, across.array, arcs, each_probability(run), least=LEAST, lit=lit, differs=across.differs
        )
        return figure.tell(fills=True)

    best = first(taken, percent)
    said = {
        "step": step + 1,
        "steps": steps,
        "piece": run.written[step],
        "read": run.target_tokens[step],
        "source": placed(source)[best.place],
        "share": best,
        "where": place.where(),
    }

    def choose(source_place: int, target_place: int) -> dict[str, object]:
        return {"token": source_place} if source_place >= 0 else {"step": max(target_place - 1, 0)}

    def table(across: Numbers, back: Numbers) -> pd.DataFrame:
        sides = ["source"] * len(across.array) + ["target"] * (step + 1)
        words = [*source, *run.target_tokens[: step + 1]]
        weights = [*across.array, *back.array[: step + 1]]
        return pd.DataFrame({"side": sides, "weight": weights}, index=words)

    sentence = text("read.step", **said)
    if step == 0 and not paired:
        sentence += " " + text("read.begin", **said)
    if said["piece"] == "[SEP]":
        sentence += " " + text("read.end")
    axes = Axis("", source), Axis("", run.target_tokens)
    numbers = [
        Numbers.of(run, key, head, part=partial(_of_step, step=step, axis=axis))
        for key, axis in zip(keys, axes, strict=True)
    ]
    return Picture(draw, sentence, numbers, table=table, picks=choose)


def _of_step(weights: Numbers, step: int, axis: Axis) -> Numbers:
    return weights.less_nothing()[step].on(axis)


def next_pieces(
    run: TranslationTrace,
    place: Place,
    vocabulary: Sequence[str],
    choose: Choose | None = None,
    sentence: str = "",
    by_beam: bool = False,
) -> Picture:
    """The pieces as bars. by_beam: whether a beam decided. The rest as for `next_words`."""
    step, longest = place.step or 0, max(len(run.tokens), len(run.target_tokens))
    p, taken = softmax(run["logits"][step]), run.written_ids[step]
    most = FEWEST if big() else min(max(FEWEST, longest), MOST)  # as high as the sentences beside them

    def part(every: Numbers) -> Numbers:
        order = np.abs(every.array) if every.differs else p  # the likeliest, or those that differ most
        ids = order.argpartition(-most)[-most:]
        ids = ids[np.argsort(-order[ids])].tolist()
        ids += [] if taken in ids else [taken]
        names = Axis("", [vocabulary[i] for i in ids])
        return replace(every[ids].on(names), which=ids)

    def draw(drawn: Numbers) -> Figure:
        colours = [ACCENT if i == taken else "#7f8fa6" for i in drawn.which]
        numbers = [(signed if drawn.differs else decimal)(float(value)) for value in drawn.array]
        return bars_with_numbers(drawn.array, drawn.axes[0].labels, numbers, colours=colours, most=1.0, **drawn.look)

    beginning, best = run.written_ids[:step], first(p, percent)
    said = {"piece": vocabulary[taken], "share": percent(float(p[taken])), "best": best.named(vocabulary)}
    at = 1 if said["share"] == best.value else rank(p, taken)
    said["rank"] = f"{at:,}"
    if not sentence:
        top = {"share": best} if at == 1 else {}
        sentence = text("read.next" if at == 1 else "read.not_first", **said | top)
        if at > 1 and by_beam:
            sentence += " " + text("beam_decides")
    pick = choose or (lambda one: forced((*beginning, one)))
    return Picture(draw, sentence, Numbers(p, part=part), picks_of=lambda drawn: picks_from(drawn.which, pick))


def forced(ids: Sequence[int]) -> dict[str, object]:
    """What is chosen where the translation shall begin with these pieces: the step that writes what follows, too."""
    return {"forced": tuple(ids), "beam": 1, "step": len(ids)}


def without_mask(run: TranslationTrace, place: Place) -> Picture:
    """The chosen head's row with its mask, and as it would be without: what it would take from later words."""
    prefix, step = place.of(f"{SIDE}layers.{{l}}.attention."), place.step or 0
    free, masked = softmax(run[f"{prefix}scaled"][place.head, step]), run[f"{prefix}weights"]
    later = free[step + 1 :]
    shares = {"share": percent(float(later.sum())), "answer": percent(float(later[0]))}
    both = {plain("translation.with_mask"): masked[place.head, step], plain("translation.without_mask"): free}
    read = Axis(plain("translation.leak_axis"), run.target_tokens)
    return Picture(
        grouped_bars(both, read, plain("attention.weight"), (AFTER, ACCENT), value_range=(0, 1)),
        t("translation.read.leak", piece=run.written[step], where=place.where(), **shares),
        title=plain("translation.leak_title"),
        fixed=True,
    )


def aligning_heads(run: TranslationTrace, place: Place, shares: np.ndarray, sentence: str) -> Picture:
    """How often each head of cross-attention looks where the aligned word stands: shares (layer, head)."""
    names = zip(("layer", "head"), shares.shape, strict=True)
    axes = [Axis.counted(plain(f"axis.{name}"), count) for name, count in names]
    cell = place.layer, place.head
    figure = heatmap(shares, *axes, scale="share", cell=cell, clickable=True, square=False)
    return Picture(
        figure.tell(numbers=True), sentence, fixed=True, picks=lambda row, column: {"layer": row, "head": column}
    )
