"""Answer at another temperature: the bars are softmax(logits / τ), and at 1 they are the network's own answer."""

import numpy as np

from model import load
from pages.ui.text.numbers import decimal
from tests.pages.opening import chart, charts, drawn_in, numbers, open_page, said

WORDS = {"s": "the cat sat on the mat .", "hidden": "4"}


def softmax(logits: np.ndarray) -> np.ndarray:
    shares = np.exp(logits.astype(np.float64) - logits.max())
    return shares / shares.sum()


def test_bars_are_the_softmax_of_the_logits_over_tau() -> None:
    tau = 30
    app = open_page("answer", **WORDS, tau=str(tau))
    pipeline = load("text")
    ids = pipeline.reader.hide(pipeline.reader.read(WORDS["s"]).ids, (3,))
    own, now = (softmax(pipeline(ids)["logits"][3] / by) for by in (1, tau / 10))
    order = np.argsort(-own)[:10]
    bars = chart(app, "temperature")["data"]
    np.testing.assert_allclose(np.ravel(numbers(bars[0]["x"])), now[order], rtol=1e-5)
    np.testing.assert_allclose(np.ravel(numbers(bars[1]["x"])), own[order], rtol=1e-5)
    assert f"gets {decimal(now[order[0]])} instead of {decimal(own[order[0]])}" in said(app)
    many, few = ((shares >= 0.01).sum() for shares in (now, own))
    assert f"{many} of 12,000 get 1% or more instead of {few}" in said(app)


def test_a_drawing_has_classes_and_its_slider_is_in_the_link() -> None:
    app = open_page("answer", input="digit", lang="zh", tau="5", panel="temperature")  # once a part of its own
    assert len(np.ravel(drawn_in(app, "temperature"))) == 10
    app.slider(key="answer.tau").set_value(2.5).run()
    assert app.session_state["choice"].tau == 25
    app.slider(key="answer.tau").set_value(1.0).run()
    assert next(one["key"] for one in charts(app)) == "answer.guesses_0", "at 1 it is the answer itself"
