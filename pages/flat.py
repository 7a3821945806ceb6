"""Flat: a drawing as a sequence of length one, stage by stage (lecture note 003): what attention cannot do there."""

import numpy as np
import pandas as pd
import streamlit as st

from model.analysis import largest_terms
from model.embedding import FlatEmbedding
from model.encoder import ScaledDotProductAttention
from model.heads import ClassifierNetwork
from model.trace import Edit
from pages.ui import digits, session
from pages.ui.figures import ROLE_COLOURS, Axis, Thumbnail, bars, drawing, heatmap, over_drawing, thumbnails
from pages.ui.text import plain, t
from pages.ui.view import View, pick, shape

ATTENTION = "layers.0.attention."
#: What the last part of the page disturbs, each with noise of this strength.
DISTURBED = ("Q", "K", "scores", "V")
NOISE = 5.0
DECIMALS = 5

view = View("flat", r"\operatorname{softmax}\left(\frac{q \cdot k}{\sqrt{d_k}}\right) = \frac{e^{s}}{e^{s}} = 1")
if view.choice.input == "sentence":
    st.info(t("flat.borrowed"), icon=":material/draw:")
    ink = digits.ink(st.session_state.get("last_drawing", digits.example()))
else:
    ink = view.choice.ink
flat, cut = view.follow("flat", ink), session.run("digits", ink)  # the page is about "flat", whatever the input
config, pipeline = flat.config, session.pipeline("flat")
pixels = np.frombuffer(ink, np.uint8).astype(np.float32) / 255
image = pixels.reshape(config.image_size, -1)
Q, K, V, scaled, weights, heads = (
    flat[ATTENTION + name] for name in ("Q", "K", "V", "scaled", "weights", "heads")
)  # (head, 1, d_k) and (head, 1, 1)
scores = flat[ATTENTION + "scores"]
layer = {name: flat[f"layers.0.{name}"] for name in ("add_1", "norm_1", "add_2", "norm_2")}
hidden, active, found = (flat[f"layers.0.ffn.{name}"] for name in ("hidden", "activation", "output"))
logits, probabilities = flat["logits"], np.array(flat.answer[0].probabilities, dtype=np.float32)
names = [plain(f"answer.{label}") for label in flat.answer[0].labels]
head_names = [plain("heads.head", head=i + 1) for i in range(config.heads)]
dimension = Axis(plain("axis.d_model"))


def rows(name: str, parts: dict[str, np.ndarray], sentence: str, title: Axis, **look: object) -> None:
    """A picture of several vectors, one under the other, with a colour range of their own."""
    values = np.concatenate(list(parts.values()))
    figure = heatmap(
        values,
        Axis("", list(parts)),
        title,
        square=False,
        font_size=view.font_size,
        height=110 + 26 * len(parts),
        **look,
    )
    view.picture(name, figure, sentence, values=next(iter(parts.values())))


def numbers_table(table: pd.DataFrame, key: str, decimals: int = 6) -> None:
    """A table of numbers with a fixed number of decimals (a pandas Styler would cost several times as much)."""
    number = st.column_config.NumberColumn(format=f"%.{decimals}f")
    st.dataframe(table, key=key, column_config=dict.fromkeys(map(str, table.columns), number))


# -- the nine stages at a glance -------------------------------------------------------------------

