"""Flat: a drawing as a sequence of length one (lecture note 003): what attention cannot do there."""

from collections.abc import Callable, Hashable, Mapping, Sequence

import numpy as np
import pandas as pd
import streamlit as st

from model.cost import shape_walk
from model.embedding import FlatEmbedding
from model.graph import Quantity
from model.heads import ClassifierNetwork
from model.sublayers import ScaledDotProductAttention
from pages.ui.components.tables import column_widths, draw_table
from pages.ui.figures import Axis, Thumbnail, bars, over_drawing, role_colours, thumbnails
from pages.ui.figures.equations import in_words, plain_math
from pages.ui.frame.pickers import bound
from pages.ui.page import Page
from pages.ui.runs import pipelines
from pages.ui.runs.measure import Measure, widest
from pages.ui.runs.worked_out import disturbed
from pages.ui.sections.cell_map import cell_map
from pages.ui.state import sketch
from pages.ui.state.choice import Choice
from pages.ui.state.link import select
from pages.ui.text import class_label, plain, t, texts_of
from pages.ui.text.numbers import written

ATTENTION = "layers.0.attention."
#: What is disturbed, each with noise of this strength.
DISTURBED = ("Q", "K", "scores", "V")
NOISE = 5.0
#: The sections of lecture note 003; None: what the note has not.
SECTIONS = {
    1: ("input",),
    2: ("embedding.row",),
    3: ("embedding.tokens",),
    4: ("embedding.",),
    5: ("attention.",),
    6: ("add_1", "norm_1"),
    7: ("ffn.",),
    None: ("add_2", "norm_2"),
    8: ("first", "logits"),
    9: ("answer",),
}
#: Where the note does otherwise, or says more: the text that tells how.
DIFFERS = {
    "embedding.row": "row",
    "embedding.positions": "positions",
    "layers.0.add_1": "add_1",
    "layers.0.norm_1": "norm_1",
    "layers.0.add_2": "no_second",
    "layers.0.norm_2": "no_second",
    "first": "flatten",
}
MAX_LEN = 5000  # places in the note's table of positions
FORMER = {"why": "attention", "hand": "stages", "answer": "patches", "beside": "patches"}
ONE = r"\operatorname{softmax}\left(\frac{q \cdot k}{\sqrt{d_k}}\right) = \frac{e^{s}}{e^{s}} = 1"
text, word = texts_of("flat")


def ink_of(choice: Choice) -> bytes:
    """The reader's drawing; where he has none, one is borrowed."""
    return choice.ink or sketch.ink(sketch.example())


