"""Layers: how the vectors travel from the word itself to its meaning in this sentence."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from model import Trace
from model.analysis import cosine_similarity, largest_terms, rollout
from model.by_hand import terms_table
from model.encoder import EncoderLayer
from model.pipeline import SPECIAL_TOKENS
from pages.ui.components.arithmetic import arithmetic
from pages.ui.differences import Difference, of_both
from pages.ui.drawing.patches import MOST_CLASSES, classes_to_show
from pages.ui.figures import Axis, heatmap, lines, paths, tiles, worded
from pages.ui.formula import formula
from pages.ui.link import select
from pages.ui.pickers import pick, placed
from pages.ui.sections.answers import decimal
from pages.ui.sections.cell_map import cell_maps
from pages.ui.sections.sentence_vector import of_input
from pages.ui.sections.working import FEW, MOST, terms
from pages.ui.text import class_label, plain, t, texts_of
from pages.ui.text.formulas import COSINE, MEAN_WEIGHTS, ROLLOUT
from pages.ui.view import View
from pages.ui.worked_out import BEST, best_words, plane

STATES = ("", "token", "d_model")  # the axes of all states
text, word = texts_of("layers")

view = View("layers")
tokens, token, layer = view.trace.tokens, view.token, view.choice.layer
named = placed(tokens)  # for sentences that speak of two of them
states = view.trace.states()  # (1 + layers, token, d_model)
steps = [word("step_0"), *(word("step", layer=number) for number in range(1, len(states)))]
numbered = Axis(word("axis_number"), [str(number) for number in range(len(states))])


# -- the way of the vectors, and what the head would say on the way ----------------------------------------------


def path() -> None:
    there = view.there(lambda run: run.states(), STATES)
    (points, *others), shares = plane(states, *([] if there is None else [there]))
    before = others[0] if others else None
    walked = np.linalg.norm(np.diff(states[:, token], axis=0), axis=-1)
    longest = int(walked.argmax())
    titles = tuple(word("axis_pca", number=i + 1, share=f"{share:.0%}") for i, share in enumerate(shares))

    def as_table(points: np.ndarray) -> pd.DataFrame:
        rows = pd.MultiIndex.from_product([steps, [f"{i + 1} {name}" for i, name in enumerate(tokens)]])
        return pd.DataFrame(points.reshape(-1, 2), index=rows, columns=["PCA 1", "PCA 2"])

    view.picture(
        "path",
        paths(points, tokens, numbered, titles, chosen=token, before=before, font_size=view.font_size),
        text(
            "read_path",
            token=tokens[token],
            share=f"{shares.sum():.0%}",
            layer=longest + 1,
            step=f"{walked[longest]:.1f}",
        )
        + view.which_is_which(),
        still=True,
        table=lambda: of_both(as_table(points), None if before is None else as_table(before)),
    )


def lens() -> None:
    """What the head would say of the selected token after each layer, if that layer were the last."""
    if "logits" not in view.trace:
        no_guess = of_input(view, "no_guess") if view.choice.checkpoint else "untrained.no_guess"
        st.info(t(no_guess), icon=":material/shuffle:")
        return
    classes = "class" in view.trace.axes("logits")
    reader = view.pipeline.reader
    names = [class_label(label) for label in reader.labels] if classes else reader.vocabulary
    if view.differs and view.counterpart(token) is not None:
        lens_of_two(names)
        return
    look = {"font_size": view.font_size, "height": 460}
    step_axis = Axis(word("axis_step"), steps)
    if classes:
        probabilities = guessed(view.trace)
        answers, likely = probabilities.argmax(axis=1), probabilities.max(axis=1)
        columns = classes_to_show(probabilities)
        class_axis = Axis(word("axis_class"), [names[i] for i in columns])
        figure = heatmap(probabilities[:, columns], step_axis, class_axis, scale="share", square=False, **look)
        table = partial(pd.DataFrame, probabilities, index=steps, columns=names)
    else:
        best, shares = best_words(view.choice.pipeline, view.trace, token)
        answers, likely = best[:, 0], shares[:, 0]
        said = [[names[i] for i in row] for row in best]
        ranks = Axis(word("axis_rank"), [str(rank + 1) for rank in range(BEST)])
        figure = worded(shares, said, step_axis, ranks, **look)
        table = partial(pd.DataFrame, said, index=steps, columns=range(1, BEST + 1))
    known = len(answers) - 1  # the first step from which on the best guess is the final one
    while known > 0 and answers[known - 1] == answers[-1]:
        known -= 1
    answer = names[answers[-1]]
    sentence = text(
        "read_guess_two" if view.trace.config.distillation_head else "read_guess_class" if classes else "read_guess",
        token=tokens[token],
        answer=answer,
        value=decimal(likely[-1]),
    )
    late = known == len(answers) - 1 and answers[-1] not in answers[:-1]
    seen = not classes and answer == tokens[token]
    kind = ("first_seen" if seen else "first") if known == 0 else "last" if late else "between"
    sentence += " " + text(f"known_{kind}", answer=answer, layer=known)
    if not classes and tokens[token] in ("[CLS]", "[SEP]"):
        sentence += " " + text("never_asked", token=tokens[token])
    view.picture("guess", figure, sentence if view.story else sentence + " " + text("lens"), table=table)


def guessed(run: Trace) -> np.ndarray:
    """The guesses at the selected token, or at that in its place: (1 + layers, word or class)."""
    place = token if run is view.trace else view.counterpart(token)
    assert place is not None  # only asked where there is one
    return view.pipeline.read_layers(run, place)


def lens_of_two(names: Sequence[str]) -> None:
    """By how much the probabilities differ after each layer, of the words or classes that differ most."""
    values = view.compared(guessed, ())
    most = np.sort(np.argsort(-np.abs(values).max(axis=0), kind="stable")[:MOST_CLASSES])
    title = plain(f"axis.{view.trace.axes('logits')[-1]}")
    axes = Axis(word("axis_step"), steps), Axis(title, [names[i] for i in most])
    figure = heatmap(values[:, most], *axes, square=False, font_size=view.font_size, height=460)
    view.picture("guess", figure, "", difference=Difference(values[:, most], axes))


# -- who has become alike ----------------------------------------------------------------------------------------


def similarity() -> None:
    """The cosines of all pairs after the chosen layer, with the arithmetic of one, and of all layers in small."""
    alike = cosine_similarity(states)  # (1 + layers, token, token)
    drawn = view.compared(lambda run: cosine_similarity(run.states()), ("", "query", "key"))
    axes, limit = [view.token_axis("axis.token")] * 2, None if view.differs else 1.0
    now, n = alike[layer + 1], len(tokens)
    pairs = ~np.eye(n, dtype=bool)
    nearest = int(np.where(pairs[token], now[token], -2).argmax()) if n > 1 else token
    other = nearest if view.choice.key is None else view.choice.key
    left, right = st.columns([3, 2], gap="medium")
    with left:
        said = {"layer": layer + 1, "token": named[token], "other": named[nearest]}
        view.picture(
            "similarity",
            heatmap(
                drawn[layer + 1],
                *axes,
                limit=limit,
                cell=(token, other),
                clickable=True,
                font_size=view.font_size,
            ),
            text("read_similarity" if n > 1 else "alone_similarity", value=f"{now[token, nearest]:.2f}", **said),
            equation=COSINE,
            values=now,
            on_pick=lambda row, column: select(token=row, key=column),
            difference=Difference(drawn[layer + 1], axes),
        )
    with right:
        cosine_by_hand(other, float(now[token, other]))
        together = [float(step[pairs].mean()) if n > 1 else 1.0 for step in alike]
        view.picture(
            "all_similarities",
            tiles(
                np.nan_to_num(drawn[None]),
                Axis("", [""]),
                numbered,
                scale="signed",
                limit=limit,
                chosen=(0, layer + 1),
                hover=[f"{step} · {mean:.2f}" for step, mean in zip(steps, together, strict=True)],
                font_size=view.font_size,
                height=int(150 * view.font_size / 12),
            ),
            text(
                "read_all_similarities" if n > 1 else "alone_all",
                before=f"{together[0]:.2f}",
                after=f"{together[-1]:.2f}",
            ),
            table=lambda: pd.DataFrame(
                drawn.reshape(-1, n), index=pd.MultiIndex.from_product([steps, range(1, n + 1)]), columns=view.named
            ),
            on_pick=lambda _row, column: select(layer=column - 1) if column else None,  # before all layers is no layer
            difference=Difference(drawn, [numbered, *axes]),
        )


def cosine_by_hand(other: int, cosine: float) -> None:
    """The cosine of the selected token's vector and another one's after the chosen layer."""
    a, b = (states[layer + 1, place].astype(np.float64) for place in (token, other))
    dot, aa, bb = float(a @ b), float(a @ a), float(b @ b)
    lines = (
        rf"a \cdot b = {dot:.4f}",
        rf"\lVert a \rVert = \sqrt{{{aa:.4f}}} = {aa**0.5:.4f}",
        rf"\lVert b \rVert = \sqrt{{{bb:.4f}}} = {bb**0.5:.4f}",
        rf"\cos(a, b) = \frac{{{dot:.4f}}}{{{aa**0.5:.4f} \cdot {bb**0.5:.4f}}} = {cosine:.4f}",
    )
    with st.container(border=True, key="working.cosine"):
        st.markdown(f"**{plain('common.by_hand')}** · {text('pair', token=named[token], other=named[other])}")
        arithmetic("".join(map(formula, lines)), key="by_hand")
        pick("key", word("hand_other", token=tokens[token]), tokens, other, key="layers.other")


def lengths() -> None:
    """How long the selected token's vector is after each layer, and what the sub-layers wrote into it."""
    sizes, *of_sublayers = lengths_on_the_way(view.trace)
    kinds = [sublayer.name for sublayer in view.trace.graph.sublayers(0)]
    written = {name: values[:, token] for name, values in zip(kinds, of_sublayers, strict=True)}
    added = []
    for name, values in written.items():
        most = int(np.nanargmax(values))
        how = f"adds_{name}" if values[most] else f"adds_{name}_none"
        added.append(text(how, layer=most, value=f"{values[most]:.1f}"))
    series = view.compared(lengths_on_the_way, ("", "", "token"))[..., token]
    there = view.marked(lengths_on_the_way, ("", "", "token"))
    there = there if there is None else there[..., token]
    names = [word(f"line_{name}") for name in ("state", *written)]
    told = "norms_before" if view.trace.graph.sublayers(0)[0].norm_first else "norms_after"
    view.picture(
        "norms",
        lines(series, names, numbered, word("axis_length"), there=there, font_size=view.font_size, height=420),
        text(
            "read_norms",
            token=tokens[token],
            before=f"{sizes[0, token]:.1f}",
            after=f"{sizes[-1, token]:.1f}",
            smallest=f"{sizes[1:].min():.1f}",
            largest=f"{sizes[1:].max():.1f}",
        )
        + " ".join(["", *added, *([] if view.touched(*view.trace.graph.norms) else [text(told)])])
        + view.which_is_which(token),
        still=there is not None,
        table=partial(pd.DataFrame, series.T, index=steps, columns=names),
        difference=Difference(series, (Axis("", names), Axis("", steps)), upwards=True),
    )


