"""The feed-forward network of one layer: its neurons, the activation function, and what one neuron answers to."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
import pandas as pd

from model import Trace
from model.activations import ACTIVATIONS
from model.analysis import placed
from model.measures.without import Answers
from model.neurons import activation_curve
from pages.drawing import figures
from pages.drawing.figures import ACCENT, AFTER, BEFORE, GREY, Axis, Figure, bars, grouped_bars, ranked_bars
from pages.drawing.figures.theme import DENSE, font_size, letters, scaled
from pages.drawing.picture import Numbers, Picture, of_both, outputs_of, token_axis, told_where
from pages.drawing.pictures.answers import probabilities
from pages.drawing.place import Place
from pages.drawing.text import plain, texts_of
from pages.drawing.text.numbers import decimal, first, furthest, two, written

FIRES = 0.1  # an activation from here on is counted
LISTED = 12  # neurons
RELU = "relu"  # the paper's activation function, beside which another is drawn
CURVE = 230  # pixels
BEND = -3.0, 2.0  # before the activation: where activation functions bend
OUTSIDE = 0.1  # at most this share of a token's neurons is not on the curve that is drawn
text, word = texts_of("feed_forward")
lost, lost_word = texts_of("without")
#: What a neuron points to, by its number.
Words = Callable[[int], Sequence[str]]


@dataclass(frozen=True)
class Neurons:
    """Those of one layer of a run."""

    run: Trace
    place: Place

    @property
    def prefix(self) -> str:
        return self.place.of("layers.{l}.ffn.")

    @property
    def gated(self) -> bool:
        """Whether each neuron is multiplied by a second number before it is written."""
        return self.run.config.ffn == "gated"

    @property
    def fed(self) -> str:
        """The row of the graph by which each neuron's row of W_2 is multiplied: behind its gate, where it has one."""
        return self.prefix + ("product" if self.gated else "activation")

    @property
    def called(self) -> str:
        """The selected token as sentences name it."""
        return placed(self.run.tokens)[self.place.token]

    @property
    def bend(self) -> str:
        """The name of the activation function."""
        return ACTIVATIONS[self.run.config.activation].name

    @property
    def answers(self) -> bool:
        """Whether what neurons are compared with is the matrix that gives the logits."""
        logits = self.run.graph.get("logits")
        return logits is not None and (self.run.picture is not None or "class" not in logits.axes)

    def loudness(self, fed: np.ndarray) -> np.ndarray:
        """How strongly neurons speak: behind gates with either sign, else as much as they are above 0."""
        return np.abs(fed) if self.gated else fed

    @cached_property
    def loud(self) -> np.ndarray:
        """How strongly each neuron speaks at each token: (token, d_ff)."""
        return self.loudness(self.run[self.fed])

    @cached_property
    def neuron(self) -> int:
        """The chosen neuron, else the one that answers the selected token most."""
        return int(self.loud[self.place.token].argmax()) if self.place.neuron is None else self.place.neuron


def loudest(run: Trace, place: Place, words: Words, without: Answers | None = None) -> Picture:
    """All neurons of the selected token in the order of their loudness; the loudest, or those that differ most, and the
    chosen one by the words to which each points, with its activation there as a bar and at every token as cells. A
    click on a cell selects its neuron and its token.

    without: the answer at that token as it is, and without the chosen neuron.
    """
    of = Neurons(run, place)
    counted: dict[str, object] = {"token": of.called, "d_ff": f"{run.config.d_ff:,}"}
    counted |= {"loud": f"{int((of.loud[place.token] > FIRES).sum()):,}"}

    def listed(every: Numbers) -> Numbers:
        own = every[place.token]
        loud = np.abs(own.array) if own.differs else of.loudness(own.array)
        best = np.argsort(-loud, kind="stable")[:LISTED].tolist()
        best[LISTED - 1 :] = [of.neuron] if of.neuron not in best else best[LISTED - 1 :]
        named = [" · ".join([", ".join(words(one)), str(one + 1)]).strip(" ·") for one in best]
        cells = every.array[:, best].T + 0 * own.array[best, None]  # nothing, where no token stands for this one
        axes = Axis(word("neuron"), named), token_axis(run, "")
        return replace(every, array=cells, which=best).on(*axes)

    def sorted_all(every: Numbers) -> Numbers:
        return replace(every, array=-np.sort(-every.array[place.token])).on(Axis(word("neuron")))

    def draw(drawn: Numbers, every: Numbers) -> Figure:
        token = place.token
        title = word("sorted" if every.differs else "loud_gated" if of.gated else "loud", **counted)
        cell = (drawn.which.index(of.neuron), token) if of.neuron in drawn.which else None
        rows, columns = drawn.axes
        titles = title, word("points_to")
        with letters(min(font_size(), DENSE)):
            return ranked_bars(drawn.array, rows, columns, every.array, titles, token, cell)

    def says(*drawn: Numbers) -> str:
        at_token, of_chosen, number = run[of.fed][place.token], run[of.fed][:, of.neuron], of.neuron + 1
        ahead = furthest if of.gated else first
        most, where = ahead(at_token), ahead(of_chosen)
        said = [text("read_loud", token=of.called, neuron=most.place + 1, value=most)]
        said.append(text("read_fires", neuron=number, token=placed(run.tokens)[where.place], value=where))
        if without is not None:
            before, after = map(decimal, without.p[:, without.outputs.index(without.best[0])])
            answer = outputs_of(run)[without.best[0]]
            said += [text("read_without", neuron=number, answer=answer, before=before, after=after)] * (before != after)
        return " ".join(said)

    parts = [Numbers.of(run, of.fed, part=part, token=place.token) for part in (listed, sorted_all)]
    return Picture(
        draw,
        says,
        parts,
        title=word("loudest"),
        picks_of=lambda drawn, _: partial(_chosen, drawn.which),
    )


