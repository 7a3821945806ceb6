"""With shown=difference each page draws the numbers of one run minus those of the other."""

import html
import re
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pytest

from model import Edit, Trace
from model.analysis import cosine_similarity, pca, rollout, softmax
from pages.drawing.figures.base import LESS, MORE
from pages.drawing.state import sketch
from pages.drawing.state.link_values import edit_code
from pages.drawing.text import catalogue
from pages.screen.runs import pipelines
from tests.pages.opening import chart, numbers, open_page, said, texts

CAT, DOG = "the cat [MASK] the dog .", "the dog [MASK] the cat ."
OFF = Edit("layers.1.attention.heads", "zero", head=2)
FIVE, THREE = sketch.example(5), sketch.example(3)
LAYER, HEAD, TOKEN = 2, 1, 2  # where every page looks
PLACE = {"layer": str(LAYER + 1), "head": str(HEAD + 1), "token": str(TOKEN + 1)}
A = f"layers.{LAYER}.attention."
F = f"layers.{LAYER}.ffn."


def array(values: dict | list) -> np.ndarray:
    return numbers(values) if isinstance(values, dict) else np.array(values, float)


def z(drawn: dict) -> np.ndarray:
    return numbers(drawn["data"][0]["z"])


def heights(drawn: dict) -> np.ndarray:
    """Heights of bars or lines: (series, position)."""
    return np.stack([array(trace["y"]) for trace in drawn["data"]])


def lengths(drawn: dict) -> np.ndarray:
    """Lengths of horizontal bars."""
    return array(drawn["data"][0]["x"])


def norm(values: np.ndarray) -> np.ndarray:
    return np.linalg.norm(values, axis=-1)


def names(drawn: dict) -> list[str]:
    return [html.unescape(name) for name in drawn["layout"]["yaxis"]["ticktext"]]


def way(run: Trace) -> np.ndarray:
    """Norms of the token after each layer and of what attention and the FFN added (nothing before the first)."""
    added = [
        [norm(run[f"layers.{layer}.{part}.output"][TOKEN]) for layer in range(run.config.layers)]
        for part in ("attention", "ffn")
    ]
    return np.stack([norm(run.states()[:, TOKEN]), *([np.nan, *row] for row in added)])


@dataclass(frozen=True)
class Law:
    """A picture: its page, how to read its numbers, and what they are in one run."""

    page: str
    picture: str
    read: Callable[[dict], np.ndarray]
    of: Callable[[Trace], np.ndarray]
    link: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.page} {self.picture} {self.link.get('as', '')}"


LAWS = [
    Law("attention", "weights", z, lambda run: run[A + "weights"][HEAD], {"as": "map"}),
    Law("layers", "norms", heights, way, {"tab": "path"}),
    Law("layers", "similarity", z, lambda run: cosine_similarity(run.states())[LAYER + 1], {"tab": "alike"}),
    Law("layers", "rollout", z, lambda run: rollout(run.over_layers("attention.weights"))[LAYER], {"tab": "origin"}),
]
RUNS = ["words, changed", "words, another", "digits, changed", "digits, another"]


def two_runs(which: str) -> tuple[dict[str, str], Trace, Trace]:
    """A link to a difference, and the two runs."""
    words, changed = which.startswith("words"), which.endswith("changed")
    name = "text" if words else "digits"
    one, other = (CAT, DOG) if words else (sketch.ink(FIVE), sketch.ink(THREE))
    own = {"s": CAT} if words else {"input": "digit", "ink": sketch.to_code(FIVE)}
    if changed:
        link = {"edits": edit_code(OFF), "shown": "difference"}
        return PLACE | own | link, pipelines.run(name, one, (OFF,)), pipelines.run(name, one)
    link = {"other": DOG} if words else {"other_ink": sketch.to_code(THREE)}
    return PLACE | own | link | {"shown": "against"}, pipelines.run(name, one), pipelines.run(name, other)


