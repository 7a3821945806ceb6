"""Shapes and cost: every shape, parameter and multiply–add of any encoder, and the proof that the formulas hold."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import streamlit as st

from model.config import PRESETS, EncoderConfig
from model.cost import (
    BYTES,
    Step,
    attention_cost,
    attention_memory,
    crossings,
    ffn_cost,
    growth,
    layer_parameters,
    multiply_adds,
    parameters,
    shape_walk,
    total,
)
from model.encoder import Encoder
from model.measure import LayerTimes, layer_properties, measurable_lengths, real_parameters
from model.note_claims import NOTE_CLAIMS
from model.notes import note_002
from pages.shapes_and_cost import tables as cost_tables
from pages.shapes_and_cost.figures import shape_text, short
from pages.shapes_and_cost.settings import either_setting, encoder_settings
from pages.shapes_and_cost.tables import in_bytes, table, text, word, works
from pages.ui.components.tables import column_widths, draw_table
from pages.ui.figures import BLUE, GREY, ORANGE, bars_with_numbers, heatmap
from pages.ui.figures.equations import plain_math
from pages.ui.figures.theme import font_size, letters, scaled
from pages.ui.frame.note_code import source, told_gap
from pages.ui.frame.pickers import pick
from pages.ui.page import Page
from pages.ui.sections.shared_weights import shared_weights
from pages.ui.state.link import select
from pages.ui.text import literal
from pages.ui.text.numbers import written

#: The columns of the shape walk: as many as fit beside the diagram.
WALK = {
    "shapes": ("symbol", "in", "out", "kind"),
    "counts": ("symbol", "parameters", "multiply_adds", "bytes", "times"),
    "equations": ("symbol", "equation"),
}
MOST_TOLD = 64  # tokens of a map in which each cell says its numbers
FORMER = dict.fromkeys(("note", "properties", "claims"), "notes")
#: What grows with the input, from what stays as it is to what grows fastest.
GROWING = ("parameters", "projections", "ffn", "scores", "weighted_sum")


class ShapesAndCost(Page):
    former = FORMER
    chips = False
    any_input = True

    def parts(self) -> Mapping[str, Callable[[], None]]:
        return {
            "walk": self.show_walk,
            "parameters": self.show_parameters,
            "cost": self.show_cost,
            "notes": self.show_notes,
        }

    def code(self) -> Sequence[object]:
        return shape_walk, parameters, real_parameters, attention_cost, ffn_cost, crossings

    def paper_base(self) -> None:
        """The switch that sends the sentence through the paper's base size, untrained, on every page."""
        on = self.choice.pipeline == "untrained"
        left, right = st.columns([1, 1], vertical_alignment="center")
        left.button(
            word("paper_off" if on else "paper_on"),
            icon=":material/shuffle:",
            key="cost.paper",
            on_click=select,
            kwargs={"input": "sentence", "model": "trained" if on else "paper", "output": None, "against": None},
            width="stretch",
        )
        right.caption(text(f"paper_{'is_on' if on else 'is_off'}"))

    def show_walk(self) -> None:
        now = encoder_settings(self)
        config, size = now.config, (now.config, now.n, now.batch)
        steps = cost_tables.steps_of(*size)
        columns = st.columns([2, 3], gap="medium")
        with columns[1], st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"**{word('walk_table')}**", width="content")
            numbers = either_setting(self, "written", ("numbers", "letters"), label_visibility="collapsed") == "numbers"
            about = either_setting(self, "about", tuple(WALK), label_visibility="collapsed")
        rows = cost_tables.steps_table(*size, numbers)
        with columns[0]:
            with letters(min(font_size(), 15)):  # as much as a box holds
                figure = cost_tables.walk_picture(*size)
            self.picture("walk", figure, text("read_walk"), table=rows, still=True)
        with columns[1]:
            shown = [word(f"column_{name}") for name in WALK[about]]
            show_table("steps", rows, hide_index=False, height=420, column_order=shown)
            read = text(
                "read_steps",
                steps=len(steps),
                N=config.layers,
                parameters=f"{sum(step.sets * step.parameters.number for step in steps):,}",
                work=f"{sum(step.times * step.multiply_adds.number for step in steps):,}",
                bytes=in_bytes(sum(step.times * step.bytes.number for step in steps)),
            )
            st.markdown(" ".join([read, *shared_weights(config, "counted")]))
            with st.container(border=True, key="working.cost"):
                st.markdown(f"**{word('hand_step')}**")
                self.step_by_hand(steps, config)

    def step_by_hand(self, steps: list[Step], config: EncoderConfig) -> None:
        """One step's shapes, parameters, multiply–adds and bytes, each as formula, numbers and result."""
        names = [f"{plain_math(step.symbol)} · {word(f'kind_{step.kind}')}" for step in steps]
        scores = next(i for i, step in enumerate(steps) if step.key.endswith("scores"))
        chosen = scores if self.choice.walk is None else min(self.choice.walk, len(steps) - 1)
        step = steps[pick("walk", word("hand_which"), names, chosen)]
        self.equation(step.equation)
        sides = {
            "in": ", ".join(f"{shape_text(shape, False)} = {shape_text(shape, True)}" for shape in step.inputs) or "–",
            "out": f"{shape_text(step.output, False)} = {shape_text(step.output, True)}",
            "parameters": str(step.parameters),
            "multiply_adds": str(step.multiply_adds),
            "bytes": str(step.bytes),
        }
        st.markdown(
            "\n".join("- " + text("pair", name=word(f"column_{name}"), text=side) for name, side in sides.items())
        )
        if work := step.multiply_adds.number:
            cells = step.output.size
            st.markdown(text("hand_product", cells=f"{cells:,}", each=f"{work // cells:,}", work=f"{work:,}"))
        else:
            st.markdown(text(f"hand_{'no_product' if step.bytes.number else 'view'}"))
        if step.key.startswith("layers."):
            st.markdown(" ".join([text("hand_times", N=config.layers), *shared_weights(config, "counted")]))

    def show_parameters(self) -> None:
        config = encoder_settings(self).config
        parts = {name: part.number for name, part in parameters(config).items()}
        whole, real, largest = sum(parts.values()), cost_tables.counted(config), max(parts, key=parts.get)
        columns = st.columns([2, 3], gap="medium")
        with columns[0]:
            sentence = text(
                "read_parameters",
                part=word(f"part_{largest}"),
                share=f"{parts[largest] / whole:.0%}",
                total=f"{whole:,}",
                memory=in_bytes(whole * BYTES["float32"]),
            )
            figure = cost_tables.parameters_picture(config)
            self.picture("parameters", figure, sentence, still=True)
            verdict = "equal" if real == whole else "differs"
            st.markdown(text(f"check_{verdict}", ours=f"{whole:,}", real=f"{real:,}"))
            if said := shared_weights(config, "counted"):
                st.caption(" ".join(said))
        with columns[1]:
            layer = layer_parameters(config)
            sums = [text("pair", name=word(f"layer_{name}"), text=part) for name, part in layer.items()]
            sums.append(text("pair", name=word("in_all"), text=f"{total(layer).number:,}"))
            st.markdown(f"**{word('one_layer')}**\n- " + "\n- ".join(sums))
            slip = next(claim for claim in NOTE_CLAIMS if claim.key == "004.ffn")
            if layer["ffn.weights"].number + layer["ffn.biases"].number == slip.ours:
                says, ours = f"{slip.says:,}", f"{slip.ours:,}"
                st.info(text("slip", says=says, ours=ours), icon=":material/edit_note:")
        st.markdown(f"**{word('parameters_table')}**")
        show_table("parts", cost_tables.parameters_table(config))

    def show_cost(self) -> None:
        now = encoder_settings(self)
        config, n = now.config, now.n
        attention, ffn = (rf"\text{{{word(f'curve_{name}')}}}" for name in ("attention", "ffn"))
        self.equation(rf"{attention} = 4\, n\, d_{{model}}^2 + 2\, n^2 d_{{model}}")
        self.equation(rf"{ffn} = 2\, n\, d_{{model}}\, d_{{ff}}")
        layer = EncoderConfig(
            config.d_model, config.heads, 1, config.d_ff, config.activation, config.norm_first, positions="learned"
        )
        with st.container(horizontal=True, vertical_alignment="bottom"):
            logarithmic = either_setting(self, "scale", ("log", "linear")) == "log"
            asked = st.session_state.setdefault("cost.measured", set())
            if not measurable_lengths(layer):
                st.caption(text("too_large"))
            else:
                st.button(
                    word("measure"),
                    icon=":material/timer:",
                    key="cost.measure",
                    on_click=asked.add,
                    args=(layer,),
                    disabled=layer in asked,
                )
        times = None
        if layer in asked:
            with st.spinner(word("measuring")):
                times = cost_tables.times_of(layer)
        lines, here = cost_tables.curves(config, n), works(config, n)
        columns = st.columns([3, 2], gap="medium")
        with columns[0]:
            sentence = text(
                f"read_cost_{'attention' if here['attention'] > here['ffn'] else 'ffn'}",
                n=f"{n:,}",
                attention=f"{here['attention']:,}",
                ffn=f"{here['ffn']:,}",
                share=f"{here['squared'] / here['attention']:.1%}",
                layers=config.layers,
                all=f"{total(multiply_adds(config, n)).number:,}",
            )
            figure = cost_tables.cost_picture(config, n, times, logarithmic)
            self.picture("cost", figure, sentence, table=cost_tables.named(lines), still=True)
            if times:
                read_times(times, config)
            self.show_growth(config, n)
        with columns[1]:
            whole, memory = total(parameters(config)).number, attention_memory(config, n)
            sentence = text(
                "read_memory",
                n=f"{n:,}",
                count=str(memory),
                memory=in_bytes(memory.number),
                same=f"{math.isqrt(whole // (config.layers * config.heads)) + 1:,}",
            )
            self.picture(
                "memory",
                cost_tables.memory_picture(config, n, logarithmic),
                sentence,
                table=cost_tables.named(lines[["n", "memory"]]),
                still=True,
            )
        st.markdown(f"**{word('crossings')}**")
        show_table("crossings", cost_tables.crossings_table(config))
        examine_statement(config, n)

    def show_growth(self, config: EncoderConfig, n: int) -> None:
        """How much more there is of each part of a layer for an input twice as long."""
        grown = growth(config, n)
        values = np.array([grown[name] for name in GROWING])
        figure = bars_with_numbers(
            values,
            [word(f"growth_{name}") for name in GROWING],
            [f"× {value:.3g}" for value in values],
            colours=[GREY if value == 1 else BLUE if value == 2 else ORANGE for value in values],
            height=scaled(26 * len(GROWING)),
        )
        self.picture("growth", figure, text("read_growth", n=f"{n:,}", double=f"{2 * n:,}"), still=True)

    def show_notes(self) -> None:
        """The lecture notes: their numbers, what they say of every encoder, and their code."""
        self.show_claims()
        self.show_properties()
        look = {"icon": ":material/code:", "key": "cost.note", "on_change": "rerun"}
        with st.expander(word("note"), **look) as box:
            if box.open:
                run_note()

    def show_properties(self) -> None:
        """What lecture note 004 says of every encoder, checked on the run of this very input."""
        st.markdown(f"**{word('properties')}**  \n{text('properties_intro')}")
        trace, config, tokens = self.trace, self.trace.config, self.trace.tokens
        layers = [layer_properties(trace, layer) for layer in range(config.layers)]
        same = all(layer.shape_in == layer.shape_out for layer in layers)
        low, high = min(layer.smallest_sum for layer in layers), max(layer.largest_sum for layer in layers)
        sentences = [
            text(f"property_shape{'' if same else '_not'}", shape=" × ".join(map(str, layers[0].shape_in))),
            text(
                "property_rows" if max(abs(low - 1), abs(high - 1)) < 1e-4 else "property_rows_not",
                rows=f"{config.layers * config.heads * len(tokens):,}",
                low=f"{low:.7f}",
                high=f"{high:.7f}",
            ),
            text("property_heads", d_k=config.d_k, h=config.heads, product=config.d_k * config.heads),
        ]
        A = self.value("layers.{l}.attention.weights")[self.choice.head]
        gaps, key = A - A.T, self.key("layers.{l}.attention.weights")
        drawn = self.measure(key)
        drawn, axes = (
            replace(drawn, values=drawn.values - drawn.values.T),
            (self.token_axis("axis.query"), self.token_axis("axis.key")),
        )
        i, j = np.unravel_index(gaps.argmax(), gaps.shape)
        values = {"query": tokens[i], "key": tokens[j], "ij": f"{A[i, j]:.3f}", "ji": f"{A[j, i]:.3f}"}
        columns = st.columns([2, 3], gap="medium")
        with columns[0]:
            self.picture(
                "symmetry",
                heatmap(
                    drawn.values,
                    *axes,
                    clickable=len(tokens) > MOST_TOLD,  # then not each cell has a hover of its own
                    height=440,
                ),
                text("read_symmetry_single" if len(tokens) == 1 else "read_symmetric", where=self.where())
                if gaps.max() < 1e-6
                else text("read_symmetry", where=self.where(), gap=f"{gaps[i, j]:.3f}", **values),
                title=None if gaps.max() >= 1e-6 or len(tokens) == 1 else word("symmetric"),
                equation=r"A_{ij} - A_{ji}",
                shows=drawn.on(*axes),
            )
        with columns[1]:
            st.markdown("- " + "\n- ".join(sentences))
            self.paper_base()
        rows = []
        for number, layer in enumerate(layers, 1):
            head, i, j = layer.gap_at
            A = trace[f"layers.{number - 1}.attention.weights"][head]
            shapes = (" × ".join(map(str, shape)) for shape in (layer.shape_in, layer.shape_out))
            sums = f"{layer.smallest_sum:.7f} … {layer.largest_sum:.7f}"
            places = (head + 1, f"{i + 1} · {tokens[i]}", f"{j + 1} · {tokens[j]}")
            rows.append((number, " → ".join(shapes), sums, *places, f"{A[i, j]:.4f}", f"{A[j, i]:.4f}"))
        st.markdown(f"**{word('properties_table')}**")
        show_table("properties", table(rows, "layer in_out row_sums head i j A_ij A_ji"))

    def show_claims(self) -> None:
        """Every number of the lecture notes beside ours; those that need care in full."""
        by_verdict = {
            verdict: [c for c in NOTE_CLAIMS if c.verdict == verdict] for verdict in ("right", "partly", "wrong")
        }
        counts = {verdict: len(claims) for verdict, claims in by_verdict.items()}
        st.markdown(text("claims_intro", all=len(NOTE_CLAIMS), **counts))
        show_table("claims", cost_tables.claims_table(), height=420)
        for verdict in ("wrong", "partly"):
            with st.expander(word(f"claims_{verdict}", n=counts[verdict])):
                lines = []
                for claim in by_verdict[verdict]:
                    quote, ours = cost_tables.as_read(claim.quote), cost_tables.value_text(claim.ours)
                    line = text("claim", note=claim.note, quote=quote, ours=ours)
                    lines.append(f"- {line} {literal(cost_tables.reason(claim))}")
                st.markdown("\n".join(lines))


