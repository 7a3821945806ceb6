"""Layers: how the vectors travel from the word itself to its meaning in this sentence."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial

import numpy as np
import pandas as pd
import streamlit as st

from model import Trace
from model.analysis import cosine_similarity, largest_terms, likeliest, placed, rollout, spelled, whole_words
from model.by_hand import terms_table
from model.config import NORMS
from model.encoder import EncoderLayer
from model.pipeline import SPECIAL_TOKENS
from pages.ui.components.arithmetic import arithmetic
from pages.ui.figures import Axis, heatmap, lines, paths, tiles, worded
from pages.ui.figures.equations import COSINE, MEAN_WEIGHTS, ROLLOUT
from pages.ui.figures.latex import formula
from pages.ui.figures.theme import scaled
from pages.ui.frame.pickers import pick
from pages.ui.page import Page
from pages.ui.runs.measure import of_both
from pages.ui.runs.worked_out import BEST, best_words, plane
from pages.ui.sections.cell_map import cell_maps
from pages.ui.sections.sentence_vector import of_input
from pages.ui.sections.shared_weights import shared_weights
from pages.ui.sections.working import FEW, MOST, terms
from pages.ui.state.link import select
from pages.ui.text import plain, t, texts_of
from pages.ui.text.numbers import decimal

STATES = ("", "token", "d_model")  # the axes of all states
LENS = 460  # pixels
MOST_CLASSES = 16  # with a column of their own
FORMER = {"lengths": "path", "out": "origin"}
text, word = texts_of("layers")


class Layers(Page):
    former = FORMER

    @cached_property
    def states(self) -> np.ndarray:
        """(1 + layers, token, d_model)."""
        return self.trace.states()

    @property
    def placed(self) -> list[str]:
        """The tokens as sentences name them."""
        return placed(self.tokens)

    @cached_property
    def steps(self) -> list[str]:
        """What each of the states is called."""
        return [word("step_0"), *(word("step", layer=number) for number in range(1, len(self.states)))]

    @property
    def numbered(self) -> Axis:
        return Axis(word("axis_number"), [str(number) for number in range(len(self.states))])

    @property
    def purpose(self) -> str:
        return "layers.purpose_shared" if shared_weights(self.config) else super().purpose

    @property
    def title_equation(self) -> str:
        """The whole layer, wherever its LayerNorms stand."""
        lines: list[str] = []
        rows = ("MHA", r"\lambda", "X", "X'"), ("FFN", r"\lambda'", "X'", "X^{(l+1)}")
        for sub, (name, scale, read, made) in zip(self.trace.graph.sublayers(self.layer), rows, strict=True):
            norm = rf"\operatorname{{{NORMS[self.config.norm]}}}(%s)" if sub.norm else "%s"
            found = rf"{scale} \odot \text{{{name}}}" if self.config.layer_scale else rf"\text{{{name}}}"
            whole = f"{read} + {found}({norm % read})" if sub.norm_first else norm % f"{read} + {found}({read})"
            lines.insert(0, f"{made} = {whole}")
        return r"\begin{gathered} " + r" \\ ".join(lines) + r" \end{gathered}"

    def above(self) -> None:
        if said := shared_weights(self.config, "differs"):
            st.caption(" ".join(said))
        if len(self.tokens) == 1:
            st.info(text("one_token"), icon=":material/info:")

    def parts(self) -> Mapping[str, Callable[[], None]]:
        return {
            "lens": self.lens,
            "path": self.trajectories,
            "alike": self.similarity,
            "origin": self.origin_and_output,
        }

    def code(self) -> Sequence[object]:
        return EncoderLayer, rollout

    def trajectories(self) -> None:
        """The way of each token in the plane, and how long its vector is on that way."""
        left, right = st.columns([3, 2], gap="medium")
        with left:
            self.path()
        with right:
            self.lengths()

    def path(self) -> None:
        drawn = self.both(lambda run: run.states(), STATES, token=self.token)
        (points, *others), shares = plane(self.states, *([] if drawn.other is None else [drawn.other]))
        before = others[0] if others else None
        walked = np.linalg.norm(np.diff(self.states[:, self.token], axis=0), axis=-1)
        longest = int(walked.argmax())
        titles = tuple(word("axis_pca", number=i + 1, share=f"{share:.0%}") for i, share in enumerate(shares))

        steps, tokens = self.steps, self.tokens

        def as_table(points: np.ndarray) -> pd.DataFrame:
            rows = pd.MultiIndex.from_product([steps, [f"{i + 1} {name}" for i, name in enumerate(tokens)]])
            return pd.DataFrame(points.reshape(-1, 2), index=rows, columns=["PCA 1", "PCA 2"])

        self.picture(
            "path",
            paths(points, self.tokens, self.numbered, titles, chosen=self.token, before=before),
            text(
                "read_path",
                token=self.placed[self.token],
                share=f"{shares.sum():.0%}",
                layer=longest + 1,
                step=f"{walked[longest]:.1f}",
            ),
            still=True,
            shows=drawn,
            table=lambda: of_both(as_table(points), None if before is None else as_table(before)),
        )

    def lens(self) -> None:
        """What the head would say of the selected token after each layer, if that layer were the last."""
        if "logits" not in self.trace:
            no_guess = of_input(self, "no_guess") if self.choice.checkpoint else "untrained.no_guess"
            st.info(t(no_guess), icon=":material/shuffle:")
            return
        token, named = self.tokens[self.token], self.placed[self.token]
        classes = not self.says_words
        names = self.output_names
        if self.differs and self.counterpart(self.token) is not None:
            self.lens_of_two(names)
            return
        look = {"height": LENS}
        step_axis = Axis(word("axis_step"), self.steps)
        if classes:
            probabilities = self.guessed(self.trace)
            answers, likely = probabilities.argmax(axis=1), probabilities.max(axis=1)
            columns = classes_to_show(probabilities)
            class_axis = Axis(word("axis_class"), [names[i] for i in columns])
            figure = heatmap(probabilities[:, columns], step_axis, class_axis, scale="share", square=False, **look)
            table = partial(pd.DataFrame, probabilities, index=self.steps, columns=names)
        else:
            best, shares = best_words(self.choice.pipeline, self.trace, self.token)
            answers, likely = best[:, 0], shares[:, 0]
            said = [[names[i] for i in row] for row in best]
            ranks = Axis(word("axis_rank"), [str(rank + 1) for rank in range(BEST)])
            figure = worded(shares, said, step_axis, ranks, **look)
            table = partial(pd.DataFrame, said, index=self.steps, columns=range(1, BEST + 1))
        answer = names[answers[-1]]
        sentence = text(
            "read_guess_two"
            if self.trace.config.distillation_head
            else "read_guess_mean"
            if self.trace.config.pooling == "mean"
            else "read_guess_class"
            if classes
            else "read_guess",
            token=named,
            answer=answer,
            value=decimal(likely[-1]),
            best=BEST,
        )
        sentence += " " + self.since_when(answers == answers[-1], answer, seen=not classes and answer == token)
        if not classes and token in ("[CLS]", "[SEP]"):
            sentence += " " + text("never_asked", token=named)
        self.picture("guess", figure, f"{sentence} {text('lens')}", table=table)
        if self.kind == "words" and self.says_words and not self.hides and token not in SPECIAL_TOKENS:
            (word_of,) = (places for places in whole_words(self.tokens) if self.token in places)
            hidden = {"hidden": tuple(word_of), "token": word_of[0]}
            label = text("hide", token=spelled([self.tokens[place] for place in word_of]))
            st.button(label, key="layers.hide", on_click=select, kwargs=hidden)

    def since_when(self, leads: np.ndarray, answer: str, *, seen: bool) -> str:
        """From which layer on the answer is the first guess, and where it was so before. leads: (1 + layers,)."""
        since = int(np.flatnonzero(~leads).max(initial=-1)) + 1
        earlier = np.flatnonzero(leads[:since])
        if not since:
            return text("known_first_seen" if seen else "known_first", answer=answer)
        if len(earlier):
            where = plain("common.comma").join(self.steps[step] for step in earlier)
            return text("known_again", answer=answer, layer=since, earlier=where)
        return text("known_last" if since == len(leads) - 1 else "known_between", answer=answer, layer=since)

    def guessed(self, run: Trace) -> np.ndarray:
        """The guesses at the selected token, or at that in its place: (1 + layers, word or class)."""
        place = self.token if run is self.trace else self.counterpart(self.token)
        assert place is not None  # only asked where there is one
        return self.pipeline.read_layers(run, place)

    def lens_of_two(self, names: Sequence[str]) -> None:
        """By how much the probabilities differ after each layer, of the words or classes that differ most."""
        drawn = self.measure(self.guessed)
        most = np.sort(np.argsort(-np.abs(drawn.values).max(axis=0), kind="stable")[:MOST_CLASSES])
        drawn = drawn[:, most]
        title = plain(f"axis.{self.trace.axes('logits')[-1]}")
        axes = Axis(word("axis_step"), self.steps), Axis(title, [names[i] for i in most])
        self.picture("guess", heatmap(drawn.values, *axes, square=False, height=460), "", shows=drawn.on(*axes))

    def similarity(self) -> None:
        """The cosines of all pairs after the chosen layer, with the arithmetic of one, and of all layers in small."""
        steps, tokens, token, layer, named = self.steps, self.tokens, self.token, self.layer, self.named
        alike = cosine_similarity(self.states)  # (1 + layers, token, token)
        measure = self.measure(lambda run: cosine_similarity(run.states()), ("", "query", "key"))
        drawn, axes, limit = measure.values, [self.token_axis("axis.token")] * 2, None if measure.differs else 1.0
        now, n = alike[layer + 1], len(tokens)
        pairs = ~np.eye(n, dtype=bool)
        nearest = int(np.where(pairs[token], now[token], -2).argmax()) if n > 1 else token
        other = nearest if self.choice.key is None else self.choice.key
        left, right = st.columns([3, 2], gap="medium")
        with left:
            said = {"layer": layer + 1, "token": self.placed[token], "other": self.placed[nearest]}
            self.picture(
                "similarity",
                heatmap(
                    drawn[layer + 1],
                    *axes,
                    limit=limit,
                    cell=(token, other),
                    clickable=True,
                ),
                text("read_similarity" if n > 1 else "alone_similarity", value=f"{now[token, nearest]:.2f}", **said),
                equation=COSINE,
                values=now,
                on_pick=lambda row, column: select(token=row, key=column),
                shows=measure[layer + 1].on(*axes),
            )
        with right:
            self.cosine_by_hand(other, float(now[token, other]))
            together = [float(step[pairs].mean()) if n > 1 else 1.0 for step in alike]
            self.picture(
                "all_similarities",
                tiles(
                    np.nan_to_num(drawn[None]),
                    Axis("", [""]),
                    self.numbered,
                    scale="signed",
                    limit=limit,
                    chosen=(0, layer + 1),
                    hover=[f"{step} · {mean:.2f}" for step, mean in zip(steps, together, strict=True)],
                    height=scaled(150),
                ),
                text(
                    "read_all_similarities" if n > 1 else "alone_all",
                    before=f"{together[0]:.2f}",
                    after=f"{together[-1]:.2f}",
                ),
                table=lambda: pd.DataFrame(
                    drawn.reshape(-1, n), index=pd.MultiIndex.from_product([steps, range(1, n + 1)]), columns=named
                ),
                on_pick=lambda _row, column: (
                    select(layer=column - 1) if column else None
                ),  # before all layers is no layer
                shows=measure.on(self.numbered, *axes),
            )

    def cosine_by_hand(self, other: int, cosine: float) -> None:
        """The cosine of the selected token's vector and another one's after the chosen layer."""
        named = self.placed
        a, b = (self.states[self.layer + 1, place].astype(np.float64) for place in (self.token, other))
        dot, aa, bb = float(a @ b), float(a @ a), float(b @ b)
        lines = (
            rf"a \cdot b = {dot:.4f}",
            rf"\lVert a \rVert = \sqrt{{{aa:.4f}}} = {aa**0.5:.4f}",
            rf"\lVert b \rVert = \sqrt{{{bb:.4f}}} = {bb**0.5:.4f}",
            rf"\cos(a, b) = \frac{{{dot:.4f}}}{{{aa**0.5:.4f} \cdot {bb**0.5:.4f}}} = {cosine:.4f}",
        )
        with st.container(border=True, key="working.cosine"):
            st.markdown(f"**{plain('common.by_hand')}** · {text('pair', token=named[self.token], other=named[other])}")
            arithmetic("".join(map(formula, lines)), key="by_hand")
            pick("key", word("hand_other", token=named[self.token]), self.tokens, other, key="layers.other")

    def lengths(self) -> None:
        """How long the selected token's vector is after each layer, and what the sub-layers wrote into it."""
        token = self.token
        sizes, *of_sublayers = lengths_on_the_way(self.trace)
        kinds = [sublayer.name for sublayer in self.trace.graph.sublayers(0)]
        written = {name: values[:, token] for name, values in zip(kinds, of_sublayers, strict=True)}
        added = []
        for name, values in written.items():
            most = int(np.nanargmax(values))
            how = f"adds_{name}" if values[most] else f"adds_{name}_none"
            added.append(text(how, layer=most, value=f"{values[most]:.1f}"))
        drawn = self.measure(lengths_on_the_way, ("", "", "token"), beside=True, token=token)[..., token]
        series = drawn.values
        names = [word(f"line_{name}") for name in ("state", *written)]
        told = "norms_before" if self.trace.graph.sublayers(0)[0].norm_first else "norms_after"
        self.picture(
            "norms",
            lines(series, names, self.numbered, word("axis_length"), there=drawn.other, height=LENS),
            text(
                "read_norms",
                token=self.placed[token],
                before=f"{sizes[0, token]:.1f}",
                after=f"{sizes[-1, token]:.1f}",
                smallest=f"{sizes[1:].min():.1f}",
                largest=f"{sizes[1:].max():.1f}",
            )
            + " ".join(["", *added, *([] if self.touched(*self.trace.graph.norms) else [text(told)])]),
            table=partial(pd.DataFrame, series.T, index=self.steps, columns=names),
            shows=drawn.on(Axis("", names), Axis("", self.steps), upwards=True),
        )

    def origin_and_output(self) -> None:
        """Where the vectors after the chosen layer come from, and these vectors themselves."""
        self.origin()
        self.handed_on()

    def origin(self) -> None:
        """Attention of all layers multiplied up, beside that of one layer, with the arithmetic of a cell."""
        named, token, layer = self.placed, self.token, self.layer
        weights = self.trace.over_layers("attention.weights")
        reached, averaged, n = rollout(weights), weights.mean(axis=1), len(self.tokens)
        others = np.where(np.arange(n) == token, -1, reached[layer, token])
        source = int(others.argmax()) if n > 1 else token
        key = source if self.choice.key is None else self.choice.key

        def draw(
            name: str, of: Callable[[Trace], np.ndarray], axes: tuple[Axis, Axis], said: str, equation: str
        ) -> None:
            drawn = self.measure(of, ("query", "key"))
            values = drawn.values
            look = {"scale": "share", "limit": float(values.max())} if not drawn.differs else {}
            look |= {"cell": (token, key), "clickable": True, "height": 400}
            self.picture(
                name,
                heatmap(values, *axes, **look),
                said,
                equation=equation,
                values=values,
                on_pick=lambda row, column: select(token=row, key=column),
                shows=drawn.on(*axes),
                law_of=["layers.{l}.attention.weights"],
            )

        columns = st.columns(3, gap="small")
        with columns[0]:
            draw(
                "rollout",
                lambda run: rollout(run.over_layers("attention.weights"))[layer],
                (Axis(word("axis_after"), self.named), Axis(word("axis_input"), self.named)),
                text(
                    "read_rollout" if n > 1 else "alone_rollout",
                    layer=layer + 1,
                    query=named[token],
                    own=f"{reached[layer, token, token]:.0%}",
                    key=named[source],
                    value=f"{reached[layer, token, source]:.0%}",
                ),
                ROLLOUT,
            )
        with columns[1]:
            best = int(averaged[layer, token].argmax())
            said = {"query": named[token], "key": named[best], "value": f"{averaged[layer, token, best]:.0%}"}
            draw(
                "raw",
                lambda run: run.over_layers("attention.weights")[layer].mean(axis=0),
                (self.token_axis("axis.query"), self.token_axis("axis.key")),
                text("read_raw" if layer else "read_raw_first", layer=layer + 1, **said),
                MEAN_WEIGHTS,
            )
        before = reached[layer - 1] if layer else np.eye(n, dtype=np.float32)
        with columns[2]:
            self.rollout_by_hand(averaged[layer, token], before[:, key], key)

    def rollout_by_hand(self, averaged: np.ndarray, before: np.ndarray, key: int) -> None:
        """One cell of the rollout: over all tokens on the way, half the mean weight (and half of itself) times R."""
        named, token = self.placed, self.token
        mixed = averaged / 2 + (np.arange(len(named)) == token) / 2
        products = largest_terms(mixed, before, most=FEW if self.choice.big else MOST)
        with st.container(border=True, key="working.rollout"):
            st.markdown(f"**{plain('common.by_hand')}** · {text('pair', token=named[token], other=named[key])}")
            arithmetic(
                terms(self, terms_table(products, "token", "½(Ā + I)", word("hand_before"))), key="rollout_by_hand"
            )
            said = {"query": named[token], "key": named[key], "layer": self.layer + 1}
            st.markdown(text("hand_rollout_sum", value=f"{products.total:.4f}", **said))

    def handed_on(self) -> None:
        layer = self.layer
        last = layer + 1 == len(self.states) - 1
        key = self.trace.graph.stream(layer)[-1]
        length = f"{np.linalg.norm(self.states[layer + 1, self.token]):.2f}"
        final = self.trace.graph.stream(len(self.states) - 2)[-1] != self.trace.graph.Z
        kind = "read_out" if not last else "read_out_last" if final else "read_out_Z"
        sentence = text(kind, layer=layer + 1, next=layer + 2, token=self.placed[self.token], length=length)
        from_Z = " " + text("read_from_Z") if "logits" in self.trace else ""
        sentence += from_Z if last and not final else ""
        if not final and not self.touched(*self.trace.graph.norms):
            sentence += " " + text("no_final")
        keys = [key, *[self.trace.graph.Z] * final]
        titles = [{"title": word("out")}, {"title": word("final")}][: len(keys)]
        cell_maps(self, keys, [sentence, text("read_final") + from_Z][: len(keys)], titles, stacked=1)


def classes_to_show(probabilities: np.ndarray) -> list[int]:
    """The classes of (step, class) that are worth a column: all, or the last step's likeliest and each step's best."""
    if probabilities.shape[1] <= MOST_CLASSES:
        return list(range(probabilities.shape[1]))
    backwards = probabilities[::-1]
    return likeliest(backwards, [MOST_CLASSES // 2, *[1] * (len(backwards) - 1)])


def lengths_on_the_way(run: Trace) -> np.ndarray:
    """How long the vectors are after each layer, and what each of its sub-layers wrote: (line, 1 + layers, token)."""
    states = run.states()
    series = np.full((1 + len(run.graph.sublayers(0)), *states.shape[:2]), np.nan, dtype=np.float32)
    series[0] = np.linalg.norm(states, axis=-1)
    for layer in range(run.graph.layers()):  # one after the other: a large run computes them again
        series[1:, 1 + layer] = [np.linalg.norm(run[each.output], axis=-1) for each in run.graph.sublayers(layer)]
    return series