concat, output = flat[ATTENTION + "concat"], flat[ATTENTION + "output"]
X_embed, E_pos, X_0 = (flat[f"embedding.{name}"] for name in ("tokens", "positions", "sum"))
STAGES = (
    ("1", "input", "28 · 28", image, pixels),
    ("2", "reshape", "x.view(1, 784)", pixels, pixels[None]),
    ("3", "projection", "x W_E + b", pixels[None], X_embed),
    ("4", "positions", "+ E_pos", X_embed, X_0),
    ("5", "qkv", "X W_Q, X W_K, X W_V (+ b)", X_0, Q),
    ("5", "scores", "Q Kᵀ ÷ √d_k", Q, scaled),
    ("5", "weights", "softmax", scaled, weights),
    ("5", "heads", "A V", weights, heads),
    ("5", "output", "Concat · W_O + b_O", heads, output),
    ("6", "add_norm", "LayerNorm(X + O)", output, layer["norm_1"]),
    ("7", "hidden", "X′ W₁ + b₁", layer["norm_1"], hidden),
    ("7", "relu", "max(0, U)", hidden, active),
    ("7", "back", "H W₂ + b₂", active, found),
    ("7", "add_norm", "LayerNorm(X′ + F)", found, layer["norm_2"]),
    ("8", "logits", "Z W + b", layer["norm_2"], logits),
    ("9", "softmax", "softmax(y)", logits, probabilities),
)
table = pd.DataFrame(
    [
        (
            number,
            plain(f"flat.stage_{name}"),
            operation,
            shape(before),
            shape(after),
            f"{after.min():.2f} … {after.max():.2f}",
        )
        for number, name, operation, before, after in STAGES
    ],
    columns=["", *(plain(f"flat.column_{name}") for name in ("stage", "operation", "in", "out", "values"))],
)
st.subheader(plain("flat.glance"), anchor=False)
st.dataframe(table, key="flat.stages", hide_index=True, height=35 * (len(table) + 1) + 3)
st.markdown(t("flat.read_glance"))

# -- 1 to 4 · from the drawing to one vector -------------------------------------------------------

st.subheader(plain("flat.part_1"), anchor=False)
columns = st.columns([2, 3])
with columns[0]:
    inked = f"{(pixels > 0).mean():.0%}"
    view.picture("input", drawing(image, font_size=view.font_size), t("flat.read_input", inked=inked), values=image)
with columns[1]:
    strip = heatmap(
        pixels[None],
        Axis("", ["x"]),
        Axis(plain("tokens.axis_pixel")),
        scale="share",
        square=False,
        font_size=view.font_size,
        height=150,
    )
    view.picture("reshape", strip, t("flat.read_reshape", pixels=pixels.size), values=pixels[None])
lengths = {name: f"{np.linalg.norm(part):.2f}" for name, part in (("x", X_embed), ("positions", E_pos), ("sum", X_0))}
rows(
    "projection",
    {"x W_E + b": X_embed, "E_pos": E_pos, "X⁰": X_0},
    t("flat.read_projection", d_model=config.d_model, pixels=pixels.size, **lengths),
    dimension,
)

# -- 5 · attention of one token to itself ----------------------------------------------------------

st.subheader(plain("flat.part_2"), anchor=False)
colours = ROLE_COLOURS[view.mode]
grid = [
    [Thumbnail(name, part[:, 0], head_names, colour=colours[name]) for name, part in (("Q", Q), ("K", K), ("V", V))],
    [
        Thumbnail("Q Kᵀ ÷ √d_k", scaled[:, 0], head_names),
        Thumbnail("A = softmax", weights[:, 0], head_names, "share"),
        Thumbnail("A V", heads[:, 0], head_names),
    ],
]
columns = st.columns([3, 2])
with columns[0]:
    view.picture(
        "attention",
        thumbnails(grid, font_size=view.font_size, row_height=150),
        t("flat.read_attention", heads=config.heads, d_k=config.d_k),
        values=Q,
        table=pd.DataFrame(V[:, 0], index=head_names),
    )
with columns[1]:
    every_head = pd.DataFrame(
        {
            "q · k": scores[:, 0, 0],
            "÷ √d_k": scaled[:, 0, 0],
            "softmax": weights[:, 0, 0],
            "max |A V − V|": np.abs(heads - V).max(axis=(1, 2)),
        },
        index=head_names,
    )
    numbers_table(every_head, "flat.heads")
    st.markdown(
        t(
            "flat.read_heads",
            low=f"{scaled.min():.2f}",
            high=f"{scaled.max():.2f}",
            gap=f"{np.abs(heads - V).max():g}",
        )
    )

