"""Shapes and cost: tables that add up, formulas that give their numbers, notes checked, and the paper's base size."""

import json
import re
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
from streamlit.testing.v1 import AppTest

from model.activations import ACTIVATIONS, OF_LAYERS
from model.config import PRESETS
from model.loading import load_tokenizer
from model.measures.cost import (
    Step,
    attention_cost,
    count,
    crossings,
    ffn_cost,
    letters,
    multiply_adds,
    parameters,
    shape_walk,
    total,
)
from model.measures.note_claims import NOTE_CLAIMS
from model.unallocated import real_parameters
from pages.drawing.figures.equations import html_math, plain_math
from pages.drawing.figures.theme import draw_on
from pages.drawing.state.choice import MOST_INPUTS, MOST_TOKENS, SIZES, CostSettings
from pages.drawing.text import LANGUAGES, catalogue, unmarked
from pages.drawing.text.numbers import percent
from pages.screen.components.tables import MOST
from pages.screen.runs import pipelines
from pages.shapes_and_cost import tables as cost_tables
from pages.shapes_and_cost.figures import boxes, walk_diagram, wires
from pages.shapes_and_cost.page import MODULES, longer, opens_step
from pages.shapes_and_cost.settings import settings_of
from pages.shapes_and_cost.tables import LONGEST, OF_LAYER, PARTS, part_of
from tests.networks import CONFIGS, COVER
from tests.pages.inputs import bring
from tests.pages.opening import chart, figure, numbers, open_page, run_fine, run_of, said, texts, warnings

SENTENCE = "the dog chased the cat ."
N = len(load_tokenizer().encode(SENTENCE).ids)


def open_part(tab: str, **link: str) -> AppTest:
    return open_page("shapes_and_cost", **{"s": SENTENCE, "tab": tab, **link})


def table(app: AppTest, *columns: str, lang: str = "en") -> pd.DataFrame:
    """The table with these columns, named by their keys."""
    wanted = {catalogue(lang)[f"shapes_and_cost.column.{name}"] for name in columns}
    return next(frame.value for frame in app.dataframe if wanted <= set(frame.value.columns))


def in_boxes(app: AppTest) -> list[str]:
    """Shapes written in the boxes of the shape walk."""
    return figure(app)["data"][5]["text"]


def tokens_of(network: str) -> int:
    config = CONFIGS[network]
    return min(N, config.max_len) if config.input == "words" else config.max_tokens


def walk_of(network: str) -> tuple[list[Step], go.Figure]:
    """The shape walk of a network, and its picture."""
    walk = shape_walk(CONFIGS[network], tokens_of(network))
    return walk, walk_diagram(walk, {"parameters": "P", "multiply_adds": "M", "times": "N"}).checked()


def number(text: str) -> int:
    return int(text.replace(",", ""))


def length(preset: str) -> int:
    return N if PRESETS[preset].input == "words" else PRESETS[preset].max_tokens


def test_an_activation_of_a_link_is_chosen_and_no_two_have_one_name() -> None:
    *_, last = OF_LAYERS
    app = open_part("walk", activation=last)
    assert not warnings(app) and app.session_state["cost.activation"] == last
    assert len({ACTIVATIONS[name].name for name in OF_LAYERS}) == len(OF_LAYERS)


@pytest.mark.parametrize("preset", ["004", "vit-b-16"])
def test_the_numbers_said_of_a_preset_are_those_of_its_network(preset: str) -> None:
    config, everything = PRESETS[preset], real_parameters(PRESETS[preset])
    walk, page = open_part("walk", base=preset), open_part("parameters", base=preset)
    work = total(multiply_adds(config, length(preset))).number
    assert f"**{everything:,}** parameters, **{work:,}** multiply–adds" in said(walk)
    assert f"have {everything:,} parameters" in said(page) and "Not equal" not in said(page)
    parts = table(page, "part", "with_numbers")
    assert parts["Parameters"].iloc[:-1].sum() == parts["Parameters"].iloc[-1] == everything
    for _, row in parts.iloc[:-1].iterrows():
        counted = count(row["Formula"], letters(config))
        assert (counted.numbers, counted.number) == (row["With the numbers"], row["Parameters"])


