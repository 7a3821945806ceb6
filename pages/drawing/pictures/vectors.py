"""The one vector of a whole input: means and rows of Z, and the vector that its makers compute."""

from collections.abc import Mapping, Sequence

import numpy as np

from model import Trace
from model.activations import ACTIVATIONS
from model.analysis import outliers
from model.measures.alike import vector_of
from model.variants.pooled import Pooled
from pages.drawing.figures import Axis, Figure, heatmap, over_drawings
from pages.drawing.picture import Numbers, Picture
from pages.drawing.pictures.far_out import in_words, marked
from pages.drawing.place import Place
from pages.drawing.text import plain, t
from pages.drawing.text.numbers import first, three, two


def vectors(run: Trace, place: Place, ways: Mapping[str, Pooled | None], more: Sequence[str]) -> Picture:
    """The one vector of an input, made in each of these ways. more: further sentences."""
    made = np.stack([vector_of(run, way) for way in ways.values()])
    along = "axis.projection" if run.config.projection else "axis.d_model"
    axes = Axis(plain("sentence_vector.axis"), [plain(f"sentence_vector.{name}") for name in ways]), Axis(plain(along))
    lengths = [two(float(np.linalg.norm(vector))) for vector in made]
    read = "read" if len(ways) == 2 else f"read_{next(iter(ways))}"
    sized = {"n": len(run.tokens), "d_model": made.shape[1], "length": lengths[0], "other": lengths[-1]}
    said = [t(f"sentence_vector.{read}", **sized), *more]
    if far := outliers(made):
        said.append(in_words(far, made, axes, far.usual))

    def draw(drawn: Numbers) -> Figure:
        far = None if drawn.differs else outliers(drawn.array)
        limit = far and far.usual
        return heatmap(drawn.array, *drawn.axes, square=False, height=190, limit=limit, marked=marked(far))

    title = plain(text_of(run, "title"))
    return Picture(draw, " ".join(said), Numbers(made, axes=axes), shape=made.shape, title=title)


def probe_looks(run: Trace, place: Place, seen: np.ndarray | None = None) -> Picture:
    """The attention weights of the probe over the picture, head by head. seen: the picture to draw, if another."""
    side, tokens, key = run.config.patches_per_side, run.tokens, "pool.cross.weights"
    weights = run[key][:, 0]
    most = first(weights, three)
    head, best = (int(i) for i in np.unravel_index(most.place, weights.shape))
    names = Axis.counted(plain("axis.head"), len(weights))
    seen = run.picture if seen is None else seen

    def draw(drawn: Numbers) -> Figure:
        hover = [f"{tokens[int(row.argmax())]} {row.max():.3f}" for row in weights]
        look = {"hover": hover, "differs": drawn.differs, "height": 260}
        return over_drawings(seen, drawn.array.reshape(1, len(weights), side, side), Axis(""), names, **look)

    return Picture(
        draw,
        t("sentence_vector.read_probe_looks", heads=len(weights), value=most, best=tokens[best], head=head + 1),
        Numbers(weights, ("", "token"), axes=(names, Axis("", tokens))),
        title=plain("sentence_vector.probe_looks"),
        shape=weights.shape,
        quantity=run.quantity(key),
    )


def as_makers(run: Trace, place: Place, pooled: Pooled) -> Picture:
    """The vector that the encoder's makers compute, step by step."""
    steps, words, dense = pooled.steps(run.Z), [], iter(pooled.dense)
    for (name, vector), before in zip(steps, [None, *(vector for _, vector in steps)], strict=False):
        said: dict[str, object] = {}
        if name == "Dense" and before is not None:
            said = {"wide": len(before), "out": len(vector)}
            bend = next(dense).activation
            name, said = (f"{name}_bent", said | {"activation": ACTIVATIONS[bend].name}) if bend else (name, said)
        step, length = plain(f"sentence_vector.step_{name}", **said), two(float(np.linalg.norm(vector)))
        words.append(step if name == "Normalize" else plain("sentence_vector.step_length", step=step, length=length))
    made = steps[-1][1][None]
    axes = Axis("", [""]), Axis(plain("axis.d_model"))
    normalized = "" if "Normalize" in pooled.more else t("sentence_vector.not_normalized")
    return Picture(
        lambda drawn: heatmap(drawn.array, *drawn.axes, square=False, height=150),
        f"{t('sentence_vector.read_makers', steps=' → '.join(words), width=made.shape[1])} {normalized}".strip(),
        Numbers(made, axes=axes),
        shape=made.shape,
        title=plain(text_of(run, "title")),
    )


def text_of(run: Trace, name: str) -> str:
    return f"sentence_vector.{name}" + "_picture" * (run.picture is not None)
