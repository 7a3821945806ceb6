"""The Tokens page: what it shows is what the network looked up and added, and its arithmetic comes out."""

import re

import numpy as np
import pytest
import streamlit
from streamlit.testing.v1 import AppTest

from model import WeightsError, load
from model.analysis import cosine_similarity, cut_words, nearest_rows, piece_kinds
from model.pipeline import SPECIAL_TOKENS
from pages.ui import session
from tests.pages.opening import figure, numbers, open_page, texts

SENTENCE = "the unbelievable cat saw the 今天 ☃ [MASK] ."
KINDS = [{"s": SENTENCE}, {"s": "i"}, {"input": "digit"}, {"input": "flat"}]


def trace_of(app: AppTest):
    choice = app.session_state["choice"]
    return session.run(choice.pipeline, choice.subject)


def picture(app: AppTest, name: str) -> dict:
    """The figure of the picture `name` of the page, as the browser gets it."""
    (which,) = [i for i, chart in enumerate(app.get("plotly_chart")) if chart.proto.id.endswith(f"-tokens.{name}")]
    return figure(app, which)


def cells(app: AppTest, name: str) -> np.ndarray:
    return numbers(picture(app, name)["data"][0]["z"])


def written(app: AppTest) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The columns of the table of products as they stand there; blanks are NaN."""
    table = app.dataframe[0].value
    return tuple(np.array([float(cell or "nan") for cell in table[name]]) for name in table.columns[1:])


def arithmetic(app: AppTest) -> str:
    return app.latex[-1].value


@pytest.mark.parametrize("link", KINDS)
@pytest.mark.parametrize(("token", "dimension"), [(0, 0), (1, 1), (7, 42), (10, 63)])
def test_the_sum_by_hand_comes_out_as_displayed(link: dict, token: int, dimension: int) -> None:
    app = open_page("tokens", **link)
    trace = trace_of(app)
    token = min(token, len(trace.tokens) - 1)
    app.session_state["token"], app.session_state["dimension"] = token, dimension
    app.run()
    shown = arithmetic(app)
    part, place, total = (
        float(value.strip("()"))
        for value in re.search(r"X\^\{\(0\)\} &= (\S+) \+ (\S+) = \\mathbf\{(\S+?)\}", shown).groups()
    )
    assert f"{part + place:.5f}" == f"{total:.5f}"
    assert total == pytest.approx(trace["embedding.sum"][token, dimension], abs=3e-5)
    assert place == pytest.approx(trace["embedding.positions"][token, dimension], abs=2e-5)
    if "s" in link:
        entry, factor, product = re.search(r"&= (\S+) \\times (\S+) \\\\\[4pt\] &= (\S+)", shown).groups()
        assert f"{float(entry) * float(factor):.5f}" == product == f"{part:.5f}"
    if "PE(" in shown:
        above, below = re.search(r"\\frac\{(\d+)\}\{([\d.]+)\}", shown).groups()
        name, angle, value = re.search(r"&= \\(sin|cos)\((\S+)\) = (\S+)", shown).groups()
        assert f"{float(above) / float(below):.6f}" == angle
        assert f"{getattr(np, name)(float(angle)):.5f}" == value == f"{place:.5f}"
    assert ("PE(" in shown) == (trace.config.positions == "sinusoidal")


@pytest.mark.parametrize(("link", "token"), [({"input": "digit"}, 25), ({"input": "flat"}, 0)])
def test_the_pixels_by_hand_come_out_as_displayed(link: dict, token: int) -> None:
    app = open_page("tokens", **link)
    app.session_state["token"], app.session_state["dimension"] = token, 3
    app.run()
    p, w, products = written(app)
    pixels = ~np.isnan(p)
    assert pixels.sum() == 16
    assert [f"{a * b:.5f}" for a, b in zip(p[pixels], w[pixels], strict=True)] == [f"{x:.5f}" for x in products[pixels]]
    assert f"{products[:-1].sum():.5f}" == f"{products[-1]:.5f}"
    assert products[-1] == pytest.approx(trace_of(app)["embedding.tokens"][token, 3], abs=1e-4)


def test_the_rows_are_those_of_the_network_and_the_pictures_add_up() -> None:
    app = open_page("tokens", s=SENTENCE)
    trace, E = trace_of(app), load("text").network.embedding.E.weight.numpy()
    rows, scaled, positions, total = (cells(app, name) for name in ("rows", "tokens", "positions", "sum"))
    assert np.array_equal(rows, E[trace.ids])
    assert np.array_equal(scaled, rows * np.float32(16))
    assert np.allclose(total, scaled + positions, atol=1e-6)


def test_the_pixel_rows_are_the_drawing_and_make_the_token_vectors() -> None:
    app = open_page("tokens", input="digit")
    image = np.frombuffer(app.session_state["choice"].ink, np.uint8).reshape(28, 28) / np.float32(255)
    embedding = session.pipeline("digits").network.embedding
    vectors = cells(app, "tokens")
    assert np.allclose(vectors[0], embedding.cls.numpy())
    for row, column in [(1, 2), (3, 3), (6, 0)]:
        token = 1 + 7 * row + column
        app.session_state["token"] = token
        app.run()
        pixels = cells(app, "pixels")[0]
        assert np.array_equal(pixels.reshape(4, 4), image[4 * row : 4 * row + 4, 4 * column : 4 * column + 4])
        made = pixels @ embedding.W_E.weight.numpy().T + embedding.W_E.bias.numpy()
        assert np.allclose(vectors[token], made, atol=1e-5)


def test_the_pieces_are_listed_and_what_is_special_is_explained() -> None:
    app = open_page("tokens", s=SENTENCE)
    trace, table = trace_of(app), app.dataframe[0].value
    assert list(table["piece"]) == trace.tokens
    assert list(table["id"]) == trace.ids
    for word in ("unbelievable", "UNK", "MASK", "CLS", "Chinese"):
        assert word in texts(app)
    plain_sentence = texts(open_page("tokens", s="the cat saw the dog ."))
    assert "unbelievable" in plain_sentence  # no word is cut here, so an example is
    assert "[UNK]" not in plain_sentence and "Chinese" not in plain_sentence


@pytest.mark.parametrize("sentence", ["the unbelievable cat", "antidisestablishmentarianism", "你爱我 .", "## x"])
def test_pieces_make_up_the_words_again(sentence: str) -> None:
    tokens = load("text").reader.read(sentence).tokens
    kinds = piece_kinds(tokens)
    assert kinds[0] == "cls" and kinds[-1] == "sep"
    cut = cut_words(tokens)
    assert all("".join(piece.removeprefix("##") for piece in word) in sentence for word in cut)
    assert sum(len(word) for word in cut) == sum(kind in ("first", "later") for kind in kinds)
    assert all(kind == "character" for token, kind in zip(tokens, kinds, strict=True) if token in "你爱我")


def test_neighbours_are_the_nearest_pieces_without_special_ones() -> None:
    app = open_page("tokens", s="the cat saw the dog .")
    app.session_state["word"] = 2
    app.run()
    bars = picture(app, "neighbours")
    shown, names = numbers(bars["data"][0]["x"]), bars["layout"]["yaxis"]["ticktext"]
    reader, E = load("text").reader, load("text").network.embedding.E.weight.numpy()
    cosines = cosine_similarity(E[[reader.vocabulary.index("cat")]], E)[0]
    wanted = sorted(
        (value for name, value in zip(reader.vocabulary, cosines, strict=True) if name not in (*SPECIAL_TOKENS, "cat")),
        reverse=True,
    )[:10]
    assert np.allclose(shown, wanted, atol=1e-5)
    assert not {"cat", *SPECIAL_TOKENS} & set(names)


def test_nearest_rows_leaves_out_what_it_is_told_to() -> None:
    table = np.array([[1, 0], [1, 0.1], [0, 1], [-1, 0], [2, 0.1]])
    best, cosines = nearest_rows(table, 0, most=9, leave_out=[1])
    assert best.tolist() == [4, 2, 3]
    assert cosines == pytest.approx([2 / np.hypot(2, 0.1), 0, -1])


def test_sinusoidal_likeness_depends_on_the_distance_alone() -> None:
    likeness = cells(open_page("tokens", s="the cat ."), "similar_sinusoidal")
    for away in range(64):
        assert np.ptp(np.diagonal(likeness, away)) < 1e-5


def test_one_colour_range_is_one_colour_range() -> None:
    app = open_page("tokens", s=SENTENCE)
    app.toggle(key="tokens.same_range").set_value(True).run()
    names = ("rows", "tokens", "positions", "sum")
    assert len({picture(app, name)["data"][0]["zmax"] for name in names}) == 1


def test_the_page_stays_light() -> None:
    app = open_page("tokens", s="the cat saw the dog and " * 5)
    assert len(trace_of(app).tokens) == 32
    assert sum(len(chart.proto.spec) for chart in app.get("plotly_chart")) < 500_000


def test_a_missing_digit_model_is_explained_on_a_sentence_page(monkeypatch) -> None:
    real = session.pipeline

    def without_digits(name: str):
        if name == "digits":
            raise WeightsError("missing", "digits.safetensors")
        return real(name)

    streamlit.cache_resource.clear()
    session.run.cache_clear()
    monkeypatch.setattr(session, "pipeline", without_digits)
    app = open_page("tokens", s="the cat .")
    assert any("digits" in note.value for note in app.info)
