"""Heads: what each head looks at, what it does over a corpus, what it writes, and how W_O mixes them."""

import numpy as np
import pandas as pd
import streamlit as st

from model import Trace
from model.analysis import HeadPattern, head_pattern, write_contributions
from model.encoder import MultiHeadAttention
from pages.ui.differences import Difference, of_both
from pages.ui.figures import Axis, block_of, heatmap, on_screen, scatter, tiles
from pages.ui.link import select
from pages.ui.pickers import bound
from pages.ui.sections.attention import SPECIAL, hide_switch
from pages.ui.sections.cell_map import cell_maps
from pages.ui.sections.head_patterns import head_patterns
from pages.ui.sections.overlay import every_weight
from pages.ui.sections.roles import show_role
from pages.ui.sections.sentences import of_sentences, which_sentences
from pages.ui.tables import draw_table
from pages.ui.text import plain, t, texts_of
from pages.ui.view import View

EQUATION = (
    r"\begin{gathered} \text{MultiHead} = \text{Concat}\, W_O + b_O \\"
    r"\text{Concat} = [\text{head}_1; \ldots; \text{head}_h] \\"
    r"\text{head}_i = \text{Attention}(Q_i, K_i, V_i) \end{gathered}"
)
HEADS = ("layer", "head", "query", "key")  # the axes of all weights
MOST_WORDED = 8  # layers whose tiles are high enough for a word below each
#: What stays free below the tiles in a presentation, in pixels: for the reading sentence, and for those of a story.
BELOW, BELOW_STORY = 60, 200
text, word = texts_of("heads")

view = View("heads", EQUATION)
tokens, token, layer, head = view.trace.tokens, view.token, view.choice.layer, view.choice.head
prefix = view.key("layers.{l}.attention.")
unit = word("tokens" if view.trace.picture is None else "patches")
weights = every_weight(view.trace)  # (layer, head, query, key)
measures, found = head_patterns(view.trace)
name_of = {place: f"{place[0] + 1}·{place[1] + 1}" for place in found}


def in_words(pattern: HeadPattern) -> str:
    """What a head does on this input: "looks at the previous token: 0.83"."""
    return word(
        f"pattern_{pattern.name}",
        figure=f"{pattern.figure:.2f}",
        reference=f"{pattern.reference:.2f}",
        token="" if pattern.place is None else tokens[pattern.place],
        unit=unit,
    )


def in_short(pattern: HeadPattern) -> str:
    """The same in a word or two, for a tile: "previous"."""
    return word(f"tile_{pattern.name}", token="" if pattern.place is None else tokens[pattern.place])


patterns = {place: in_words(pattern) for place, pattern in found.items()}


def all_heads() -> None:
    """Every head of every layer as a tile; a click chooses one."""
    kept = hide_special()
    which_sentences(view)
    looks, looked_at = of_sentences(view, kept, kept)
    shown = np.nan_to_num(view.compared(every_weight, HEADS))[..., looks, :][..., looked_at]
    names = [tokens[place] for place in looked_at]
    titles = [word(f"axis_{name}") for name in ("layer", "head")]

    def table() -> pd.DataFrame:
        rows = pd.MultiIndex.from_product([range(1, count + 1) for count in shown.shape[:3]])
        return pd.DataFrame(shown.reshape(-1, len(looked_at)), index=rows, columns=names)

    said = {"count": len(name_of), "where": view.where(), "role": patterns[layer, head]}
    block = block_of(shown.shape)
    strongest = float(shown.max()) if block > 1 and not view.differs else None  # of many weights, hardly one is large
    sentence = text("read_all_story" if view.story else "read_all", n=len(looks), m=len(looked_at), **said)
    figure = tiles(
        shown,
        *map(Axis.counted, titles, weights.shape),
        scale="signed" if view.differs else "share",
        chosen=(layer, head),
        limit=strongest,
        hover=[f"{name_of[place]} · {patterns[place]}" for place in name_of],
        words=[in_short(found[place]) for place in name_of] if len(weights) <= MOST_WORDED else (),
        font_size=view.font_size,
        height=on_screen((66 + len(weights) * 78) * view.font_size / 12, view.font_size),
    )
    figure.layout["meta"] = {"below": BELOW_STORY if view.story else BELOW}
    view.picture(
        "all",
        figure,
        sentence + (" " + text("read_blocks", block=block) if block > 1 else ""),
        values=shown,
        table=table,
        on_pick=lambda row, column: select(layer=row, head=column),
        difference=Difference(shown, [*map(Axis, titles), Axis("", [tokens[i] for i in looks]), Axis("", names)]),
    )


