"""The sums and norms of one sub-layer: all values in one band, lengths and angles."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from model import Trace
from model.analysis import placed
from model.config import NORMS
from model.graph import Sublayer
from model.rms import centred
from pages.drawing.figures import ADDED, AFTER, BEFORE, Arrow, arrows, saw
from pages.drawing.figures.base import INK
from pages.drawing.figures.theme import big, mode
from pages.drawing.picture import Picture, touched
from pages.drawing.pictures.band import Column, band
from pages.drawing.pictures.quantity_map import chosen_cell
from pages.drawing.pictures.strips import strips
from pages.drawing.place import Place
from pages.drawing.text import t, texts_of, with_length
from pages.drawing.text.numbers import percent, three, written

USUAL = 0.99  # share of all numbers below the strongest colour
text, word = texts_of("add_and_norm")


@dataclass(frozen=True)
class AddNorm:
    """One sub-layer of a run, with its sum and its LayerNorm."""

    run: Trace
    place: Place

    @cached_property
    def sub(self) -> Sublayer:
        sublayers = self.run.graph.sublayers(self.place.layer)
        return sublayers[min(self.place.sublayer, len(sublayers)) - 1]

    @property
    def norm(self) -> str:
        """Its LayerNorm, or that of the embedding where it has none of its own: that is what it reads then."""
        return self.sub.norm or self.sub.before

    @property
    def epsilon(self) -> float:
        return self.run.network.get_submodule(self.norm).eps

    @property
    def normed(self) -> str:
        """What that LayerNorm reads."""
        return self.sub.norm_reads if self.sub.norm else self.run.graph[self.norm].reads[0]

    @property
    def steps(self) -> list[str]:
        """The quantities in order of computation, wherever LayerNorm stands."""
        sub, own = self.sub, [self.sub.norm] if self.sub.norm else []
        return [sub.before, *own * sub.norm_first, sub.output, sub.sum, *own * (not sub.norm_first)]

    @property
    def titles(self) -> dict[str, str]:
        """The names of the words for each quantity."""
        sub = self.sub
        return {self.norm: "normed", sub.before: "was_there", sub.output: f"found_{sub.name}", sub.sum: "the_sum"}

    @property
    def rms(self) -> str:
        """What texts about RMSNorm end with, which takes no mean off; "" for LayerNorm."""
        return "_rms" * (self.run.config.norm == "rms")

    @property
    def unshifted(self) -> str:
        """What texts about γ end with where no β follows."""
        return "_unshifted" * ("norm" in self.run.config.unbiased)

    def spread(self, values: np.ndarray) -> np.ndarray:
        """By what each token's numbers are divided, but for ε: their deviation, or of RMSNorm their root mean square.

        values: (…, d_model).
        """
        norm = self.run.network.get_submodule(self.norm)
        found: np.ndarray = np.sqrt((centred(norm, values) ** 2).mean(-1))
        return found

    def standardised(self) -> np.ndarray:
        """What LayerNorm reads with mean 0 and variance 1, before γ and β; of RMSNorm with mean square 1: (token,
        d_model).
        """
        norm, values = self.run.network.get_submodule(self.norm), self.run[self.normed]
        found: np.ndarray = centred(norm, values) / np.sqrt(self.spread(values) ** 2 + self.epsilon)[:, None]
        return found

    def unit(self) -> str:
        """The standard deviations that LayerNorm gives the rows before γ and β: "1", or from where to where they reach.

        A row that is nearly constant stays below 1 because of ε, and one of zeros, as of a removed token, at 0.
        """
        low, high = (three(value) for value in np.quantile(self.spread(self.standardised()), [0, 1]))
        return "1" if low == high == "1.000" else word("from_to", low=low, high=high)

    def lengths(self) -> np.ndarray:
        """How long what was there, what was found and their sum are: (3, token)."""
        keys = (self.sub.before, self.sub.output, self.sub.sum)
        return np.stack([np.linalg.norm(self.run[key], axis=1) for key in keys])

    def pushes(self) -> np.ndarray:
        """What was found, as a multiple of what was there: (token,); NaN where nothing was, as of a removed token."""
        before, found, _ = self.lengths()
        return np.divide(found, before, out=np.full_like(before, np.nan), where=before > 0)


HIGH, WIDE = 235, 190  # pixels: the arrows, and the way below them


def one_vector(run: Trace, place: Place) -> Picture:
    """The chosen token's vector, what the sub-layer adds to it and their sum, in the plane of all three, so that
    lengths and angles are exact; of what LayerNorm makes of the sum, length and angle to the sum, on its side of it.
    """
    at = AddNorm(run, place)
    sub, name = at.sub, placed(run.tokens)[place.token]
    x, o, both, after = (
        run[key][place.token].astype(np.float64) for key in (sub.before, sub.output, sub.sum, sub.after)
    )
    lengths = [float(np.linalg.norm(vector)) for vector in (x, o, both, after)]
    plane = _plane(x, o)
    tips = [plane @ vector for vector in (x, o, both)]
    called = [word("arrow_in"), word(f"arrow_{sub.name}"), word("arrow_sum")]
    looks = [(BEFORE, 3), (ADDED, 3), (INK[mode()], 3.5)]
    said = {"token": name, "before": f"{lengths[0]:.1f}", "found": f"{lengths[1]:.1f}", "sum": f"{lengths[2]:.1f}"}
    sentence = text("read_arrows", angle=f"{_degrees(x, o):.0f}", **said)
    if sub.norm and not sub.norm_first:
        turned, shown = _degrees(both, after), plane @ after
        side = 1.0 if tips[2][0] * shown[1] >= tips[2][1] * shown[0] else -1.0
        way = np.arctan2(*tips[2][::-1]) + side * np.radians(turned)
        tips.append(lengths[3] * np.array([np.cos(way), np.sin(way)]))
        called, looks = [*called, word("arrow_normed")], [*looks, (AFTER, 3)]
        sentence += " " + text(
            "read_arrow_normed",
            norm=NORMS[run.config.norm],
            after=f"{lengths[3]:.1f}",
            turned=f"{turned:.0f}",
        )
    drawn = [
        Arrow(with_length(title, length), tip, colour, width)
        for title, length, tip, (colour, width) in zip(called, lengths, tips, looks, strict=False)
    ]
    dashed = [(tips[0], tips[2]), (tips[1], tips[2])]
    return Picture(
        arrows(drawn, dashed, _high(HIGH)).tell(fills=True),
        sentence,
        reads=[sub.sum, *([sub.norm] if sub.norm else [])],
    )


def _plane(x: np.ndarray, o: np.ndarray) -> np.ndarray:
    """Two directions at a right angle between which x and o lie, the first that of x: (2, d_model)."""
    first = x / (np.linalg.norm(x) or 1.0)
    rest = o - (o @ first) * first
    length = np.linalg.norm(rest)
    return np.stack([first, rest / length if length > 1e-6 * np.linalg.norm(o) else np.zeros_like(x)])


def _degrees(a: np.ndarray, b: np.ndarray) -> float:
    cosine = float(a @ b / ((np.linalg.norm(a) * np.linalg.norm(b)) or 1.0))
    return float(np.degrees(np.arccos(np.clip(cosine, -1, 1))))


def on_the_way(run: Trace, place: Place) -> Picture:
    """How long the chosen token's vector is before, with and after each sub-layer of the network."""
    subs = [
        (layer, number, sub)
        for layer in range(run.graph.layers())
        for number, sub in enumerate(run.graph.sublayers(layer), 1)
    ]
    normed = all(sub.norm and not sub.norm_first for *_, sub in subs)
    keys = [[sub.before, sub.sum, *([sub.after] if normed else [])] for *_, sub in subs]
    lengths = np.array([[np.linalg.norm(run[key][place.token]) for key in row] for row in keys])
    every = [f"{layer + 1} {word(f'short_{sub.name}')}" for layer, _, sub in subs]
    here = next(i for i, (layer, _, sub) in enumerate(subs) if layer == place.layer and sub == AddNorm(run, place).sub)
    grown = int((lengths[:, 1] > lengths[:, 0]).sum())
    said = text("read_way", token=placed(run.tokens)[place.token], grown=grown, count=len(subs))
    titles = word("axis_length"), word("adds"), word("norms")

    def choose(step: int, *_: int) -> dict[str, object]:
        return {"layer": subs[step][0], "sublayer": subs[step][1]}

    figure = saw(lengths, every, here, titles, _high(WIDE))
    return Picture(figure.tell(fills=True), said, picks=choose)


