"""Home: what this is, and the whole encoder at a glance for the input on screen."""

import re
from itertools import pairwise

import numpy as np
import pandas as pd
import streamlit as st
from plotly.colors import get_colorscale

from model import Trace, WeightsError
from model.encoder import Encoder, EncoderLayer
from model.trace import Guess
from pages.ui import digits, session
from pages.ui.components.diagram import diagram, show
from pages.ui.figures import ACCENT, ROLE_COLOURS, Axis, Thumbnail, figure_of, heatmap_parts, thumbnails
from pages.ui.frame import go_to
from pages.ui.text import literal, plain, t
from pages.ui.view import View, shape

ATTENTION = "layers.{l}.attention."

view = View("home")
config, head, tokens = view.trace.config, view.choice.head, view.trace.tokens
hidden = [guess for guess in view.trace.answer if guess.token is not None and tokens[guess.token] == "[MASK]"]
stream = "layers.{l}." + ("add_1" if config.norm_first else "norm_1")  # X′, what the feed-forward network is given
Z = view.trace.Z


def ranked(guess: Guess) -> list[tuple[str, float]]:
    """The labels in the reader's language with their probabilities, best first."""
    pairs = sorted(zip(guess.labels, guess.probabilities, strict=True), key=lambda pair: -pair[1])
    return [(plain(f"sidebar.{name}") if name in ("even", "odd") else name, share) for name, share in pairs]


def in_words(guess: Guess, text: str) -> str:
    """The best label and the runners-up, as a sentence."""
    (best, share), *rest = ranked(guess)[:4]
    others = ", ".join(f"{name} {p:.2f}" for name, p in rest)
    return t(text, best=best, share=f"{share:.2f}", others=others, place=(guess.token or 0) + 1)


def word_to_hide() -> str | None:
    """The longest word of the sentence that is one token, the last of equals; None where there is none."""
    whole = [
        token
        for token, following in pairwise([*tokens, ""])
        if token.isalnum() and not following.startswith("##") and as_typed(token).search(view.choice.sentence)
    ]
    return max(reversed(whole), key=len, default=None)


def as_typed(word: str) -> re.Pattern[str]:
    """Finds a token in the sentence, but not inside a longer English word."""
    return re.compile(rf"(?<![A-Za-z]){re.escape(word)}(?![A-Za-z])", re.IGNORECASE)


def hide(word: str) -> None:
    st.session_state["s"] = as_typed(word).sub("[MASK]", view.choice.sentence, count=1)


def answer() -> None:
    """What the encoder makes of the input, in words; where nothing is hidden, an invitation to hide a word."""
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        if config.head == "none":
            st.markdown(t("untrained.no_answer"))
        elif config.head == "classifier":
            st.markdown(in_words(view.trace.answer[0], f"home.answer_{config.input}"))
        elif hidden:
            st.markdown("  \n".join(in_words(guess, "home.answer_hidden") for guess in hidden))
        else:
            st.markdown(t("home.answer_invite"))
            if word := word_to_hide():
                st.button(plain("home.hide", word=literal(word)), on_click=hide, args=(word,), key="home.hide")


def drawing() -> None:
    """The encoder as a drawing; a box that is clicked opens its page."""
    guesses = hidden or (view.trace.answer if config.head == "classifier" else ())
    best = "{}: {:.2f}".format(*ranked(guesses[0])[0]) if guesses else ""
    words = {"layer": view.choice.layer + 1, "N": config.layers, "n": len(tokens)}
    page = show(
        diagram(view.trace, view.choice.layer, best),
        ROLE_COLOURS[view.mode],
        plain("diagram.label", **words),
        key="home.diagram",
    )
    if page:
        # Without query_params=, Streamlit refuses to go while widgets are bound to the URL; there they write it again.
        go_to(page)
    st.caption(t("home.diagram_help", **words))


def tensors() -> list[list[tuple[str, Thumbnail]]]:
    """The real tensors on the way, line by line: each with its symbol in plain letters."""
    rows = view.token_names()
    colours, text = ROLE_COLOURS[view.mode], {"light": "#172033", "dark": "#e8edf6"}[view.mode]

    def of(symbol: str, values: np.ndarray, markup: str = "", scale: str = "signed") -> tuple[str, Thumbnail]:
        title = f"<b>{markup or symbol}</b>  {shape(values)}"
        return symbol, Thumbnail(title, values, rows, scale, colours.get(symbol, text))

    def head_of(name: str) -> np.ndarray:
        return view.value(ATTENTION + name)[head]

    return [
        [of("X⁽⁰⁾", view.trace["embedding.sum"], "X<sup>(0)</sup>")],
        [of(role, head_of(role)) for role in "QKV"],
        [of("S", head_of("scores")), of("A", head_of("weights"), scale="positive"), of("A·V", head_of("heads"))],
        [of("X′", view.value(stream))],
        [of("H", view.value("layers.{l}.ffn.activation"))],
        [of("Z", Z)],
    ]


def at_a_glance() -> None:
    """Small pictures of the tensors, with what the attention weights and the activations say in words."""
    weights = view.value(ATTENTION + "weights")[head]
    fired = view.value("layers.{l}.ffn.activation") > 0
    query, key = np.unravel_index(weights.argmax(), weights.shape)
    sentence = t(
        "home.read_thumbnails" if len(tokens) > 1 else "home.read_single",
        where=view.where(),
        query=tokens[query],
        key=tokens[key],
        value=f"{weights[query, key]:.2f}",
        fired=f"{fired.mean():.0%}",
        cells=f"{fired.size:,}",
    )
    grid = tensors()
    table = pd.DataFrame(
        [
            (symbol, shape(small.values), small.values.min(), small.values.mean(), small.values.max())
            for line in grid
            for symbol, small in line
        ],
        columns=[plain(f"home.column_{name}") for name in ("symbol", "shape", "smallest", "mean", "largest")],
    ).set_index(plain("home.column_symbol"))
    figure = thumbnails([[small for _, small in line] for line in grid], font_size=view.font_size)
    view.picture("thumbnails", figure, sentence, table=table)
    st.caption(t("home.thumbnails_help"))


