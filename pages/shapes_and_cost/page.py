"""Shapes and cost: what an input costs in any encoder, each of its shapes, and what the lecture notes say of them."""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import pandas as pd
import streamlit as st

from model.analysis import placed
from model.config import PRESETS, EncoderConfig
from model.encoder import Encoder
from model.measures.cost import (
    BYTES,
    Step,
    attention_cost,
    attention_memory,
    crossings,
    ffn_cost,
    multiply_adds,
    parameters,
    shape_walk,
    total,
)
from model.measures.note_claims import NOTE_CLAIMS
from model.measures.properties import layer_properties
from model.notes import note_002
from model.unallocated import real_parameters
from pages.drawing.figures.base import coloured
from pages.drawing.figures.equations import in_words
from pages.drawing.page import Page
from pages.drawing.picture import Picture
from pages.drawing.pictures.shared_weights import shared_weights
from pages.drawing.screen import Screen
from pages.drawing.state.choice import CostSettings
from pages.drawing.text import in_symbols, literal, plain, t
from pages.drawing.text.numbers import in_percent, percent, three
from pages.screen.components.tables import column_widths, draw_table, markdown_table
from pages.screen.frame import contents
from pages.screen.frame.note_code import source, told_gap
from pages.screen.frame.pen import Pen, equation
from pages.screen.frame.pickers import pick_number
from pages.screen.link import select
from pages.shapes_and_cost import tables as cost_tables
from pages.shapes_and_cost.figures import shape_text
from pages.shapes_and_cost.settings import called, encoder_settings, name_of
from pages.shapes_and_cost.tables import (
    COUNTS,
    LONGEST,
    OF_LAYER,
    PARTS,
    in_bytes,
    part_of,
    steps_of,
    table,
    text,
    word,
    works,
)

#: The pages whose formulas and purposes are the encoder on one page.
MODULES = "tokens", "queries_keys_values", "attention", "heads", "add_and_norm", "feed_forward", "answer"


def show_walk(screen: Screen, pen: Pen) -> None:
    """Every step from input to answer as a box with its shape; beside it the chosen one, worked out."""
    now = encoder_settings(screen, pen, batch=True)
    size = now.config, now.n, now.batch
    steps = steps_of(*size)
    scores = next(place for place, step in enumerate(steps) if step.key.endswith("scores"))
    chosen = scores if screen.choice.walk is None else min(screen.choice.walk, len(steps) - 1)
    counts = {name: sum(step.times * getattr(step, name).number for step in steps) for name in COUNTS[1:]}
    said = text(
        "read_walk",
        parameters=f"{total(parameters(now.config)).number:,}",
        work=f"{counts['multiply_adds']:,}",
        bytes=in_bytes(counts["bytes"]),
    )
    left, right = st.columns([5, 2], gap="medium")
    with left:
        figure = cost_tables.walk_picture(*size, chosen)
        figure.tell(fills=True)
        about = {"table": cost_tables.steps_table(*size), "picks": lambda step: {"walk": step}, "fixed": True}
        pen.show("walk", Picture(figure, said, written="" if screen.choice.big else None, **about))
    with right:
        if screen.choice.big:  # beside the picture, which ends with the screen
            st.markdown(said)
        else:
            with st.container(border=True, key="working.cost"):
                step_by_hand(steps, chosen, now.config)


def step_by_hand(steps: list[Step], chosen: int, config: EncoderConfig) -> None:
    """One step's shapes, parameters, multiply–adds and bytes, each as formula, numbers and result."""
    step = steps[chosen]
    pick_number("walk", f"{word('hand_which')}: ${in_words(step.symbol)}$", len(steps), chosen)
    equation(step.equation)
    sides = {
        "in": ", ".join(f"{shape_text(shape, False)} = {shape_text(shape, True)}" for shape in step.inputs) or "–",
        "out": f"{shape_text(step.output, False)} = {shape_text(step.output, True)}",
    }
    sides |= {name: str(getattr(step, name)) for name in COUNTS}
    pairs = (word("pair", name=word(f"column.{name}"), text=in_symbols(side)) for name, side in sides.items())
    st.markdown("\n".join(f"- {pair}" for pair in pairs))
    if work := step.multiply_adds.number:
        cells = step.output.size
        st.markdown(text("hand_product", cells=f"{cells:,}", each=f"{work // cells:,}", work=f"{work:,}"))
    if step.key.startswith("layers."):
        st.markdown(" ".join([text("hand_times", N=config.layers), *shared_weights(config, "counted")]))


