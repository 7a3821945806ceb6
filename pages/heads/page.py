"""Heads: every head of every layer, what it does over a corpus, what it contributes, and by what it finds tokens."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import streamlit as st

from model.analysis import head_pattern
from model.measures.without import one_against_all
from model.sublayers import MultiHeadAttention
from pages.attention.origins import can_be_told, every_head
from pages.heads.overview import overview
from pages.heads.pictures import mixed, needed, written
from pages.ui.page import Page, Parts
from pages.ui.sections.quantity_map import chosen_cell
from pages.ui.sections.roles import may_have_roles, show_role
from pages.ui.sections.without import answers_with
from pages.ui.sections.working import working
from pages.ui.text import t

EQUATION = (
    r"\begin{gathered} O = \text{Concat}(\text{head}_1, \ldots, \text{head}_h)\, W_O + b_O \\ "
    r"\text{head}_i = \text{Attention}(Q_i, K_i, V_i) \end{gathered}"
)
FORMER: Mapping[str, str | Mapping[str, object]] = {
    **dict.fromkeys(("all", "hunt", "average", "figures", "scatter"), "overview"),
    "role": "roles",
    **dict.fromkeys(("one", "written"), "contribution"),
    "mixed": {"panel": "contribution", "stage": "output"},
}


class Heads(Page):
    former = FORMER

    @property
    def title_equation(self) -> str:
        return EQUATION.replace(" + b_O", "") if "attention" in self.config.unbiased else EQUATION

    @property
    def prefix(self) -> str:
        return self.key("layers.{l}.attention.")

    def above(self) -> None:
        if len(self.tokens) == 1:
            st.info(t("heads.one_token"), icon=":material/info:")

    def parts(self) -> Parts:
        parts: dict[str, Callable[[], object]] = {"overview": lambda: overview(self, self.prefix, self.row)}
        if may_have_roles(self.choice.pipeline):
            parts["roles"] = lambda: show_role(self)
        parts["contribution"] = self.contribution
        if can_be_told(self):
            parts["origins"] = lambda: every_head(self)
        return parts

    def contribution(self) -> None:
        """What each head writes, beside it whether the answer needs it; below, Concat and W_O."""
        left, right = st.columns([1, 1], gap="medium")
        with left:
            self.show("norms", written)
        with right:
            if self.config.heads > 1 and "logits" in self.trace:
                found = answers_with(self, one_against_all(self.trace.graph, self.layer))
                if found is not None:
                    self.show("needed", partial(needed, found=found))
        focus = self.prefix + ("concat" if self.choice.stage == "concat" else "output")
        self.show_both("mixed", partial(mixed, focus=focus))
        working(self, focus, chosen_cell(self.trace, self.at, focus))

    def code(self) -> Sequence[object]:
        return MultiHeadAttention, head_pattern