class Flat(Page):
    former = FORMER
    title_equation = ONE
    chips = False
    any_input = True

    def elsewhere(self) -> tuple[str, Hashable] | None:
        return "flat", ink_of(self.choice)

    def above(self) -> None:
        #: The drawing, as 28 × 28 grey values.
        self.ink = ink_of(self.choice)
        if not self.choice.ink:
            st.caption(text("borrowed"))
        if self.choice.pipeline != "flat" or not self.choice.drawing:
            self.follow("flat", self.ink)  # the page is about "flat", whatever the input
        elif self.shows == "other":
            self.ink = sketch.ink(self.choice.other_drawing)
        self.choice = self.choice.fitted(self.config, len(self.tokens))

    def parts(self) -> Mapping[str, Callable[[], None]]:
        return {"attention": self.of_one_token, "stages": self.stages, "patches": self.beside_patches}

    def code(self) -> Sequence[object]:
        return FlatEmbedding, ScaledDotProductAttention, ClassifierNetwork

    def stages(self) -> None:
        """Any quantity of the run with the arithmetic of a cell, and all of them with their shapes."""
        self.by_hand()
        rows = []
        for step in shape_walk(self.trace.config, len(self.trace.tokens)):
            values = self.trace[step.key] if step.traced else None
            ends = () if values is None else (values.min(), values.max())
            sides = ["[" + ", ".join(map(str, one.sizes)) + "]" for one in (*step.inputs[:1], step.output)]
            before, after = sides if step.inputs else ("", *sides)
            operation, equation = word(f"step_{step.operation}"), plain_math(in_words(step.equation))
            low_high = " … ".join(written(f"{end:.2f}") for end in ends)
            rows.append((operation, equation, before, after, low_high, in_the_note(step.key)))
        names = [word(f"column_{name}") for name in ("operation", "equation", "in", "out", "values", "note")]
        table = pd.DataFrame(rows, columns=names)
        operation, equation, *shapes_and_values, note = names
        order = [operation, *shapes_and_values, equation, note]  # on a phone only the first ones are in sight
        look = {"column_order": order, "column_config": column_widths(table)}
        draw_table(table, "flat.stages", height=740, hide_index=True, **look)
        st.markdown(text("note_differs"))

    def value_passes(self) -> bool:
        """Whether each head hands on its V as it is: where nobody changed the weights, or what comes of them."""
        return not self.touched(ATTENTION + "weights", ATTENTION + "heads", every_head=True)

    def of_one_token(self) -> None:
        """Attention of one token to itself, in every head."""
        of_each = ("Q", "K", "V", "scores", "scaled", "weights", "heads")
        Q, _, V, scores, scaled, weights, heads = (self.trace[ATTENTION + name] for name in of_each)
        measures = {name: self.measure(ATTENTION + name, every_head=True).less_nothing()[:, 0] for name in of_each}
        drawn = {name: measure.values for name, measure in measures.items()}
        colours, names = role_colours(), [plain("heads.head", head=i + 1) for i in range(len(Q))]
        grid = [
            [Thumbnail(name, drawn[name], names, colour=colours[name]) for name in "QKV"],
            [
                Thumbnail("Q Kᵀ ÷ √d_k", drawn["scaled"], names),
                Thumbnail("A = softmax", drawn["weights"], names, "signed" if self.differs else "share"),
                Thumbnail("A V", drawn["heads"], names),
            ],
        ]
        symbols = dict(zip(of_each, (*"QKV", "Q Kᵀ", "Q Kᵀ ÷ √d_k", "A", "A V"), strict=True))

        def named(name: str) -> Measure:
            rows = Axis("", [f"{symbols[name]}: {head}" for head in names])
            return measures[name].on(rows, Axis(plain("axis.d_k") if drawn[name].shape[-1] > 1 else ""))

        own_value = self.value_passes()
        columns = st.columns([3, 2], gap="medium")
        with columns[0]:
            self.picture(
                "attention",
                thumbnails(grid, row_height=150),
                text("read_attention", heads=len(Q), d_k=Q.shape[-1]) if own_value else t("change.no_law"),
                values=Q,
                table=pd.DataFrame(drawn["V"], index=names, columns=range(1, V.shape[-1] + 1)),
                shows=widest(map(named, of_each)),
            )
        with columns[1]:
            gap = np.abs(heads - V).max(axis=(1, 2))
            every = {
                "q · k": scores[:, 0, 0],
                "÷ √d_k": scaled[:, 0, 0],
                "softmax": weights[:, 0, 0],
                "max |A V − V|": gap,
            }
            six = st.column_config.NumberColumn(format="%.6f")
            draw_table(pd.DataFrame(every, index=names), "flat.heads", column_config=dict.fromkeys(every, six))
            if own_value:
                st.markdown(
                    text("read_heads", low=f"{scaled.min():.2f}", high=f"{scaled.max():.2f}", gap=f"{gap.max():g}")
                )
            self.noise()
        self.why()

    def by_hand(self) -> None:
        """Any quantity of the run as a picture, with the arithmetic of the chosen cell."""
        stages: dict[str, Quantity] = {}
        for quantity in self.trace.graph:
            if quantity.traced:
                *_, part, last = ["", *quantity.key.split(".")]
                stages[f"{part}_{last}" if last in stages else last] = quantity  # both sublayers have an output
        names = {stage: f"{plain_math(row.symbol)} · {word(f'step_{row.operation}')}" for stage, row in stages.items()}
        chosen = self.choice.stage if self.choice.stage in stages else "weights"
        look = bound("flat.quantity", chosen, lambda stage: select(stage=stage), anew=True, among=stages)
        st.selectbox(word("quantity"), list(stages), format_func=names.__getitem__, width=480, **look)
        cell_map(self, stages[chosen].key, "", title=plain_math(stages[chosen].symbol), height=230)

    def why(self) -> None:
        """Why attention does nothing, and how many parameters with it."""
        if not self.value_passes():
            return
        learned = {name: weight.numel() for name, weight in self.pipeline.network.named_parameters()}
        idle, whole = sum(n for name, n in learned.items() if ".W_Q." in name or ".W_K." in name), sum(learned.values())
        st.markdown(text("why_text", idle=f"{idle:,}", all=f"{whole:,}", share=f"{idle / whole:.0%}"))

    def noise(self) -> None:
        """What noise on the way does to the answer: on Q, K or the scores nothing."""
        calm = np.array(self.trace.answer[0].probabilities)
        answers = disturbed(self.ink, tuple(ATTENTION + place for place in DISTURBED), NOISE, self.trace.edits)
        changes = np.abs(answers - calm).max(axis=1)
        names = [word("undisturbed"), *(word("noise_on", place=word(place)) for place in DISTURBED)]
        table = pd.DataFrame(
            np.column_stack([np.vstack([calm, answers]), [0.0, *changes]]),
            index=names,
            columns=[*(class_label(label) for label in self.trace.answer[0].labels), word("column_change")],
        )
        six = st.column_config.NumberColumn(format="%.6f")
        draw_table(table, "flat.disturbed", column_config=dict.fromkeys(table.columns, six))
        st.markdown(
            text("read_disturbed", noise=f"{NOISE:g}", still=f"{changes[:3].max():g}", value=f"{changes[3]:.4f}")
        )

    def beside_patches(self) -> None:
        """The same drawing cut into patches: what attention can do with fifty tokens."""
        cut = pipelines.run("digits", self.ink)
        patch_answer = np.array(cut.answer[0].probabilities)
        probabilities = np.array(self.trace.answer[0].probabilities)
        even, best = float(patch_answer[::2].sum()), class_label(self.trace.answer[0].best)
        last = cut.graph.layers() - 1
        row = cut[f"layers.{last}.attention.weights"][:, 0].mean(axis=0)
        looked = 1 + int(row[1:].argmax())
        st.markdown(text("beside_text"))
        lines = {
            "tokens": (len(self.trace.tokens), len(cut.tokens)),
            "sizes": tuple(f"{c.layers} · {c.heads} · {c.d_model}" for c in (self.trace.config, cut.config)),
            "weights": tuple(f"{len(run.tokens)} × {len(run.tokens)}" for run in (self.trace, cut)),
            "learned": tuple(
                f"{sum(weight.numel() for weight in pipelines.pipeline(name).network.parameters()):,}"
                for name in ("flat", "digits")
            ),
            "answer": (best, cut.answer[0].best),
            "even": (f"{probabilities[0]:.4f}", f"{even:.4f}"),
            "measured": (measured("flat"), measured("digits")),
        }
        columns = st.columns([3, 2])
        with columns[0]:
            comparison = pd.DataFrame(
                [tuple(map(str, values)) for values in lines.values()],
                index=[word(f"row_{name}") for name in lines],
                columns=[word("column_flat"), word("column_patches")],
            )
            draw_table(comparison, "flat.beside")
            said = {
                "flat": best,
                "digit": cut.answer[0].best,
                "share": f"{patch_answer.max():.0%}",
                "even": f"{even:.4f}",
            }
            st.markdown(text("read_beside", **said))
            self.picture(
                "patch_answer",
                bars(
                    patch_answer,
                    Axis(plain("axis.class"), cut.answer[0].labels),
                    word("probability"),
                    height=300,
                ),
                text("read_patch_answer", even=f"{even:.4f}"),
                still=True,
                values=patch_answer,
            )
        with columns[1]:
            title = plain("attention.weight")
            self.picture(
                "patch_attention",
                over_drawing(cut.picture, row, cut.tokens, 0, title, height=380),
                text("read_patch_attention", layer=last + 1, best=cut.tokens[looked], value=f"{row[looked]:.3f}"),
                values=row,
                table=pd.DataFrame({title: row}, index=cut.tokens),
                still=True,
            )


def in_the_note(key: str) -> str:
    """The section of lecture note 003 in which a quantity stands, and where the note differs, how."""
    section = next(number for number, keys in SECTIONS.items() if key.removeprefix("layers.0.").startswith(keys))
    what = word(f"note_{DIFFERS[key]}", most=MAX_LEN) if key in DIFFERS else ""
    return f"{section or ''} {what}".strip()


def measured(name: str) -> str:
    """How often the network is right on MNIST's test set, as measured after its training."""
    value = pipelines.pipeline(name).measured.get("test_accuracy")
    return "–" if value is None else f"{value:.1%}"
