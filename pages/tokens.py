"""Tokens: the pieces of the input, their vectors, their places, and the sum X⁰ that the first layer reads."""

import math

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from model import WeightsError
from model.analysis import cosine_similarity, cut_words, largest_terms, nearest_rows, piece_kinds, token_places
from model.config import PRESETS
from model.embedding import FlatEmbedding, LearnedPositions, PatchEmbedding, SinusoidalPositions, TokenEmbedding
from model.pipeline import SPECIAL_TOKENS
from pages.ui import session
from pages.ui.figures import Axis, bars, figure_of, heatmap, heatmap_parts, tiles, waves
from pages.ui.patches import how_it_is_prepared, position_maps
from pages.ui.text import literal, plain, t
from pages.ui.view import View, pick, pick_number, show_terms, terms_table

EQUATIONS = {
    "words": r"X_{\text{embed}} = E[x] \cdot \sqrt{d_{model}}",
    "patches": r"X_{\text{embed}} = [\,x_{cls};\; p_1 W_E + b;\; \ldots;\; p_n W_E + b\,]",
    "flat": r"X_{\text{embed}} = p\, W_E + b",
}
SINES = (
    r"\begin{aligned} PE(pos, 2i) &= \sin\left(pos / 10000^{2i/d_{model}}\right) \\"
    r" PE(pos, 2i+1) &= \cos\left(pos / 10000^{2i/d_{model}}\right) \end{aligned}"
)
SLATE = "#5B7083"  # of bars that are neither query, key nor value
BADGES = {"first": "orange", "later": "orange", "unk": "red", "cls": "violet", "sep": "violet", "mask": "violet"}
DECIMALS = 5  # in the arithmetic by hand

view = View("tokens", r"X^{(0)} = X_{\text{embed}} + E_{pos}")
tokens, config = view.trace.tokens, view.trace.config
pipeline = session.pipeline(view.choice.pipeline)
embedding = pipeline.network.embedding
positions_table = embedding.positions.table.numpy()  # of all places that the model knows
X_embed, E_pos, X_0 = (view.trace[f"embedding.{name}"] for name in ("tokens", "positions", "sum"))
d_model, N = config.d_model, len(tokens)
usual = 1  # the token chosen at first: the first word, or the patch with most ink
if config.input != "words":
    drawing = np.frombuffer(view.choice.ink, np.uint8).reshape(config.image_size, -1).astype(np.float32) / 255
    side = config.patches_per_side if config.input == "patches" else 1
    size = config.image_size // side
    patches = drawing.reshape(side, size, side, size).swapaxes(1, 2)  # (row, column, size, size)
    pixels = patches.reshape(side * side, size * size)
    first = N - len(pixels)  # where the patches begin: after [CLS], if there is one
    usual = first + int(pixels.sum(axis=1).argmax())
token = min(st.session_state.get("token", usual), N - 1)
dimension = min(st.session_state.get("dimension", 0), d_model - 1)
axis_token, axis_dimension = view.tokens("axis.token"), Axis(plain("tokens.axis_dimension"))


def choose(row: int, column: int) -> None:
    st.session_state["token"], st.session_state["dimension"] = row, column


def length(vectors: np.ndarray) -> str:
    """The mean length of some vectors."""
    return f"{np.linalg.norm(vectors, axis=1).mean():.2f}"


def matrix(values: np.ndarray) -> go.Figure:
    """A (token, d_model) picture with the chosen cell outlined."""
    traces, layout = heatmap_parts(
        values,
        axis_token,
        axis_dimension,
        limit=limit,
        cell=(token, dimension),
        clickable=d_model <= 64,
        square=False,
        font_size=view.font_size,
        height=int(min(520, max(190, 110 + N * 18 * view.font_size / 12))),
    )
    traces[0]["colorbar"]["nticks"] = 6  # these scales run to odd numbers; with fewer only the 0 may be named
    return figure_of(traces, layout)


