"""Answer: what the encoder would put in place of a hidden word, or which class it reads in a drawing."""

import numpy as np
import pandas as pd
import streamlit as st

from model.analysis import largest_terms, likeliest, rank, softmax, whole_words
from model.heads import ClassifierNetwork, MaskedWordNetwork
from pages.ui import session
from pages.ui.figures import Axis, bars, heatmap
from pages.ui.patches import first_to_know
from pages.ui.text import literal, plain, t
from pages.ui.view import View, pick

MOST_CHARTS = 6  # hidden places with a chart of their own
MOST_COLUMNS = 36  # words beside each other in the picture of all places
TERMS = 10  # of a dot product, and words of a softmax, that are written out
BLUE, ORANGE = "#0072B2", "#E69F00"

view = View("answer")
pipeline = session.pipeline(view.choice.pipeline)
if pipeline.config.head == "none":
    st.info(t("untrained.no_answer"), icon=":material/lightbulb:")
    view.close()
    st.stop()
words = pipeline.config.head == "masked-word"
single = len(view.trace.tokens) == 1
if words:
    logits_equation = r"y = \operatorname{LayerNorm}\bigl(\operatorname{GELU}(Z W + b)\bigr)\, E^{\top} + c"
else:
    logits_equation = r"y = Z_L W + b" if single else r"y = Z_L^{[\text{CLS}]}\, W + b"
if view.choice.at_least("formula"):
    view.equation(logits_equation)
    view.equation(r"p = \operatorname{softmax}(y)")
st.caption(t("answer.no_layer"))


def size() -> str:
    """How many numbers the network learned, in words of the page's language."""
    return f"{sum(weight.numel() for weight in pipeline.network.parameters()):,}"


def show(probability: float) -> str:
    """A probability as short as it stays true: 0.413, 0.00021."""
    return f"{probability:.3f}" if probability >= 0.001 else f"{probability:.2g}"


def signed(number: float) -> str:
    """A term of a sum with its sign in front: + 8.05097, − 0.06256."""
    return f"{'−' if number < 0 else '+'} {abs(number):.5f}"


# -- a sentence: which word is hidden ------------------------------------------------------------------------


def joined(pieces: list[str]) -> str:
    """The word that these pieces spell."""
    return pieces[0] + "".join(piece.removeprefix("##") for piece in pieces[1:])


def hidden_places(tokens: list[str]) -> list[int]:
    """Let the reader hide a word, or one piece of it; returns its places (none, where nothing is hidden)."""
    groups = whole_words(tokens)
    if st.session_state.get("answer.sentence") != tokens:
        st.session_state["answer.sentence"] = tokens
        real = [i for i, places in enumerate(groups) if tokens[places[0]].isalpha()]
        st.session_state["answer.hidden"] = real[-1] if real else 0
    st.markdown(t("answer.hide_intro"))
    word = st.pills(
        plain("answer.hide"),
        range(len(groups)),
        format_func=lambda i: f":small[:gray[{groups[i][0] + 1}]] {literal(joined([tokens[p] for p in groups[i]]))}",
        key="answer.hidden",
        persist_state="session",
        label_visibility="collapsed",
    )
    if word is None:
        st.info(t("answer.nothing_hidden"), icon=":material/visibility:")
        return []
    places = groups[word]
    if len(places) == 1:
        return places
    options = [0, *places]  # 0, the place of [CLS], stands for the whole word
    if st.session_state.get("answer.part") not in options:
        st.session_state["answer.part"] = 0
    part = st.pills(
        t("answer.part", word=joined([tokens[p] for p in places]), pieces=len(places)),
        options,
        format_func=lambda p: (
            f":small[:gray[{p + 1}]] {literal(tokens[p])}" if p else plain("answer.whole_word", pieces=len(places))
        ),
        key="answer.part",
        required=True,
        persist_state="session",
    )
    return [part] if part else places