@pytest.mark.parametrize(
    ("law", "which"),
    [(law, which) for i, law in enumerate(LAWS) for which in (RUNS[0], RUNS[1 + i % 3])],
    ids=str,
)
def test_what_is_drawn_is_one_run_less_the_other(law: Law, which: str) -> None:
    link, here, there = two_runs(which)
    app = open_page(law.page, **{**link, **law.link})
    wanted = law.of(here) - law.of(there)
    assert np.nanmax(np.abs(wanted)) > 1e-4  # else nothing is shown
    np.testing.assert_allclose(law.read(chart(app, law.picture)), wanted, atol=2e-5)
    sign = "height" if law.read is heights else "colour"
    assert catalogue("en")[f"change.sign_{sign}"] in said(app)


@pytest.mark.parametrize("which", [RUNS[0], RUNS[3]])
def test_the_bars_of_an_answer_are_differences_of_probabilities(which: str) -> None:
    link, here, there = two_runs(which)
    place = here.tokens.index("[MASK]") if here.ids else 0
    app = open_page("answer", **link | {"token": str(place + 1)})
    drawn = chart(app, f"guesses_{place}")
    outputs = pipelines.pipeline("text").reader.vocabulary if here.ids else here.answer[0].labels
    chosen = [outputs.index(name) for name in names(drawn)]
    p = [softmax(np.atleast_2d(run["logits"]).astype(np.float64)[place if run.ids else 0]) for run in (here, there)]
    np.testing.assert_allclose(lengths(drawn), (p[0] - p[1])[chosen], atol=1e-6)
    assert np.abs(p[0] - p[1]).argmax() in chosen
    assert drawn["data"][0]["marker"]["color"] == [LESS if value < 0 else MORE for value in lengths(drawn)]
    if here.ids:
        at = [softmax(run["logits"].astype(np.float64)) for run in (here, there)]
        drawn = chart(open_page("answer", **link, tab="places"), "every_place")
        words = [outputs.index(html.unescape(name)) for name in drawn["layout"]["xaxis"]["ticktext"]]
        np.testing.assert_allclose(z(drawn), (at[0] - at[1])[:, words], atol=1e-6)


def test_the_lens_shows_where_the_guesses_part() -> None:
    link, here, there = two_runs("words, another")
    app = open_page("layers", **link, tab="lens")
    drawn, owner = chart(app, "guess"), pipelines.pipeline("text")
    chosen = [owner.reader.vocabulary.index(html.unescape(name)) for name in drawn["layout"]["xaxis"]["ticktext"]]
    gap = owner.read_layers(here, TOKEN) - owner.read_layers(there, TOKEN)
    np.testing.assert_allclose(z(drawn), gap[:, chosen], atol=1e-6)
    assert np.unravel_index(np.abs(gap).argmax(), gap.shape)[1] in chosen