def where_to_start() -> None:
    for column, who in zip(st.columns(2), ("student", "teacher"), strict=True):
        with column, st.container(border=True, height="stretch"):
            st.markdown(f"**{plain(f'home.{who}')}**\n\n{t(f'home.{who}_start')}")


def side_by_side() -> None:
    """The same block for a sentence and for a drawing: both inputs, then every size and shape in one table."""
    st.subheader(plain("home.side_by_side"), anchor=False)
    st.markdown(t("home.side_by_side_purpose"))
    given, kind = st.session_state["last_good"], view.choice.input
    sentence = given.get(view.choice.pipeline if kind == "sentence" else "text", session.FIRST_SENTENCE)
    ink = given.get("digits") or given.get("flat") or digits.ink(digits.example())
    try:
        words, digit = session.run("text", sentence), session.run("digits", ink)
    except WeightsError as error:
        st.warning(t(f"error.weights_{error.reason}", file=f"model/weights/{error.file}"), icon=":material/error:")
        return
    n, m = len(words.tokens), len(digit.tokens)
    columns = st.columns(2, gap="large")
    with columns[0]:
        st.markdown(f"**{plain('home.words', n=n)}**")
        st.markdown(" ".join(f":gray-background[{literal(token)}]" for token in words.tokens))
        st.markdown(t("home.words_answer"))
    with columns[1]:
        picture = np.frombuffer(ink, np.uint8).reshape(digit.config.image_size, -1) / 255
        view.picture(
            "patches", patches(picture, digit.config.patch_size), in_words(digit.answer[0], "home.digit_answer")
        )
    st.dataframe(shapes(words, digit), key="home.shapes", hide_index=True, height="content")
    st.markdown(t("home.read_side_by_side", n=n, n2=f"{n * n:,}", m=m, m2=f"{m * m:,}"))


def patches(picture: np.ndarray, size: int):
    """A drawing, cut where the patches are cut."""
    look = {"scale": "share", "gaps": False, "font_size": view.font_size, "height": 240}
    traces, layout = heatmap_parts(picture, Axis(""), Axis(""), **look)
    traces[0] |= {"colorscale": get_colorscale("Greys_r"), "showscale": False}
    line, end = {"color": ACCENT, "width": 1}, len(picture) - 0.5
    cuts = [place - 0.5 for place in range(0, len(picture) + 1, size)]
    across = [{"type": "line", "x0": -0.5, "x1": end, "y0": cut, "y1": cut, "line": line} for cut in cuts]
    down = [{"type": "line", "x0": cut, "x1": cut, "y0": -0.5, "y1": end, "line": line} for cut in cuts]
    for side in ("xaxis", "yaxis"):
        layout[side]["visible"] = False
    return figure_of(traces, layout | {"shapes": across + down})


#: The rows of the table: what the last layer held, and its symbol.
LAST = (
    ("embedding.sum", "X⁽⁰⁾"),
    (ATTENTION + "Q", "Q"),
    (ATTENTION + "K", "K"),
    (ATTENTION + "V", "V"),
    (ATTENTION + "scores", "S = Q Kᵀ"),
    (ATTENTION + "weights", "A = softmax(S / √d_k)"),
    (ATTENTION + "heads", "A V"),
    (ATTENTION + "output", "O = Concat · W_O"),
    ("layers.{l}.norm_1", "X′"),
    ("layers.{l}.ffn.activation", "H = act(X′ W₁ + b₁)"),
    ("layers.{l}.norm_2", "Z"),
)
LETTERS = {"token": "n", "query": "n", "key": "n", "head": "h"}


def shapes(words: Trace, digit: Trace) -> pd.DataFrame:
    """Sizes and shapes of both encoders, row by row: in letters, for the sentence, for the digit."""
    sizes = [
        (plain("home.row_layers"), "N", words.config.layers, digit.config.layers),
        (plain("home.row_heads"), "h", words.config.heads, digit.config.heads),
        (plain("home.row_tokens"), "n", len(words.tokens), len(digit.tokens)),
    ]
    rows = [(name, letters, str(left), str(right)) for name, letters, left, right in sizes]
    for stage, symbol in LAST:
        keys = [stage.replace("{l}", str(run.config.layers - 1)) for run in (words, digit)]
        letters = " × ".join(LETTERS.get(axis, axis) for axis in words.axes(keys[0]))
        rows.append((symbol, letters, shape(words[keys[0]]), shape(digit[keys[1]])))
    rows.append(("y", plain("home.row_logits"), shape(words["logits"]), shape(digit["logits"])))
    columns = [plain(f"home.column_{name}") for name in ("symbol", "letters", "words", "digit")]
    return pd.DataFrame(rows, columns=columns)


answer()
columns = st.columns([6, 5] if view.choice.big else [5, 6], gap="large")
with columns[0]:
    drawing()
with columns[1]:
    at_a_glance()
st.subheader(plain("home.start"), anchor=False)
where_to_start()
side_by_side()
view.close(Encoder, EncoderLayer)
