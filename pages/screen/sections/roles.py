"""The role of a head, measured over a corpus, with examples."""

import shlex
from itertools import chain
from operator import attrgetter

import streamlit as st

from model import WeightsError
from model.measures.tables import TAUGHT, Example, HeadRoles, Role, head_roles
from pages.drawing.screen import Screen
from pages.drawing.state.offered import offered
from pages.drawing.text import joined, language, literal, plain, t
from pages.drawing.text.numbers import percent, two
from pages.drawing.text.roles import measured_role, role_in_words
from pages.screen.components.tables import markdown_table
from pages.screen.frame.pen import Pen
from pages.screen.runs import pipelines

#: Lecture note 002's experts -> the nearest measured roles or relations. Reference was not measured.
EXPERTS: dict[str, tuple[str, ...]] = {
    "grammar": ("nsubj", "obj", "iobj", "nsubj:pass"),
    "reference": (),
    "meaning": ("same",),
    "distance": ("next", "previous"),
}


def source(pipeline: str) -> str:
    """The name by which a pipeline's tables are found: its own, or the folder of an offered checkpoint."""
    return str(offered().get(pipeline, pipeline))


def measured(name: str) -> HeadRoles | None:
    """The roles of a network's heads, if they can be read: else a tab says why. name: as of `source`."""
    try:
        return head_roles(name)
    except WeightsError:
        return None


def may_have_roles(pipeline: str) -> bool:
    """Whether the roles of its heads were measured, or could be, as for offered checkpoints."""
    try:
        return pipeline in offered() or head_roles(source(pipeline)) is not None
    except WeightsError:
        return True  # measured, but unreadable


def say_absent(section: str, pipeline: str) -> None:
    """Say that nothing was measured; for a checkpoint also how to measure. section: the table of the texts."""
    if pipeline in offered():
        st.caption(t(f"{section}.not_measured_yet"))
        folder = shlex.quote(source(pipeline))
        st.code(f"make train RECIPE=evaluate DATA=DIR MODEL={folder}", "bash", wrap_lines=True)
    else:
        st.caption(t(f"{section}.not_measured"))


def show_role(screen: Screen, pen: Pen) -> None:
    """The chosen head's measured role, and examples: only in the reader's language if the head has the same role in it,
    else that language first; the strongest first.
    """
    choice = screen.choice
    try:
        roles = head_roles(source(choice.pipeline))
    except WeightsError as error:
        pipelines.explain_weights(error)
        return
    if roles is None:
        say_absent("roles", choice.pipeline)
        return
    role = roles.of(choice.layer, choice.head)
    how = "none" if not role.clear else "measured_other" if choice.pipeline in offered() else "measured"
    told = [t(f"roles.{how}", where=screen.at.where(), role=role_in_words(role), count=f"{role.count:,}")]
    if role.clear and role.relation:
        told.append(t("roles.baseline", baseline=percent(max(0.0, role.share - role.margin))))
    st.markdown(joined(" ".join(told)))
    if choice.pipeline == "text" and (way := TAUGHT.get((choice.layer, choice.head))):
        st.markdown(t("roles.taught", direction=plain(f"roles.taught_{way}")))
    own = roles.of(choice.layer, choice.head, language()) if language() in roles.languages else role
    does = attrgetter("name", "relation", "direction")
    shown = own if does(own) == does(role) else role
    examples = sorted(
        chain(*shown.examples.values()) if role.clear else (),
        key=lambda one: (one.text.isascii() == (language() == "zh"), -one.weight),
    )
    rows = [(_sentence(example), two(example.weight)) for example in examples]
    if rows:
        heads = [plain(f"roles.column_{name}") for name in ("sentence", "weight")]
        st.markdown(markdown_table(heads, rows, ":--|--:"))
        st.caption(t("roles.legend"))
    with st.expander(plain("roles.experts"), icon=":material/groups:"):
        show_experts(screen)


def show_experts(screen: Screen) -> None:
    """Lecture note 002's four experts, each with the head whose measured role comes nearest."""
    roles = head_roles(source(screen.choice.pipeline))
    assert roles is not None
    heads = [(layer, head) for layer in range(screen.run.config.layers) for head in range(screen.run.config.heads)]
    rows = []
    for expert, kinds in EXPERTS.items():
        found = [
            (role, place)
            for place in heads
            for role in every_role(roles.of(*place))
            if (role.relation or role.name) in kinds
        ]
        role, place = max(found, key=lambda one: one[0].margin, default=(None, None))
        said = t("roles.nobody_measured") if role is None else literal(measured_role(role))
        rows.append((t(f"roles.expert_{expert}"), "" if place is None else literal(screen.at.where(place)), said))
    names = [plain(f"roles.column_{name}") for name in ("expert", "head", "measured")]
    st.markdown(markdown_table(names, rows, ":--|:--|:--"))
    st.caption(t("roles.about_experts"))


def every_role(role: Role) -> tuple[Role, ...]:
    """A head's main role, and its others."""
    return (role, *role.others)


def _sentence(example: Example) -> str:
    """The sentence with the tokens of query and key in their colours."""
    if example.queries != example.keys:
        looks, looked_at = literal(example.queries[example.query]), literal(example.keys[example.key])
        return f"{literal(example.text)} · :blue[**{looks}**] → :orange[**{looked_at}**]"
    pieces = []
    for place, token in enumerate(example.keys):
        if place == example.query:
            pieces.append(f":blue[**{literal(token)}**]")
        elif place == example.key:
            pieces.append(f":orange[**{literal(token)}**]")
        elif token not in ("[CLS]", "[SEP]"):
            pieces.append(literal(token))
    return " ".join(pieces)