def test_lines_between_words_show_sign_by_colour_and_size_by_width() -> None:
    link, here, there = two_runs("words, changed")
    gap = here[A + "weights"][HEAD] - there[A + "weights"][HEAD]
    drawn = chart(open_page("attention", **link | {"as": "lines"}), "weights")["data"]
    for bundle in drawn[:-3]:
        ends = numbers(bundle["y"]).reshape(-1, 3)[:, :2].astype(int)
        sizes = np.array([gap[i, j] for i, j in ends])
        assert (sizes < 0).all() if bundle["line"]["color"] == LESS else (sizes > 0).all()
        assert np.abs(sizes).max() - np.abs(sizes).min() <= 0.1
    count = sum(len(numbers(bundle["y"])) // 3 for bundle in drawn[:-3])
    assert count == (np.abs(gap) >= 0.02).sum()


def test_a_difference_of_several_quantities_says_in_which_it_is_largest_and_at_which_of_two_equal_words() -> None:
    link = {"s": "the cat sat on the mat .", "edits": edit_code(OFF), "shown": "difference", "layer": "3", "head": "2"}
    read = said(open_page("attention", tab="steps", **link))
    words = catalogue("en")
    titles = "|".join(re.escape(words[key]) for key in words if key.startswith("attention."))
    assert re.search(rf"Largest at “({titles}) · \S+( \(\d\))? → .+”: [+-]\d", read)


def test_the_neurons_listed_are_those_that_differ_most() -> None:
    link, here, there = two_runs("words, changed")
    drawn = chart(open_page("feed_forward", **link), "loudest")
    gap = here[F + "activation"][TOKEN] - there[F + "activation"][TOKEN]
    order = np.argsort(-np.abs(gap), kind="stable")[:11]
    assert [int(name.rpartition(" ")[2]) - 1 for name in names(drawn)][:11] == order.tolist()
    np.testing.assert_allclose(array(drawn["data"][-1]["x"])[:11], gap[order], atol=2e-5)


def test_queries_and_keys_of_both_runs_stand_in_one_plane() -> None:
    link, here, there = two_runs("words, another")
    drawn = chart(open_page("queries_keys_values", **link, tab="plane"), "plane")["data"]
    vectors = [run[A + role][HEAD] for run in (here, there) for role in "QK"]
    points = np.split(pca(np.concatenate(vectors))[0], 4)
    symbols = ("circle", "diamond", "circle-open", "diamond-open")
    for symbol, wanted in zip(symbols, points, strict=True):
        (marks,) = (trace for trace in drawn if trace.get("marker", {}).get("symbol") == symbol)
        np.testing.assert_allclose(np.stack([numbers(marks[x]) for x in "xy"], axis=1), wanted, atol=1e-4)


def test_a_word_without_a_counterpart_keeps_its_own_guesses_and_says_so() -> None:
    link = {
        "s": "she sat by the big river .",
        "other": "she sat by the river .",
        "shown": "against",
    }
    place = pipelines.run("text", link["s"]).tokens.index("big")
    app = open_page("answer", **link, hidden=str(place + 1))
    assert (lengths(chart(app, f"guesses_{place}")) > 0).all()
    assert catalogue("en")["change.only_against"] in texts(app)
    assert catalogue("en")["change.read_nothing"] in texts(open_page("feed_forward", **link, token=str(place + 1)))


def hollow(drawn: dict) -> np.ndarray:
    """Values of the other run: outlined bars, or hollow markers of lines."""
    clear = [trace for trace in drawn["data"] if trace.get("marker", {}).get("color") == "rgba(0,0,0,0)"
             or trace.get("marker", {}).get("symbol") == "circle-open"]  # fmt: skip
    return np.stack([array(trace["y"]) for trace in clear])


def test_bars_and_lines_of_both_inputs_stand_in_one_picture() -> None:
    link, here, there = two_runs("words, another")
    app = open_page("layers", **link | {"tab": "path", "shown": "beside"})
    drawn, own = chart(app, "norms"), way(here)
    np.testing.assert_allclose(heights(drawn)[: len(own)], own, atol=2e-5)
    np.testing.assert_allclose(hollow(drawn), way(there), atol=2e-5)
    assert catalogue("en")["change.both_beside"] in texts(app)
    assert catalogue("en")["change.only_beside"] not in texts(app)


def test_masked_pairs_do_not_set_the_colour_scale() -> None:
    causal = Edit(f"layers.{LAYER}.attention.masked", "causal")
    early = Edit("layers.0.attention.heads", "zero", head=0)
    edits = "~~".join(edit_code(edit) for edit in (early, causal))
    app = open_page("attention", s=CAT, edits=edits, shown="difference", stage="masked", **PLACE)
    runs = [pipelines.run("text", CAT, edits) for edits in ((early, causal), ())]
    gaps = np.stack([np.subtract(*(run[A + step][HEAD] for run in runs)) for step in ("scores", "scaled", "masked")])
    drawn = [trace for trace in chart(app, "steps")["data"] if trace["type"] == "heatmap"][:3]
    largest = np.abs(gaps[np.isfinite(gaps)]).max()
    assert [trace["zmax"] for trace in drawn] == pytest.approx([largest] * 3, rel=1e-5), "one scale for all scores"
