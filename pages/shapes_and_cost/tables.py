"""What Shapes and cost shows of a configuration, worked out once for each: tables, curves, pictures.

All arguments are plain, so that Streamlit can keep the results; `lang` tells the results of two languages apart.
"""

import numpy as np
import pandas as pd
import streamlit as st

from model.config import EncoderConfig
from model.cost import (
    BYTES,
    Step,
    attention_cost,
    attention_memory,
    crossings,
    ffn_cost,
    parameters,
    recurrent_cost,
    shape_walk,
    total,
)
from model.measure import LayerTimes, layer_times, real_parameters
from model.note_claims import NOTE_CLAIMS, Claim, Value
from model.notes import WholeRun, whole_run
from pages.shapes_and_cost import figures as cost_figures
from pages.shapes_and_cost.figures import shape_text, short, with_prefix
from pages.ui.figures import AFTER, Axis, Figure, bars
from pages.ui.figures.equations import as_text, html_math, in_words, plain_math
from pages.ui.figures.theme import scaled
from pages.ui.runs.worked_out import once_a_look
from pages.ui.text import catalogue, texts_of

POINTS = 72  # of a curve
text, word = texts_of("shapes_and_cost")


def table(rows: list, columns: str, **options) -> pd.DataFrame:
    """A table whose headings are the texts "column_{name}". columns: the names, with spaces between."""
    return pd.DataFrame(rows, columns=[word(f"column_{name}") for name in columns.split()], **options)


def in_bytes(number: int) -> str:
    """536 B, 27.6 kB, 433 MB."""
    return f"{with_prefix(number)}B" if number >= 1000 else f"{number} B"


# -- the shape walk ------------------------------------------------------------------------------------------


@st.cache_resource(max_entries=64, show_spinner=False)
def steps_of(config: EncoderConfig, n: int, batch: int) -> list[Step]:
    return shape_walk(config, n, batch)


@once_a_look(64)
def steps_table(config: EncoderConfig, n: int, batch: int, numbers: bool) -> pd.DataFrame:
    """Every step in numbers, or in letters."""
    steps, rows, counted = steps_of(config, n, batch), [], ("parameters", "multiply_adds", "bytes")
    # A browser's column of numbers ends at 2^53: one that holds more is of words.
    large = {name for name in counted if any(getattr(step, name).number > 2**53 for step in steps)}
    for step in steps:
        counts = {name: getattr(step, name) for name in counted}
        rows.append(
            [
                plain_math(step.symbol),
                ", ".join(shape_text(shape, numbers) for shape in step.inputs) or "–",
                shape_text(step.output, numbers),
                *(
                    count.formula if not numbers else f"{count.number:,}" if name in large else count.number
                    for name, count in counts.items()
                ),
                step.times if numbers else "N" if step.key.startswith("layers.") else "1",
                word(f"kind_{step.kind}"),
                plain_math(in_words(step.equation)),
            ]
        )
    names = "symbol in out parameters multiply_adds bytes times kind equation"
    return table(rows, names, index=range(1, len(rows) + 1))


@once_a_look(64)
def walk_picture(config: EncoderConfig, n: int, batch: int) -> Figure:
    words = {name: word(f"unit_{name}") for name in ("parameters", "multiply_adds")}
    return cost_figures.walk_diagram(
        steps_of(config, n, batch),
        words | {"times": word("times", N=config.layers)},
        mathematics=lambda latex: html_math(in_words(latex)),
    )


# -- parameters ----------------------------------------------------------------------------------------------


@st.cache_resource(max_entries=64, show_spinner=False)
def counted(config: EncoderConfig) -> int:
    """Parameters of the real modules."""
    return real_parameters(config)


@once_a_look(64)
def parameters_table(config: EncoderConfig) -> pd.DataFrame:
    """Each part that has parameters, then all of them."""
    parts = parameters(config)
    rows = [
        (word(f"part_{name}"), part.number, part.formula, part.numbers) for name, part in parts.items() if part.number
    ]
    rows.append((word("in_all"), total(parts).number, "", ""))
    return table(rows, "part parameters formula with_numbers")


@once_a_look(64)
def parameters_picture(config: EncoderConfig) -> Figure:
    parts = {name: part.number for name, part in parameters(config).items() if part.number}
    names = Axis("", [word(f"part_{name}") for name in parts])
    look = {"height": scaled(80 + 24 * len(parts))}  # large numbers fit their bars
    figure = bars(np.array([*parts.values()]), names, word("column_parameters"), colours=AFTER, **look)
    text = [short(number) for number in parts.values()]
    inside = ["inside" if number > max(parts.values()) / 3 else "outside" for number in parts.values()]
    figure.data[0] |= {"text": text, "textposition": inside, "hovertemplate": "%{y}: %{x:,.0f}<extra></extra>"}
    return figure


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