def show_cost(screen: Screen, pen: Pen) -> None:
    """What a longer input costs, each length twice the last; beside it where parameters and multiply–adds are; in
    a presentation the first alone.
    """
    now = encoder_settings(screen, pen)
    config, n = now.config, now.n
    own = len(screen.run.tokens) if config.input == "words" else n
    lengths = tuple(sorted({own << step for step in range(LONGEST.bit_length()) if own << step <= LONGEST} | {n}))
    cost, more = works(config, n), works(config, 2 * n)
    said = text(
        "read_growth",
        n=f"{n:,}",
        share=percent(cost["squared"] / (cost["attention"] + cost["ffn"])),
        half=f"{crossings(config)['projections_and_ffn'].number:,}",
        **{name: f"{more[name] / cost[name]:.3g}" for name in OF_LAYER},
    )
    whole = {"parameters": total(parameters(config)).number, "work": total(multiply_adds(config, n)).number}
    said_of_all = text("read_shares", n=f"{n:,}", **{name: f"{count:,}" for name, count in whole.items()})
    left, *right = [st.container()] if screen.choice.big else st.columns(2, gap="large")
    with left:
        figure = cost_tables.growth_picture(config, lengths, n)
        figure.tell(fills=True)
        pen.show(
            "growth", Picture(figure, said, picks=partial(longer, screen.choice.cost, config, lengths), fixed=True)
        )
    for column in right:
        with column:
            figure, opens = cost_tables.shares_picture(config, n), partial(opens_step, steps_of(config, n, 1))
            pen.show("shares", Picture(figure, said_of_all, picks=opens, fixed=True))


def longer(cost: CostSettings, config: EncoderConfig, lengths: Sequence[int], column: int) -> dict[str, object] | None:
    """What a click on a column chooses: its length, where the encoder reads so many tokens."""
    fits = config.input == "words" and (config.positions == "sinusoidal" or lengths[column] <= config.max_len)
    return {"cost": replace(cost, base=cost.of, n=lengths[column])} if fits else None


def opens_step(steps: list[Step], part: int, _: int) -> dict[str, object]:
    """What a click on a part's bar chooses: the first of its steps that learns or multiplies, among the shapes."""
    own = (at for at, step in enumerate(steps) if part_of(step) == PARTS[part])
    first = next((at for at in own if steps[at].parameters.number or steps[at].multiply_adds.number), None)
    return {"tab": "walk", "walk": first}


