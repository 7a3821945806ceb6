"""Without a chosen key, every page selects the largest weight of the row, in all of its pictures."""

import html
import re
from dataclasses import replace

import numpy as np
import pytest

from model import Trace
from model.analysis import placed
from model.translator import Task
from pages.attention.overlay import over_one
from pages.attention.pictures import attention_map, lines, mean_through_layers, step_map
from pages.attention.read import queries_and_keys, steps_of
from pages.drawing.picture import Picture
from pages.drawing.pictures.quantity_map import chosen_cell
from pages.drawing.place import Place
from pages.drawing.text import unmarked
from pages.heads.pictures import chosen_head
from pages.queries_keys_values.pictures import paired_with, scores
from pages.screen.runs import pipelines
from tests.networks import trace_of
from tests.pages.inputs import bring
from tests.pages.opening import in_html, open_page, said

NETWORKS = ["trained text", "trained digits", "trained flat", "gated words", "by distance", "pre-norm words"]
LOVE = {"s": "i love you ."}


def of_rows(run: Trace, side: str = "") -> list[tuple[Place, str]]:
    """Each row of each head: its place and the prefix of its attention."""
    sub = "cross" if side else "attention"
    shape = run.over_layers(f"{sub}.weights", side).shape[:3]
    return [
        (Place(layer, head, token, step=token if side else None), f"{side}layers.{layer}.{sub}.")
        for layer, head, token in np.ndindex(shape)
    ]


def outlined(picture: Picture) -> tuple[int, int]:
    """Row and column outlined in a map."""
    shape = picture.drawn().layout["shapes"][-1]
    return round(shape["y0"] + 0.5), round(shape["x0"] + 0.5)


def names_it(picture: Picture, what: str) -> bool:
    """Whether the sentence names the key, or says that several are equal or that there is only one."""
    said = unmarked(picture.says())
    return what in said or any(word in said for word in ("ahead", " tie at ", "level", "equally", "only one"))


@pytest.mark.parametrize("name", NETWORKS)
def test_default_key_is_the_largest_of_its_row_in_every_picture(name: str) -> None:
    run = trace_of(name)
    for at, prefix in of_rows(run)[:: max(1, len(of_rows(run)) // 20)]:
        names = placed(queries_and_keys(run, f"{prefix}weights")[1])
        for step in set(steps_of(run, prefix)) - {"heads", "relative", "masked"}:
            row = run[prefix + step][at.head, at.token]
            key, picture = int(row.argmax()), step_map(run, at, prefix, step)
            assert chosen_cell(run, at, prefix + step)[-1] == key
            assert outlined(picture) == (at.token, key)
            assert names_it(picture, f"“{names[key]}”")
        weights = run[f"{prefix}weights"][at.head, at.token]
        best = int(weights.argmax())
        assert attention_map(run, at).moves.cell == outlined(chosen_head(run, at)) == (at.token, best)
        assert lines(run, at, f"{prefix}weights").moves.cell == (at.token, best)
        mean = run[f"{prefix}weights"].mean(axis=0)[at.token].argmax()
        assert outlined(mean_through_layers(run, at)) == (at.layer, mean)
        assert outlined(mean_through_layers(run, replace(at, key=0))) == (at.layer, 0)
        assert paired_with(run, at) == run[f"{prefix}scores"][at.head, at.token].argmax()
        assert names_it(scores(run, at), f"“{names[paired_with(run, at)]}”")
        if run.picture is not None and len(run.tokens) > 1:
            said = over_one(run, at, f"{prefix}weights")
            assert names_it(said, f"“{names[best]}”: {weights[best]:.3f}")


def test_default_key_of_a_decoder_is_the_largest_until_one_is_chosen() -> None:
    run = pipelines.run("translation", Task("i was so tired that i did not eat ."))
    for at, prefix in of_rows(run, "decoder."):
        key = int(run[f"{prefix}weights"][at.head, at.step].argmax())
        picture = step_map(run, replace(at, token=3), prefix, "weights")
        assert outlined(picture) == (at.step, key)
        assert outlined(step_map(run, replace(at, token=3, source=3), prefix, "weights")) == (at.step, 3)


#: Page and link.
HALVES = [
    ("attention", LOVE),
    ("attention", LOVE | {"token": "5"}),
    ("attention", LOVE | {"as": "lines"}),
    ("attention", {"s": "the cat sat [SEP] the dog ran", "between": "AB", "token": "3"}),
    ("attention", {"input": "digit"}),
    ("attention", {"s": "我 爱 你 。"}),
    ("attention", LOVE | {"edits": "layers.{l}.attention.masked~causal"}),
    ("translation", LOVE | {"tab": "inside"}),
    *(("attention", {"bring": network}) for network in ("MPNet", "T5", "Deberta", "ModernBert")),
]


@pytest.mark.parametrize(("page", "link"), HALVES)
def test_both_halves_of_a_page_name_the_same_cell(
    page: str, link: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    layer, head = [(5, 4), (1, 1), (3, 2)][HALVES.index((page, link)) % 3]
    at = bring(monkeypatch, link["bring"]) if "bring" in link else {"layer": str(layer), "head": str(head), **link}
    app = open_page(page, **at)
    (pair,) = re.findall(r'<p class="pair">(.*?)</p>', "".join(in_html(app)))
    query, key, value = map(html.unescape, re.findall("<b.*?>(.*?)</b>", pair))
    assert re.search(rf"“{re.escape(query)}”.* attends most to “{re.escape(key)}”: {value[:-1]}", said(app))
