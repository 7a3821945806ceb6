"""Answer: what the encoder would put in place of a hidden word, or which class it reads in a drawing."""

from functools import partial

import pandas as pd
import streamlit as st

from model.analysis import likeliest, spelled, whole_words
from pages.ui.changes_bar import toggled
from pages.ui.differences import Difference
from pages.ui.drawing.doubt import how_sure
from pages.ui.drawing.patches import first_to_know
from pages.ui.figures import Axis, heatmap
from pages.ui.link import select
from pages.ui.masks import with_words_hidden
from pages.ui.numbers import written
from pages.ui.pickers import bound, either
from pages.ui.sections.answers import (
    all_probabilities,
    bars_with_numbers,
    guesses,
    more_and_less,
    output_names,
    probabilities,
)
from pages.ui.sections.hidden_words import clickable_words, to_keep_hidden
from pages.ui.sections.sentence_vector import instead_of_an_answer
from pages.ui.sections.telling_head import head_to_watch, is_off, most_read, switch_of
from pages.ui.sections.working import working
from pages.ui.text import literal, plain, texts_of
from pages.ui.view import View

MOST_CHARTS = 4  # hidden places with a chart of their own
MOST_COLUMNS = 30  # words beside each other in the picture of all places
MOST_BARS = 10  # classes whose logits are drawn
LINES = ("answer", "logits")  # whose arithmetic is shown
text, word = texts_of("answer")


def choose_logit(place: int, output: int) -> None:
    select(token=place, output=output)


def equations(view: View) -> None:
    """All that comes after the last layer, in order."""
    rows = list(view.trace.graph)
    after = rows[[row.key for row in rows].index(view.trace.graph.Z) + 1 :]
    if view.choice.at_least("formula"):
        shown = [row.equation for row in after if row.traced or row.operation != "linear"]
        view.equation(r" \qquad ".join(shown))


def part_of_word(hidden: dict[int, int | None]) -> None:
    """Of a hidden word of several pieces: hide all of it, or one piece."""
    words = [places for places in whole_words(own) if set(places) & hidden.keys()]
    if len(words) != 1 or len(words[0]) == 1 or None in hidden.values():
        return
    (pieces,) = words
    whole = 0  # the place of [CLS], which is no piece of a word
    names = {whole: word("whole_word", pieces=len(pieces)), **{piece: literal(own[piece]) for piece in pieces}}

    def choose(part: int) -> None:
        select(hidden=(part,) if part else tuple(pieces), token=part or pieces[0], output=None)

    label = text("part", word=spelled([own[piece] for piece in pieces]), pieces=len(pieces))
    look = bound("answer.part", whole if len(hidden) > 1 else next(iter(hidden)), choose, anew=True)
    st.segmented_control(label, list(names), format_func=names.__getitem__, required=True, **look)