@st.cache_resource(max_entries=64, show_spinner=False)
def curves(config: EncoderConfig, here: int) -> pd.DataFrame:
    """Over lengths n that reach past every crossing and past `here`: each curve, and the bytes of all weights A."""
    last = max(here, 2 * max(crossing.number for crossing in crossings(config).values()), 1000)
    lengths = np.unique(np.geomspace(1, last, POINTS).round().astype(int)).tolist()
    lines = pd.DataFrame([works(config, n) for n in lengths]).astype(float)
    lines.insert(0, "n", lengths)
    lines["memory"] = [float(attention_memory(config, n).number) for n in lengths]
    return lines


def named(lines: pd.DataFrame) -> pd.DataFrame:
    """Curves under the names that the pictures give them."""
    names = {name: word("memory_weights" if name == "memory" else f"curve_{name}") for name in lines.columns[1:]}
    return lines.rename(columns=names)


@once_a_look(64)
def cost_picture(config: EncoderConfig, here: int, times: LayerTimes | None, logarithmic: bool) -> Figure:
    """Multiply–adds of one layer over n, with the crossings, `here`, and what this machine took."""
    lines = curves(config, here)
    marks = [
        (
            count.number,
            works(config, count.number)["ffn" if name == "attention_and_ffn" else "squared"],
            f"crossing_{name}",
        )
        for name, count in crossings(config).items()
        if count.number > 0
    ]
    names = {name: word(f"curve_{name}") for name in works(config, 1)}
    measured = None
    if times:
        n, speed = np.array(times.lengths), pace(times, config)
        seconds = {"attention": np.array(times.attention), "ffn": np.array(times.ffn)}
        measured = {name: (n, taken * speed, taken * 1e3) for name, taken in seconds.items()}
        names |= {f"{name}_measured": word(f"curve_{name}_measured") for name in measured}
    return cost_figures.cost_curves(
        lines.set_index("n")[[*works(config, 1)]],
        names,
        (word("axis_n"), word("axis_work")),
        crossings=[(n, work, word(name)) for n, work, name in marks],
        here=here,
        measured=measured,
        logarithmic=logarithmic,
    )


@once_a_look(64)
def memory_picture(config: EncoderConfig, here: int, logarithmic: bool) -> Figure:
    """Bytes of all n × n weights over n, and of all parameters, which do not grow."""
    lines = curves(config, here).set_index("n")[["memory"]].rename(columns={"memory": "memory_weights"})
    lines["memory_parameters"] = total(parameters(config)).number * BYTES["float32"]
    return cost_figures.cost_curves(
        lines,
        {name: word(name) for name in lines},
        (word("axis_n"), word("axis_bytes")),
        here=here,
        logarithmic=logarithmic,
        unit="B",
    )


def crossings_table(config: EncoderConfig) -> pd.DataFrame:
    """What costs the same as what, and at which n."""
    rows = [
        (
            f"{count.number:,}" if count.number > 0 else word("never"),
            word(f"crossing_{name}"),
            f"n = {count.formula} = {count.numbers}",
        )
        for name, count in crossings(config).items()
    ]
    return table(rows, "crossing against formula")


@st.cache_resource(max_entries=32, show_spinner=False)
def times_of(layer: EncoderConfig) -> LayerTimes:
    """Real times of one layer, measured once for each size."""
    return layer_times(layer)


def pace(times: LayerTimes, config: EncoderConfig) -> float:
    """Multiply–adds a second at the greatest length measured."""
    work = works(config, times.lengths[-1])
    return (work["attention"] + work["ffn"]) / (times.attention[-1] + times.ffn[-1])


# -- the lecture notes' numbers ------------------------------------------------------------------------------


@once_a_look(64)
def claims_table() -> pd.DataFrame:
    """What the lecture notes say in numbers, beside ours: the numbers first, for on a phone no more is in sight."""
    rows = [
        (
            claim.note,
            word(f"verdict_{claim.verdict}"),
            value_text(claim.says),
            value_text(claim.ours),
            as_read(claim.quote),
            reason(claim),
            str(claim.formula) if claim.formula else "",
        )
        for claim in NOTE_CLAIMS
    ]
    return table(rows, "note verdict says ours quote reason formula")


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
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:.3g}"


# -- the note's own run --------------------------------------------------------------------------------------


@st.cache_resource(show_spinner=False)
def note_run() -> WholeRun:
    """Lecture note 002's encoder and ours on a batch of two sentences of ten ids."""
    return whole_run()
