"""Vectors of another input's run, put in place of this one's: where does the answer come from?"""

import streamlit as st

from model import Edit
from model.analysis import placed
from model.measures.comparison import align
from pages.drawing.figures import Axis, theme
from pages.drawing.text import plain
from pages.screen.frame.changes_bar import other_input
from pages.screen.frame.pickers import either
from pages.screen.runs import pipelines
from pages.what_if.experiment import Experiment, effect_map, text, word

#: What can be taken from there; "stream" is the vector that goes into a layer.
TAKEN = ("stream", "attention.output", "ffn.output")


def another_input(lab: Experiment) -> None:
    """The whole map from one computation: each layer and token with the other run's vector."""
    if not (theme.big() and lab.screen.other_input):  # in a presentation it stands above
        other_input(lab.screen.choice, "what_if")
    if lab.screen.other_input is None:
        st.info(
            text("other_missing" if lab.screen.run.ids else "other_missing_picture"), icon=":material/compare_arrows:"
        )
        return
    words = [word(f"taken_{name.replace('.', '_')}") for name in TAKEN]
    what = either("stage", word("taken"), TAKEN, words, lab.screen.choice.stage)
    source = lab.screen.choice.other_subject
    # Its run as it is: what the page shows of it may have words hidden.
    here, there = lab.screen.run.tokens, pipelines.run(lab.screen.choice.pipeline, source).tokens
    pairs = [(pair.one, pair.other) for pair in align(here, there) if pair.one is not None and pair.other is not None]
    layers = range(lab.screen.run.graph.layers())
    names, told = (
        [names[one] if here[one] == there[two] else f"{names[one]} ← {there[two]}" for one, two in pairs]
        for names in (here, placed(here))
    )
    # A projector has no room for both names of each pair, which the line above shows.
    tokens = Axis("", [here[one] for one, _ in pairs]) if theme.big() else Axis(plain("axis.token"), names)
    effect_map(
        lab,
        "patching",
        Axis.counted(plain("axis.layer"), len(layers)),
        tokens,
        [
            [
                Edit(
                    lab.screen.run.graph.stream(i)[0] if what == "stream" else f"layers.{i}.{what}",
                    "patch",
                    token=one,
                    from_token=two,
                    source=source,
                )
                for one, two in pairs
            ]
            for i in layers
        ],
        lambda layer, pair: word("where_token", token=told[pair], layer=layer + 1),
        lambda layer, pair: {"layer": layer},
    )