def _high(pixels: int) -> int:
    """In a presentation, where they stand beside each other, all are as high."""
    return 400 if big() else pixels


def one_by_one(run: Trace, place: Place, focus: str) -> Picture:
    """The chosen token's row of every quantity on the way, on one scale. focus: the one that is worked out."""
    at = AddNorm(run, place)
    names = {at.norm: "normed", at.sub.before: "in", at.sub.output: at.sub.name, at.sub.sum: "sum"}
    rows = {key: word(f"arrow_{names[key]}") for key in at.steps}
    notes = [word(at.titles[key]) for key in at.steps]
    return strips(run, place, rows, chosen_cell(run, place, focus)[-1], "", notes=notes)


def maps(run: Trace, place: Place, focus: str, limit: float | None) -> Picture:
    """Every quantity on the way in one band. focus: the key of the one that is worked out.

    limit: the strongest colour of all of them, so that they can be compared; the few largest values saturate.
    """
    at = AddNorm(run, place)
    sub, steps, cell = at.sub, at.steps, chosen_cell(run, place, focus)
    columns = [Column(key, word(at.titles[key]), limit=limit) for key in steps]
    look = {"title": word("maps"), "focus": focus, "marks": dict.fromkeys(steps, cell[1]), "least": 160 * len(steps)}
    picture = band(run, place, columns, _read(at, place, focus, cell), **look)
    ends = run.quantity(steps[-1])  # the input's own equation is that of the block before
    return picture.with_(equation=ends.numbered(ends.equation)) if focus == sub.before else picture