def matrix_picture(name: str, values: np.ndarray, sentence: str, equation: str) -> None:
    view.picture(
        name,
        matrix(values),
        sentence,
        stage=f"embedding.{name}",
        equation=equation,
        on_pick=choose if d_model <= 64 else None,
    )


def lighter(figure: go.Figure) -> go.Figure:
    """A heatmap of values in [−1, 1] sent as bytes, a quarter of the load; the hover names the cell only."""
    cells = figure.data[0]
    cells.update(z=np.rint(cells.z * 127).astype(np.int8), zmin=-127, zmax=127)
    cells.colorbar.update(tickvals=[-127, 0, 127], ticktext=["−1", "0", "1"])
    cells.hovertemplate = cells.hovertemplate.replace("%{z:.4f}", "")
    return figure


@st.cache_data(max_entries=500, show_spinner=False)
def neighbours(name: str, piece: int) -> tuple[list[str], np.ndarray, float]:
    """The pieces whose rows of E point most nearly the same way, their cosines, and the mean cosine to all pieces."""
    owner = session.pipeline(name)
    E, vocabulary = owner.network.embedding.E.weight.numpy(), owner.reader.vocabulary
    best, cosines = nearest_rows(E, piece, leave_out=[vocabulary.index(special) for special in SPECIAL_TOKENS])
    return [vocabulary[i] for i in best], cosines, float(cosine_similarity(E[[piece]], E).mean())


@st.cache_resource(max_entries=32, show_spinner=False)
def whole_table(name: str, place: str, dimension: str, font_size: int) -> dict[str, tuple[np.ndarray, go.Figure]]:
    """All positions of the sentence model ("sinusoidal") or the digit model ("learned"), and how alike they are.

    The same for every input, so drawn once. place, dimension: titles of axes. Raises WeightsError.
    """
    places, look = Axis(place), {"font_size": font_size}
    if name == "sinusoidal":
        table = SinusoidalPositions(PRESETS["text"].d_model, PRESETS["text"].max_len).table.numpy()
    else:
        table = session.pipeline("digits").network.embedding.positions.table.numpy()
    figure = heatmap(table, places, Axis(dimension), square=False, height=330, **look)
    alike = cosine_similarity(table)
    return {
        name: (table, lighter(figure) if name == "sinusoidal" else figure),
        f"similar_{name}": (alike, heatmap(alike, places, places, limit=1.0, height=400, **look)),
    }


# -- 1 · pieces ------------------------------------------------------------------------------------

how_it_is_prepared(view)
st.subheader(plain(f"tokens.pieces_{config.input}"), anchor=False)
if config.input == "words":
    kinds = piece_kinds(tokens)
    st.markdown(
        " ".join(
            f":{BADGES.get(kind, 'gray')}-badge[{literal(piece)}]" for piece, kind in zip(tokens, kinds, strict=True)
        )
    )
    st.markdown(t("tokens.read_pieces", pieces=N, vocabulary=f"{config.vocab_size:,}"))
    cut = cut_words(tokens)
    if cut:
        said = [
            t("tokens.read_cut", word="".join(p.removeprefix("##") for p in word), n=len(word), pieces=" + ".join(word))
            for word in cut[:3]
        ]
        st.markdown("\n".join(f"- {line}" for line in said))
        st.markdown(t("tokens.read_marks"))
    else:
        example = plain("tokens.rare_word")
        pieces = pipeline.reader.read(example).tokens[1:-1]
        st.markdown(t("tokens.read_uncut", word=example, pieces=" + ".join(pieces)))
    if "character" in kinds:
        st.markdown(t("tokens.read_characters"))
    if "unk" in kinds:
        st.markdown(t("tokens.read_unk"))
    if "mask" in kinds:
        st.markdown(t("tokens.read_mask"))
    st.markdown(t("tokens.read_special"))
    table = pd.DataFrame(
        {
            plain("tokens.column_piece"): tokens,
            plain("tokens.column_id"): view.trace.ids,
            "pos": range(N),
            plain("tokens.column_kind"): [plain(f"tokens.kind_{kind}") for kind in kinds],
        },
        index=range(1, N + 1),
    )
    st.dataframe(table, key="tokens.pieces", height=min(38 + 35 * N, 360))
