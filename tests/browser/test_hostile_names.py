"""A checkpoint's tokens and labels that are scripts: none runs, wherever a browser shows them."""

import shutil
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from urllib.parse import urlencode

import pandas as pd
import pytest
from playwright.sync_api import Page, expect

from model import Trace, load
from model.frames import Shown
from pages.drawing.figures import matrices
from pages.drawing.figures.base import Axis
from pages.school.classroom.store import Asked, Vote
from pages.school.teaching import paper, report
from pages.screen.frame import exports
from tests.browser.steps import title, walk_to
from tests.classroom.server import serve
from tests.model.making import WORDS, rewritten, theirs

RING = "alert(1)"
HOSTILE = {
    "cat": f"<svg/onload={RING}>",
    "sat": f"<img/src='x'/onerror={RING}>",
    "mat": f"</script><script>{RING}</script>",
    "on": f"\"'><svg/onload={RING}>",
    "dog": f"javascript:{RING}",
    "a": f"$\\href{{javascript:{RING}}}{{x}}$",
}
LABELS = dict(zip("01", HOSTILE.values(), strict=False))
SENTENCE = " ".join(HOSTILE.get(word, word) for word in (*WORDS[:8], "[MASK]"))
#: Waits until every image has loaded or failed, and its handlers have run.
FAILED = """Promise.all([...document.images].filter(image => !image.complete).map(image => new Promise(done => {
  for (const end of ['load', 'error']) image.addEventListener(end, done)
}))).then(() => new Promise(done => setTimeout(done, 50)))"""


@cache
def folder(kind: str) -> Path:
    """A small checkpoint with hostile words and labels."""
    path = Path(mkdtemp()) / kind
    shutil.copytree(theirs(kind)[1], path)
    tokenizer = (path / "tokenizer.json").read_text()
    for word, name in HOSTILE.items():
        assert word in WORDS
        tokenizer = tokenizer.replace(f'"{word}":', f"{pd.io.json.ujson_dumps(name)}:")
    (path / "tokenizer.json").write_text(tokenizer)
    if kind.endswith("Classification"):
        rewritten(path, id2label=LABELS, label2id={name: int(n) for n, name in LABELS.items()})
    return path


@cache
def trace(kind: str = "BertForMaskedLM") -> Trace:
    found = load(str(folder(kind)))(SENTENCE)
    assert set(HOSTILE.values()) <= set(found.tokens)
    return found


def answered() -> str:
    """Report of a class that was asked about hostile tokens."""
    both = {language: next(iter(HOSTILE.values())) for language in ("en", "zh")}
    names = {language: list(LABELS.values()) for language in ("en", "zh")}
    shown = {"gesture": "tap", "options": list(LABELS), "names": names, "ask": both, "about": both}
    truth = {"answer": "0", "right": ["0"], "why": both, "bars": []}
    asked = Asked(1, 0, shown | {"reads": SENTENCE}, truth, {1: [Vote("0", 0)]})
    return report.as_html([asked], SENTENCE, f"http://localhost/?s={SENTENCE}")


def taken() -> exports.Taken:
    names = list(HOSTILE.values())
    side = Axis(names[0], trace().tokens)
    figure = matrices.heatmap(trace()["layers.0.attention.weights"][0], side, side)
    return exports.Taken(names[0], figure, pd.DataFrame, names[1], names, SENTENCE, "")


#: Shown in a notebook or saved: HTML with hostile names.
HTML: dict[str, Callable[[], str]] = {
    "rows and columns": lambda: trace().show("layers.0.attention.weights", head=1)._repr_html_(),
    "rows of several axes": lambda: trace().show("layers.0.attention.weights")._repr_html_(),
    "columns of words": lambda: Shown(trace().to_frame("logits").loc[:, :], RING)._repr_html_(),
    "a title": lambda: Shown(pd.DataFrame({"x": [1.0]}), next(iter(HOSTILE.values())))._repr_html_(),
    "labels": lambda: trace("BertForSequenceClassification").show("logits")._repr_html_(),
    "a frame": lambda: trace().to_frame("layers.0.attention.weights", head=1)._repr_html_(),
    "the overview": lambda: trace().overview()._repr_html_(),
    "the overview of labels": lambda: trace("BertForSequenceClassification").overview()._repr_html_(),
    "the overview as a file": lambda: trace().overview().html,
    "a picture as a file": lambda: exports.standalone(taken(), SENTENCE, "light"),
    "a hand-out": lambda: exports.handout(
        "t", SENTENCE, "", SENTENCE, SENTENCE, {"": taken()}, {"language": "en", "see": SENTENCE, "says": SENTENCE}
    ),
    "a lesson on paper": lambda: paper.as_html(
        SENTENCE,
        SENTENCE,
        SENTENCE,
        [paper.OnPaper(SENTENCE, SENTENCE, "", SENTENCE, list(HOSTILE.values()), "", "", [SENTENCE])],
        {"language": "en", "answers": SENTENCE, "print": SENTENCE},
    ),
    "the report of a class": answered,
}


def failed(page: Page) -> None:
    for frame in page.frames:
        frame.evaluate(FAILED)


@pytest.fixture
def rung(page: Page) -> Iterator[list[str]]:
    """Dialogs opened by scripts; none may be."""
    said: list[str] = []

    def hear(dialog: object) -> None:
        said.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", hear)
    yield said
    page.remove_listener("dialog", hear)


def test_names_would_run_as_they_are_and_none_does_in_what_is_shown_or_saved(page: Page, rung: list[str]) -> None:
    for name in list(HOSTILE)[:4]:
        page.goto("about:blank")
        page.set_content(f"<script></script><p>{HOSTILE[name]}</p>")
        failed(page)
        assert rung, name
        rung.clear()
    for name, html in HTML.items():
        page.goto("about:blank")
        page.set_content(html().replace('src="picture:', 'data-picture="'))
        failed(page)
        assert not rung, name


@pytest.fixture(scope="module")
def theirs_url() -> Iterator[str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MODELS", f"{folder('BertForMaskedLM')} {folder('BertForSequenceClassification')}")
        with serve() as server:
            yield server.url


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("BertForMaskedLM", ("tokens", "attention", "feed_forward", "layers", "answer")),
        ("BertForSequenceClassification", ("answer", "what_if")),
    ],
)
def test_no_name_runs_on_a_page(
    kind: str, names: tuple[str, ...], page: Page, theirs_url: str, rung: list[str]
) -> None:
    query = {"lang": "en", "model": kind, "s": SENTENCE, "token": 2, "hidden": "none"}
    page.goto(f"{theirs_url}/{names[0]}?{urlencode(query)}")  # the first visitor may arrive by a deep link
    for name in names:
        if name != names[0]:
            walk_to(page, name)
        title(page, name)
        expect(page.locator(".sentence")).to_contain_text(HOSTILE["cat"])
        failed(page)
    assert not rung
