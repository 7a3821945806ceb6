"""Every symbol of these pages in one place: what it means, what it is for this model and input, where it lives."""

from dataclasses import dataclass

import streamlit as st

from model import Trace
from pages.ui.figures import coloured
from pages.ui.frame import page_link
from pages.ui.text import literal, plain, t


@dataclass(frozen=True)
class Entry:
    """A symbol (LaTeX, or a token between backticks), its page, its text "glossary.{name}", and its value.

    value: filled in from `sizes`. inputs: the kinds of input whose model has it.
    """

    symbol: str
    page: str
    name: str
    value: str
    inputs: tuple[str, ...] = ("words", "patches", "flat")


WORDS, IMAGES = ("words",), ("patches", "flat")
STREAM, HEADS, PAIRS = "{n} × {d_model}", "{h} × {n} × {d_k}", "{h} × {n} × {n}"

#: In order of computation, page by page.
ENTRIES: tuple[Entry, ...] = (
    Entry("n", "shapes_and_cost", "n", "{n}"),
    Entry("N", "shapes_and_cost", "N", "{N}"),
    Entry("h", "shapes_and_cost", "h", "{h}"),
    Entry("d_{model}", "shapes_and_cost", "d_model", "{d_model}"),
    Entry("d_k", "shapes_and_cost", "d_k", "{d_model} ÷ {h} = {d_k}"),
    Entry("d_v", "shapes_and_cost", "d_v", "{d_k}"),
    Entry("d_{ff}", "shapes_and_cost", "d_ff", "{d_ff}"),
    Entry(r"\lvert {V} \rvert", "shapes_and_cost", "vocabulary", "{vocabulary}", WORDS),
    Entry("x", "tokens", "x", "{n}", WORDS),
    Entry("`[CLS]`", "tokens", "CLS", "{CLS}"),
    Entry("`[SEP]`", "tokens", "SEP", "{SEP}", WORDS),
    Entry("`[MASK]`", "tokens", "MASK", "{MASK}", WORDS),
    Entry("`[UNK]`", "tokens", "UNK", "{UNK}", WORDS),
    Entry("`##`", "tokens", "pieces", "{pieces}", WORDS),
    Entry("E", "tokens", "E", "{vocabulary} × {d_model}", WORDS),
    Entry("W_E", "tokens", "W_E", "{pixels} × {d_model}", IMAGES),
    Entry(r"X_{\text{embed}}", "tokens", "X_embed", STREAM),
    Entry("E_{pos}", "tokens", "E_pos", STREAM),
    Entry("X^{(0)}", "tokens", "X_0", STREAM),
    Entry("X", "queries_keys_values", "X", STREAM),
    Entry("W_Q", "queries_keys_values", "W_Q", "{d_model} × {d_model}"),
    Entry("W_K", "queries_keys_values", "W_K", "{d_model} × {d_model}"),
    Entry("W_V", "queries_keys_values", "W_V", "{d_model} × {d_model}"),
    Entry("b_Q,\\; b_K,\\; b_V", "queries_keys_values", "b", "{d_model}"),
    Entry("Q", "queries_keys_values", "Q", HEADS),
    Entry("K", "queries_keys_values", "K", HEADS),
    Entry("V", "queries_keys_values", "V", HEADS),
    Entry("S", "attention", "S", PAIRS),
    Entry(r"\sqrt{d_k}", "attention", "root", "√{d_k} = {root}"),
    Entry(r"\hat S", "attention", "S_hat", PAIRS),
    Entry("M", "attention", "M", PAIRS),
    Entry("A", "attention", "A", PAIRS),
    Entry(r"\text{head}_i", "attention", "head_i", "{n} × {d_k}"),
    Entry(r"\text{Concat}", "heads", "Concat", STREAM),
    Entry("W_O", "heads", "W_O", "{d_model} × {d_model}"),
    Entry("O", "heads", "O", STREAM),
    Entry("X + O", "add_and_norm", "add_1", STREAM),
    Entry(r"\mu,\; \sigma^2", "add_and_norm", "moments", "{n} + {n}"),
    Entry(r"\gamma,\; \beta", "add_and_norm", "gamma_beta", "{d_model} + {d_model}"),
    Entry(r"\epsilon", "add_and_norm", "epsilon", "{epsilon}"),
    Entry("X'", "add_and_norm", "norm_1", STREAM),
    Entry("X' + F", "add_and_norm", "add_2", STREAM),
    Entry("X^{(l+1)}", "add_and_norm", "norm_2", STREAM),
    Entry("W_1,\\; b_1", "feed_forward", "W_1", "{d_model} × {d_ff}, {d_ff}"),
    Entry("U", "feed_forward", "U", "{n} × {d_ff}"),
    Entry(r"\operatorname{act}", "feed_forward", "act", "{activation}"),
    Entry("H", "feed_forward", "H", "{n} × {d_ff}"),
    Entry("W_2,\\; b_2", "feed_forward", "W_2", "{d_ff} × {d_model}, {d_model}"),
    Entry("F", "feed_forward", "F", STREAM),
    Entry("Z", "layers", "Z", STREAM),
    Entry("y", "answer", "y", "{logits}"),
    Entry("p", "answer", "p", "{logits}"),
)


def sizes(trace: Trace) -> dict[str, object]:
    """The numbers of this model and this input, under the names that the entries use."""
    config, tokens = trace.config, trace.tokens
    side = config.image_size if config.input == "flat" else config.patch_size
    return {
        "n": len(tokens),
        "N": config.layers,
        "h": config.heads,
        "d_model": config.d_model,
        "d_k": config.d_k,
        "d_ff": config.d_ff,
        "root": f"{config.d_k**0.5:.3f}",
        "vocabulary": config.vocab_size,
        "pixels": config.channels * side**2,
        "activation": {"relu": "ReLU", "gelu": "GELU"}[config.activation],
        "epsilon": f"{config.norm_eps:g}",
        "logits": " × ".join(map(str, trace["logits"].shape)) if "logits" in trace else "",
        "pieces": sum(token.startswith("##") for token in tokens),
        **{name: tokens.count(f"[{name}]") for name in ("CLS", "SEP", "MASK", "UNK")},
    }


def value(entry: Entry, trace: Trace) -> str | None:
    """An entry's value for this trace, or None where its model has no such thing."""
    return (entry.value.format_map(sizes(trace)) or None) if trace.config.input in entry.inputs else None


def glossary_button(trace: Trace, mode: str) -> None:
    """A button that opens the glossary over the page. mode: "light" or "dark", for the colours of Q, K and V."""
    if st.button(plain("glossary.title"), icon=":material/dictionary:", key="glossary", width="stretch"):
        st.dialog(plain("glossary.title"), width="large")(_glossary)(trace, mode)


def _glossary(trace: Trace, mode: str) -> None:
    st.markdown(t("glossary.purpose"))
    for page in dict.fromkeys(entry.page for entry in ENTRIES):
        page_link(page, f"**{plain(f'{page}.title')}**", ":material/arrow_forward:")
        heads = [plain(f"glossary.{column}") for column in ("symbol", "meaning", "here")]
        rows = ["| " + " | ".join(heads) + " |", "|:--|:--|:--|"]
        for entry in ENTRIES:
            if entry.page == page:
                symbol = entry.symbol if entry.symbol.startswith("`") else f"${coloured(entry.symbol, mode)}$"
                here = value(entry, trace) or plain("glossary.none")
                here = literal(here).replace(" × ", "\u00a0×\u00a0")  # a shape stays on one line
                rows.append(f"| {symbol} | {t(f'glossary.{entry.name}')} | {here} |")
        st.markdown("\n".join(rows))