def hide_special() -> list[int]:
    """A switch that leaves [CLS] and [SEP] out, where there are others; returns the places that are shown."""
    special = [token in SPECIAL for token in tokens]
    if not any(special) or all(special):
        return list(range(len(tokens)))
    hide_switch(view)
    return [place for place, hidden in enumerate(special) if not (hidden and view.choice.hide_special)]


def average() -> None:
    """The average of some heads: those that were chosen, or all of the layer."""
    options = {name: place for place, name in name_of.items()}
    picked = [name_of[place] for place in view.choice.subset]
    st.multiselect(
        word("subset"),
        list(options),
        placeholder=word("subset_hint", layer=layer + 1),
        help=word("subset_help"),
        **bound("heads.subset", picked, lambda names: select(subset=tuple(options[name] for name in names))),
    )
    averaged = list(view.choice.subset) or [(layer, i) for i in range(weights.shape[1])]

    def average_of(run: Trace) -> np.ndarray:
        every = every_weight(run)
        return np.mean([every[place] for place in averaged], axis=0)

    mean, drawn = average_of(view.trace), view.compared(average_of, ("query", "key"))
    axes = view.token_axis("axis.query"), view.token_axis("axis.key")
    best = int(mean[token].argmax())
    said = {"query": tokens[token], "key": tokens[best], "value": f"{mean[token, best]:.2f}"}
    figure = heatmap(
        drawn,
        *axes,
        scale="signed" if view.differs else "share",
        limit=None if view.differs else float(mean.max()),
        cell=(token, best),
        clickable=True,
        font_size=view.font_size,
    )
    many = "read_average" if len(averaged) > 1 else "read_average_one"
    view.picture(
        "average",
        figure,
        text(many, count=len(averaged), **said),
        values=mean,
        law_of=["layers.{l}.attention.weights"],
        on_pick=lambda row, column: select(token=row, key=column),
        difference=Difference(drawn, axes),
    )


def figures_table() -> None:
    """Every head in figures: how widely, how far, and at what it looks on this input."""
    view.note_run()
    alone = len(tokens) == 1
    st.markdown(text("table_intro_one" if alone else "table_intro", most=f"{np.log2(len(tokens)):.2f}", unit=unit))
    if view.trace.picture is not None and not alone:
        st.markdown(text("table_patches"))
    every = len(weights) > 1 and st.toggle(
        word("every_layer"),
        **bound("heads.every_layer", view.choice.every_layer, lambda every: select(every_layer=every)),
    )
    shown = [place for place in name_of if every or place[0] == layer]
    columns = {name: [values[place] for place in shown] for name, values in measures.items()}
    table = pd.DataFrame(
        {word("column_head"): [name_of[place] for place in shown]}
        | {word(f"column_{name}"): values for name, values in columns.items()}
        | {word("column_role"): [patterns[place] for place in shown]}
    ).set_index(word("column_head"))
    share = st.column_config.ProgressColumn(format="%.2f", min_value=0.0, max_value=1.0, width="small")
    two = st.column_config.NumberColumn(format="%.2f", width="small")
    looks = {word(f"column_{name}"): share if place > 1 else two for place, name in enumerate(measures)}
    looks[word("column_role")] = st.column_config.TextColumn(width=320)
    draw_table(table, "heads.measures", column_config=looks)
    missing = [word(f"column_{name}") for name, values in measures.items() if np.isnan(values).all()]
    if missing:
        st.caption(text("missing", names=plain("common.comma").join(missing)))


