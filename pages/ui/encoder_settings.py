"""The settings of Shapes and cost: a preset, or any sizes; the last possible ones stay where new ones are not."""

from dataclasses import dataclass, replace

import streamlit as st

from model.config import PRESETS, ConfigError, EncoderConfig
from model.cost import shape_walk
from pages.ui.text import plain, t

FIRST = "004"
OWN = "own"
#: The sizes that can be set, each with the largest value that its box takes.
SIZES = {"layers": 96, "heads": 128, "d_model": 16_384, "d_ff": 65_536, "vocab_size": 500_000}
MOST_TOKENS, MOST_INPUTS = 1_000_000, 4096


@dataclass(frozen=True)
class Settings:
    """What the page computes for: an encoder, and `batch` inputs of n tokens each. `name`: the preset, or "own"."""

    name: str
    config: EncoderConfig
    n: int
    batch: int


def encoder_settings(tokens: int) -> Settings:
    """Draw the controls and return what they say; an impossible setting is explained and the last good one returned.

    tokens: how many the present input has.
    """
    if "cost.base" not in st.session_state:
        st.session_state["cost.preset"] = FIRST
        _fill()
    with st.container(border=True):
        columns = st.columns([6, 5, 3, 3], vertical_alignment="bottom")
        with columns[0]:
            st.session_state["cost.preset"] = st.session_state["cost.name"]  # said anew, as in `pick`
            st.selectbox(
                plain("shapes_and_cost.preset"),
                [*PRESETS, OWN],
                format_func={name: plain(f"shapes_and_cost.preset_{name}") for name in [*PRESETS, OWN]}.get,
                key="cost.preset",
                on_change=_fill,
                persist_state="session",
            )
        base = PRESETS[st.session_state["cost.base"]]
        with columns[1]:
            any_length = base.input == "words" and _any_length(tokens)
        with columns[2]:
            n = (
                _number("n", MOST_TOKENS, tokens)
                if any_length
                else tokens
                if base.input == "words"
                else base.max_tokens
            )
            if not any_length:
                st.text_input(plain("shapes_and_cost.n"), str(n), disabled=True)
        with columns[3]:
            batch = _number("batch", MOST_INPUTS, 1)
        columns = st.columns(len(SIZES))
        sizes = {}
        for column, (name, most) in zip(columns, SIZES.items(), strict=True):
            with column:
                sizes[name] = _number(name, most, getattr(base, name), name == "vocab_size" and base.input != "words")
        with st.container(horizontal=True, gap="large"):
            activation = _either("activation", ("relu", "gelu"))
            norm_first = _either("norm", ("after", "before")) == "before"
        st.caption(t(f"shapes_and_cost.input_{base.input}", n=base.max_tokens, side=base.image_size, P=base.patch_size))
    try:
        config = replace(base, **sizes, activation=activation, norm_first=norm_first)
        # A table of sines can be made for any length; a learned one ends where training ended.
        if config.input == "words" and config.positions == "sinusoidal":
            config = replace(config, max_len=max(config.max_len, n))
        shape_walk(config, n, batch)
    except ConfigError as error:
        st.warning(_explained(error), icon=":material/block:")
    else:
        st.session_state["cost.good"] = Settings(st.session_state["cost.name"], config, n, batch)
    return st.session_state["cost.good"]


def _fill() -> None:
    """Take over the chosen preset's sizes."""
    name = st.session_state["cost.name"] = st.session_state["cost.preset"]
    if name == OWN:
        return
    config = PRESETS[name]
    st.session_state["cost.base"] = name
    for size in SIZES:
        st.session_state[f"cost.{size}"] = getattr(config, size)
    st.session_state["cost.activation"] = config.activation
    st.session_state["cost.norm"] = "before" if config.norm_first else "after"


def _changed() -> None:
    st.session_state["cost.name"] = OWN


def _number(name: str, most: int, start: int, disabled: bool = False) -> int:
    st.session_state.setdefault(f"cost.{name}", start)
    return st.number_input(
        plain(f"shapes_and_cost.{name}"),
        1,
        most,
        key=f"cost.{name}",
        disabled=disabled,
        on_change=_changed if name in SIZES else None,
        persist_state="session",
    )


def _either(name: str, options: tuple[str, str]) -> str:
    return st.segmented_control(
        plain(f"shapes_and_cost.{name}"),
        options,
        format_func=lambda option: plain(f"shapes_and_cost.{name}_{option}"),
        key=f"cost.{name}",
        required=True,
        on_change=_changed,
        persist_state="session",
    )


def _any_length(tokens: int) -> bool:
    """Whether n is the reader's to choose, and not that of the present input."""
    which = st.segmented_control(
        plain("shapes_and_cost.length"),
        ["this", "any"],
        default="this",
        format_func=lambda which: plain(f"shapes_and_cost.length_{which}", n=tokens),
        key="cost.length",
        required=True,
        persist_state="session",
    )
    return which == "any"


def _explained(error: ConfigError) -> str:
    """Why a setting is impossible, and what would be possible next to it."""
    values = dict(error.values)
    if error.reason == "heads_do_not_divide":
        d_model, h = values["d_model"], values["heads"]
        fitting = [heads for heads in range(1, SIZES["heads"] + 1) if d_model % heads == 0]
        values |= {
            "quotient": f"{d_model / h:.2f}",
            "heads": h,
            "fewer": max(heads for heads in fitting if heads < h),
            "wider": next(width for width in range(d_model, d_model + 2 * h + 1) if width % h == width % 2 == 0),
        }
    return t(f"shapes_and_cost.error_{error.reason}", **values)