def lengths_on_the_way(run: Trace) -> np.ndarray:
    """How long the vectors are after each layer, and what each of its sub-layers wrote: (line, 1 + layers, token)."""
    states = run.states()
    series = np.full((1 + len(run.graph.sublayers(0)), *states.shape[:2]), np.nan, dtype=np.float32)
    series[0] = np.linalg.norm(states, axis=-1)
    for layer in range(run.graph.layers()):  # one after the other: a large run computes them again
        series[1:, 1 + layer] = [np.linalg.norm(run[each.output], axis=-1) for each in run.graph.sublayers(layer)]
    return series


# -- where it came from ------------------------------------------------------------------------------------------


def origin() -> None:
    """Attention of all layers multiplied up, beside that of one layer, with the arithmetic of a cell."""
    weights = view.trace.over_layers("attention.weights")
    reached, averaged, n = rollout(weights), weights.mean(axis=1), len(tokens)
    others = np.where(np.arange(n) == token, -1, reached[layer, token])
    source = int(others.argmax()) if n > 1 else token
    key = source if view.choice.key is None else view.choice.key

    def draw(name: str, of: Callable[[Trace], np.ndarray], axes: tuple[Axis, Axis], said: str, equation: str) -> None:
        values = view.compared(of, ("query", "key"))
        look = {"scale": "share", "limit": float(values.max())} if not view.differs else {}
        look |= {"cell": (token, key), "clickable": True, "height": 400, "font_size": view.font_size}
        view.picture(
            name,
            heatmap(values, *axes, **look),
            said,
            equation=equation,
            values=values,
            on_pick=lambda row, column: select(token=row, key=column),
            difference=Difference(values, axes),
            law_of=["layers.{l}.attention.weights"],
        )

    columns = st.columns(3, gap="small")
    with columns[0]:
        draw(
            "rollout",
            lambda run: rollout(run.over_layers("attention.weights"))[layer],
            (Axis(word("axis_after"), view.named), Axis(word("axis_input"), view.named)),
            text(
                "read_rollout" if n > 1 else "alone_rollout",
                layer=layer + 1,
                query=tokens[token],
                own=f"{reached[layer, token, token]:.0%}",
                key=tokens[source],
                value=f"{reached[layer, token, source]:.0%}",
            ),
            ROLLOUT,
        )
    with columns[1]:
        best = int(averaged[layer, token].argmax())
        said = {"query": tokens[token], "key": tokens[best], "value": f"{averaged[layer, token, best]:.0%}"}
        draw(
            "raw",
            lambda run: run.over_layers("attention.weights")[layer].mean(axis=0),
            (view.token_axis("axis.query"), view.token_axis("axis.key")),
            text("read_raw" if layer else "read_raw_first", layer=layer + 1, **said),
            MEAN_WEIGHTS,
        )
    before = reached[layer - 1] if layer else np.eye(n, dtype=np.float32)
    with columns[2]:
        rollout_by_hand(averaged[layer, token], before[:, key], key)


