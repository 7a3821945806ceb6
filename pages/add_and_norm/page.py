"""Add & Norm: the residual connection adds a sub-layer's output to its input; LayerNorm rescales every vector."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd
import streamlit as st

from model import Trace
from model.analysis import cosine_similarity, placed
from model.config import NORMS
from model.encoder import EncoderLayer
from model.graph import Sublayer
from model.rms import RMSNorm, centred
from pages.add_and_norm.why_add_and_norm import why_not_batch_norm, why_sums
from pages.ui.figures import ADDED, AFTER, BEFORE, Axis, grouped_bars, outlines
from pages.ui.frame.pickers import either
from pages.ui.page import Page
from pages.ui.runs.measure import of_both
from pages.ui.sections.band import Column, band
from pages.ui.sections.cell_map import chosen_cell
from pages.ui.sections.without import alike_without
from pages.ui.sections.working import working
from pages.ui.state.link import select
from pages.ui.text import t, texts_of
from pages.ui.text.numbers import written

AFTER_SUM = r"\operatorname{%s}\bigl(X + \operatorname{Sublayer}(X)\bigr)"
BEFORE_SUBLAYER = r"X + \operatorname{Sublayer}\bigl(\operatorname{%s}(X)\bigr)"
JUST_THE_SUM = r"X + \operatorname{Sublayer}(X)"
FORMER = {"values": "maps", "without": "ablation", "why": "ablation"}
USUAL = 0.99  # share of all numbers below the strongest colour
text, word = texts_of("add_and_norm")


class AddAndNorm(Page):
    former = FORMER

    @property
    def sub(self) -> Sublayer:
        """The sub-layer that the page is about."""
        sublayers = self.trace.graph.sublayers(self.layer)
        return sublayers[min(self.choice.sublayer, len(sublayers)) - 1]

    @property
    def norm(self) -> str:
        """Its LayerNorm, or that of the embedding where it has none of its own: that is what it reads then."""
        return self.sub.norm or self.sub.before

    @property
    def called(self) -> list[str]:
        """The tokens as sentences name them."""
        return placed(self.tokens)

    @property
    def epsilon(self) -> float:
        return self.pipeline.network.get_submodule(self.norm).eps

    @property
    def normed(self) -> str:
        """What that LayerNorm reads."""
        return self.sub.norm_reads if self.sub.norm else self.trace.graph[self.norm].reads[0]

    @property
    def through(self) -> dict[str, Callable[[Trace], np.ndarray]]:
        """The values on their way through LayerNorm, of a run: (token, d_model) each."""
        return {
            "before": lambda run: run[self.normed],
            "normalised": self.standardised,
            "after": lambda run: run[self.norm],
        }

    @property
    def title_equation(self) -> str:
        if self.sub.norm is None:
            return JUST_THE_SUM
        return (BEFORE_SUBLAYER if self.sub.norm_first else AFTER_SUM) % NORMS[self.config.norm]

    @property
    def rms(self) -> str:
        """What texts about RMSNorm end with, which takes no mean off; "" for LayerNorm."""
        return "_rms" * (self.config.norm == "rms")

    @property
    def unshifted(self) -> str:
        """What texts about γ end with where no β follows."""
        return "_unshifted" * ("norm" in self.config.unbiased)

    def spread(self, values: np.ndarray) -> np.ndarray:
        """By what each token's numbers are divided, but for ε: their deviation, or of RMSNorm their root mean square.

        values: (…, d_model).
        """
        norm = self.pipeline.network.get_submodule(self.norm)
        found: np.ndarray = np.sqrt((centred(norm, values) ** 2).mean(-1))
        return found

    def above(self) -> None:
        if self.rms:
            st.caption(text("simpler"))

    def parts(self) -> Mapping[str, Callable[[], None]]:
        parts: dict[str, Callable[[], None]] = {"maps": self.maps, "ways": self.ways_pictures}
        if self.kind != "single" or self.knows_gradients or not self.rms:
            parts["ablation"] = self.ablation
        return parts

    @property
    def knows_gradients(self) -> bool:
        """Whether gradients are shown: of the network as it was trained, and not of others', which may be large."""
        return not (self.trace.edits or self.choice.checkpoint or self.choice.paper)

    def ablation(self) -> None:
        """What is lost without residual connections or norms: how alike tokens become, and what training has."""
        if self.kind != "single":
            alike_without(self)
        if self.knows_gradients:
            why_sums(self)
        if not self.rms:
            why_not_batch_norm(self, self.trace[self.normed], self.standardised(self.trace), self.epsilon)

    def choose_part(self, names: Sequence[str]) -> str:
        part = super().choose_part(names)
        sublayers = self.trace.graph.sublayers(self.layer)
        words, now = [word(f"place_{each.name}") for each in sublayers], sublayers.index(self.sub) + 1
        either("sublayer", word("place"), range(1, len(sublayers) + 1), words, now, label_visibility="collapsed")
        return part

    def code(self) -> Sequence[object]:
        return (EncoderLayer, RMSNorm) if self.rms else (EncoderLayer,)

    def ways_pictures(self) -> None:
        """How long the vectors are, and where they point."""
        columns = st.columns([1, 1])
        with columns[0]:
            self.lengths_picture()
        with columns[1]:
            self.cosines_picture()

    def maps(self) -> None:
        """Every quantity on the way in one band; below it the arithmetic of the chosen cell, and the token's values."""
        # In order of computation, wherever LayerNorm stands.
        sub, norm_first = self.sub, self.sub.norm_first
        own = [sub.norm] if sub.norm else []
        steps = [sub.before, *own * norm_first, sub.output, sub.sum, *own * (not norm_first)]
        # One range of colours for all of them, so that they can be compared; the few largest values saturate.
        drawn = np.abs([self.measure(key).less_nothing().values for key in steps])
        limit = float(np.quantile(drawn, USUAL)) or None
        titles = {self.norm: "normed", sub.before: "was_there", sub.output: f"found_{sub.name}", sub.sum: "the_sum"}
        columns = [Column(key, word(titles[key]), limit=limit) for key in steps]
        focus = next((one.key for one in columns if one.name == self.choice.stage), steps[-1])
        cell = chosen_cell(self, focus)
        marks = dict.fromkeys(steps, cell[1])
        look = {"title": word("maps"), "focus": focus, "marks": marks, "least": 160 * len(steps)}
        band(self, "maps", columns, self.read(focus, cell), **look)
        left, right = st.columns([1, 1], gap="medium")
        with left:
            working(self, focus, cell)
        with right:
            self.histogram()

    def read(self, key: str, cell: tuple[int, ...]) -> str:
        """What the map of one quantity says. cell: the chosen one."""
        sub = self.sub
        if self.touched(key):
            return t("change.no_law")
        if key == sub.output:
            push = self.pushes()
            typical = np.median(push[np.isfinite(push)]) if np.isfinite(push).any() else 0.0
            return text("read_output", share=f"{typical:.0%}") + self.read_layer_scale()
        if key == sub.sum:
            x, o = (round(float(self.trace[part][cell]), 4) for part in (sub.before, sub.output))
            added = {"x": f"{x:.4f}", "o": f"({written(f'{o:.4f}')})" if o < 0 else f"{o:.4f}", "sum": f"{x + o:.4f}"}
            return text("read_add", token=self.called[self.token], component=cell[1] + 1, **added)
        if key == sub.before and sub.norm:
            return text("read_input")
        spread = self.spread(self.trace[self.normed])
        ends = {"low": f"{spread.min():.3f}", "high": f"{spread.max():.3f}"}
        return text(f"read_norm{self.rms or self.unshifted}", unit=self.unit(), **ends)

    def read_layer_scale(self) -> str:
        """By what the sub-layer's output was multiplied, where it is; else nothing."""
        if not self.config.layer_scale:
            return ""
        trained = self.pipeline.network.get_submodule(self.sub.output).scale.abs()
        return " " + text("read_layer_scale", typical=f"{trained.median():.3g}", largest=f"{trained.max():.3g}")

    def three_lengths(self, run: Trace) -> np.ndarray:
        """How long what was there, what was found and their sum are: (3, token)."""
        return np.stack([np.linalg.norm(run[key], axis=1) for key in (self.sub.before, self.sub.output, self.sub.sum)])

    def pushes(self) -> np.ndarray:
        """What was found, as a multiple of what was there: (token,); NaN where nothing was, as of a removed token."""
        before, found, _ = self.three_lengths(self.trace)
        return np.divide(found, before, out=np.full_like(before, np.nan), where=before > 0)

    def bars_of_each(
        self,
        name: str,
        title: str,
        of: Callable[[Trace], np.ndarray],
        kinds: Sequence[str],
        colours: Sequence[str],
        sentence: str,
        law_of: Sequence[str] = (),
        **look: object,
    ) -> None:
        """Bars for each token: what `of` makes of a run, (kind, token); of two runs both, or how much they differ."""
        names, axis = [word(kind) for kind in kinds], self.token_axis("axis.token")
        drawn = self.measure(of, ("", "token"), beside=True).on(Axis("", names), axis, upwards=True)
        series = dict(zip(names, drawn.values, strict=True))
        self.picture(
            name,
            grouped_bars(series, axis, word(title), colours, there=drawn.other, **look),
            sentence,
            on_pick=lambda _, place: select(token=place),
            shows=drawn,
            law_of=law_of,
        )

    def lengths_picture(self) -> None:
        lengths = dict(zip(("in", "found", "sum"), self.three_lengths(self.trace), strict=True))
        moved = int(np.nan_to_num(self.pushes()).argmax())
        said = (
            text("read_lengths_none")
            if not lengths["found"].any()
            else text(
                "read_lengths",
                token=self.called[moved],
                found=f"{lengths['found'][moved]:.2f}",
                before=f"{lengths['in'][moved]:.2f}",
                sum=f"{lengths['sum'][moved]:.2f}",
            )
        )
        kinds = [f"length_{name}" for name in lengths]
        look = {"law_of": [self.sub.sum]}
        self.bars_of_each("lengths", "axis_length", self.three_lengths, kinds, (BEFORE, ADDED, AFTER), said, **look)

    def two_cosines(self, run: Trace) -> np.ndarray:
        """How much what was found, and what is handed on, points where what was there pointed: (2, token)."""
        pairs = ((run[self.sub.before][:, None], run[key][:, None]) for key in (self.sub.output, self.sub.after))
        return np.stack([cosine_similarity(one, later)[:, 0, 0] for one, later in pairs])

    def cosines_picture(self) -> None:
        """Each token's vector with the same token's vector later, not with every other one."""
        aligned, kept = self.two_cosines(self.trace)[:, self.token]
        kind = "same" if aligned > 0.25 else "against" if aligned < -0.25 else "new"
        if not min(self.three_lengths(self.trace)[:2, self.token]):
            kind = "none"
        said = text(f"read_cosines_{kind}", token=self.called[self.token], found=f"{aligned:.2f}", after=f"{kept:.2f}")
        after = "cosine_after_add" if self.sub.norm_first else "cosine_after"
        kinds, ends = ("cosine_found", after), None if self.differs else (-1, 1)
        self.bars_of_each("cosines", "axis_cosine", self.two_cosines, kinds, (ADDED, AFTER), said, value_range=ends)

    def histogram(self) -> None:
        """The values of the selected token on their way through LayerNorm."""
        token, d_model = self.token, self.config.d_model
        entered, normed = self.trace[self.normed][token], self.trace[self.norm][token]
        names = [word(name + self.unshifted * (name == "after")) for name in self.through]
        through = self.both(
            lambda run: np.stack([of(run) for of in self.through.values()]), ("", "token", "d_model"), token=token
        )[:, token]
        three = dict(zip(names, through.values, strict=True))
        known = through.other is not None and np.isfinite(through.other).all()
        other = dict(zip(names, through.other, strict=True)) if known else {}
        self.picture(
            "histogram",
            outlines(
                three,
                word("axis_value"),
                word("axis_count", d_model=d_model),
                (BEFORE, ADDED, AFTER),
                before=other,
            ),
            text(
                f"read_histogram{self.rms or self.unshifted}",
                token=self.called[token],
                mean=f"{entered.mean():.3f}",
                deviation=f"{self.spread(entered):.3f}",
                unit=f"{self.spread(self.standardised(self.trace)[token]):.4f}",
                after_mean=f"{normed.mean():.3f}",
                after_deviation=f"{self.spread(normed):.3f}",
            ),
            table=of_both(
                pd.DataFrame(three, index=range(1, d_model + 1)),
                pd.DataFrame(other, index=range(1, d_model + 1)) if other else None,
            ),
            still=True,
            shows=through,
            law_of=[self.norm],
        )

    def standardised(self, run: Trace) -> np.ndarray:
        """What LayerNorm reads with mean 0 and variance 1, before γ and β; of RMSNorm with mean square 1: (token,
        d_model).
        """
        norm, values = self.pipeline.network.get_submodule(self.norm), run[self.normed]
        found: np.ndarray = centred(norm, values) / np.sqrt(self.spread(values) ** 2 + self.epsilon)[:, None]
        return found

    def unit(self) -> str:
        """The standard deviations that LayerNorm gives the rows before γ and β: "1", or from where to where they reach.

        A row that is nearly constant stays below 1 because of ε, and one of zeros, as of a removed token, at 0.
        """
        low, high = (f"{value:.3f}" for value in np.quantile(self.spread(self.standardised(self.trace)), [0, 1]))
        return "1" if low == high == "1.000" else word("from_to", low=low, high=high)
