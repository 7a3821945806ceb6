"""Which source word each written word comes from: the map of cross-attention, and how far it can be trusted."""

from functools import partial
from typing import Any

import numpy as np

from model.analysis import placed
from model.measures.tables import Role, head_roles
from pages.drawing.pictures.quantity_map import quantity_map
from pages.drawing.text import plain, t
from pages.drawing.text.numbers import first, percent
from pages.drawing.text.roles import measured_role, role_in_words
from pages.screen.frame.pen import Pen
from pages.screen.sections.cell_map import draw_map
from pages.translation.pictures import CROSS, aligning_heads
from pages.translation.writing import Written

ALIGNED = ("aligned_next", "aligned")


def alignment(screen: Written, pen: Pen) -> None:
    """The map of the chosen head and, except in a presentation, all heads as they were measured."""
    key = screen.at.of(CROSS)
    left, *right = pen.columns(3, 2)
    look: dict[str, Any] = {"title": plain("translation.map"), "key": key, "sentence": sentence(screen)}
    look |= {"large": True, "grows": True, "follows": False if screen.choice.big else None}
    with left:
        draw_map(screen, pen, key, partial(quantity_map, **look))
    for column in right:
        with column:
            measured(screen, pen)


def sentence(screen: Written) -> str:
    """What the chosen step looks at most, and what is known of such heads."""
    row = screen.run[screen.at.of(CROSS)][screen.choice.head, screen.step]
    best = first(row, percent)
    said = {"piece": screen.run.written[screen.step], "source": placed(screen.run.tokens)[best.place], "share": best}
    return f"{t('translation.read.map', where=screen.at.where(), **said)} {known(screen)}"


def known(screen: Written) -> str:
    """What was measured of the chosen head over a corpus; nothing is claimed where it holds nothing."""
    roles = head_roles(screen.choice.translator)
    if roles is None:
        return t("roles.not_measured")
    role = roles.at(f"decoder.layers.{screen.choice.layer}.cross", screen.choice.head)
    if role.name not in ALIGNED:
        return t("translation.not_aligned", role=measured_role(role))
    said = {"role": role_in_words(role), "count": f"{role.count:,}", "margin": f"{100 * role.margin:+.0f}"}
    return t("translation.known" if role.clear else "translation.known_little", **said)


def aligning(role: Role) -> float:
    """In what share of places a head looks at the source of the piece just read or of the next one; NaN: not known."""
    found = [one.share for one in (role, *role.others) if one.name in ALIGNED]
    return max(found, default=np.nan)


def measured(screen: Written, pen: Pen) -> None:
    """All heads of cross-attention: how often each looks where the aligned word stands. A click chooses one."""
    roles, graph = head_roles(screen.choice.translator), screen.run.graph
    if roles is None or graph.decoder is None:  # which is said below the map
        return
    layers, heads = graph.layers("decoder."), range(graph.decoder.heads)
    paths = [f"decoder.layers.{layer}.cross" for layer in range(layers)]
    shares = np.array([[aligning(roles.at(path, head)) for head in heads] for path in paths])
    layer, head = map(int, np.unravel_index(np.nanargmax(shares), shares.shape))
    said = t(
        "translation.read.heads", where=screen.at.where((layer, head)), role=role_in_words(roles.at(paths[layer], head))
    )
    pen.show("heads", partial(aligning_heads, shares=shares, sentence=said))
