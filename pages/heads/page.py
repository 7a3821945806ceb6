"""Heads: every head of every layer, what it does over a corpus, what it contributes, and by what it finds tokens."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from model import Trace
from model.analysis import HeadPattern, head_pattern, placed
from model.sublayers import MultiHeadAttention
from pages.attention.maps import SPECIAL, attends_most, hide_switch, shown_places
from pages.heads.head_patterns import head_patterns
from pages.heads.mixing import mixing
from pages.heads.one_head import needed, pushes
from pages.ui.components.tables import draw_table
from pages.ui.figures import Axis, block_of, heatmap, on_screen, scatter, tiles
from pages.ui.figures.theme import scaled
from pages.ui.frame.pickers import bound, either
from pages.ui.page import Page
from pages.ui.runs.measure import of_both
from pages.ui.sections.at_once import frame_at_once
from pages.ui.sections.cell_map import cell_maps, chosen_cell, draw_map, draw_other
from pages.ui.sections.origins import can_be_told, every_head
from pages.ui.sections.overlay import every_weight
from pages.ui.sections.roles import show_role
from pages.ui.sections.sentences import of_sentences, which_sentences
from pages.ui.state.link import select
from pages.ui.text import literal, plain, texts_of

EQUATION = (
    r"\begin{gathered} O = \text{Concat}(\text{head}_1, \ldots, \text{head}_h)\, W_O + b_O \\ "
    r"\text{head}_i = \text{Attention}(Q_i, K_i, V_i) \end{gathered}"
)
HEADS = ("layer", "head", "query", "key")  # the axes of all weights
FORMER: dict[str, str | dict[str, str]] = {
    **dict.fromkeys(("all", "hunt"), "overview"),
    "average": {"panel": "overview", "stage": "average"},
    **dict.fromkeys(("role", "figures", "scatter"), "roles"),
    **dict.fromkeys(("one", "written"), "contribution"),
    "mixed": {"panel": "contribution", "stage": "output"},
}
MOST_WORDED = 8  # layers whose tiles are high enough for a word below each
BELOW = 84  # pixels that stay free below the tiles, for the reading sentence
LOW = 54  # pixels that a row of tiles takes at least, but in a presentation, which fits on one screen
BESIDE, FACTS = 340, 150  # pixels: the height of the average beside the tiles; what stays free below a head
#: Heads have colour ranges of their own where, of one range, more than this share of them would use less than this.
MANY, LITTLE = 1 / 3, 1 / 4
text, word = texts_of("heads")


class Heads(Page):
    former = FORMER

    @property
    def title_equation(self) -> str:
        return EQUATION.replace(" + b_O", "") if "attention" in self.config.unbiased else EQUATION

    @cached_property
    def weights(self) -> np.ndarray:
        """Of all heads: (layer, head, query, key)."""
        return every_weight(self.trace)

    @cached_property
    def name_of(self) -> dict[tuple[int, ...], str]:
        """Layer and head -> "2·3", counted from 1."""
        return {place: f"{place[0] + 1}·{place[1] + 1}" for place in self.found}

    @property
    def measures(self) -> dict[str, np.ndarray]:
        return head_patterns(self.trace)[0]

    @property
    def found(self) -> dict[tuple[int, ...], HeadPattern]:
        return head_patterns(self.trace)[1]

    @cached_property
    def patterns(self) -> dict[tuple[int, ...], str]:
        """What each head does on this input, in words."""
        return {place: self.pattern_in_words(pattern) for place, pattern in self.found.items()}

    @property
    def prefix(self) -> str:
        return self.key("layers.{l}.attention.")

    @property
    def unit(self) -> str:
        return word("tokens" if self.trace.picture is None else "patches")

    def above(self) -> None:
        if len(self.tokens) == 1:
            st.info(text("one_token"), icon=":material/info:")

    def parts(self) -> Mapping[str, Callable[[], None]]:
        parts: dict[str, Callable[[], None]] = {
            "overview": self.overview,
            "roles": self.roles,
            "contribution": self.contribution,
        }
        if can_be_told(self):
            parts["origins"] = lambda: every_head(self)
        return parts

    def choose_part(self, names: Sequence[str]) -> str:
        self.row = st.container(horizontal=True, vertical_alignment="center")
        with self.row:
            return super().choose_part(names)

    def code(self) -> Sequence[object]:
        return MultiHeadAttention, head_pattern

    def pattern_in_words(self, pattern: HeadPattern) -> str:
        """What a head does on this input: "looks at the previous token: 0.83"."""
        return word(
            f"pattern_{pattern.name}",
            figure=f"{pattern.figure:.2f}",
            reference=f"{pattern.reference:.2f}",
            token="" if pattern.place is None else self.tokens[pattern.place],
            unit=self.unit,
        )

    def in_short(self, pattern: HeadPattern) -> str:
        """The same in a word or two, for a tile: "previous"."""
        return word(f"tile_{pattern.name}", token="" if pattern.place is None else self.tokens[pattern.place])

    # -- overview ----------------------------------------------------------------------------------

    def overview(self) -> None:
        """Every head as a tile, and beside them the chosen one large with its figures, or the average of some."""
        with self.row:
            kept = self.hide_special()
            which_sentences(self)
        left, right = st.columns([3, 2], gap="medium")
        with left:
            self.all_heads(kept)
        with right:
            ways = ("weights", "average")
            words = [word(f"beside_{way}") for way in ways]
            look = {"key": "heads.beside", "label_visibility": "collapsed"}
            if either("stage", word("beside"), ways, words, self.choice.stage, **look) == "average":
                self.average()
            else:
                self.chosen_head()

    def chosen_head(self) -> None:
        """The map of the chosen head, its figures, and the way to its arithmetic."""
        key = self.prefix + "weights"
        rows, columns = shown_places(self, key)
        look: dict[str, Any] = {
            "title": plain("attention.weights"),
            "rows": rows,
            "columns": columns,
            "cell": chosen_cell(self, key),
            "spare": FACTS,
            "follows": False,
        }
        draw_map(self, key, attends_most(self, key), **look)
        if self.beside(key):
            draw_other(self, key, **look)
        place = self.layer, self.head
        measured = {name: float(values[place]) for name, values in self.measures.items()}
        said = [f"{word(f'column_{name}')} {value:.2f}" for name, value in measured.items() if not np.isnan(value)]
        st.caption(literal(" · ".join(said)))
        self.way_to("attention", word("open"), panel="map", stage=None)

    def all_heads(self, kept: list[int]) -> None:
        """Every head of every layer as a tile; a click chooses one. kept: the places shown."""
        looks, looked_at = of_sentences(self, kept, kept)
        drawn = self.measure(every_weight, HEADS).less_nothing()
        if min(len(looks), len(looked_at)) < len(self.tokens):  # else a large copy would be made for nothing
            drawn = drawn[..., looks, :][..., looked_at]
        shown = drawn.values
        names = [self.tokens[place] for place in looked_at]
        titles = [word(f"axis_{name}") for name in ("layer", "head")]

        def table() -> pd.DataFrame:
            rows = pd.MultiIndex.from_product([range(1, count + 1) for count in shown.shape[:3]])
            return pd.DataFrame(shown.reshape(-1, len(looked_at)), index=rows, columns=names)

        said = {"count": len(self.name_of), "where": self.where(), "role": self.patterns[self.layer, self.head]}
        block = block_of(shown.shape)
        largest = shown.max(axis=(2, 3))
        end = float(largest.max()) if block > 1 else 1.0  # of many weights, hardly one is large
        bleached = not drawn.differs and bool((largest < LITTLE * end).mean() > MANY)
        own = bleached and not self.choice.same_range
        if bleached:
            look = bound("heads.same_range", self.choice.same_range, lambda same: select(same_range=same))
            self.row.toggle(word("same_range"), width="content", **look)
        sentence = text("read_all", n=len(looks), m=len(looked_at), **said)
        figure = tiles(
            shown,
            *map(Axis.counted, titles, self.weights.shape),
            scale=drawn.scale("share"),
            chosen=(self.layer, self.head),
            limit=largest if own else None if drawn.differs else end,
            end=word("own_end") if own else "",
            hover=[
                " · ".join([self.name_of[place], what, *[word("largest", value=f"{largest[place]:.2g}")] * own])
                for place, what in self.patterns.items()
            ],
            words=[self.in_short(found) for found in self.found.values()] if len(self.weights) <= MOST_WORDED else (),
            height=self.tall(),
            square=True,
        )
        figure.layout["meta"] = {"below": BELOW, "grows": min(self.tall(), 66 + len(self.weights) * LOW)}
        said = {name: f"{value:.2g}" for name, value in (("least", largest.min()), ("most", largest.max()))}
        ranges = [text("read_own_ranges", here=f"{largest[self.layer, self.head]:.2g}", **said)] if own else []
        self.picture(
            "all",
            figure,
            " ".join([sentence, *ranges, *[text("read_blocks", block=block)] * (block > 1)]),
            values=shown,
            table=table,
            on_pick=lambda row, column: select(layer=row, head=column),
            shows=drawn.on(*map(Axis, titles), Axis("", [self.named[i] for i in looks]), Axis("", names)),
            at_once=frame_at_once(self),
        )

    def tall(self) -> int:
        """The height of a tile for each head: on one screen, if their rows do not become too low for that."""
        layers = len(self.weights)
        height = on_screen(scaled(66 + layers * 78))
        return height if self.choice.big else max(height, 66 + layers * LOW)

    def hide_special(self) -> list[int]:
        """A switch that leaves [CLS] and [SEP] out, where there are others; returns the places that are shown."""
        special = [token in SPECIAL for token in self.tokens]
        if not any(special) or all(special):
            return list(range(len(self.tokens)))
        hide_switch(self)
        return [place for place, hidden in enumerate(special) if not (hidden and self.choice.hide_special)]

    def average(self) -> None:
        """The average of some heads: those that were chosen, or all of the layer."""
        options = {name: place for place, name in self.name_of.items()}
        picked = [self.name_of[place] for place in self.choice.subset]
        st.multiselect(
            word("subset"),
            list(options),
            placeholder=word("subset_hint", layer=self.layer + 1),
            help=word("subset_help"),
            **bound("heads.subset", picked, lambda names: select(subset=tuple(options[name] for name in names))),
        )
        averaged = list(self.choice.subset) or [(self.layer, i) for i in range(self.weights.shape[1])]

        def average_of(run: Trace) -> np.ndarray:
            every = every_weight(run)
            return np.mean([every[place] for place in averaged], axis=0)

        mean, drawn = average_of(self.trace), self.measure(average_of, ("query", "key"))
        axes = self.token_axis("axis.query"), self.token_axis("axis.key")
        best = int(mean[self.token].argmax())
        named = placed(self.tokens)
        said = {"query": named[self.token], "key": named[best], "value": f"{mean[self.token, best]:.2f}"}
        figure = heatmap(
            drawn.values,
            *axes,
            scale=drawn.scale("share"),
            limit=None if drawn.differs else float(mean.max()),
            cell=(self.token, best),
            clickable=True,
            height=scaled(BESIDE),
        )
        many = "read_average" if len(averaged) > 1 else "read_average_one"
        self.picture(
            "average",
            figure,
            text(many, count=len(averaged), **said),
            values=mean,
            law_of=["layers.{l}.attention.weights"],
            on_pick=lambda row, column: select(token=row, key=column),
            shows=drawn.on(*axes),
        )

    # -- roles -------------------------------------------------------------------------------------

    def roles(self) -> None:
        """What the chosen head does over a corpus; and all heads on this input, as points and in a table."""
        left, right = st.columns([1, 1], gap="medium")
        with left:
            show_role(self)
        with right:
            self.widely_and_far()
        self.figures_table()

    def figures_table(self) -> None:
        """Every head in figures: how widely, how far, and at what it looks on this input."""
        self.note_run()
        alone = len(self.tokens) == 1
        st.markdown(
            text("table_intro_one" if alone else "table_intro", most=f"{np.log2(len(self.tokens)):.2f}", unit=self.unit)
        )
        if self.trace.picture is not None and not alone:
            st.markdown(text("table_patches"))
        every = len(self.weights) > 1 and st.toggle(
            word("every_layer"),
            **bound("heads.every_layer", self.choice.every_layer, lambda every: select(every_layer=every)),
        )
        shown = [place for place in self.name_of if every or place[0] == self.layer]
        columns = {name: [values[place] for place in shown] for name, values in self.measures.items()}
        table = pd.DataFrame(
            {word("column_head"): [self.name_of[place] for place in shown]}
            | {word(f"column_{name}"): values for name, values in columns.items()}
            | {word("column_role"): [self.patterns[place] for place in shown]}
        ).set_index(word("column_head"))
        share = st.column_config.ProgressColumn(format="%.2f", min_value=0.0, max_value=1.0, width="small")
        two = st.column_config.NumberColumn(format="%.2f", width="small")
        looks = {word(f"column_{name}"): share if place > 1 else two for place, name in enumerate(self.measures)}
        looks[word("column_role")] = st.column_config.TextColumn(width=320)
        draw_table(table, "heads.measures", column_config=looks)
        missing = [word(f"column_{name}") for name, values in self.measures.items() if np.isnan(values).all()]
        if missing:
            st.caption(text("missing", names=plain("common.comma").join(missing)))

    def widely_and_far(self) -> None:
        """Each head as a dot: how far it looks, and how widely; of two runs where it was, too."""

        def far_and_wide(run: Trace) -> np.ndarray:
            table, _ = head_patterns(run)
            return np.stack([np.nan_to_num(table[name].ravel()) for name in ("distance", "entropy")], axis=1)

        drawn = self.both(far_and_wide)
        before = drawn.other
        other = (
            None
            if before is None
            else pd.DataFrame(before, index=self.name_of.values(), columns=["distance", "entropy"])
        )
        entropy, distance = self.measures["entropy"].ravel(), np.nan_to_num(self.measures["distance"].ravel())
        farthest, sharpest = int(distance.argmax()), int(entropy.argmin())
        labels, heads = list(self.name_of.values()), self.weights.shape[1]
        self.picture(
            "scatter",
            scatter(
                distance,
                entropy,
                (word("axis_distance", unit=self.unit), word("column_entropy")),
                np.repeat(np.arange(len(self.weights)), heads),
                Axis.counted(word("axis_layer"), len(self.weights)),
                [f"{self.name_of[place]} · {self.patterns[place]}" for place in self.name_of],
                names=[labels[i] if i // heads == self.layer else "" for i in range(len(labels))],
                chosen=self.layer * heads + self.head,
                before=before,
            ),
            text(
                "read_scatter_self" if (self.measures["self"] == 1).all() else "read_scatter",
                sharp=labels[sharpest],
                entropy=f"{entropy[sharpest]:.2f}",
                many=f"{2 ** entropy[sharpest]:.1f}",
                far=labels[farthest],
                distance=f"{distance[farthest]:.2f}",
                unit=self.unit,
            ),
            still=True,
            shows=drawn,
            table=of_both(pd.DataFrame({"entropy": entropy, "distance": distance}, index=labels), other),
        )

    # -- contribution ------------------------------------------------------------------------------

    def contribution(self) -> None:
        """What each head writes and whether the answer needs it; or how W_O mixes them."""
        mixed = self.choice.stage in ("concat", "output")
        ways = ("written", "output")
        words = [word(f"way_{way}") for way in ways]
        now = "output" if mixed else "written"
        with self.row:
            either("stage", word("ways"), ways, words, now, key="heads.way", label_visibility="collapsed")
        if mixed:
            self.mixed()
            return
        left, right = st.columns([1, 1], gap="medium")
        with left:
            self.what_heads_write()
        if self.config.heads > 1:
            with left:
                pushes(self)
            with right:
                if "logits" in self.trace:
                    needed(self)

    def what_heads_write(self) -> None:
        """How much each head writes into the residual stream, token by token."""
        parts = self.trace[self.prefix + "contributions"]  # (head, token, d_model)
        norms = np.linalg.norm(parts, axis=-1)

        def lengths(run: Trace) -> np.ndarray:
            """How long what each head writes is: (token, head)."""
            return np.linalg.norm(run[self.prefix + "contributions"], axis=-1).T

        drawn = self.measure(lengths, ("token", "head"))
        axes = self.token_axis("axis.token"), Axis.counted(word("axis_head"), len(norms))
        loudest = int(norms[:, self.token].argmax())
        said = {
            "token": placed(self.tokens)[self.token],
            "head": loudest + 1,
            "value": f"{norms[loudest, self.token]:.3f}",
        }
        self.picture(
            "norms",
            heatmap(
                drawn.values,
                *axes,
                scale=drawn.scale("positive"),
                cell=(self.token, self.head),
                clickable=True,
                square=False,
            ),
            text("read_norms" if norms[:, self.token].any() else "read_norms_none", **said),
            values=norms.T,
            on_pick=lambda row, column: select(token=row, head=column),
            shows=drawn.on(*axes),
        )

    def mixed(self) -> None:
        """Concat, and what W_O makes of it, with their arithmetic."""
        config, output = self.trace.config, self.measure(self.prefix + "output").less_nothing().values
        strongest = int(np.linalg.norm(output, axis=1).argmax())
        said = [
            text(
                "read_concat",
                heads=config.heads,
                d_k=config.d_k,
                d_model=config.d_model,
                head=self.head + 1,
                first=self.head * config.d_k + 1,
                last=(self.head + 1) * config.d_k,
            ),
            text("read_output", token=placed(self.tokens)[strongest], value=f"{np.linalg.norm(output[strongest]):.2f}"),
        ]
        looks = [{"title": word(name)} for name in ("concat", "output")]
        cell_maps(self, [self.prefix + "concat", self.prefix + "output"], said, looks, stacked=1)
        if self.config.heads > 1:
            mixing(self)