def every_place(view: View, hidden: dict[int, int | None], cell: tuple[int, int]) -> None:
    """The probabilities at each token × the words that come first somewhere."""
    logits, tokens, ids = view.trace["logits"], view.trace.tokens, view.trace.ids
    drawn = view.compared(all_probabilities, view.trace.axes("logits"))
    each = max(3, (MOST_COLUMNS - len(logits)) // max(1, len(hidden)))
    columns = likeliest(logits, [each if place in hidden else 1 for place in range(len(logits))])
    seen = [p for p in range(len(ids)) if p not in hidden and tokens[p] not in ("[CLS]", "[SEP]")]
    same = sum(int(logits[p].argmax()) == ids[p] for p in seen)
    all_same = same == len(seen)
    sentences = [text("read_seen" if all_same else "read_seen_some", same=same, seen=len(seen))] if seen else []
    if hidden:
        sentences.append(text("read_hidden", places=plain("common.comma").join(str(place + 1) for place in hidden)))
    names = output_names(view)
    axes = view.token_axis("axis.token"), Axis(word("axis_words"), [names[i] for i in columns])
    view.picture(
        "every_place",
        heatmap(
            drawn[:, columns],
            *axes,
            scale="signed" if view.differs else "share",
            square=False,
            clickable=True,
            cell=(cell[0], columns.index(cell[1])) if cell[1] in columns else None,
            font_size=view.font_size,
        ),
        " ".join([*sentences, text("read_special")]),
        on_pick=lambda row, column: choose_logit(row, columns[column]),
        difference=Difference(drawn[:, columns], axes),
    )


def arithmetic(view: View, cell: tuple[int, ...]) -> None:
    """How one probability, or the logit below it, comes about."""
    words = [word(f"line_{name}") for name in LINES]
    line = either("stage", word("lines"), LINES, words, view.choice.stage, label_visibility="collapsed")
    working(view, line, cell, most=10 if line == "answer" else 3)  # a logit has three tables


def logit_bars(view: View, place: int) -> None:
    """Before the softmax: the logits of all classes, of many those of the likeliest."""
    logits, names, quantity = view.trace["logits"], output_names(view), view.trace.graph["logits"]
    if view.differs:
        choose = {"on_pick": lambda output: select(output=output), "quantity": quantity}
        more_and_less(view, "logits", "", lambda run: run["logits"], place, most=MOST_BARS, **choose)
        return
    best = int(logits.argmax())
    shown = list(range(len(logits))) if len(logits) <= MOST_BARS else likeliest(logits[None], [MOST_BARS])
    numbers = [written(f"{logits[i]:.2f}") for i in shown]
    there = view.marked(lambda run: run["logits"], ("class",))
    there = there if there is None else there[shown]
    figure = bars_with_numbers(view, logits[shown], [names[i] for i in shown], numbers, there=there)
    said = text("read_logits", best=names[best], logit=f"{logits[best]:.2f}")
    if len(shown) < len(logits):
        said += " " + text("read_likeliest", most=len(shown), n=f"{len(logits):,}")
    table = pd.DataFrame({"logit": logits}, index=names)
    look = {"quantity": quantity, "table": table, "still": there is not None}
    look["on_pick"] = lambda row, _: select(output=shown[row])
    view.picture("logits", figure, said + view.which_is_which(), **look)


def trained_on(view: View) -> None:
    size = f"{sum(weight.numel() for weight in view.pipeline.network.parameters()):,}"
    name = "checkpoint" if view.choice.checkpoint else view.pipeline.name
    rule = how_sure() if name == "digits" else ""
    st.info(f"{text(f'trained_{name}', size=size)}\n\n{rule}", icon=":material/school:")


def challenge(view: View, place: int, hidden: dict[int, int | None]) -> None:
    """A question to be guessed first: does the answer turn without the head that Home watches? What if shows it."""
    layer, head = head_to_watch(view, place)
    edit = switch_of(layer, head)
    edits = toggled(edit)
    if is_off(view.choice.edits, layer, head) or edit not in edits:  # there is no room for more
        return
    said = {"where": plain("common.where", layer=layer + 1, head=head + 1)}
    said["best"] = output_names(view)[int(probabilities(view.trace, place).argmax())]
    said["query"], said["key"] = (view.trace.tokens[at] for at in (place, most_read(view.trace, layer, head, place)))
    st.markdown(text("challenge" if words else "challenge_class", **said))
    cell = {"layer": layer, "head": head, "token": place, "hidden": to_keep_hidden(view, hidden)}
    view.way_to("what_if", word("try"), **cell, edits=edits, shown="changed", panel=None)


view = View("answer", chips=False, hides=with_words_hidden)
own = view.typed.tokens
if "logits" not in view.trace:
    instead_of_an_answer(view)
    view.close()
    st.stop()
equations(view)
words = "word" in view.trace.axes("logits")
place, hidden = clickable_words(view, several=view.choice.several)
if words and not view.story:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.toggle(word("several"), **bound("answer.several", view.choice.several, lambda on: select(several=on)))
        part_of_word(hidden)
        st.caption(text("no_layer"), width="content")
if view.story:
    guesses(view, "guesses", place, hidden.get(place))
    st.markdown(text("story" if words else "story_class", n=f"{len(output_names(view)):,}"))
    challenge(view, place, hidden)
    view.tell()
else:
    at = place if view.choice.token is None or not words else view.token
    output = int(probabilities(view.trace, at).argmax()) if view.choice.output is None else view.choice.output
    left, right = st.columns([3, 2], gap="medium")
    with left:
        shown = list(hidden)[:MOST_CHARTS] or [place]
        columns = st.columns(min(2, len(shown)))
        for number, one in enumerate(shown):
            with columns[number % 2]:
                title = word("guesses", place=one + 1) if words else word("probabilities")
                most = 10 if len(shown) == 1 else 5
                choose = partial(choose_logit, one)
                guesses(view, f"guesses_{one}", one, hidden.get(one), most=most, title=title, on_pick=choose)
        if len(hidden) > MOST_CHARTS:
            st.caption(text("more_places", most=MOST_CHARTS, n=len(hidden)))
        if len(hidden) > 1:
            st.caption(text("each_alone", n=len(hidden)))
        if words:
            every_place(view, hidden, (at, output))
        else:
            logit_bars(view, place)
    with right:
        arithmetic(view, (at, output) if words else (output,))
    first_to_know(view)
    trained_on(view)
view.close(type(view.pipeline.network))