def _chosen(which: Sequence[int], row: int, token: int) -> dict[str, object]:
    return {"neuron": which[row], "token": token}


def curve(run: Trace, place: Place) -> Picture:
    """The activation function, with the selected token's neurons on it; of two runs those of both."""
    of = Neurons(run, place)
    hidden = run[of.prefix + "hidden"]
    line = activation_curve(run.config.activation, hidden.min(), hidden.max())
    cuts = ACTIVATIONS[run.config.activation].cuts
    beside = None if cuts else activation_curve(RELU, hidden.min(), hidden.max())
    both = np.stack([hidden, run[of.prefix + "activation"]])  # what goes into the activation, and what comes out
    u, h = both[:, place.token]

    def frame(drawn: Numbers) -> tuple[float, float]:
        """From where to where it is drawn: the bend, the chosen neuron, and all neurons but a few."""
        chosen = [one[0][of.neuron] for one in (drawn.array, drawn.other) if one is not None]
        held = [*BEND, *np.quantile(u, (OUTSIDE / 2, 1 - OUTSIDE / 2)), *filter(np.isfinite, chosen)]
        room = 0.04 * (max(held) - min(held))
        return min(held) - room, max(held) + room

    def draw(drawn: Numbers) -> Figure:
        titles = word("axis_hidden"), word("axis_activation"), plain("axis.d_ff")
        other = None if drawn.other is None else tuple(drawn.other)
        named = word("at_neuron", **said)
        figure = figures.activation_curve(line, (u, h), of.neuron, titles, frame(drawn), other, beside, named)
        figure.layout["height"] = scaled(CURVE)
        return figure

    def as_table(values: np.ndarray) -> pd.DataFrame:
        return pd.DataFrame(values.T, range(1, run.config.d_ff + 1), ["U", "H"])

    def table(drawn: Numbers) -> pd.DataFrame:
        return of_both(as_table(drawn.array), None if drawn.other is None else as_table(drawn.other))

    said = {"below": f"{int((u < 0).sum()):,}", "d_ff": f"{run.config.d_ff:,}", "neuron": of.neuron + 1}
    said |= {"bend": of.bend, "beside": ACTIVATIONS[RELU].name, "least": two(line[1].min())}
    said |= {name: two(one[of.neuron]) for name, one in (("u", u), ("h", h))}

    def says(drawn: Numbers) -> str:
        low, high = frame(drawn)
        outside = int(((u < low) | (u > high)).sum())
        read = text("read_curve" if cuts else "read_curve_beside", **said)
        ends = {"low": written(f"{low:.1f}"), "high": written(f"{high:.1f}")}
        return f"{read} {text('read_outside', outside=outside, **ends)}" if outside else read

    return Picture(
        draw,
        says,
        Numbers(both, ("", "token", "d_ff"), lambda every: every[:, place.token], token=place.token),
        title=word("curve" if cuts else "curve_beside", **said),
        table=table,
        two="over",
        fixed=True,
        reads=[of.prefix + "activation"],
    )


def pushes(name: str, title: str, names: Sequence[str], values: np.ndarray, sentence: str) -> Picture:
    """What a neuron pushes "up" or "down" as bars. title: the key of the axis of names."""
    colour = BEFORE if name == "down" else AFTER
    figure = bars(values, Axis(plain(f"axis.{title}"), names), word("axis_push"), colours=colour).tell(
        fills=True, grows=290, most=430
    )
    return Picture(figure, sentence, fixed=True)


def without_ffn(run: Trace, place: Place, found: Answers) -> Picture:
    """The first guesses as it is, without the feed-forward network of this layer, and without any.

    found: of `without.ffn_off`, at the token there.
    """
    every, layer = outputs_of(run), place.layer + 1
    names = [lost_word("ffn_all"), lost_word("ffn_one", layer=layer), lost_word("ffn_none")]
    guess = found.outputs.index(found.best[0])
    said: dict[str, object] = {name: every[i] for name, i in zip(("best", "one", "none"), found.best, strict=True)}
    said |= {name: decimal(row.max()) for name, row in zip(("p", "p_one", "p_none"), found.p, strict=True)}
    said["p"] = guessed = first(probabilities(run, place.token), decimal)
    said |= {"layer": str(layer), "lasts": decimal(found.p[1, guess])}
    sentences = [
        lost(f"read_ffn_{'same' if found.best[1] == found.best[0] else 'other'}", **said),
        lost(f"read_ffn_none{'_same' if found.best[2] == found.best[0] else ''}", **said),
    ]
    told = 1 if not guessed.ahead or run.config.layers == 1 else 2  # what becomes of a guess that is none
    shown, series = [every[i] for i in found.outputs], dict(zip(names, found.p, strict=True))
    figure = grouped_bars(
        series,
        Axis("", shown),
        lost_word("axis_p"),
        (AFTER, ACCENT, GREY),
        number=lambda p: two(p) if p >= 0.005 else "",
    )
    return Picture(
        figure.tell(fills=True, roomy=7 * font_size() * len(shown), grows=330, most=520),
        told_where(run, place.token, " ".join(sentences[:told])),
        title=lost_word("ffn_title"),
        table=pd.DataFrame(found.p.T, index=shown, columns=names),
    )
