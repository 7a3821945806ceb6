"""What Shapes and cost shows of a configuration, worked out once for each: tables, curves, pictures."""

from collections.abc import Hashable
from functools import cache

import numpy as np
import pandas as pd
import streamlit as st

from model.config import EncoderConfig
from model.measures.cost import (
    Step,
    attention_cost,
    crossings,
    ffn_cost,
    parameters,
    recurrent_cost,
    shape_walk,
    total,
)
from model.measures.note_claims import Claim, Value
from model.notes import WholeRun, whole_run
from model.unallocated import real_parameters
from pages.drawing.cache import kept
from pages.drawing.figures import Figure
from pages.drawing.figures.equations import as_text, html_math, in_words, plain_math
from pages.drawing.figures.notation import symbols
from pages.drawing.figures.theme import font_size, mode
from pages.drawing.text import catalogue, language, texts_of
from pages.drawing.text.numbers import written
from pages.screen.frame.changes_bar import named as named_by
from pages.shapes_and_cost import figures as cost_figures
from pages.shapes_and_cost.figures import shape_text, with_prefix

POINTS = 72  # of a curve
COUNTS = ("parameters", "multiply_adds", "bytes")
#: What multiplies in a layer; and all parts of a network, from input to answer.
OF_LAYER = ("squared", "projections", "ffn")
PARTS = ("embedding", "projections", "squared", "ffn", "norms", "head")
LONGEST = 65_536  # tokens to which lengths are doubled
text, word = texts_of("shapes_and_cost")


def table(rows: list, columns: str, **options) -> pd.DataFrame:
    """A table whose headings are the texts "column.{name}". columns: the names, with spaces between."""
    return pd.DataFrame(rows, columns=[word(f"column.{name}") for name in columns.split()], **options)


def in_bytes(number: int) -> str:
    """536 B, 27.6 kB, 433 MB."""
    return f"{with_prefix(number)}B" if number >= 1000 else f"{number} B"


def as_it_looks(*arguments: Hashable) -> tuple:
    """What decides a table or a figure beside its arguments: language, ground, letters, and a note's symbols."""
    return language(), mode(), font_size(), symbols(), *arguments


# -- the shape walk ------------------------------------------------------------------------------------------


@kept(64)
def steps_of(config: EncoderConfig, n: int, batch: int) -> list[Step]:
    return shape_walk(config, n, batch)


@kept(64, as_it_looks)
def steps_table(config: EncoderConfig, n: int, batch: int) -> pd.DataFrame:
    """Every step: its shapes and its counts, in letters and in numbers."""
    rows = [
        [
            plain_math(step.symbol),
            *(", ".join(shape_text(shape, numbers) for shape in step.inputs) or "–" for numbers in (False, True)),
            *(shape_text(step.output, numbers) for numbers in (False, True)),
            *(getattr(step, name).number for name in COUNTS),
            step.times,
            plain_math(in_words(step.equation)),
        ]
        for step in steps_of(config, n, batch)
    ]
    return table(rows, "symbol in in_numbers out out_numbers parameters multiply_adds bytes times equation")


def units() -> dict[str, str]:
    """What is written over the bars of shares."""
    return {name: word(f"unit_{name}") for name in ("parameters", "multiply_adds")}


@kept(64, as_it_looks)
def walk_picture(config: EncoderConfig, n: int, batch: int, chosen: int) -> Figure:
    steps, called = steps_of(config, n, batch), catalogue(language())
    words = units() | {step.key: called.get(named_by(step), "") for step in steps}
    return cost_figures.walk_diagram(
        steps,
        words | {"times": word("times", N=config.layers)},
        chosen,
        mathematics=lambda latex: html_math(in_words(latex)),
    )


# -- parameters ----------------------------------------------------------------------------------------------


@kept(64)
def counted(config: EncoderConfig) -> int:
    """Parameters of the real modules."""
    return real_parameters(config)


@kept(64, as_it_looks)
def parameters_table(config: EncoderConfig) -> pd.DataFrame:
    """Each part that has parameters, then all of them."""
    parts = parameters(config)
    rows = [
        (word(f"part_{name}"), part.number, part.formula, part.numbers) for name, part in parts.items() if part.number
    ]
    rows.append((word("in_all"), total(parts).number, "", ""))
    return table(rows, "part parameters formula with_numbers")


# -- cost of one length --------------------------------------------------------------------------------------