@pytest.mark.parametrize(
    "input_",
    ["words", "paper", "flat", "MiniLM", "ModernBert", "T5", "MAE", "translator", "DeiTForImageClassification"],
)
def test_it_opens_on_the_network_of_the_other_pages(input_: str, monkeypatch: pytest.MonkeyPatch) -> None:
    app = open_page("shapes_and_cost", tab="parameters", **bring(monkeypatch, input_))
    config, tokens, choice = run_of(app).config, len(run_of(app).tokens), app.session_state["choice"]
    everything = sum(weight.numel() for weight in pipelines.pipeline(choice.pipeline).network.parameters())
    assert f"have {everything:,} parameters" in said(app) and "Not equal" not in said(app)
    shown = app.selectbox(key="cost.preset").value
    assert PRESETS[shown] == config if shown in PRESETS else (shown, choice.model in said(app)) == ("here", True)
    assert cost_tables.walk_picture(config, tokens, 1, 0).data
    assert cost_tables.works(config, tokens)["squared"] > 0
    assert "cost.batch" not in app.session_state  # what is counted there is one input
    changed = app.number_input(key="cost.d_ff").set_value(8).run()
    assert "Impossible" not in said(changed) and changed.session_state["choice"].cost.of == "here"


@pytest.mark.parametrize("network", ["text", "003", "shared layers"])
def test_on_a_projector_each_box_has_one_line_of_letters_and_no_arrow(network: str) -> None:
    def words_of(big: bool) -> list[dict]:
        draw_on("light", big=big)
        return [trace for trace in walk_of(network)[1].data if trace.type == "scatter" and trace.mode == "text"]

    try:
        symbols, shapes = words_of(big=True)
        desk = words_of(big=False)
    finally:
        draw_on("light", big=False)
    drawn = boxes(walk_of(network)[0])
    assert len(symbols.y) == len(shapes.y) == len(drawn) and set(symbols.y) == set(shapes.y)
    assert len(desk) == 4 and (symbols.x < shapes.x).all()


def test_a_link_of_before_that_names_no_encoder_means_lecture_note_004() -> None:
    app = open_part("walk", n="100")
    assert app.selectbox(key="cost.preset").value == "004"
    app = open_part("walk", base="here", h="16")
    assert run_of(app).config.heads != 16 and app.number_input(key="cost.heads").value == 16


# Settings.


def test_reopened_settings_show_the_current_sizes() -> None:
    app = open_part("walk", base="004")
    app.number_input(key="cost.n").set_value(100).run()
    for name, size in {"layers": 6, "heads": 8, "d_model": 512, "d_ff": 2048, "vocab_size": 10_000}.items():
        said = app.number_input(key=f"cost.{name}").proto
        assert said.set_value and said.value == size


def test_an_impossible_setting_is_explained_and_the_last_tables_stay() -> None:
    app = open_part("walk", lang="zh", base="004")
    before = in_boxes(app)
    run_fine(app.number_input(key="cost.heads").set_value(7))
    (warning,) = app.warning
    assert "512" in warning.value and "4 " in warning.value and "518" in warning.value  # 4 heads, or 518 wide
    assert in_boxes(app) == before
    run_fine(app.number_input(key="cost.d_model").set_value(518))
    assert not warnings(app)
    assert app.selectbox(key="cost.preset").value == "own"


def test_an_odd_width_and_a_length_without_a_position_are_explained() -> None:
    app = open_part("walk", h="7", d_model="511")
    assert "odd" in app.warning[0].value
    app.selectbox(key="cost.preset").set_value("bert-base").run()
    assert not warnings(app)
    app = open_part("walk", base="bert-base")
    app.number_input(key="cost.n").set_value(513).run()
    assert "512 places" in app.warning[0].value
    app.selectbox(key="cost.preset").set_value("004").run()  # sinusoidal positions have no maximum
    assert not warnings(app)


@pytest.mark.parametrize("base", ["004", "002", "vit-b-16"])
def test_an_encoder_of_ones_own_ends_with_layer_norm_where_its_norms_stand_before(base: str) -> None:
    preset, here = PRESETS[base], PRESETS[base].max_tokens
    before, after = (settings_of(CostSettings(base, norm=norm), preset, here).config for norm in ("before", "after"))
    assert before.final_norm and after.final_norm == (preset.final_norm and not preset.norm_first)
    walk, d_model = shape_walk(before, here), before.d_model
    assert next(step.key for step in walk if not step.key.startswith(("layers.", "embedding", "input"))) == "norm"
    assert real_parameters(before) - real_parameters(replace(before, final_norm=False)) == 2 * d_model