def show_table(name: str, values: pd.DataFrame, **look: object) -> None:
    """A table with all its rows."""
    look = {"height": "content", "hide_index": True, "column_config": column_widths(values)} | look
    draw_table(values, f"shapes_and_cost.{name}", **look)


def read_times(times: LayerTimes, config: EncoderConfig) -> None:
    milliseconds = {
        "n": times.lengths,
        word("curve_attention_measured"): np.array(times.attention) * 1e3,
        word("curve_ffn_measured"): np.array(times.ffn) * 1e3,
    }
    show_table("times", pd.DataFrame(milliseconds).round(3))
    first, last = works(config, times.lengths[0]), works(config, times.lengths[-1])
    st.markdown(
        text(
            "read_times",
            last=f"{times.lengths[-1]:,}",
            speed=short(int(cost_tables.pace(times, config))),
            first=f"{times.lengths[0]:,}",
            attention_first=short(int(first["attention"] / times.attention[0])),
            attention_last=short(int(last["attention"] / times.attention[-1])),
            ffn_first=short(int(first["ffn"] / times.ffn[0])),
            ffn_last=short(int(last["ffn"] / times.ffn[-1])),
        )
    )


def examine_statement(config: EncoderConfig, n: int) -> None:
    """Lecture note 004: "more efficient when n < d_model". Than what?"""
    here = works(config, n)
    crossing = {name: count.number for name, count in crossings(config).items()}
    with st.container(border=True):
        st.markdown(f"**{word('statement_title')}**")
        st.markdown(
            text(
                "statement",
                d_model=f"{config.d_model:,}",
                projections=f"{crossing['projections']:,}",
                n=f"{n:,}",
                ratio=f"{here['attention'] / here['recurrent']:.3g}",
                **{name: f"{here[name]:,}" for name in ("squared", "recurrent", "attention")},
            )
        )
        st.markdown(
            text(
                f"statement_ffn_{'up_to' if crossing['attention_and_ffn'] > 0 else 'never'}",
                crossing=f"{crossing['attention_and_ffn']:,}",
                ffn=f"{here['ffn']:,}",
                all=f"{crossing['projections_and_ffn']:,}",
            )
        )


def run_note() -> None:
    """The encoder of lecture note 002 as the note runs it, and ours with the same weights, step by step."""
    run = cost_tables.note_run()
    st.markdown(text("note_intro", batch=2, n=10))
    theirs, ours = st.columns(2)
    theirs.code(source(note_002.clones, note_002.Encoder, note_002.test), wrap_lines=True)
    theirs.code("\n".join(run.printed), language=None)
    ours.code(source(Encoder), wrap_lines=True)
    rows = [
        (plain_math(symbol), " × ".join(map(str, shape_out)), " … ".join(written(f"{end:.2f}") for end in ends))
        for symbol, shape_out, *ends in run.rows
    ]
    numbers, learned = math.prod(run.rows[-1][1]), total(parameters(PRESETS["002"])).number
    gap = told_gap(run.gap, numbers)
    st.markdown(f"{gap} {text('read_note', shape=rows[-1][1], parameters=f'{learned:,}')}")
    show_table("note", table(rows, "symbol out values"), height=420)