else:

    def choose_patch(row: int, column: int) -> None:
        st.session_state["token"] = first + row * side + column

    columns = st.columns([2, 3])
    with columns[0]:
        places = [str(i + 1) for i in range(side)]
        view.picture(
            "patches",
            tiles(
                patches,
                Axis(plain("tokens.axis_row"), places),
                Axis(plain("tokens.axis_column"), places),
                chosen=divmod(token - first, side) if side > 1 and token >= first else None,
                hover=tokens[first:],
                font_size=view.font_size,
                height=360,
            ),
            t(f"tokens.read_{config.input}", patches=len(pixels), size=size, pixels=size * size, d_model=d_model),
            values=patches if side > 1 else drawing,
            table=pd.DataFrame(pixels, index=tokens[first:]),
            on_pick=choose_patch if side > 1 else None,
        )
    with columns[1]:
        row = max(token - first, 0)
        view.picture(
            "pixels",
            heatmap(
                pixels[[row]],
                Axis(plain("axis.token"), [tokens[first + row]]),
                Axis(plain("tokens.axis_pixel")),
                scale="share",
                square=False,
                font_size=view.font_size,
                height=170,
            ),
            t("tokens.read_pixels", token=tokens[first + row], pixels=size * size, ink=int((pixels[row] > 0.5).sum())),
            values=pixels[[row]],
            equation=r"p",
        )
        if config.input == "patches":
            st.markdown(t("tokens.read_cls"))

# -- 2 · what each token is ------------------------------------------------------------------------

st.subheader(plain("tokens.what"), anchor=False)
same = st.toggle(plain("tokens.same_range"), key="tokens.same_range", persist_state="session")
limit = float(max(np.abs(values).max() for values in (X_embed, E_pos, X_0))) if same else None
twice = next(([i for i, other in enumerate(tokens) if other == name] for name in tokens if tokens.count(name) > 1), [])

if config.input == "words":
    root = embedding.scale
    rows = X_embed / np.float32(root)  # E[x], as the matrix holds it
    columns = st.columns(2)
    with columns[0]:
        view.picture(
            "rows",
            matrix(rows),
            t("tokens.read_rows", token=tokens[token], id=view.trace.ids[token])
            + (" " + t("tokens.read_same_row", token=tokens[twice[0]], n=len(twice)) if twice else ""),
            values=rows,
            equation=r"E[x]",
        )
    with columns[1]:
        sentence = t(
            "tokens.read_tokens",
            d_model=d_model,
            root=f"{root:.4g}",
            before=length(rows),
            after=length(X_embed),
            positions=length(E_pos),
        )
        matrix_picture("tokens", X_embed, sentence, EQUATIONS["words"])
    st.markdown(f"**{plain('tokens.neighbours_title')}**")
    columns = st.columns([1, 2])
    with columns[0]:
        word = pick("word", plain("tokens.pick_word"), tokens, default=2)
        words, cosines, mean = neighbours(view.choice.pipeline, view.trace.ids[word])
        st.markdown(t("tokens.about_neighbours", mean=f"{mean:.2f}"))
    with columns[1]:
        view.picture(
            "neighbours",
            bars(
                cosines,
                Axis(plain("tokens.column_piece"), words),
                plain("tokens.axis_cosine"),
                colours=SLATE,
                font_size=view.font_size,
                height=int(310 * view.font_size / 12),
            ),
            t("tokens.read_neighbours", token=tokens[word], nearest=words[0], cosine=f"{cosines[0]:.2f}"),
            equation=r"\cos(a, b) = \frac{a \cdot b}{\lVert a \rVert\, \lVert b \rVert}",
            table=pd.DataFrame({"cosine": cosines}, index=words),
        )