def part_of(step: Step) -> str:
    """The part of the network whose cost a step is. Of attention: what is done for each token, or for each pair."""
    match step.key.split("."):
        case ["embedding", *_]:
            return "embedding"
        case ["layers", _, "attention", *_] if step.operation != "norm":
            return "projections" if step.operation == "linear" else "squared"
        case ["layers", _, "ffn", *_]:
            return "ffn"
        case ["layers", *_] | ["norm"]:
            return "norms"
    return "head"


@kept(64, as_it_looks)
def shares_picture(config: EncoderConfig, n: int) -> Figure:
    """Where parameters and multiply–adds of the whole network are."""
    steps = steps_of(config, n, 1)
    rows = [PARTS.index(part_of(step)) for step in steps]
    return cost_figures.shares(steps, rows, [word(f"row_{name}") for name in PARTS], units())


@kept(64, as_it_looks)
def growth_picture(config: EncoderConfig, lengths: tuple[int, ...], n: int) -> Figure:
    """How the work of a layer is shared out among its parts, for each length. n: the present one."""
    work = np.array([[works(config, length)[name] for length in lengths] for name in OF_LAYER])
    names, titles = [word(f"row_{name}") for name in OF_LAYER], (word("axis_n"), word("axis_shares"))
    return cost_figures.growth(names, work, lengths, lengths.index(n), titles)


# -- cost over length ----------------------------------------------------------------------------------------


def works(config: EncoderConfig, n: int) -> dict[str, int]:
    """Multiply–adds of one layer at length n: the curves, by name."""
    cost, ffn = attention_cost(config, n), ffn_cost(config, n).number
    projections, squared = cost["projections"].number, cost["scores"].number + cost["weighted_sum"].number
    return {
        "attention": projections + squared,
        "ffn": ffn,
        "squared": squared,
        "projections": projections,
        "projections_and_ffn": projections + ffn,
        "recurrent": recurrent_cost(config, n).number,
    }


@kept(64)
def curves(config: EncoderConfig, here: int) -> pd.DataFrame:
    """Over lengths n that reach past every crossing and past `here`: each curve."""
    last = max(here, 2 * max(crossing.number for crossing in crossings(config).values()), 1000)
    lengths = np.unique(np.geomspace(1, last, POINTS).round().astype(int)).tolist()
    lines = pd.DataFrame([works(config, n) for n in lengths]).astype(float)
    lines.insert(0, "n", lengths)
    return lines


def named(lines: pd.DataFrame) -> pd.DataFrame:
    """Curves under the names that the pictures give them."""
    return lines.rename(columns={name: word(f"curve_{name}") for name in lines.columns[1:]})


@kept(64, as_it_looks)
def cost_picture(config: EncoderConfig, here: int) -> Figure:
    """Multiply–adds of one layer over n, with the crossings and `here`."""
    marks = [
        (
            count.number,
            works(config, count.number)["ffn" if name == "attention_and_ffn" else "squared"],
            word(f"crossing_{name}"),
        )
        for name, count in crossings(config).items()
        if count.number > 0
    ]
    return cost_figures.cost_curves(
        curves(config, here).set_index("n")[[*works(config, 1)]],
        {name: word(f"curve_{name}") for name in works(config, 1)},
        (word("axis_n"), word("axis_work")),
        crossings=marks,
        here=here,
    )


# -- the lecture notes ---------------------------------------------------------------------------------------


def reason(claim: Claim) -> str:
    """Why a claim gets its verdict, where something needs to be said."""
    if f"shapes_and_cost.reason.{claim.key}" not in catalogue(st.session_state["lang"]):
        return ""
    return word(f"reason.{claim.key}", **{name: f"{value:,}" for name, value in claim.values.items()})


def as_read(quote: str) -> str:
    """A note's own words without the marks of Markdown and LaTeX."""
    return as_text(quote.replace("$", "").replace("**", "").replace("`", ""))


def value_text(value: Value) -> str:
    """A number, a letter, or a shape or list of these, as people write it."""
    if isinstance(value, tuple):
        inner = ", ".join(value_text(part) for part in value)
        return inner if any(isinstance(part, tuple) for part in value) else f"({inner})"
    if isinstance(value, str):
        return value
    return written(f"{value:,.0f}" if float(value).is_integer() else f"{value:.3g}")


@cache
def note_run() -> WholeRun:
    """Lecture note 002's encoder and ours on a batch of two sentences of ten ids."""
    return whole_run()