def test_the_largest_and_the_smallest_settings_open() -> None:
    names = {"layers": "N", "heads": "h", "d_model": "d_model", "d_ff": "d_ff", "vocab_size": "vocab"}
    for largest in (True, False):
        link = {names[name]: str(most if largest else 2) for name, most in SIZES.items()}
        app = open_part("parameters", **link)
        assert not warnings(app)
        everything = table(app, "part", "with_numbers")["Parameters"].iloc[-1]
        assert everything > 3e11 if largest else everything < 100
        open_part("cost", **link)


def test_the_largest_numbers_of_the_walk_are_whole_and_in_their_boxes() -> None:
    sizes = {"N": SIZES["layers"], "h": SIZES["heads"], "d_model": SIZES["d_model"], "d_ff": SIZES["d_ff"]}
    sizes |= {"vocab": SIZES["vocab_size"], "n": MOST_TOKENS, "batch": MOST_INPUTS}
    app = open_part("walk", **{name: str(size) for name, size in sizes.items()})
    assert f"{sizes['batch'] * sizes['n'] ** 2 * sizes['d_model']:,}" in said(app)  # the scores, worked out by hand
    *_, work, _ = figure(app)["data"]
    assert max(map(len, in_boxes(app))) <= 34 and not any("e+" in text for text in (*in_boxes(app), *work["text"]))
    assert "46% · 6.44 Z" in work["text"]  # of 96 layers


# Cost over length.


@pytest.mark.parametrize(("base", "half"), [("004", "3,072 (6·d_model"), ("text", "1,536 (6·d_model"), ("000", "")])
def test_the_rule_for_half_of_a_layer_is_that_of_the_encoder_shown(base: str, half: str) -> None:
    config = PRESETS[base]
    n = 2 * config.d_model + config.d_ff
    work = cost_tables.works(config, n)
    assert work["squared"] == work["projections_and_ffn"]
    half = half or f"{n:,} ({n / config.d_model:.3g}·d_model"
    half += ")" if base == "text" else "; Ours, trained · sentences: 1,536)"
    app = open_part("parameters", base=base)
    read = unmarked(texts(app))
    assert "\\\\" not in texts(app), "escaped once"
    assert f"are half of a layer’s work at n = 2·d_model + d_ff = {half}." in read
    assert f"{catalogue('en')[f'shapes_and_cost.presets.{base}']} (d_model = {config.d_model}): at n =" in read


def test_the_rings_are_where_the_curves_cross_and_the_present_length_is_marked() -> None:
    drawn = figure(open_part("parameters", base="004"))
    *_, rings = drawn["data"]
    found = crossings(PRESETS["004"])
    np.testing.assert_array_equal(numbers(rings["x"]), [crossing.number for crossing in found.values()])
    assert any(mark["x0"] == N == mark["x1"] for mark in drawn["layout"]["shapes"])


# Properties and notes.


@pytest.mark.parametrize("link", [{"s": SENTENCE}, {"input": "digit"}])
def test_the_properties_are_those_of_the_present_run(link: dict[str, str]) -> None:
    app = open_part("notes", **link)
    choice = app.session_state["choice"]
    trace = pipelines.run(choice.pipeline, choice.subject)
    shapes, sums, place = (re.search(pattern, said(app)) for pattern in (
        r"takes (.*); the last gives (.*)\.", r"smallest sum is (\d\.\d+), the largest (\d\.\d+)",
        r"by up to ([\d.]+): .* \(layer (\d), head (\d)\)",
    ))  # fmt: skip
    assert shapes[1] == shapes[2] == f"{len(trace.tokens)} × {trace.config.d_model}"
    assert [float(sums[1]), float(sums[2])] == pytest.approx([1, 1], abs=1e-5)
    A = trace.over_layers("attention.weights")
    gaps = A - A.swapaxes(-1, -2)
    assert float(place[1]) == pytest.approx(gaps.max(), abs=6e-4)
    given = map(float, re.findall(r"” (\d\.\d{3})\b", said(app)))
    assert place[1] == f"{next(given) - next(given):.3f}", "as they are printed"
    assert gaps[int(place[2]) - 1, int(place[3]) - 1].max() == pytest.approx(gaps.max(), abs=1e-6)
    sizes = re.search(r"h = (\d+) · (\d+) = (\d+) = \$d_{model}", said(app)).groups()
    assert int(sizes[0]) * int(sizes[1]) == int(sizes[2]) == trace.config.d_model