else:
    matrix_picture(
        "tokens",
        X_embed,
        t(f"tokens.read_tokens_{config.input}", pixels=size * size, d_model=d_model, length=length(X_embed[first:])),
        EQUATIONS[config.input],
    )
    st.markdown(t("tokens.no_neighbours"))

# -- 3 · where it stands ---------------------------------------------------------------------------

st.subheader(plain("tokens.where"), anchor=False)
sinusoidal = config.positions == "sinusoidal"
columns = st.columns(2)
with columns[0]:
    matrix_picture(
        "positions",
        E_pos,
        t("tokens.one_place" if N == 1 else f"tokens.read_positions_{config.positions}"),
        SINES if sinusoidal else r"E_{pos} \in \mathbb{R}^{N \times d_{model}} \text{ (learned)}",
    )
with columns[1]:
    # With a single place there is nothing to draw a line through: then the text model's waves stand for all.
    text = PRESETS["text"]
    table = positions_table if N > 1 else SinusoidalPositions(text.d_model, text.max_len).table.numpy()
    width = table.shape[1]
    lines = [0, width // 16, width // 8, width // 4, width // 2]  # even: sines
    shown = [*lines, dimension] if N > 1 and dimension not in lines else lines
    turns = [f"{2 * math.pi * 10_000 ** (j / width):,.0f}" for j in (lines[0], lines[-1])]
    view.picture(
        "waves",
        waves(
            table,
            shown,
            Axis(plain("tokens.axis_place")),
            plain("tokens.axis_value"),
            used=N if N > 1 else None,
            chosen=(token, dimension) if N > 1 else None,
            font_size=view.font_size,
        ),
        t("tokens.read_waves", fast=turns[0], slow=turns[1], last=lines[-1])
        + " "
        + t("tokens.read_waves_used" if N > 1 else "tokens.read_waves_one", used=N)
        if sinusoidal
        else t("tokens.read_waves_learned"),
        table=pd.DataFrame(table[:, shown], columns=[f"j = {j}" for j in shown]),
    )

st.markdown(f"**{plain('tokens.compare')}**")
st.markdown(t("tokens.about_compare"))
columns = st.columns(2)
for column, name in zip(st.columns(2), ("sinusoidal", "learned"), strict=True):
    with column:
        titles = plain("tokens.axis_place"), plain("tokens.axis_dimension")
        try:
            drawn = whole_table(name, *titles, view.font_size)
        except WeightsError as error:
            st.info(t("tokens.no_learned", file=error.file), icon=":material/info:")
            continue
        alike = drawn[f"similar_{name}"][0]
        if name == "sinusoidal":
            near, far = (np.diagonal(alike, distance).mean() for distance in (1, 20))
        else:
            places = token_places(PRESETS["digits"], len(alike))[1:]  # [CLS] stands nowhere
            away = np.linalg.norm(places[:, None] - places[None, :], axis=-1)
            near, far = alike[1:, 1:][away == 1].mean(), alike[1:, 1:][away > 1].mean()
        for picture, (values, figure) in drawn.items():
            view.picture(
                picture,
                figure,
                t(f"tokens.read_{picture}", near=f"{near:.2f}", far=f"{far:.2f}"),
                values=values,
                equation=r"\cos(E_{pos}[p],\, E_{pos}[p'])" if picture != name else None,
                table=pd.DataFrame(values),
            )

position_maps(view, token)

# -- 4 · the sum -----------------------------------------------------------------------------------

st.subheader(plain("tokens.sum_title"), anchor=False)
if twice:
    likeness = cosine_similarity(X_0[twice[:2]])[0, 1]
    sentence = t(
        "tokens.read_sum_twice",
        token=tokens[twice[0]],
        first=twice[0] + 1,
        second=twice[1] + 1,
        cosine=f"{likeness:.2f}",
    )
else:
    sentence = t("tokens.read_sum", tokens=length(X_embed), positions=length(E_pos), sum=length(X_0))
matrix_picture("sum", X_0, sentence, r"X^{(0)} = X_{\text{embed}} + E_{pos}")

# -- by hand ---------------------------------------------------------------------------------------


def number(value: float) -> str:
    """A number inside a sum or product: negative ones in brackets."""
    return f"({value:.{DECIMALS}f})" if value < 0 else f"{value:.{DECIMALS}f}"


def position_by_hand(pos: int, j: int) -> tuple[list[str], float]:
    """The lines of arithmetic for E_pos[pos, j], and the number that they end with."""
    if not sinusoidal:
        value = round(float(E_pos[pos, j]), DECIMALS)
        return [rf"E_{{pos}}[{pos}]_{{{j}}} &= {value:.{DECIMALS}f}"], value
    function = math.cos if j % 2 else math.sin
    name, exponent = rf"\{function.__name__}", rf"{j - j % 2}/{d_model}"
    divisor = f"{10_000 ** ((j - j % 2) / d_model):.7g}"
    angle = round(pos / float(divisor), 6)
    value = round(function(angle), DECIMALS)
    return [
        rf"PE({pos}, {j}) &= {name}\frac{{{pos}}}{{10000^{{{exponent}}}}} = {name}\frac{{{pos}}}{{{divisor}}}",
        rf"&= {name}({angle:.6f}) = {value:.{DECIMALS}f}",
    ], value


with view.by_hand():
    st.markdown(t("tokens.hand_intro"))
    columns = st.columns(2)
    with columns[0]:
        i = pick("token", plain("tokens.hand_token"), tokens, default=usual)
    with columns[1]:
        j = pick_number("dimension", plain("tokens.axis_dimension"), d_model)
    st.markdown(t("tokens.hand_place", token=tokens[i], place=i + 1, pos=i))
    if config.input == "words":
        piece = view.trace.ids[i]
        entry, factor = round(float(embedding.E.weight[piece, j]), 8), round(root, 6)
        part = round(entry * factor, DECIMALS)
        st.markdown(t("tokens.hand_row", token=tokens[i], id=piece, j=j))
        lines = [
            rf"E[{piece}]_{{{j}}} \cdot \sqrt{{{d_model}}} &= {entry:.8f} \times {factor:.10g}",
            rf"&= {part:.{DECIMALS}f}",
        ]
    elif i < first:
        part = round(float(X_embed[i, j]), DECIMALS)
        st.markdown(t("tokens.hand_cls", j=j))
        lines = [rf"(x_{{cls}})_{{{j}}} &= {part:.{DECIMALS}f}"]
    else:
        W_E = embedding.W_E
        terms = largest_terms(pixels[i - first], W_E.weight[j], float(W_E.bias[j]), 16, DECIMALS)
        part = terms.total
        st.markdown(t("tokens.hand_patch", token=tokens[i], pixels=size * size, j=j))
        names = [plain("tokens.pixel", row=place // size + 1, column=place % size + 1) for place in terms.places]
        table = terms_table(terms, plain("tokens.column_pixel"), names, ("p", "W_E"))
        show_terms(table, "tokens.products", DECIMALS)
        lines = [rf"(p\, W_E + b)_{{{j}}} &= {part:.{DECIMALS}f}"]
    more, place_part = position_by_hand(i, j)
    total = part + place_part
    lines += [*more, rf"X^{{(0)}} &= {number(part)} + {number(place_part)} = \mathbf{{{total:.{DECIMALS}f}}}"]
    st.latex(r"\begin{aligned}" + r" \\[4pt] ".join(lines) + r"\end{aligned}")
    st.markdown(t("tokens.hand_recorded", value=f"{X_0[i, j]:.4f}"))

sources = {"words": TokenEmbedding, "patches": PatchEmbedding, "flat": FlatEmbedding}
view.close(sources[config.input], SinusoidalPositions if sinusoidal else LearnedPositions)