def show_formulas(screen: Screen, pen: Pen) -> None:
    """What one layer costs over the length of the input, and the parameters of each part, as formulas; in a
    presentation without remarks.
    """
    now = encoder_settings(screen, pen)
    config, n = now.config, now.n
    cost = works(config, n)
    said = text(
        "read_cost",
        encoder=called(screen, now.name),
        d_model=f"{config.d_model:,}",
        n=f"{n:,}",
        attention=f"{cost['attention']:,}",
        ffn=f"{cost['ffn']:,}",
        share=in_percent(100 * cost["squared"] / cost["attention"], 1),
        all=f"{total(multiply_adds(config, n)).number:,}",
    )
    half = crossings(config)["projections_and_ffn"].number
    parts = {name: part.number for name, part in parameters(config).items()}
    whole, real, largest = sum(parts.values()), cost_tables.counted(config), max(parts, key=parts.get)
    memory, share = in_bytes(attention_memory(config, n).number), percent(parts[largest] / whole)
    same = f"{math.isqrt(whole // (config.layers * config.heads)) + 1:,}"
    left, right = st.columns([4, 5], gap="medium")
    with left:
        lines = cost_tables.named(cost_tables.curves(config, n))
        figure = cost_tables.cost_picture(config, n).tell(fills=True)
        look = {"written": "" if screen.choice.big else None, "table": lines, "fixed": True}
        pen.show("cost", Picture(figure, said, **look))
        if not screen.choice.big:
            st.markdown(
                text(
                    "read_memory",
                    half=f"{half:,}",
                    times=f"{half / config.d_model:.3g}",
                    mine=half_of_the_readers(screen, config),
                    n=f"{n:,}",
                    memory=memory,
                    same=same,
                )
            )
    with right:
        if screen.choice.big:
            st.empty()  # the table stays in another place, as `draw_table` needs it
        else:
            st.markdown(f"**{word('parameters')}**")
        show_table("parts", cost_tables.parameters_table(config))
        if screen.choice.big:  # beside the picture, which ends with the screen
            st.markdown(said)
            return
        memory = in_bytes(whole * BYTES["float32"])
        st.markdown(
            text("read_parameters", part=word(f"part_{largest}"), share=share, total=f"{whole:,}", memory=memory)
        )
        check = text(f"check_{'equal' if real == whole else 'differs'}", ours=f"{whole:,}", real=f"{real:,}")
        st.markdown(" ".join([check, *shared_weights(config, "counted")]))
        look = {"type": "tertiary", "on_click": select, "kwargs": {"tab": "notes"}, "key": "cost.to_notes"}
        st.button(word("to_notes"), **look)


def half_of_the_readers(screen: Screen, config: EncoderConfig) -> str:
    """The same n for the network of the other pages, where that is another than this."""
    here = screen.run.config
    if replace(config, max_len=here.max_len) == here:
        return ""
    half = crossings(here)["projections_and_ffn"].number
    return word("mine", encoder=called(screen, name_of(CostSettings(), here)), half=f"{half:,}")


def show_notes(screen: Screen, pen: Pen) -> None:
    """The lecture notes: their table of modules, their numbers, what they say of every encoder, and their code. The
    page stays while they scroll.
    """
    with st.container(key="notes"):
        show_claims()
        show_on_one_page(screen)
        show_properties(screen)
        with st.expander(word("note"), icon=":material/code:", key="cost.note", on_change="rerun") as box:
            if box.open:
                run_note()


def show_on_one_page(screen: Screen) -> None:
    """The table of lecture note 000: each module with its formula in this network, and what it is for."""
    rows = []
    for name in MODULES:
        page = contents.page(name)
        law = coloured(in_words(page.equation(screen))).replace(r"\|", r"\Vert ").replace("|", r"\vert ")
        if law:  # a cell would end at a bar
            formulas = ", ".join(f"${part}$" for part in law.split(r" \qquad "))
            rows.append((plain(f"{name}.title"), formulas, t(page.purpose_of(screen))))
    st.markdown(f"**{word('on_one_page')}**")
    st.markdown(
        markdown_table([word(f"column.{name}") for name in ("part", "equation", "purpose")], rows, ":--|:--|:--")
    )