def test_where_heads_give_evenly_no_two_tokens_are_named_for_a_difference() -> None:
    even = open_part("notes", s=SENTENCE, edits="layers.{l}.attention.weights~even")
    assert "equal to three decimals" in said(even)
    assert "differ by up to" not in said(even)


def test_every_claim_stands_in_the_table_and_every_one_that_needs_care_has_its_reason() -> None:
    for language in LANGUAGES:
        app = open_part("notes", lang=language)
        assert list(table(app, "quote", "verdict", lang=language).iloc[:, 0]) == [claim.note for claim in NOTE_CLAIMS]
        careful = [claim for claim in NOTE_CLAIMS if claim.verdict != "right"]
        lists = [line for box in app.markdown for line in box.value.split("\n") if re.match(r"- \*\*00\d\*\*", line)]
        assert len(lists) == len(careful) and "{" not in "".join(lists)
        words = catalogue(language)
        assert all(words[f"shapes_and_cost.reason.{claim.key}"] for claim in careful)
        assert "2,099,712" in said(app)
    english, chinese = (
        {key: text for key, text in catalogue(language).items() if key.startswith("shapes_and_cost.reason.")}
        for language in LANGUAGES
    )
    assert english.keys() <= {f"shapes_and_cost.reason.{claim.key}" for claim in NOTE_CLAIMS}
    for key, text in english.items():
        assert sorted(re.findall(r"[\d,.]*\d", text)) == sorted(re.findall(r"[\d,.]*\d", chinese[key])), key


# Pictures.


@pytest.mark.parametrize("network", COVER)
def test_each_step_of_the_walk_has_its_box_and_right_angled_wires_go_through_none(network: str) -> None:
    walk, drawn = walk_of(network)
    in_boxes, layout = boxes(walk), drawn.layout
    frame, *rectangles = [SimpleNamespace(x0=one.x0, x1=one.x1, y0=one.y0, y1=one.y1) for one in layout.shapes]
    symbols, sizes = drawn.data[2], drawn.data[5]
    assert len(rectangles) == len(in_boxes) == len(sizes.text)
    for i, a in enumerate(rectangles):
        for b in rectangles[:i]:
            assert a.x1 <= b.x0 or b.x1 <= a.x0 or a.y1 <= b.y0 or b.y1 <= a.y0
    assert sorted(step.key for box in in_boxes for step in box) == sorted(step.key for step in walk)
    where = {step.key: number for number, box in enumerate(in_boxes) for step in box}
    for step, x, y in zip(walk, symbols.x, symbols.y, strict=True):
        box = rectangles[where[step.key]]
        assert box.x0 < x < box.x1 and box.y0 < y < box.y1, step.key
        assert (frame.y0 < box.y0 and box.y1 < frame.y1) == step.key.startswith("layers."), step.key
        own = in_boxes[where[step.key]]
        assert step is own[0] or not step.multiply_adds.number, "a product begins its box"
        assert step.output.size == own[-1].output.size
    for box, text in zip(in_boxes, sizes.text, strict=True):
        assert text == " × ".join(f"{size:,}" for size in box[-1].output.sizes)
    reads = {(where[read], where[step.key]) for step in walk for read in step.reads}
    routes = wires(in_boxes)
    for route in routes:
        for (x0, y0), (x1, y1) in pairwise(route):
            assert (x0 == x1) != (y0 == y1), "at a right angle"
            for box in rectangles:
                beside = max(x0, x1) <= box.x0 or min(x0, x1) >= box.x1
                assert beside or max(y0, y1) <= box.y0 or min(y0, y1) >= box.y1, (network, route, box)
    touched = [
        tuple(
            next(at for at, box in enumerate(rectangles) if box.x0 <= x <= box.x1 and box.y0 <= y <= box.y1)
            for x, y in (route[0], route[-1])
        )
        for route in routes
    ]
    assert sorted(touched) == sorted((start, end) for start, end in reads if start != end), (
        "each from what is read to what reads it"
    )