# -- 6 and 7 · what is left: one linear map, and the feed-forward network --------------------------

st.subheader(plain("flat.part_3"), anchor=False)
rows(
    "add_norm",
    {"X⁰": X_0, "O": output, "X⁰ + O": layer["add_1"], "X′": layer["norm_1"]},
    t("flat.read_add_norm", before=lengths["sum"], found=f"{np.linalg.norm(output):.2f}"),
    dimension,
)
rows(
    "hidden",
    {"U": hidden, "H": active},
    t("flat.read_hidden", d_ff=config.d_ff, on=int((active > 0).sum())),
    Axis(plain("axis.d_ff")),
)
rows(
    "back",
    {"F": found, "X′ + F": layer["add_2"], "Z": layer["norm_2"]},
    t("flat.read_back", d_model=config.d_model, length=f"{np.linalg.norm(found):.2f}"),
    dimension,
)

# -- 8 and 9 · the answer --------------------------------------------------------------------------

st.subheader(plain("flat.part_4"), anchor=False)
best = int(probabilities.argmax())
columns = st.columns(2)
class_axis = Axis(plain("answer.axis_class"), names)
with columns[0]:
    figure = bars(logits, class_axis, "y", font_size=view.font_size, height=170)
    gap = f"{abs(logits[0] - logits[1]):.2f}"
    view.picture("logits", figure, t("flat.read_logits", best=names[best], gap=gap), values=logits)
with columns[1]:
    figure = bars(probabilities, class_axis, plain("answer.axis_probability"), font_size=view.font_size, height=170)
    sentence = t("flat.read_softmax", best=names[best], probability=f"{probabilities[best]:.4f}")
    view.picture("softmax", figure, sentence, values=probabilities)

# -- why attention has nothing to do ---------------------------------------------------------------


@st.cache_data(max_entries=64, show_spinner=False)
def disturbed(ink: bytes) -> np.ndarray:
    """The answer with noise on each of DISTURBED in turn: probabilities (place, class)."""
    runs = [session.pipeline("flat")(ink, [Edit(ATTENTION + place, "noise", NOISE)]) for place in DISTURBED]
    return np.array([run.answer[0].probabilities for run in runs], dtype=np.float32)


st.subheader(plain("flat.why"), anchor=False)
learned = {name: weight.numel() for name, weight in pipeline.network.named_parameters()}
idle = sum(count for name, count in learned.items() if ".W_Q." in name or ".W_K." in name)
numbers = {"idle": f"{idle:,}", "all": f"{sum(learned.values()):,}", "share": f"{idle / sum(learned.values()):.0%}"}
st.markdown(t("flat.why_text", score=f"{scaled[0, 0, 0]:.2f}", **numbers))
answers = disturbed(ink)
changes = np.abs(answers - probabilities).max(axis=1)
first, *places = [
    plain("flat.undisturbed"),
    *(plain("flat.noise_on", place=plain(f"flat.{place}")) for place in DISTURBED),
]
table = pd.DataFrame(
    np.column_stack([np.vstack([probabilities, answers]), [0.0, *changes]]),
    index=[first, *places],
    columns=[*names, plain("flat.column_change")],
)
numbers_table(table, "flat.disturbed")
st.markdown(t("flat.read_disturbed", noise=f"{NOISE:g}", still=f"{changes[:3].max():g}", value=f"{changes[3]:.4f}"))

# -- the patch version beside it -------------------------------------------------------------------

st.subheader(plain("flat.beside"), anchor=False)
st.markdown(t("flat.beside_text"))
patch_answer = np.array(cut.answer[0].probabilities)
even = float(patch_answer[::2].sum())
last = cut.config.layers - 1
row = cut[f"layers.{last}.attention.weights"][:, 0].mean(axis=0)
looked = 1 + int(row[1:].argmax())


def measured(name: str) -> str:
    """How often the network is right on MNIST's test set, as measured after its training."""
    value = session.pipeline(name).measured.get("test_accuracy")
    return "–" if value is None else f"{value:.1%}"


