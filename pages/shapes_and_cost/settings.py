"""The settings of Shapes and cost: a preset, or any sizes; the last possible ones stay where new ones are not."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from model.activations import ACTIVATIONS, OF_LAYERS
from model.config import PRESETS, ConfigError, EncoderConfig
from model.measures.cost import shape_walk
from pages.drawing.screen import Screen
from pages.drawing.state.choice import MOST_INPUTS, MOST_TOKENS, SIZES, CostSettings
from pages.drawing.text import in_symbols, plain, texts_of
from pages.drawing.text.numbers import two
from pages.screen.frame.pen import Pen
from pages.screen.frame.pickers import bound
from pages.screen.link import select

OWN, HERE = "own", "here"
text, word = texts_of("shapes_and_cost")


@dataclass(frozen=True)
class Settings:
    """What the page computes for: an encoder, and `batch` inputs of n tokens each. `name`: the preset, "here" for the
    network that is looked at where it is none of them, or "own".
    """

    name: str
    config: EncoderConfig
    n: int
    batch: int


def settings_of(cost: CostSettings, here: EncoderConfig, tokens: int) -> Settings:
    """What the choice asks for; `here` is the network that is looked at, `tokens` how many the present input has.

    Raises ConfigError for the impossible.
    """
    base = PRESETS.get(cost.of, here)
    sizes = {name: getattr(cost, name) for name in SIZES if getattr(cost, name) is not None}
    config = replace(base, **sizes, activation=cost.activation or base.activation)
    if cost.norm and (before := cost.norm == "before") != base.norm_first:
        config = replace(config, norm_first=before, final_norm=before)
    n = (cost.n or tokens) if base.input == "words" else base.max_tokens
    # A table of sines can be made for any length; a learned one ends where training ended.
    if base.input == "words" and config.positions == "sinusoidal":
        config = replace(config, max_len=max(config.max_len, n))
    shape_walk(config, n, cost.batch)
    same = config == replace(base, max_len=config.max_len)
    return Settings(name_of(cost, here) if same else OWN, config, n, cost.batch)


def name_of(cost: CostSettings, here: EncoderConfig) -> str:
    """What an unchanged base is called among the presets."""
    return next((name for name, one in PRESETS.items() if one == here), HERE) if cost.of == HERE else cost.of


def called(screen: Screen, name: str) -> str:
    """An encoder in words. name: as in Settings."""
    return screen.choice.model if name == HERE else word(f"presets.{name}")


def encoder_settings(screen: Screen, pen: Pen, batch: bool = False) -> Settings:
    """Draw the controls and return what they say; an impossible setting is explained and the last good one returned.

    batch: whether several inputs at once count there.
    """
    cost, here, tokens = screen.choice.cost, screen.run.config, len(screen.run.tokens)
    base = PRESETS.get(cost.of, here)
    try:
        now = st.session_state["cost.good"] = settings_of(cost, here, tokens)
        problem = None
    except ConfigError as error:
        problem = error
        unchanged = CostSettings(cost.of)
        now = st.session_state.get("cost.good") or settings_of(unchanged, here, min(tokens, base.max_tokens))
    words = base.input == "words"
    with pen.places:
        name = OWN if problem else now.name
        options = [
            *[HERE] * (here not in PRESETS.values()),
            *PRESETS,
            *[OWN] * (name == OWN),
        ]  # nothing to choose, but to be told
        _widget(
            st.selectbox,
            "preset",
            name,
            lambda name: select(cost=CostSettings(name)) if name in (HERE, *PRESETS) else None,
            options=options,
            format_func={name: called(screen, name) for name in options}.__getitem__,
            width=340,
        )
        _number("n", MOST_TOKENS, (cost.n or tokens) if words else now.n, cost, width=180, disabled=not words)
        if batch:
            _number("batch", MOST_INPUTS, cost.batch, cost, width=220)
        with st.popover(plain("common.more"), icon=":material/tune:"):
            for place, (name, most) in zip([*st.columns(3), *st.columns(3)], SIZES.items(), strict=False):
                with place:
                    value = getattr(cost, name) or getattr(base, name)
                    _number(name, most, value, cost, disabled=name == "vocab_size" and not words, anew=True)
            with st.container(horizontal=True, gap="large"):
                bends = {name: ACTIVATIONS[name].name for name in OF_LAYERS}
                _either("activation", bends, cost.activation or base.activation, cost)
                norms = {side: word(f"norm_{side}") for side in ("after", "before")}
                _either("norm", norms, cost.norm or ("before" if base.norm_first else "after"), cost)
    if problem:
        st.warning(_explained(problem), icon=":material/block:")
    return now


def _widget(draw: Any, name: str, value: Any, chosen: Any, anew: bool = False, **look: Any) -> None:
    """A widget that shows `value` and hands what the reader sets to `chosen`.

    anew: its value is said in each run, for what lies in a box: a closed one hears nothing, an open one the last run.
    """
    draw(in_symbols(word(name)), **bound(f"cost.{name}", value, chosen, anew=anew), **look)


def _number(name: str, most: int, value: int, cost: CostSettings, **look: Any) -> None:
    look |= {"min_value": 1, "max_value": most}
    _widget(
        st.number_input, name, value, lambda new: select(cost=replace(cost, **{"base": cost.of, name: new})), **look
    )


def _either(name: str, words: Mapping[str, str], value: str, cost: CostSettings) -> None:
    look = {"options": [*words], "format_func": words.__getitem__, "required": True, "anew": True}
    _widget(
        st.segmented_control,
        name,
        value,
        lambda new: select(cost=replace(cost, **{"base": cost.of, name: new})),
        **look,
    )


def _explained(error: ConfigError) -> str:
    """Why a setting is impossible, and what would be possible next to it."""
    values = dict(error.values)
    if error.reason == "heads_do_not_divide":
        d_model, h = error.values["d_model"], error.values["heads"]
        assert isinstance(d_model, int) and isinstance(h, int)
        fitting = [heads for heads in range(1, SIZES["heads"] + 1) if d_model % heads == 0]
        values |= {
            "quotient": two(d_model / h),
            "heads": h,
            "fewer": max(heads for heads in fitting if heads < h),
            "wider": next(width for width in range(d_model, d_model + 2 * h + 1) if width % h == width % 2 == 0),
        }
    reason = error.reason if error.reason in ("heads_do_not_divide", "odd_d_model", "too_long") else "impossible"
    return text(f"error_{reason}", **values)