def show_properties(screen: Screen) -> None:
    """What lecture note 004 says of every encoder, in numbers of this run."""
    trace, config, tokens = screen.run, screen.run.config, placed(screen.run.tokens)
    layers = [layer_properties(trace, layer) for layer in range(config.layers)]
    sums = min(layer.smallest_sum for layer in layers), max(layer.largest_sum for layer in layers)
    best = (0, 0, 0, 0, 0.0)  # layer, head, i, j, and A[i, j] − A[j, i], which is largest there
    for number, layer in enumerate(layers):
        head, i, j = layer.gap_at
        A = trace[f"layers.{number}.attention.weights"][head]
        best = max(best, (number, head, i, j, float(A[i, j] - A[j, i])), key=lambda place: place[-1])
    number, head, i, j, _ = best
    A = trace[f"layers.{number}.attention.weights"][head]
    pair = {"query": tokens[i], "key": tokens[j], "ij": three(A[i, j]), "ji": three(A[j, i])}
    gap = f"{float(pair['ij']) - float(pair['ji']):.3f}"  # of what is written
    symmetry = "symmetric" if gap == "0.000" else "symmetry"
    rows = f"{config.layers * config.heads * len(tokens):,}"
    said = (
        text(
            "property_shape", a=" × ".join(map(str, layers[0].shape_in)), b=" × ".join(map(str, layers[-1].shape_out))
        ),
        text("property_rows", rows=rows, low=f"{sums[0]:.7f}", high=f"{sums[1]:.7f}"),
        text("property_heads", d_k=config.d_k, h=config.heads, product=config.d_k * config.heads),
        text(f"property_{symmetry}", where=screen.at.where((number, head)), gap=gap, **pair),
    )
    st.markdown(f"**{word('properties')}**\n- " + "\n- ".join(said))


def show_table(name: str, values: pd.DataFrame, **look: object) -> None:
    """A table with all its rows."""
    look = {"height": "content", "hide_index": True, "column_config": column_widths(values)} | look
    draw_table(values, f"shapes_and_cost.{name}", **look)


def show_claims() -> None:
    """The numbers of the lecture notes that need care, in full; then every one beside ours."""
    by_verdict = {
        name: [claim for claim in NOTE_CLAIMS if claim.verdict == name] for name in ("right", "partly", "wrong")
    }
    counts = {verdict: len(claims) for verdict, claims in by_verdict.items()}
    st.markdown(text("claims_intro", all=len(NOTE_CLAIMS), **counts))
    for column, verdict in zip(st.columns(2, gap="medium"), ("wrong", "partly"), strict=True):
        lines = [f"**{word(f'claims_{verdict}')}**"]
        for claim in by_verdict[verdict]:
            quote, ours = cost_tables.as_read(claim.quote), cost_tables.value_text(claim.ours)
            line = text("claim", note=claim.note, quote=quote, ours=ours)
            lines.append(f"- {line} {literal(cost_tables.reason(claim))}")
        column.markdown("\n".join(lines))
    rows = [
        (
            claim.note,
            word(f"verdict_{claim.verdict}"),
            cost_tables.value_text(claim.says),
            cost_tables.value_text(claim.ours),
            cost_tables.as_read(claim.quote),
            str(claim.formula or ""),
        )
        for claim in NOTE_CLAIMS
    ]
    show_table("claims", table(rows, "note verdict says ours quote formula"), height=420)


def run_note() -> None:
    """The encoder of lecture note 002 as the note runs it, and ours with the same weights."""
    run = cost_tables.note_run()
    st.markdown(text("note_intro", batch=2, n=10))
    theirs, ours = st.columns(2)
    theirs.code(source(note_002.clones, note_002.Encoder, note_002.test), wrap_lines=True)
    theirs.code("\n".join(run.printed), language=None)
    ours.code(source(Encoder), wrap_lines=True)
    _, shape, *_ = run.rows[-1]
    learned = total(parameters(PRESETS["002"])).number
    said = text("read_note", shape=" × ".join(map(str, shape)), parameters=f"{learned:,}")
    st.markdown(f"{told_gap(run.gap, math.prod(shape))} {said}")


PAGE = Page(
    name="shapes_and_cost",
    group="more",
    tabs=lambda screen: {"cost": show_cost, "walk": show_walk, "parameters": show_formulas, "notes": show_notes},
    any_input=True,
    quiet=("notes",),
    former=dict.fromkeys(("note", "properties", "claims"), "notes"),
    chips=lambda screen: False,
    code=lambda screen: (shape_walk, parameters, real_parameters, attention_cost, ffn_cost, crossings),
)