def guess_chart(place: int, truth: int | None) -> None:
    """The ten likeliest words for one hidden place; the true word is marked, and added where it is not among them."""
    logits = view.trace["logits"][place]
    probabilities = softmax(logits)
    shown = list((-logits).argsort()[:TERMS])
    if truth is not None and truth not in shown:
        shown.append(truth)
    names = [pipeline.reader.vocabulary[i] for i in shown]
    ranks = [rank(logits, i) for i in shown]
    figure = bars(
        probabilities[shown],
        Axis(plain("answer.axis_word"), [f"{r} · {name}" for r, name in zip(ranks, names, strict=True)]),
        plain("answer.axis_probability"),
        colours=[ORANGE if i == truth else BLUE for i in shown],
        texts=[show(probabilities[i]) for i in shown],
        value_range=(0, min(1.0, 1.2 * float(probabilities.max()))),
        font_size=view.font_size,
    )
    values = {"best": names[0], "first": show(probabilities[shown[0]]), "place": place + 1}
    if truth is None:
        sentence = t("answer.read_guess", **values, second=names[1], then=show(probabilities[shown[1]]))
    else:
        values |= {
            "truth": pipeline.reader.vocabulary[truth],
            "rank": f"{rank(logits, truth):,}",
            "size": f"{len(logits):,}",
            "probability": show(probabilities[truth]),
        }
        sentence = t("answer.read_right" if shown[0] == truth else "answer.read_wrong", **values)
    view.picture(
        f"guesses_{place}",
        figure,
        sentence,
        table=pd.DataFrame({"rank": ranks, "y": logits[shown], "p": probabilities[shown]}, index=names),
        title=plain("answer.guesses", place=place + 1),
    )


def trained_on() -> None:
    st.info(t(f"answer.trained_{pipeline.name}", size=size()), icon=":material/school:")


