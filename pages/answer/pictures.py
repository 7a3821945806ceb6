"""The pictures of answers: probabilities, who wrote them, and answers that are no word and no one class."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from model import Trace, analysis
from model.analysis import likeliest, placed, sentences, sigmoid, softmax, spelled, whole_words
from model.checkpoints.span import best_span
from model.measures.alike import Found
from model.measures.judged import Cell
from model.measures.siamese import AtWords
from model.measures.sources import EDIT, Lead, Part, made_of, of_sum
from model.rule import EVERY
from pages.drawing.figures import BLUE, ORANGE, Axis, Figure, bars_with_numbers, heatmap, waterfall
from pages.drawing.figures.theme import scaled
from pages.drawing.picture import Moves, Numbers, Open, Picks, Picture, outputs_of, token_axis
from pages.drawing.pictures.answers import all_probabilities, by_softmax, row_of
from pages.drawing.pictures.quantity_map import LEAST
from pages.drawing.pictures.sources import (
    Way,
    digits_of,
    in_short,
    largest_first,
    layer_of,
)
from pages.drawing.place import Place
from pages.drawing.text import class_label, digits_hidden, literal, plain, texts_of
from pages.drawing.text.numbers import (
    decimal,
    first,
    furthest,
    signed,
    three,
    two,
    unsigned,
)

MOST = 10  # bars
NOTABLE = 0.01  # who gets less, as it is written, is hardly in the race
OWN = 10  # the network's own temperature, in tenths
MOST_COLUMNS = 30  # words beside each other in the picture of all places
MARKS = ("blue", "orange", "green", "violet")  # of kinds of things, in the order in which they come
UNBROKEN = "\u2011"  # a hyphen at which no line ends
OUTSIDE = "O"  # the class of what is no part of a name
MOST_LABELS = 12
MOST_PARTS = 8  # parts of a lead with a bar of their own
MOST_STEPS = 20  # of a lead; of more, those of a layer are one
MOST_OF_LINE, MOST_WORDS = 24, 2  # characters of a line that are shown; tokens that speak for it
A_LAYER, MOST_HIGH = 44, 400  # pixels of a row of heads; of all rows
Hidden = Mapping[int, int | None]  # places, with the words that stood there
text, word = texts_of("answer")
tau_text, tau_word = texts_of("temperature")
wrote, wrote_word = texts_of("wrote")
judged, judged_word = texts_of("judged")
alike, alike_word = texts_of("alike")


def at_temperature(
    run: Trace, place: Place, tau: float, truth: int | None = None, output: int | None = None
) -> Picture:
    """The likeliest at one place as a temperature spreads them; hollow, what the network itself says.

    truth, output: see `likeliest_outputs`.
    """
    logits = np.atleast_2d(run["logits"])[place.token].astype(np.float64)
    own, now = softmax(logits), softmax(logits / tau)
    names, shown = outputs_of(run), likeliest(own[None], [MOST])
    best, symbol = shown[0], run.graph["logits"].symbol
    shown += [] if output is None or output in shown else [output]
    steps = {} if output is None else by_softmax(run, place.token, shown, tau)
    figure = bars_with_numbers(
        now[shown],
        [names[i] for i in shown],
        [decimal(now[i]) for i in shown],
        colours=[ORANGE if i == (best if truth is None else truth) else BLUE for i in shown],
        there=own[shown],
        most=1.0,
        **steps,
    )
    if output is not None:
        figure.layout["shapes"] = [row_of(shown.index(output))]
    many, few = (sum(float(analysis.decimal(one)) >= NOTABLE for one in p[p > NOTABLE / 2]) for p in (now, own))
    said = {"tau": f"{tau:g}", "best": names[best], "now": decimal(now[best]), "own": decimal(own[best])}
    return Picture(
        figure.tell(fills=True),
        tau_text("read", **said, many=many, few=few, n=f"{len(own):,}") + digits_hidden(steps),
        title=tau_word("title"),
        equation=rf"p_i = \frac{{e^{{{symbol}_i / \tau}}}}{{\sum_j e^{{{symbol}_j / \tau}}}}",
        table=pd.DataFrame({f"τ = {tau:g}": now[shown], "τ = 1": own[shown]}, index=[names[i] for i in shown]),
    )


def chosen(place: int, output: int) -> dict[str, object]:
    return {"token": place, "output": output}


def every_place(run: Trace, place: Place, logit: tuple[int, int], hidden: Hidden) -> Picture:
    """The probabilities at each token × the words that come first somewhere.

    logit: place and output of the one that is worked out.
    """
    logits, ids, every = run["logits"], run.ids, outputs_of(run)
    each = max(3, (MOST_COLUMNS - len(logits)) // max(1, len(hidden)))
    columns = likeliest(logits, [each if at in hidden else 1 for at in range(len(logits))])
    axes = token_axis(run, plain("axis.token")), Axis(word("axis_words"), [every[i] for i in columns])
    seen = [at for at in range(len(ids)) if at not in hidden and run.tokens[at] not in ("[CLS]", "[SEP]")]
    same = sum(int(logits[at].argmax()) == ids[at] for at in seen)
    at, output = logit
    cell = (at, columns.index(output)) if output in columns else None

    def draw(drawn: Numbers) -> Figure:
        look = {"scale": drawn.scale("share"), "square": False, "clickable": True, "cell": cell}
        return heatmap(drawn.array, *drawn.axes, **look).tell(numbers=True, large=True, fills=True)

    return Picture(
        draw,
        " ".join([text("read_seen", same=same, seen=len(seen))] * (len(seen) > 1) + [text("read_special")]),
        Numbers(all_probabilities(run), run.axes("logits"), lambda whole: whole[:, columns].on(*axes)),
        picks=lambda row, column: chosen(row, columns[column]),
    )


def built_up(run: Trace, lead: Lead, outputs: tuple[int, int], inside: Mapping[str, Way]) -> Picture:
    """The lead as it comes about: each part put into the vector that the head reads, in order of computation, as bars
    that add up to it; of many layers each as one bar. inside: the parts that a click opens.
    """
    every, rows = outputs_of(run), dict.fromkeys(lead.parts, 0.0)
    names = {source: in_short(source, run) for source in rows}
    if len(rows) > MOST_STEPS:
        last = {layer_of(source): source for source in rows if source.startswith("layers.")}
        rows = {last[layer_of(one)] if one.startswith("layers.") else one: 0.0 for one in rows}
        names |= {source: plain("change.layer", number=layer + 1) for layer, source in last.items()}
        inside = {}  # there stands a layer's number nowhere else
    for source, step in lead.parts.items():
        rows[source if source in rows else last[layer_of(source)]] += step
    sources, steps = list(rows), np.array([*rows.values()])
    told = {"best": every[outputs[0]], "other": every[outputs[1]], "lead": two(abs(lead.value))}
    ahead = wrote("read_ahead" if lead.value > 0 else "read_behind", **told)
    most = furthest(steps, signed, among=range(1, len(steps)))
    moved = wrote("read_step", step=most, source=names[sources[most.place]])
    axis = Axis("", [*map(names.__getitem__, sources), wrote_word("total")])
    figure = waterfall(steps, axis, wrote_word("axis_ahead", **told), grey=[0], digits=digits_of(*steps))
    figure.layout["hovermode"] = "y"

    def go(bar: int, _: int) -> Mapping[str, object] | None:
        way = inside.get(sources[bar]) if bar < len(sources) else None
        return way and way[1]

    click = f" {plain('source.click')}" if inside else ""
    said = f"{ahead} {moved}{click}{digits_hidden(figure.data[0]['text'])}"
    return Picture(figure, said, title=wrote_word("lead", **told), picks=go)


def by_head(run: Trace, lead: Lead) -> np.ndarray:
    """What each head and, last, the FFN of each layer has in a lead: (layer, heads + 1)."""
    parts = [*(f"attention.heads[{head}]" for head in range(run.config.heads)), "ffn.output"]
    return np.array([[lead.parts[f"layers.{layer}.{part}"] for part in parts] for layer in range(run.config.layers)])


def strongest_head(run: Trace, lead: Lead) -> tuple[int, int]:
    """The head that has most in a lead, with either sign."""
    own = np.abs(by_head(run, lead)[:, :-1])
    layer, head = (int(place) for place in np.unravel_index(own.argmax(), own.shape))
    return layer, head


def heads_and_ffns(
    run: Trace, lead: Lead, outputs: tuple[int, int], token: int, inside: Mapping[str, Way], **chosen: Any
) -> Picture:
    """What each head and each FFN has in a lead, as cells, and what all else has.

    inside: as in `built_up`; chosen: what a click that leads to another page chooses besides.
    """
    table, cell, every = by_head(run, lead), strongest_head(run, lead), outputs_of(run)
    title = wrote_word("heads", best=every[outputs[0]], other=every[outputs[1]])
    said = wrote("read_head", where=Place(*cell).where(), part=furthest(table[:, :-1], unsigned))
    said += " " + wrote(f"read_sum{'_changed' * bool(lead.parts.get(EDIT))}", total=unsigned(lead.value))
    return _map_of_heads(run, table, lead.value, cell, said, title, token, chosen, inside)


def _map_of_heads(
    run: Trace,
    table: np.ndarray,
    total: float,
    cell: tuple[int, int],
    said: str,
    title: str,
    token: int,
    chosen: dict[str, Any],
    inside: Mapping[str, Way] = MappingProxyType({}),
) -> Picture:
    """A table as `by_head` has it, in a row above and a column beside it what else is in the total. token: at which
    they write; inside: as in `built_up`; chosen: what a click that leads to another page chooses besides.
    """
    heads, cells = run.config.heads, np.pad(table, ((1, 0), (0, 1)), constant_values=np.nan)
    cells[0, -1] = total - table.sum()

    def go(line: int, column: int) -> Mapping[str, object] | Open | None:
        """Opens that head or FFN; else to where the head attends, or to what the FFN adds."""
        row = line - 1
        if row < 0 or column > heads:
            return None
        part = f"attention.heads[{column}]" if column < heads else "ffn.output"
        if way := inside.get(f"layers.{row}.{part}"):
            return way[1]
        if column < heads:
            return Open(
                "attention", {"tab": None, "stage": None, "layer": row, "head": column, "token": token, **chosen}
            )
        return Open("feed_forward", {"tab": None, "stage": "output", "layer": row, "token": token, **chosen})

    columns = Axis(wrote_word("axis_heads"), [*(str(head + 1) for head in range(heads)), "FFN", wrote_word("rest")])
    axes = Axis(plain("sidebar.layer"), [str(layer) for layer in range(len(cells))]), columns
    high, chosen_one = scaled(90 + min(A_LAYER * len(cells), MOST_HIGH)), (cell[0] + 1, cell[1])
    figure = heatmap(cells, *axes, cell=chosen_one, clickable=True, square=False, height=high)
    figure.tell(numbers=True, fills=True)
    return Picture(figure, said, title=title, picks=go, shape=cells.shape, fixed=True)


def cell_by_heads(run: Trace, whole: Part, **chosen: Any) -> Picture:
    """Which heads and FFNs brought a token's row what it has in a cell of the map; and whence the strongest head took
    it. whole: as `of_pair` has it. chosen: what a click chooses besides.
    """
    token = whole.token or 0
    alone = EVERY if run.edits else slice(token, token + 1)  # an edit is of whole quantities
    sources = of_sum(run, run.graph.Z, heads=True, tokens=alone)
    parts = {name: float(part[token if run.edits else 0] @ whole.slope) for name, part in sources.items()}
    lead = Lead(float(whole.value), parts, exact=True)
    table, (layer, head), names = by_head(run, lead), strongest_head(run, lead), placed(run.tokens)
    most = furthest(table[:, :-1], "{:.4f}".format)
    said = wrote("read_head", where=Place(layer, head).where(), part=most)
    if most.ahead and not run.edits:
        output = next(part for part in made_of(run, whole) if part.name == f"layers.{layer}.attention.output")
        taken = made_of(run, made_of(run, output)[head])
        source = first([float(part.value / table[layer, head]) for part in taken])
        weight = decimal(float(run[f"layers.{layer}.attention.weights"][head, token, source.place]))
        said += " " + alike("read_took", source=names[source.place], weight=weight) if source.ahead else ""
    return _map_of_heads(
        run, table, lead.value, (layer, head), said, alike_word("cell", token=names[token]), token, chosen
    )


def alike_map(
    run: Trace,
    place: Place,
    other: Trace,
    cells: np.ndarray,
    cell: tuple[int, int],
    opened: bool = False,
    through: AtWords | None = None,
) -> Picture:
    """Which pairs of tokens make two inputs alike. cells: (token, other token), which add up to the cosine.

    cell: the one that is worked out. opened: whether it is open, so that a click on it closes it. through: what the
    cells are of, where they are of the words, through all layers, and add up to the cosine but for two numbers.
    """
    axes = token_axis(run, alike_word("axis_rows")), Axis(alike_word("axis_columns"), other.tokens)
    most = furthest(cells, "{:.4f}".format)
    row, column = (int(at) for at in np.unravel_index(most.place, cells.shape))
    said = {"token": placed(run.tokens)[row], "other": placed(other.tokens)[column], "value": most}
    figure = heatmap(cells, *axes, cell=cell, clickable=True, corner=f"{axes[1].title} →\n{axes[0].title} ↓")
    figure.tell(large=True, wide=True, grows=LEAST)

    def choose(row: int, column: int) -> dict[str, object]:
        return {"token": None, "step": None} if opened and (row, column) == cell else {"token": row, "step": column}

    total = float(cells.sum())
    if through is None:
        read = alike("read_pairs", cosine=f"{total:.4f}", n=cells.size, **said)
    else:
        cosine = f"{total + through.of_random + through.gap:.4f}"
        sums = {"sum": f"{total:.4f}", "random": signed(through.of_random), "gap": signed(through.gap)}
        read = alike("read_words", cosine=cosine, **sums, **said)
    return Picture(
        figure,
        read,
        title=alike_word("pairs"),
        shape=cells.shape,
        fixed=True,
        picks=choose,
        moves=Moves(cell, cells.shape, choose),
    )


def row_sums(run: Trace, place: Place, cells: np.ndarray, name: str = "rows", total: str = "cosine") -> Picture:
    """What each token of an input has in the cosine: the sums of the rows of its map, (token, other token).

    name: "rows" of this input, "columns" of the other, "shares" of one input's own vector. total: what they add up to,
    "cosine" or "sum".
    """
    sums = cells.sum(axis=1)
    few, rest = largest_first(sums, MOST_PARTS)
    few.sort()
    names, values = [placed(run.tokens)[token] for token in few], [float(sums[token]) for token in few]
    if rest:
        names.append(plain("source.rest", n=len(rest)))
        values.append(float(sums[rest].sum()))
    axis = Axis("", [*names, alike_word(total)])
    figure = waterfall(np.array(values), axis, "", grey=[len(few)] * bool(rest), digits=3)
    figure.layout["hovermode"] = "y"

    def choose(bar: int, _: int) -> dict[str, object] | None:
        return {"step" if name == "columns" else "token": few[bar]} if bar < len(few) else None

    read = alike(f"read_{name}", token=furthest(sums, three).named(placed(run.tokens)))
    read += digits_hidden(figure.data[0]["text"])
    return Picture(figure, read, title=alike_word(name), shape=sums.shape, fixed=True, picks=choose)


def sentence_map(run: Trace, place: Place, other: Trace, cells: np.ndarray) -> Picture:
    """The same map, summed over the sentences of both inputs; a click works out the largest cell of a pair of them."""
    rows, columns = sentences(run.tokens), sentences(other.tokens)
    sums = np.array([[cells[np.ix_(row, column)].sum() for column in columns] for row in rows])
    first, second = ([in_brief(one, part) for part in parts] for one, parts in ((run, rows), (other, columns)))
    numbered = [f"{n}: {name}" for n, name in enumerate(first, 1)]
    axes = Axis(alike_word("axis_rows"), numbered), Axis.counted(alike_word("axis_columns"), len(columns))
    most = furthest(sums, "{:.4f}".format)
    row, column = (int(at) for at in np.unravel_index(most.place, sums.shape))

    def choose(row: int, column: int) -> dict[str, object]:
        pair = cells[np.ix_(rows[row], columns[column])]
        token, step = np.unravel_index(pair.argmax(), pair.shape)
        return {"token": rows[row][token], "step": columns[column][step]}

    named = {"token": first[row], "other": second[column], "value": most}
    return Picture(
        heatmap(sums, *axes, square=False, clickable=True, height=150 + 32 * len(rows)).tell(fills=True),
        alike("read_sentences", **named),
        title=alike_word("sentences"),
        shape=sums.shape,
        fixed=True,
        picks=choose,
    )


def in_brief(run: Trace, places: range) -> str:
    """A sentence of an input by its first words."""
    tokens = [run.tokens[place] for place in places]
    line = " ".join(spelled([tokens[piece] for piece in pieces]) for pieces in whole_words(tokens))
    return line if len(line) <= MOST_OF_LINE else f"{line[:MOST_OF_LINE]}…"


def search_results(run: Trace, place: Place, found: Sequence[Found], lines: Sequence[str]) -> Picture:
    """Lines by how alike they are to the input, each with tokens that add to its cosine; a click compares.

    found: sorted; lines: as they were pasted.
    """
    named = [line if len(line) <= MOST_OF_LINE else f"{line[:MOST_OF_LINE]}…" for line in lines]
    values, said = np.array([one.cosine for one in found]), []
    for one in found:
        adds = np.zeros(0) if one.adds is None else one.adds
        most = [token for token in np.argsort(-adds, kind="stable")[:MOST_WORDS] if adds[token] > 0]
        said.append(f"{two(one.cosine)}  {' · '.join(placed(one.tokens)[token] for token in most)}".rstrip())
    best = first(values, three)
    read = alike("read_search", n=len(found), line=named[found[best.place].place], value=best)
    return Picture(
        bars_with_numbers(values, [named[one.place] for one in found], said, most=1.0),
        read,
        title=alike_word("search"),
        fixed=True,
        picks=lambda bar, _: {"other": lines[found[bar].place], "twin": False, "shown": "beside", "tab": "alike"},
    )


def _names(run: Trace) -> list[str]:
    """What such an answer tells apart."""
    return [class_label(name) for name in run.answer[0].labels]


def labels(run: Trace, place: Place, cell: Cell) -> Picture:
    """A bar for each label: how true it is held to be, or what is measured."""
    measures, names = run.config.head == "numbers", _names(run)
    now = run["labels"] if measures else _true(run)
    shown = sorted(np.argsort(-np.abs(now), kind="stable")[:MOST_LABELS].tolist())

    def figure(drawn: Numbers) -> Figure:
        written_as = signed if drawn.differs else two if measures else decimal
        numbers = [written_as(float(v)) for v in drawn.array]
        look = {"there": drawn.other, "differs": drawn.differs, "most": 0.0 if measures else 1.0}
        return bars_with_numbers(drawn.array, drawn.axes[0].labels, numbers, **look)

    said = {"best": names[cell[0]], "value": (two if measures else decimal)(float(now[cell[0]])), "n": len(names)}
    axis = Axis("", [names[i] for i in shown])
    return Picture(
        figure,
        judged(("measured" if measures else "labels") + ("_one" if len(names) == 1 else ""), **said),
        Numbers(now, run.axes("labels"), lambda every: every[shown].on(axis)),
        quantity=run.graph["labels" if measures else "answer"],
        title=plain("answer.title"),
        two="beside",
        picks=lambda row, _: {"output": shown[row]},
    )


def _true(run: Trace) -> np.ndarray:
    return sigmoid(run["labels"].astype(np.float64))


def words_with_tags(run: Trace) -> str:
    """The words, marked with the class of their first piece."""
    p, first = _of_classes(run), _first(run)
    kinds = list(dict.fromkeys(_kind(name) for name in first.values() if name != OUTSIDE))
    parts = []
    for places in whole_words(run.tokens):
        said = literal(spelled([run.tokens[place] for place in places]))
        if (name := first[places[0]]) == OUTSIDE:
            parts.append(said)
        else:
            mark = MARKS[kinds.index(_kind(name)) % len(MARKS)]
            called = literal(name.replace("-", UNBROKEN))
            parts.append(f":{mark}-background[**{said}**\u00a0{called}\u00a0{decimal(p[places[0]].max())}]")
    return " ".join(parts)


def _first(run: Trace) -> dict[int, str]:
    """The class of the first piece of each word, by its place."""
    p, names = _of_classes(run), _names(run)
    return {places[0]: names[int(p[places[0]].argmax())] for places in whole_words(run.tokens)}


def tags(run: Trace, place: Place, cell: Cell) -> Picture:
    """The probabilities of each class for each token."""
    names, first = _names(run), _first(run)
    plain_ones = sum(name == OUTSIDE for name in first.values())
    said = judged("tags" if OUTSIDE in names else "tags_all", words=len(first), outside=plain_ones)
    axes = token_axis(run, plain("axis.token")), Axis(plain("axis.class"), names)
    numbers = Numbers(_of_classes(run), run.axes("tags"), axes=axes)
    return _grid(run, numbers, cell, said, lambda token, output: {"token": token, "output": output})


def _of_classes(run: Trace) -> np.ndarray:
    return softmax(run["tags"].astype(np.float64))


def _kind(name: str) -> str:
    """ "B-PER" and "I-PER" are of one kind."""
    return name.removeprefix("B-").removeprefix("I-")


def text_with_span(run: Trace) -> str:
    """The text with the part marked that answers."""
    tokens, (start, end) = run.tokens, best_span(run["bounds"], run.tokens)
    marked = f":green-background[**{literal(_said(tokens[start : end + 1]))}**]"
    before, after = literal(_said(tokens[:start])), literal(_said(tokens[end + 1 :]))
    return "#### " + " ".join(part for part in (before, marked, after) if part)


def span(run: Trace, place: Place, cell: Cell) -> Picture:
    """For each token how likely the part that answers begins there, and ends."""
    tokens, p, (start, end) = run.tokens, _of_bounds(run), best_span(run["bounds"], run.tokens)
    said = {"part": _said(tokens[start : end + 1]), "first": decimal(p[0, start]), "last": decimal(p[1, end])}
    sentence = judged("span" if "[SEP]" in tokens[:-1] else "span_alone", **said)
    bounds = [plain("common.begins"), plain("common.ends")]
    numbers = Numbers(
        p, run.axes("bounds"), axes=(Axis(judged_word("axis_bound"), bounds), token_axis(run, plain("axis.token")))
    )
    return _grid(run, numbers, cell, sentence, lambda bound, token: {"token": token, "output": bound})


def _of_bounds(run: Trace) -> np.ndarray:
    return softmax(run["bounds"].astype(np.float64))


def _said(tokens: Sequence[str]) -> str:
    return " ".join(spelled([tokens[i] for i in places]) for places in _runs(tokens))


def _runs(tokens: Sequence[str]) -> list[list[int]]:
    """The places of each word, and of each token that stands for none."""
    runs: list[list[int]] = []
    for place, token in enumerate(tokens):
        if token.startswith("##") and runs:
            runs[-1].append(place)
        else:
            runs.append([place])
    return runs


def _grid(run: Trace, numbers: Numbers, cell: Cell, sentence: str, choose: Picks) -> Picture:
    """Every token by what can be said of it."""

    def figure(drawn: Numbers) -> Figure:
        look = {"scale": drawn.scale("share"), "square": False, "clickable": True, "cell": cell}
        return heatmap(drawn.array, *drawn.axes, **look).tell(fills=True)

    return Picture(figure, sentence, numbers, quantity=run.graph["answer"], title=plain("answer.title"), picks=choose)
