"""A damaged file disables only what needs it, and the page names it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from model import examples, loading
from model.measures import doubt as model_doubt
from model.measures import learning, tables
from pages.drawing.state import first_sight
from pages.drawing.text import catalogue
from pages.screen.runs import pipelines
from tests.pages.opening import at_page, charts, stops, turn_to

READERS = (
    loading.trained,
    loading.untrained,
    model_doubt.doubt,
    tables._read_heads,
    learning._read,
    first_sight._roles,
)


@pytest.fixture
def weights(tmp_path: Path, monkeypatch) -> Iterator[Path]:
    """A copy of the weights that may be damaged, with empty caches."""
    for path in loading.WEIGHTS.iterdir():
        (tmp_path / path.name).symlink_to(path)
    for module in (loading, model_doubt, tables, examples):
        monkeypatch.setattr(module, "WEIGHTS", tmp_path)
    forget()
    yield tmp_path
    forget()


def forget() -> None:
    for reader in (*READERS, tables.fingerprint):
        reader.cache_clear()
    pipelines.pipeline.cache_clear()
    pipelines.run.cache_clear()


def damage(path: Path) -> None:
    """Flip one bit in the middle of a file."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    path.unlink()
    path.write_bytes(content)


def opened(name: str, **link: str) -> AppTest:
    app = at_page("home", **{"lang": "en"} | link)
    app.run()
    turn_to(app, name).run()
    assert not app.exception
    return app


def named(app: AppTest) -> list[str]:
    """The files named as unusable on the page."""
    words = catalogue("en")["error.weights_damaged"].partition("{file}")
    said = [str(error.value).replace("\\", "") for error in app.error]
    assert all(words[0] in one and "git checkout" in one for one in said), said
    return [one.split("model/weights/")[1].split()[0] for one in said]


@pytest.mark.parametrize(
    ("file", "page", "link", "still_there"),
    [
        ("text.safetensors", "attention", {}, False),
        ("text.safetensors", "attention", {"input": "digit"}, True),
        ("tokenizer.json", "attention", {}, False),
        ("digits.safetensors", "attention", {"input": "digit"}, False),
        ("learning.safetensors", "attention", {"input": "digit", "learned": "3"}, False),
        ("heads.json", "attention", {}, True),
        ("doubt.safetensors", "answer", {"input": "digit"}, True),
    ],
)
def test_one_damaged_file_takes_down_only_what_needs_it(
    file: str, page: str, link: dict[str, str], still_there: bool, weights: Path
) -> None:
    damage(weights / file)
    app = opened(page, **link)
    pictures = charts(app)
    assert bool(pictures) == still_there
    assert set(named(app)) <= {file}
    if not still_there:
        assert named(app), "what is missing is named"
    assert app.sidebar.get("button_group"), "the input can be changed"
    assert stops(app), "and so can the page"


def test_a_missing_file_is_named(weights: Path) -> None:
    (weights / "text.safetensors").unlink()
    (said,) = opened("attention", lang="zh").error
    file = "model/weights/text.safetensors"
    assert said.value.replace("\\", "") == catalogue("zh")["error.weights_missing"].format(file=file)