def rollout_by_hand(averaged: np.ndarray, before: np.ndarray, key: int) -> None:
    """One cell of the rollout: over all tokens on the way, half the mean weight (and half of itself) times R before."""
    mixed = averaged / 2 + (np.arange(len(tokens)) == token) / 2
    products = largest_terms(mixed, before, most=FEW if view.choice.big else MOST)
    with st.container(border=True, key="working.rollout"):
        st.markdown(f"**{plain('common.by_hand')}** · {text('pair', token=named[token], other=named[key])}")
        arithmetic(terms(view, terms_table(products, "token", "½(Ā + I)", word("hand_before"))), key="by_hand")
        said = {"query": tokens[token], "key": tokens[key], "layer": layer + 1}
        st.markdown(text("hand_rollout_sum", value=f"{products.total:.4f}", **said))


# -- what the layer hands on -------------------------------------------------------------------------------------


def handed_on() -> None:
    last = layer + 1 == len(states) - 1
    key = view.trace.graph.stream(layer)[-1]
    length = f"{np.linalg.norm(states[layer + 1, token]):.2f}"
    final = view.trace.graph.stream(len(states) - 2)[-1] != view.trace.graph.Z
    kind = "read_out" if not last else "read_out_last" if final else "read_out_Z"
    sentence = text(kind, layer=layer + 1, next=layer + 2, token=tokens[token], length=length)
    from_Z = " " + text("read_from_Z") if "logits" in view.trace else ""
    sentence += from_Z if last and not final else ""
    if not final and not view.touched(*view.trace.graph.norms):
        sentence += " " + text("no_final")
    keys = [key, *[view.trace.graph.Z] * final]
    titles = [{"title": word("out")}, {"title": word("final")}][: len(keys)]
    cell_maps(view, keys, [sentence, text("read_final") + from_Z][: len(keys)], titles, stacked=True)


if len(tokens) == 1:
    st.info(text("one_token"), icon=":material/info:")

if view.story:
    if "logits" in view.trace:
        lens()
    else:
        path()
    if view.kind == "words" and not view.hides and "logits" in view.trace and tokens[token] not in SPECIAL_TOKENS:
        hidden = {"hidden": (token,), "token": token}
        st.button(text("hide", token=tokens[token]), key="layers.hide", on_click=select, kwargs=hidden)
    drawn = "story_layers_drawing" if len(tokens) > 1 else "story_layers_single"
    view.tell(text("story_layers" if view.trace.picture is None else drawn))
else:
    parts = {
        "path": path,
        "lens": lens,
        "alike": similarity,
        "lengths": lengths,
        "origin": origin,
        "out": handed_on,
    }
    parts[view.panel(*parts)]()

states = np.empty(0)  # what the pictures call when clicked keeps this page's names
view.close(EncoderLayer, rollout)