def widely_and_far() -> None:
    """Each head as a dot: how far it looks, and how widely; of two runs where it was, too."""

    def far_and_wide(run: Trace) -> np.ndarray:
        table, _ = head_patterns(run)
        return np.stack([np.nan_to_num(table[name].ravel()) for name in ("distance", "entropy")], axis=1)

    before = view.there(far_and_wide, ())
    other = None if before is None else pd.DataFrame(before, index=name_of.values(), columns=["distance", "entropy"])
    entropy, distance = measures["entropy"].ravel(), np.nan_to_num(measures["distance"].ravel())
    farthest, sharpest = int(distance.argmax()), int(entropy.argmin())
    labels, heads = list(name_of.values()), weights.shape[1]
    view.picture(
        "scatter",
        scatter(
            distance,
            entropy,
            (word("axis_distance", unit=unit), word("column_entropy")),
            np.repeat(np.arange(len(weights)), heads),
            Axis.counted(word("axis_layer"), len(weights)),
            [f"{name_of[place]} · {patterns[place]}" for place in name_of],
            names=[labels[i] if i // heads == layer else "" for i in range(len(labels))],
            chosen=layer * heads + head,
            before=before,
            font_size=view.font_size,
        ),
        text(
            "read_scatter_self" if (measures["self"] == 1).all() else "read_scatter",
            sharp=labels[sharpest],
            entropy=f"{entropy[sharpest]:.2f}",
            many=f"{2 ** entropy[sharpest]:.1f}",
            far=labels[farthest],
            distance=f"{distance[farthest]:.2f}",
            unit=unit,
        )
        + view.which_is_which(),
        still=True,
        table=of_both(pd.DataFrame({"entropy": entropy, "distance": distance}, index=labels), other),
    )


def what_heads_write() -> None:
    """How much each head writes into the residual stream, token by token, and that the parts add up."""
    W_O = view.pipeline.network.get_submodule(prefix + "W_O")
    bias, output = W_O.bias.numpy(), view.trace[prefix + "output"]
    parts = write_contributions(view.trace[prefix + "heads"], W_O.weight.numpy())  # (head, token, d_model)
    norms = np.linalg.norm(parts, axis=-1)

    def lengths(run: Trace) -> np.ndarray:
        """How long what each head writes is: (token, head)."""
        return np.linalg.norm(write_contributions(run[prefix + "heads"], W_O.weight.numpy()), axis=-1).T

    drawn = view.compared(lengths, ("token", "head"))
    axes = view.token_axis("axis.token"), Axis.counted(word("axis_head"), len(norms))
    loudest, total = int(norms[:, token].argmax()), parts[:, token].sum(axis=0) + bias
    said = {"token": tokens[token], "head": loudest + 1, "value": f"{norms[loudest, token]:.3f}"}
    view.picture(
        "norms",
        heatmap(
            drawn,
            *axes,
            scale="signed" if view.differs else "positive",
            cell=(token, head),
            clickable=True,
            square=False,
            font_size=view.font_size,
        ),
        text("read_norms" if norms[:, token].any() else "read_norms_none", **said),
        values=norms.T,
        on_pick=lambda row, column: select(token=row, head=column),
        difference=Difference(drawn, axes),
    )
    st.markdown(
        text(
            "check",
            token=tokens[token],
            norms=" · ".join(f"{value:.3f}" for value in norms[:, token]),
            bias=f"{np.linalg.norm(bias):.3f}",
            sum=f"{np.linalg.norm(total):.4f}",
            output=f"{np.linalg.norm(output[token]):.4f}",
            difference=f"{np.abs(total - output[token]).max():.1e}",
        )
        + (" " + t("change.no_law") if view.touched(prefix + "output") else "")
    )


def mixed() -> None:
    """Concat, and what W_O makes of it, with their arithmetic."""
    config, output = view.trace.config, view.shown(prefix + "output")
    strongest = int(np.linalg.norm(output, axis=1).argmax())
    said = [
        text(
            "read_concat",
            heads=config.heads,
            d_k=config.d_k,
            d_model=config.d_model,
            head=head + 1,
            first=head * config.d_k + 1,
            last=(head + 1) * config.d_k,
        ),
        text("read_output", token=tokens[strongest], value=f"{np.linalg.norm(output[strongest]):.2f}"),
    ]
    looks = [{"title": word(name)} for name in ("concat", "output")]
    cell_maps(view, [prefix + "concat", prefix + "output"], said, looks, stacked=True)


if len(tokens) == 1:
    st.info(text("one_token"), icon=":material/info:")

if view.story:
    all_heads()
    view.tell(text("story_many" if view.trace.picture is None else "story_many_drawing"), text("story_mix"))
else:
    parts = {
        "all": all_heads,
        "role": lambda: show_role(view),
        "average": average,
        "figures": figures_table,
        "scatter": widely_and_far,
        "written": what_heads_write,
        "mixed": mixed,
    }
    parts[view.panel(*parts)]()

weights = np.empty(0)  # what the pictures call when clicked keeps this page's names
view.close(MultiHeadAttention, write_contributions, head_pattern)
