"""The feed-forward network of one layer: its neurons, the activation function, and what one neuron answers to."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd

from model import Trace
from model.activations import ACTIVATIONS
from model.analysis import placed
from model.measures.without import Answers
from model.neurons import activation_curve
from pages.drawing import figures
from pages.drawing.figures import ACCENT, AFTER, BEFORE, GREY, Axis, Figure, bars, grouped_bars, heatmap
from pages.drawing.figures.theme import scaled
from pages.drawing.picture import Numbers, Picture, of_both, outputs_of, picks_from, token_axis, told_where
from pages.drawing.pictures.answers import probabilities
from pages.drawing.pictures.band import Column, band
from pages.drawing.pictures.quantity_map import chosen_cell
from pages.drawing.place import Place
from pages.drawing.text import texts_of
from pages.drawing.text.numbers import decimal, first, furthest, written

MOST_ASKED = 128  # neurons that answer a click: the loudest of each token
FIRES = 0.1  # an activation from here on is counted
LISTED = 12  # neurons
HIGH, CURVE = 400, 230  # pixels; two pictures and their sentences fill a presentation
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


def flow(run: Trace, place: Place, words: Words, focused: bool = False) -> Picture:
    """What comes in, the neurons, and what is added, row by row.

    words: see Words. focused: whether a number of what is added is worked out.
    """
    of = Neurons(run, place)
    fed, output = of.fed, of.prefix + "output"
    each = max(1, MOST_ASKED // len(run.tokens))
    loudest = np.argsort(-of.loud, axis=1, kind="stable")[:, :each]
    asked = np.unique([*loudest.ravel(), of.neuron]).tolist()
    strongest = float(np.quantile(np.abs(run[fed]), 0.999)) or None
    columns = [
        Column(run.graph.sublayers(place.layer)[-1].reads, word("comes_in"), 1.2),
        Column(fed, word("neurons"), 5, asked, strongest),
        Column(output, word("added"), 1.2),
    ]
    marks = {fed: of.neuron, output: chosen_cell(run, place, output)[1] if focused else None}
    return band(run, place, columns, _read_flow(of, words), title=word("flow"), marks=marks, least=520)


def _read_flow(of: Neurons, words: Words) -> str:
    """How many neurons fire at the selected token, how much the chosen one does, and where that points."""
    token, d_ff = of.place.token, of.run.config.d_ff
    count, value = int((of.loud[token] > FIRES).sum()), of.run[of.fed][token, of.neuron]
    said = {"token": of.called, "layer": of.place.layer + 1, "neuron": of.neuron + 1, "value": f"{value:.3f}"}
    said |= {"loud": f"{count:,}", "d_ff": f"{d_ff:,}"}
    sentence = text("read_flow_gated" if of.gated else "read_flow", **said)
    kind = "read_points" if of.run.picture is None else "read_points_class"
    pointed = words(of.neuron)[:1] if of.answers else []
    return " ".join([sentence, *(text(kind, word=one) for one in pointed)])


def most_active(run: Trace, place: Place, words: Words) -> Picture:
    """The selected token's loudest neurons, or those that differ most, with the words to which each points."""
    of = Neurons(run, place)

    def best_of(numbers: Numbers) -> list[int]:
        loud = np.abs(numbers.array) if numbers.differs else of.loudness(numbers.array)
        return np.argsort(-loud, kind="stable")[:LISTED].tolist()

    def part(numbers: Numbers) -> Numbers:
        of_token = numbers[place.token]
        best = best_of(of_token)
        named = [" · ".join([", ".join(words(one)), str(one + 1)]).strip(" ·") for one in best]
        return replace(of_token[best].on(Axis("", named)), which=best)

    def draw(drawn: Numbers) -> Figure:
        return _bars(of, drawn, [one == of.neuron for one in drawn.which])

    def says(drawn: Numbers) -> str:
        most = (furthest if of.gated else first)(run[of.fed][place.token])
        return text("read_best", token=of.called, neuron=most.place + 1, value=most)

    return Picture(
        draw,
        says,
        Numbers.of(run, of.fed, part=part, token=place.token),
        title=word("best"),
        two="beside",
        picks_of=lambda drawn: picks_from(drawn.which, lambda neuron: {"neuron": neuron}),
    )