@pytest.mark.parametrize("network", COVER)
def test_the_bars_beside_the_walk_add_up_to_the_whole_network(network: str) -> None:
    walk, drawn = walk_of(network)
    config, n = CONFIGS[network], tokens_of(network)
    *_, learned, work, _ = drawn.data
    for bars, whole in ((learned, total(parameters(config))), (work, total(multiply_adds(config, n)))):
        assert sum(bars.x) == pytest.approx(1)
        rows = {step.key: round(float(y)) for step, y in zip(walk, drawn.data[2].y, strict=True)}
        name = "parameters" if bars is learned else "multiply_adds"
        for row, share in zip(bars.y, bars.x, strict=True):
            own = sum(
                getattr(step, name).number * (step.sets if bars is learned else step.times)
                for step in walk
                if rows[step.key] == row
            )
            assert share * whole.number == pytest.approx(own), (name, row)


def test_equations_become_text_without_marks() -> None:
    for preset, config in PRESETS.items():
        for step in shape_walk(config, length(preset)):
            for text in (plain_math(step.symbol), plain_math(step.equation)):
                assert text and not re.search(r"[\\{}$&]", text), step.equation
            assert not re.search(r"[_^{}\\]", html_math(step.equation)), step.equation
    assert plain_math(r"\hat S = \frac{S}{\sqrt{d_k}}") == "Ŝ = S / √d_k"
    assert html_math("X^{(l+1)} = W_O") == "X⁽ˡ⁺¹⁾ = W<sub>O</sub>"
    for claim in NOTE_CLAIMS:
        assert not re.search(r"[\\{}$`]", cost_tables.as_read(claim.quote)), claim.quote


# The paper's base size, untrained.


# The note's code.


def test_note_002_runs_to_the_shape_that_it_promises() -> None:
    app = open_part("notes")
    app.session_state["cost.note"] = True
    run_fine(app)
    assert "输入形状: torch.Size([2, 10])\n输出形状: torch.Size([2, 10, 512])" in [shown.value for shown in app.code]
    assert "2 × 10 ids become 2 × 10 × 512" in said(app)


@pytest.mark.parametrize(("tab", "lang"), [("parameters", "en"), ("notes", "zh")])
def test_no_number_and_no_word_of_a_table_is_wider_than_its_column(tab: str, lang: str) -> None:
    app = open_page("shapes_and_cost", tab=tab, lang=lang)
    for table in app.dataframe:
        looks = json.loads(table.proto.columns)
        for column in table.value:
            if not pd.api.types.is_float_dtype(table.value[column]):
                cells = [f"{cell:,}" if isinstance(cell, int) else cell for cell in table.value[column].tolist()]
                signs = max(len(text) for text in (column, *cells))
                assert looks[column]["width"] >= min(7 * signs + 16, MOST), f"{column} cuts {signs} signs"


@pytest.mark.parametrize(
    ("name", "link", "key"),
    [
        ("shapes_and_cost", {}, "cost.preset"),
        ("tokens", {"s": "the dog " * 15}, "pick.token"),
    ],
)
def test_a_list_s_wording_of_another_language_or_sentence_chooses_nothing(name: str, link: dict, key: str) -> None:
    app = open_page(name, **link)
    before = app.selectbox(key=key).value
    box = app.selectbox(key=key).set_value("3 · 讲义")
    box.options.append("3 · 讲义")  # still the browser's old value
    run_fine(box)
    assert app.selectbox(key=key).value == before


@pytest.mark.parametrize("network", COVER)
def test_columns_share_out_what_a_layer_of_each_length_multiplies(network: str) -> None:
    config, n = CONFIGS[network], tokens_of(network)
    lengths = n, 2 * n, 64 * n
    *columns, _ = cost_tables.growth_picture(config, lengths, 2 * n).checked().data
    shares = np.array([column.y for column in columns])
    np.testing.assert_allclose(shares.sum(axis=0), 1, rtol=1e-5)
    inside = [step for step in shape_walk(config, n) if step.key.startswith("layers.")]
    counted = {
        "projections": [step for step in inside if ".attention." in step.key and step.operation == "linear"],
        "squared": [step for step in inside if ".attention." in step.key and step.operation != "linear"],
        "ffn": [step for step in inside if ".ffn." in step.key],
    }
    work = np.array([sum(step.multiply_adds.number for step in counted[name]) for name in OF_LAYER])
    np.testing.assert_allclose(shares[:, 0], work / work.sum(), rtol=1e-5)
    for place, length in enumerate(lengths):
        cost, ffn = attention_cost(config, length), ffn_cost(config, length).number
        work = np.array([cost["scores"].number + cost["weighted_sum"].number, cost["projections"].number, ffn])
        np.testing.assert_allclose(shares[:, place], work / work.sum(), rtol=1e-5)


