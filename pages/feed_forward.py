"""Feed-forward: every token for itself, through a wide layer of neurons and back."""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
import streamlit as st

from model import Trace
from model.encoder import FeedForward
from model.neurons import activation_curve
from model.pipeline import SPECIAL_TOKENS
from pages.ui import figures
from pages.ui.differences import Difference, of_both
from pages.ui.figures import ACCENT, AFTER, BEFORE, Axis, bars, grouped_bars, on_screen, wide_heatmap
from pages.ui.link import select
from pages.ui.pickers import either, pick_number
from pages.ui.sections.cell_map import cell_maps
from pages.ui.sections.neuron import answered_most, show_contexts
from pages.ui.text import class_label, plain, t, texts_of
from pages.ui.view import View
from pages.ui.worked_out import proof, pushed

MOST_NEURONS = 128  # as many as can still be told apart on a screen
SILENT = 0.01  # an activation this small adds next to nothing, whatever its output vector
LISTED, PUSHED = 15, 10
LISTED_LARGE = 10  # where everything is large
LEAKING = "#c3bdf0"
text, word = texts_of("feed_forward")

view = View("feed_forward", r"\operatorname{FFN}(x) = \operatorname{act}(x W_1 + b_1)\, W_2 + b_2")
tokens, token, prefix = view.trace.tokens, view.token, view.key("layers.{l}.ffn.")
d_ff, bend = view.trace.config.d_ff, view.trace.config.activation
hidden, active = view.trace[prefix + "hidden"], view.trace[prefix + "activation"]
neuron = int(active[token].argmax()) if view.choice.neuron is None else view.choice.neuron
answer = view.trace.graph.get("logits")
points = answer is not None or view.trace.picture is None  # whether there is anything that a neuron can point to


# -- widening, and the bend --------------------------------------------------------------------------------------


def maps() -> None:
    """Before and after the activation, neuron by neuron, and the arithmetic of the chosen one."""
    kinds = ("most", "all", "sorted")
    words = [word(f"shown_{kind}", most=min(MOST_NEURONS, d_ff)) for kind in kinds]
    either("order", word("shown"), kinds, words, view.choice.order)
    order = np.argsort(-active.mean(axis=0), kind="stable")
    order = {"most": order[:MOST_NEURONS], "all": np.arange(d_ff), "sorted": order}[view.choice.order].tolist()
    loud = np.unravel_index(hidden.argmax(), hidden.shape)
    said = [
        text(
            "read_hidden",
            token=tokens[loud[0]],
            neuron=loud[1] + 1,
            value=f"{hidden[loud]:.2f}",
            share=f"{(hidden < 0).mean():.0%}",
        ),
        text(
            f"read_activation_{bend}",
            low=f"{hidden.min():.2f}",
            lowest=f"{active.min():.2f}",
            high=f"{hidden.max():.2f}",
            highest=f"{active.max():.2f}",
        ),
    ]
    low = int(min(300, 90 + 14 * len(tokens)) * view.font_size / 12)
    looks: list[dict] = [{"title": word(name), "columns": order, "height": low} for name in ("hidden", "activation")]
    keys = [prefix + "hidden", prefix + "activation"]
    for key, look in zip(keys, looks, strict=True):
        look["strongest"] = float(np.quantile(np.abs(view.shown(key)), 0.999))
    cell_maps(view, keys, said, looks, stacked=True)


def before_and_after(run: Trace) -> np.ndarray:
    """What goes into the activation and what comes out: (2, token, d_ff)."""
    return np.stack([run[prefix + "hidden"], run[prefix + "activation"]])