def _read(at: AddNorm, place: Place, key: str, cell: tuple[int, ...]) -> str:
    """What the map of one quantity says. cell: the chosen one."""
    sub, run = at.sub, at.run
    if touched(run, place.head, key):
        return t("change.no_law")
    if key == sub.output:
        push = at.pushes()
        typical = np.median(push[np.isfinite(push)]) if np.isfinite(push).any() else 0.0
        return text("read_output", share=percent(typical)) + _read_layer_scale(at)
    if key == sub.sum:
        x, o = (round(float(run[part][cell]), 4) for part in (sub.before, sub.output))
        added = {"x": f"{x:.4f}", "o": f"({written(f'{o:.4f}')})" if o < 0 else f"{o:.4f}", "sum": f"{x + o:.4f}"}
        return text("read_add", token=placed(run.tokens)[place.token], component=cell[1] + 1, **added)
    if key == sub.before and sub.norm:
        return text("read_input")
    spread = at.spread(run[at.normed])
    return text(f"read_norm{at.rms or at.unshifted}", unit=at.unit(), low=three(spread.min()), high=three(spread.max()))


def _read_layer_scale(at: AddNorm) -> str:
    """By what the sub-layer's output was multiplied, where it is; else nothing."""
    if not at.run.config.layer_scale:
        return ""
    trained = at.run.network.get_submodule(at.sub.output).scale.abs()
    return " " + text("read_layer_scale", typical=f"{trained.median():.3g}", largest=f"{trained.max():.3g}")