columns = st.columns([3, 2])
with columns[0]:
    lines = {
        "tokens": (len(flat.tokens), len(cut.tokens)),
        "sizes": tuple(f"{c.layers} · {c.heads} · {c.d_model}" for c in (config, cut.config)),
        "weights": tuple(f"{len(run.tokens)} × {len(run.tokens)}" for run in (flat, cut)),
        "learned": tuple(
            f"{sum(weight.numel() for weight in session.pipeline(name).network.parameters()):,}"
            for name in ("flat", "digits")
        ),
        "answer": (names[best], cut.answer[0].best),
        "even": (f"{probabilities[0]:.4f}", f"{even:.4f}"),
        "measured": (measured("flat"), measured("digits")),
    }
    comparison = pd.DataFrame(
        [tuple(map(str, values)) for values in lines.values()],
        index=[plain(f"flat.row_{name}") for name in lines],
        columns=[plain("flat.column_flat"), plain("flat.column_patches")],
    )
    st.dataframe(comparison, key="flat.beside")
    st.markdown(
        t(
            "flat.read_beside",
            flat=names[best],
            digit=cut.answer[0].best,
            share=f"{patch_answer.max():.0%}",
            even=f"{even:.4f}",
        )
    )
    figure = bars(
        patch_answer,
        Axis(plain("answer.axis_class"), cut.answer[0].labels),
        plain("answer.axis_probability"),
        font_size=view.font_size,
        height=300,
    )
    view.picture("patch_answer", figure, t("flat.read_patch_answer", even=f"{even:.4f}"), values=patch_answer)
with columns[1]:
    view.picture(
        "patch_attention",
        over_drawing(image, row, cut.tokens, 0, plain("attention.weight"), font_size=view.font_size, height=380),
        t("flat.read_patch_attention", layer=last + 1, best=cut.tokens[looked], value=f"{row[looked]:.3f}"),
        values=row,
        table=pd.DataFrame({plain("attention.weight"): row}, index=cut.tokens),
    )

# -- by hand ---------------------------------------------------------------------------------------

with view.by_hand():
    st.markdown(t("flat.hand_intro"))
    head = pick("flat.head", plain("sidebar.head"), head_names, numbered=False)
    terms = largest_terms(Q[head, 0], K[head, 0], most=config.d_k, decimals=DECIMALS)
    order = np.argsort(terms.places)
    products = pd.DataFrame(
        {"q": terms.x[order], "k": terms.w[order], "q · k": terms.products[order]},
        index=[str(i + 1) for i in range(config.d_k)],
    )
    numbers_table(products.T, "flat.products", DECIMALS)
    score = round(terms.total / config.d_k**0.5, DECIMALS)
    numbers = {"sum": f"{terms.total:.{DECIMALS}f}", "root": f"{config.d_k**0.5:g}", "scaled": f"{score:.{DECIMALS}f}"}
    st.markdown(t("flat.hand_score", **numbers))
    st.markdown(t("flat.hand_weight", scaled=numbers["scaled"]))
    st.markdown(t("flat.hand_value", value=", ".join(f"{value:.3f}" for value in V[head, 0, :4])))
    y = [round(float(logit), DECIMALS) for logit in logits]
    powers = [round(float(np.exp(logit - max(y))), 6) for logit in y]
    total = round(sum(powers), 6)
    table = pd.DataFrame(
        {"y": y, "y − max": [logit - max(y) for logit in y], "exp(y − max)": powers, "p": [p / total for p in powers]},
        index=names,
    )
    st.markdown(t("flat.hand_answer"))
    numbers_table(table, "flat.softmax_by_hand")
    values = {"top": f"{powers[best]:.6f}", "sum": f"{total:.6f}", "probability": f"{powers[best] / total:.4f}"}
    st.markdown(t("flat.hand_quotient", best=names[best], **values))

view.close(FlatEmbedding, ScaledDotProductAttention, ClassifierNetwork)
del flat, cut  # what a click will call must not keep the runs