def as_table(before: np.ndarray, after: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame({"U": before, "H": after}, index=range(1, d_ff + 1))


def curve() -> None:
    """The activation function, with the selected token's neurons on it; of two runs those of both."""
    there = view.there(before_and_after, ("", "token", "d_ff"))
    other = None if there is None else tuple(there[:, token])
    view.picture(
        "curve",
        figures.activation_curve(
            activation_curve(bend, hidden.min(), hidden.max()),
            (hidden[token], active[token]),
            neuron,
            tuple(word(name) for name in ("axis_hidden", "axis_activation", "a_neuron")),
            font_size=view.font_size,
            other=other,
        ),
        text(
            f"read_curve_{bend}",
            token=tokens[token],
            d_ff=d_ff,
            below=int((hidden[token] < 0).sum()),
            neuron=neuron + 1,
            u=f"{hidden[token, neuron]:.2f}",
            h=f"{active[token, neuron]:.2f}",
        )
        + view.which_is_which(token),
        still=True,
        law_of=[prefix + "activation"],
        table=of_both(*(None if run is None else as_table(*run) for run in ((hidden[token], active[token]), other))),
    )


def shares() -> None:
    """How many neurons of each token are open, leaking or silent."""
    colours = {"open": AFTER, "leaking": LEAKING, "silent": BEFORE}
    if bend == "relu":
        del colours["leaking"]

    def sorted_out(run: Trace) -> dict[str, np.ndarray]:
        """Which neurons of each token are of which kind: (token, d_ff) each."""
        active = run[prefix + "activation"]
        silent = np.abs(active) < SILENT
        leaking = ~silent & (active < 0)
        return {"open": ~silent & ~leaking, "leaking": leaking, "silent": silent}

    def parts(run: Trace) -> np.ndarray:
        """The share of each kind, for each token: (kind, token)."""
        found = sorted_out(run)
        return np.stack([found[kind].mean(axis=1) for kind in colours])

    found, drawn = sorted_out(view.trace), view.compared(parts, ("", "token"))
    kinds = [word(f"share_{kind}") for kind in colours]
    view.picture(
        "shares",
        grouped_bars(
            dict(zip(kinds, drawn, strict=True)),
            view.token_axis("axis.token"),
            word("axis_share"),
            list(colours.values()),
            stacked=True,
            value_range=None if view.differs else (0, 1),
            font_size=view.font_size,
        ),
        text(
            f"read_shares_{bend}",
            token=tokens[token],
            silent=f"{found['silent'][token].mean():.1%}",
            leaking=f"{found['leaking'][token].mean():.1%}",
            always=int(found["silent"].all(axis=0).sum()),
            d_ff=d_ff,
        ),
        on_pick=lambda _, place: select(token=place),
        difference=Difference(drawn, (Axis("", kinds), view.token_axis("axis.token")), upwards=True),
    )


# -- one neuron --------------------------------------------------------------------------------------------------


def activations(
    name: str,
    values: np.ndarray,
    there: np.ndarray | None,
    names: Axis,
    lit: Sequence[bool],
    sentence: str,
    choose: Callable[[int], None],
    *,
    of: int | None = None,
    height: int | None = None,
    title: str | None = None,
) -> None:
    """Activations as bars, each of which can be clicked. there: those of the other run. lit: in another colour. of: the
    one token whose they are.
    """
    colours = [ACCENT if one else AFTER for one in lit]
    look = {"differs": view.differs, "there": there, "font_size": view.font_size, "height": height}
    view.picture(
        name,
        bars(values, names, word("axis_activation"), colours=colours, **look),
        sentence + view.which_is_which(of),
        on_pick=lambda place, _: choose(place),
        title=title,
        difference=Difference(values, [names]),
        still=there is not None,
    )


def most_active() -> None:
    """The selected token's most active neurons, or those that differ most; a click chooses one."""
    values = view.shown(prefix + "activation", blank=True)[token]
    best = np.argsort(-np.abs(values) if view.differs else -values, kind="stable")
    best = best[: LISTED if view.font_size <= 12 else LISTED_LARGE]
    there = view.marked(lambda run: run[prefix + "activation"], ("token", "d_ff"))
    there = None if there is None else there[token, best]
    names = Axis(word("a_neuron"), [str(place + 1) for place in best])
    said = {"neuron": best[0] + 1, "value": f"{active[token, best[0]]:.2f}", "listed": len(best)}
    height = on_screen(80 + 24 * len(best) * view.font_size / 12, view.font_size)
    sentence = text("read_best", token=tokens[token], **said)

    def choose(place: int) -> None:
        select(neuron=int(best[place]))

    activations("best", values[best], there, names, best == neuron, sentence, choose, of=token, height=height)


def fires() -> None:
    """The chosen neuron over all tokens of the input."""
    values, drawn = active[:, neuron], view.shown(prefix + "activation", blank=True)[:, neuron]
    there = view.marked(lambda run: run[prefix + "activation"][:, neuron], ("token",))
    said = {"token": tokens[int(values.argmax())], "value": f"{values.max():.2f}", "n": len(tokens)}
    fired = "read_fires" if values.max() > 0 else "read_fires_nowhere"
    sentence = text(fired, neuron=neuron + 1, quiet=int((np.abs(values) < SILENT).sum()), **said)
    names, title = view.token_axis("axis.token"), word("fires_title", neuron=neuron + 1)
    lit = np.arange(len(tokens)) == token
    activations("fires", drawn, there, names, lit, sentence, lambda place: select(token=place), title=title)


def outputs() -> tuple[Sequence[str], bool]:
    """What `pushes` has a score for: the classes of a picture, or words; and whether they are classes."""
    reader = view.pipeline.reader
    if view.trace.picture is not None:
        return [class_label(label) for label in reader.labels], True
    return reader.vocabulary, False


def writes_towards() -> None:
    """In one line, the words or classes to which the chosen neuron's output points; the pictures are another part."""
    scores, (labels, classes) = pushed(view.choice.pipeline, view.choice.layer, neuron), outputs()
    ranked = [i for i in np.argsort(-scores, kind="stable").tolist() if labels[i] not in SPECIAL_TOKENS]
    many = 1 if classes else 5
    up, down = (plain("common.comma").join(labels[i] for i in places[:many]) for places in (ranked, ranked[::-1]))
    st.markdown(t("neuron.writes", neuron=neuron + 1, up=up, down=down))


def writes() -> None:
    """Where the chosen neuron's output vector points: the words, or the classes, that it pushes up and down."""
    scores, (labels, classes) = pushed(view.choice.pipeline, view.choice.layer, neuron), outputs()
    if classes:
        kind = "read_classes_one" if len(tokens) == 1 else "read_classes"
        if view.trace.config.distillation_head:
            kind = "read_classes_two"
        said = {"up": labels[int(scores.argmax())], "down": labels[int(scores.argmin())]}
        push_picture("classes", "axis_class", labels, scores, text(kind, neuron=neuron + 1, **said))
    else:
        words_pushed(scores, labels)
    if not classes and (answer is None or "class" in answer.axes):
        st.markdown(text("no_words" if view.choice.checkpoint else "untrained"))
    st.markdown(text("memory", neuron=neuron + 1))


def words_pushed(scores: np.ndarray, vocabulary: Sequence[str]) -> None:
    """The words that the chosen neuron pushes up most, and those that it pushes down most. scores: (word,)."""
    ranked = np.argsort(-scores, kind="stable")
    for column, name, places in zip(st.columns([1, 1]), ("up", "down"), (ranked, ranked[::-1]), strict=True):
        first = [place for place in places[: PUSHED + 5] if vocabulary[place] not in SPECIAL_TOKENS][:PUSHED]
        names = [vocabulary[place] for place in first]
        said = {"words": plain("common.comma").join(names[:3]), "value": f"{scores[first[0]]:.2f}"}
        with column:
            push_picture(name, "axis_word", names, scores[first], text(f"read_{name}", neuron=neuron + 1, **said))


def push_picture(name: str, title: str, names: Sequence[str], values: np.ndarray, sentence: str) -> None:
    colour = BEFORE if name == "down" else AFTER
    figure = bars(values, Axis(word(title), names), word("axis_push"), colours=colour, font_size=view.font_size)
    view.picture(name, figure, sentence, still=True)


# -- every token for itself --------------------------------------------------------------------------------------


def for_itself() -> None:
    """Shuffled and alone: the FFN gives each token the same; attention does not."""
    attends, *_, thinks = view.trace.graph.sublayers(view.choice.layer)
    turn = st.session_state.get("feed_forward.turn", 0)
    test = proof(view.choice.pipeline, view.choice.layer, view.trace[attends.reads], view.trace[thinks.reads], turn)
    st.markdown(text("positionwise"))
    many = len(tokens) > 1
    columns = st.columns([1, 1])
    with columns[0]:
        gap = f"{test.shuffle_gap:.1e}" if test.shuffle_gap else "0"
        said = {"token": tokens[test.order[0]], "place": test.order[0] + 1, "gap": gap}
        view.picture(
            "shuffled",
            wide_heatmap(
                test.shuffled,
                Axis(word("axis_shuffled"), [tokens[place] for place in test.order]),
                plain("axis.d_model"),
                limit=float(np.quantile(np.abs(test.shuffled), 0.999)) or None,
                font_size=view.font_size,
            ),
            text("read_shuffled" if many else "read_shuffled_one", **said),
            law_of=[prefix + name for name in ("hidden", "activation", "output")],
        )
        st.button(
            word("again"),
            key="feed_forward.again",
            icon=":material/shuffle:",
            disabled=not many,
            on_click=lambda: st.session_state.update({"feed_forward.turn": turn + 1}),
        )
    with columns[1]:
        gaps = {word("gap_ffn"): test.ffn_gaps, word("gap_attention"): test.attention_gaps}
        view.picture(
            "alone",
            grouped_bars(
                gaps,
                Axis(plain("axis.token"), tokens),  # of this run alone
                word("axis_gap"),
                (ACCENT, BEFORE),
                value_range=None if many else (0, 1),
                font_size=view.font_size,
            ),
            text(
                "read_alone" if many else "read_alone_one",
                ffn=f"{test.ffn_gaps.max():.1e}" if test.ffn_gaps.any() else "0",
                attention=f"{test.attention_gaps.max():.2f}",
            ),
            on_pick=lambda _, place: select(token=place),
        )


if view.story:
    most_active()
    loud = int((active[token] >= active[token].max() / 2).sum()) if active[token].max() > 0 else 0
    answers = text("story_neurons", many=d_ff, token=tokens[token], loud=loud)
    view.tell(*answered_most(view, neuron), text("story_alone"), answers)
else:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        panel = view.panel("maps", "curve", "neuron", *["writes"] * points, "output", "alone")
        if panel in ("curve", "neuron", "writes"):
            pick_number("neuron", word("neuron", d_ff=d_ff), d_ff, neuron)
    match panel:
        case "maps":
            maps()
        case "curve":
            columns = st.columns([1, 1])
            with columns[0]:
                curve()
            with columns[1]:
                shares()
        case "neuron":
            columns = st.columns([1, 1])
            with columns[0]:
                most_active()
            with columns[1]:
                fires()
            show_contexts(view, neuron)
            if points:
                writes_towards()
        case "writes":
            writes()
        case "output":
            sentence = text("read_output", d_ff=d_ff, d_model=view.trace.config.d_model)
            cell_maps(view, [prefix + "output"], [sentence], [{"title": word("output")}], stacked=True)
        case "alone":
            for_itself()

hidden = active = np.empty(0)  # what the pictures call when clicked keeps this page's names
view.close(FeedForward)