def every_place(places: list[int]) -> list[int]:
    """The picture of the logits: each token × the words that come first somewhere. Returns these words' ids."""
    run, logits = view.trace, view.trace["logits"]
    visible = len(logits) - len(places)
    if places:
        each = min(TERMS, max(3, (MOST_COLUMNS - visible) // len(places)))
        counts = [each if i in places else 1 for i in range(len(logits))]
    else:
        counts = [max(1, MOST_COLUMNS // visible)] * visible
    columns = likeliest(logits, counts)
    seen = [i for i in range(len(run.ids)) if i not in places and run.tokens[i] not in ("[CLS]", "[SEP]")]
    same = sum(int(logits[i].argmax()) == run.ids[i] for i in seen)
    vocabulary = pipeline.reader.vocabulary

    def choose(row: int, column: int) -> None:
        st.session_state["answer.place"] = row
        st.session_state["answer.output"] = candidates(logits[row], columns).index(columns[column])

    sentence = t("answer.read_seen", same=same, seen=len(seen)) if seen else ""
    if places:
        sentence += " " + t("answer.read_hidden", places=", ".join(str(place + 1) for place in places))
    view.picture(
        "every_place",
        heatmap(
            softmax(logits)[:, columns],
            view.tokens("axis.token"),
            Axis(plain("answer.axis_words"), [vocabulary[i] for i in columns]),
            scale="share",
            square=False,
            clickable=True,
            font_size=view.font_size,
        ),
        f"{sentence} {t('answer.read_special')}",
        stage="logits",
        equation=r"p_{ij} = \operatorname{softmax}(y)_{ij} = \frac{e^{y_{ij}}}{\sum_{j'} e^{y_{ij'}}}",
        on_pick=choose,
    )
    return columns


def candidates(logits: np.ndarray, columns: list[int]) -> list[int]:
    """The outputs that By hand offers at one place, likeliest first: its ten best and the picture's columns."""
    best = (-logits).argsort()[:TERMS]
    return sorted({*best.tolist(), *columns}, key=lambda i: -logits[i])


# -- by hand -------------------------------------------------------------------------------------------------


def dot_product(name: str, output: int, token: int, symbols: tuple[str, str, str]) -> None:
    """The logit of one output: the ten largest terms of the dot product, the rest, and the constant."""
    left, right, constant = symbols
    terms = largest_terms(*pipeline.logit_parts(view.trace, output, token), most=TERMS)
    rows = [(str(d + 1), *term) for d, *term in zip(terms.places, terms.x, terms.w, terms.products, strict=True)]
    rows += [
        (plain("answer.other_terms", n=terms.others), np.nan, np.nan, terms.rest),
        (constant, np.nan, np.nan, terms.bias),
        ("y", np.nan, np.nan, terms.total),
    ]
    formats = {left: "%.5f", right: "%.5f", f"{left} · {right}": "%.5f"}
    show_table("terms", pd.DataFrame(rows, columns=["d", *formats]), formats)
    st.markdown(
        t(
            "answer.hand_logit",
            word=name,
            terms=f"{terms.products.sum():.5f}",
            rest=signed(terms.rest),
            constant=signed(terms.bias),
            logit=f"{terms.total:.5f}",
        )
    )


def quotient(logits: np.ndarray, names: list[str], output: int) -> None:
    """The softmax of one output: the exponentials, their sum over all outputs, and the quotient."""
    logits = logits.astype(np.float64)
    exponentials = np.exp(logits - logits.max())
    total = exponentials.sum()
    shown = list((-logits).argsort()[:TERMS])
    if output not in shown:
        shown.append(output)
    rows = [
        (
            f"{rank(logits, i)} · {names[i]}" if words else names[i],
            logits[i],
            logits[i] - logits.max(),
            exponentials[i],
            exponentials[i] / total,
        )
        for i in shown
    ]
    rest = np.delete(exponentials, shown)
    if len(rest):
        rows.append((plain("answer.other_words", n=f"{len(rest):,}"), np.nan, np.nan, rest.sum(), rest.sum() / total))
    rows.append((plain("answer.sum"), np.nan, np.nan, total, 1.0))
    formats = {"y": "%.4f", "y − max": "%.4f", "exp(y − max)": "%.6g", "p": "%.4g"}
    first = plain("answer.axis_word" if words else "answer.axis_class")
    show_table("softmax", pd.DataFrame(rows, columns=[first, *formats]), formats)
    st.markdown(
        t(
            "answer.hand_probability",
            word=names[output],
            top=f"{exponentials[output]:.6g}",
            sum=f"{total:.6g}",
            probability=f"{exponentials[output] / total:.4g}",
        )
    )


def show_table(name: str, table: pd.DataFrame, formats: dict[str, str]) -> None:
    """All rows of a table of arithmetic; what has no number stays empty."""
    st.dataframe(
        table,
        key=f"answer.{name}",
        height="content",
        hide_index=True,
        column_config={name: st.column_config.NumberColumn(format=printf) for name, printf in formats.items()},
        placeholder="",
    )


# -- the two kinds of answer ---------------------------------------------------------------------------------


def answer_with_words() -> None:
    own = view.trace
    places = [i for i, token in enumerate(own.tokens) if token == "[MASK]"]
    truths: list[int | None] = [None] * len(places)
    if places:
        st.markdown(t("answer.already_hidden", n=len(places)))
    else:
        places = hidden_places(own.tokens)
        truths = [own.ids[i] for i in places]
        if places:
            # From here on the page, its By hand and its downloads are about the run with the hidden word.
            view.follow(pipeline.name, pipeline.reader.hide(own.ids, places))
            hidden = joined([own.tokens[i] for i in places])
            st.markdown(t("answer.hidden_now", word=hidden, sentence=" ".join(view.trace.tokens[1:-1])))
            if len(places) > 1:
                st.caption(t("answer.each_alone", n=len(places)))
    if st.session_state.get("answer.run") != view.trace.ids:
        st.session_state["answer.run"] = view.trace.ids
        st.session_state["answer.place"], st.session_state["answer.output"] = places[0] if places else 1, 0

    charts = list(zip(places, truths, strict=True))[:MOST_CHARTS]
    for start in range(0, len(charts), 3):
        row = charts[start : start + 3]
        columns = st.columns([3, 2] if len(charts) == 1 else min(3, len(charts)))
        for column, (place, truth) in zip(columns, row, strict=False):
            with column:
                guess_chart(place, truth)
        if len(charts) == 1:
            with columns[1]:
                trained_on()
    if len(places) > MOST_CHARTS:
        st.caption(t("answer.more_places", most=MOST_CHARTS, n=len(places)))
    if len(charts) != 1:
        trained_on()
    shown = every_place(places)

    with view.by_hand():
        st.markdown(t("answer.hand_intro"))
        left, right = st.columns(2)
        with left:
            place = pick("answer.place", plain("answer.hand_place"), view.trace.tokens)
        logits = view.trace["logits"][place]
        offered = candidates(logits, shown)
        vocabulary = pipeline.reader.vocabulary
        with right:
            output = offered[pick("answer.output", plain("answer.hand_word"), [vocabulary[i] for i in offered])]
        st.markdown(
            t("answer.hand_dot", token=view.trace.tokens[place], place=place + 1, word=vocabulary[output], id=output)
        )
        dot_product(vocabulary[output], output, place, ("h", "E[w]", "c"))
        st.markdown(t("answer.hand_softmax", n=f"{len(logits):,}"))
        quotient(logits, vocabulary, output)
    view.close(MaskedWordNetwork)


def answer_with_class() -> None:
    guess = view.trace.answer[0]
    names = [plain(f"answer.{label}") if label in ("even", "odd") else label for label in guess.labels]
    logits, probabilities = view.trace["logits"], softmax(view.trace["logits"])
    order = (-logits).argsort()
    best, second = int(order[0]), int(order[1])
    low, high = min(0.0, float(logits.min())), max(0.0, float(logits.max()))
    room = (high - low) / 6  # for the numbers beside the bars
    axis = Axis(plain("answer.axis_class"), names)
    table = pd.DataFrame({"y": logits, "p": probabilities}, index=names)
    left, right = st.columns(2)
    with left:
        view.picture(
            "probabilities",
            bars(
                probabilities,
                axis,
                plain("answer.axis_probability"),
                colours=[ORANGE if i == best else BLUE for i in range(len(names))],
                texts=[show(p) for p in probabilities],
                value_range=(0, 1),
                font_size=view.font_size,
            ),
            t(
                "answer.read_class",
                best=names[best],
                first=show(probabilities[best]),
                second=names[second],
                then=show(probabilities[second]),
            ),
            equation=r"p_i = \operatorname{softmax}(y)_i = \frac{e^{y_i}}{\sum_j e^{y_j}}",
            table=table,
        )
    with right:
        view.picture(
            "logits",
            bars(logits, axis, "y", value_range=(low - room, high + room), font_size=view.font_size),
            t("answer.read_logits", best=names[best], logit=f"{logits[best]:.2f}"),
            stage="logits",
            equation=logits_equation,
            table=table,
        )
    first_to_know(view)
    trained_on()
    with view.by_hand():
        st.markdown(t("answer.hand_single_intro" if single else "answer.hand_class_intro", token=view.trace.tokens[0]))
        output = pick("answer.class", plain("answer.hand_class"), names, default=best, numbered=False)
        st.markdown(t("answer.hand_class_dot", token=view.trace.tokens[0], word=names[output]))
        dot_product(names[output], output, 0, ("z", "W", "b"))
        st.markdown(t("answer.hand_softmax_class", n=len(names)))
        quotient(logits, names, output)
    view.close(ClassifierNetwork)


if words:
    answer_with_words()
else:
    answer_with_class()