@pytest.mark.parametrize("network", COVER)
def test_the_shares_of_the_parts_are_those_of_the_whole_network(network: str) -> None:
    config, n = CONFIGS[network], tokens_of(network)
    learned, work = cost_tables.shares_picture(config, n).checked().data
    learns = Counter({name: part.number for name, part in parameters(config).items()})
    multiplies = Counter({name: part.number for name, part in multiply_adds(config, n).items()})
    attention = learned.x[PARTS.index("projections")] + learned.x[PARTS.index("squared")]
    assert attention * learns.total() == pytest.approx(learns["attention"])
    norms = learns["norms"] + learns["layer_scale"] + learns["final_norm"]
    of_parts = {"embedding": learns["embedding"] + learns["positions"], "ffn": learns["ffn"], "norms": norms}
    for name, number in (of_parts | {"head": learns["head"]}).items():
        assert learned.x[PARTS.index(name)] * learns.total() == pytest.approx(number), name
    pairs = multiplies["scores"] + multiplies["weighted_sum"]
    for name in PARTS:
        number = pairs if name == "squared" else multiplies[name]
        assert work.x[PARTS.index(name)] * multiplies.total() == pytest.approx(number), name
        assert (work.text[PARTS.index(name)] == "0") == (number == 0)


def test_each_column_is_twice_as_long_and_a_click_on_one_is_what_is_said_then() -> None:
    def lengths(app: AppTest) -> list[int]:
        return [number(one) for one in chart(app, "growth")["layout"]["xaxis"]["ticktext"]]

    app = open_part("cost")
    shown, config = lengths(app), run_of(app).config
    assert shown == [N << step for step in range(len(shown))] and shown[-1] <= LONGEST < 2 * shown[-1]
    chosen = longer(CostSettings(), config, shown, 2)["cost"]
    assert (chosen.n, chosen.of) == (4 * N, "here")
    app = open_part("cost", base="here", n=str(chosen.n))
    cost, whole = cost_tables.works(config, 4 * N), unmarked(said(app))
    share = percent(cost["squared"] / (cost["attention"] + cost["ffn"]))
    assert f"Scores and A V are {share} of a layer’s work at n = {4 * N}, half of it at n = 1,536." in whole
    half = cost_tables.works(config, 1536)
    assert 2 * half["squared"] == half["attention"] + half["ffn"]
    assert "projections × 2, FFN × 2, scores and A V × 4" in whole
    assert f"**{total(multiply_adds(config, 4 * N)).number:,}** multiply–adds" in said(app)
    assert 77 in lengths(open_part("cost", base="here", n="77"))
    bert = PRESETS["bert-base"]
    assert longer(CostSettings(), bert, [512], 0) and not longer(CostSettings(), bert, [1024], 0), "no more positions"
    for preset in ("vit-b-16", "003"):
        assert not longer(CostSettings(), PRESETS[preset], [1], 0), "a picture sets its length"


@pytest.mark.parametrize("network", COVER)
def test_a_click_on_a_part_opens_the_first_of_its_steps_that_costs_something(network: str) -> None:
    walk = shape_walk(CONFIGS[network], tokens_of(network))
    costs = [bool(step.parameters.number or step.multiply_adds.number) for step in walk]
    for row, part in enumerate(PARTS):
        place = opens_step(walk, row, 0)["walk"]
        own = [at for at, step in enumerate(walk) if part_of(step) == part and costs[at]]
        assert place == (own[0] if own else None)


def test_the_encoder_on_one_page_has_the_formulas_and_purposes_of_its_pages() -> None:
    for lang, link in (("en", {}), ("zh", {"input": "digit"})):
        app = open_page("shapes_and_cost", lang=lang, tab="notes", **link)
        rows = next(part.value for part in app.markdown if part.value.startswith("| ")).splitlines()[2:]
        assert all(row.count("|") == 4 for row in rows), "no formula holds a bar that would end its cell"
        names = [row.split(" | ")[0].strip("| ") for row in rows]
        assert names == [catalogue(lang)[f"{name}.title"] for name in MODULES][: len(names)] and len(names) > 5
        for name, row in zip(MODULES, rows, strict=False):
            page = texts(open_page(name, lang=lang, **link))
            assert row.rstrip("| ").rpartition(" | ")[2] in page, name