def everywhere(run: Trace, place: Place) -> Picture:
    """The selected token's loudest neurons at every token."""
    of = Neurons(run, place)
    loudest = np.argsort(-of.loud[place.token], kind="stable")[:LISTED].tolist()
    axes = Axis(word("neuron"), [str(neuron + 1) for neuron in loudest]), token_axis(run, "")
    cell = (loudest.index(of.neuron), place.token) if of.neuron in loudest else None

    def part(every: Numbers) -> Numbers:
        own = every[:, loudest]
        return replace(own, array=own.array.T, other=None if own.other is None else own.other.T).on(*axes)

    def draw(drawn: Numbers) -> Figure:
        look = {"square": False, "clickable": True, "cell": cell, "height": HIGH, "corner": ""}
        return heatmap(drawn.array, *drawn.axes, **look)

    own = run[of.fed][:, of.neuron]
    most = (furthest if of.gated else first)(own)
    return Picture(
        draw,
        text("read_fires", neuron=of.neuron + 1, token=placed(run.tokens)[most.place], value=most),
        Numbers.of(run, of.fed, part=part),
        title=word("everywhere"),
        picks=lambda row, token: {"neuron": loudest[row], "token": token},
    )


def _bars(of: Neurons, drawn: Numbers, lit: Sequence[bool]) -> Figure:
    """What neurons feed on as bars, named where it is not the activation alone. lit: in another colour."""
    look = {"colours": [ACCENT if one else AFTER for one in lit], "height": HIGH, **drawn.look}
    return bars(drawn.array, drawn.axes[0], word("axis_product") if of.gated else "", **look)


def curve(run: Trace, place: Place) -> Picture:
    """The activation function, with the selected token's neurons on it; of two runs those of both."""
    of = Neurons(run, place)
    hidden = run[of.prefix + "hidden"]
    line = activation_curve(run.config.activation, hidden.min(), hidden.max())
    both = np.stack([hidden, run[of.prefix + "activation"]])  # what goes into the activation, and what comes out
    u, h = both[:, place.token]

    def draw(drawn: Numbers) -> Figure:
        titles = word("axis_hidden"), word("axis_activation"), word("a_neuron")
        other = None if drawn.other is None else tuple(drawn.other)
        figure = figures.activation_curve(line, (u, h), of.neuron, titles, other=other)
        figure.layout["height"] = scaled(CURVE)
        return figure

    def as_table(values: np.ndarray) -> pd.DataFrame:
        return pd.DataFrame(values.T, range(1, run.config.d_ff + 1), ["U", "H"])

    def table(drawn: Numbers) -> pd.DataFrame:
        return of_both(as_table(drawn.array), None if drawn.other is None else as_table(drawn.other))

    said = {"below": f"{int((u < 0).sum()):,}", "d_ff": f"{run.config.d_ff:,}", "neuron": of.neuron + 1}
    said |= {"bend": of.bend, "least": written(f"{line[1].min():.2f}")}
    said |= {name: written(f"{one[of.neuron]:.2f}") for name, one in (("u", u), ("h", h))}
    return Picture(
        draw,
        text("read_curve", **said),
        Numbers(both, ("", "token", "d_ff"), lambda every: every[:, place.token], token=place.token),
        title=word("curve", bend=of.bend),
        table=table,
        two="over",
        fixed=True,
        reads=[of.prefix + "activation"],
    )


def pushes(name: str, title: str, names: Sequence[str], values: np.ndarray, sentence: str) -> Picture:
    """What a neuron pushes "up" or "down" as bars. title: the key of the axis of names."""
    colour = BEFORE if name == "down" else AFTER
    return Picture(bars(values, Axis(word(title), names), word("axis_push"), colours=colour), sentence, fixed=True)


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
    return Picture(
        grouped_bars(series, Axis("", shown), lost_word("axis_p"), (AFTER, ACCENT, GREY), value_range=(0, 1)),
        told_where(run, place.token, " ".join(sentences[:told])),
        title=lost_word("ffn_title"),
        table=pd.DataFrame(found.p.T, index=shown, columns=names),
    )
