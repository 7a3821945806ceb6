"""The arithmetic of any cell gives the recorded number, from the cells it names, in lines that add up."""

import math
import random
import re
import time
from decimal import Decimal
from functools import cache

import numpy as np
import pytest
import torch

from model import Edit, Trace, load
from model.activations import ACTIVATIONS
from model.analysis import softmax
from model.by_hand import by_hand, strongest_cell
from model.decoder import TranslationNetwork
from model.operations.working import Step, Table, Working
from model.pipeline import Pipeline
from model.trace import record
from model.written import number, operand
from tests import networks
from tests.networks import QUICK, sources

TRANSLATION = "trained translation"
EVERY = [*QUICK, TRANSLATION]


@cache
def run_of(name: str) -> tuple[Pipeline, Trace]:
    if name == TRANSLATION:
        return load("translation"), load("translation")("the dog chased the cat .")
    return networks.pipeline(name), networks.trace_of(name)


def some_cells(trace: Trace, key: str, count: int = 2) -> list[tuple[int, ...]]:
    dice = random.Random(key)
    return [tuple(dice.randrange(size) for size in trace[key].shape) for _ in range(count)]


def workings(name: str) -> list[Working]:
    """Workings of the strongest cell and some others of every quantity; for a translator only of the decoder, since its
    encoder is that of the trained text.
    """
    pipeline, trace = run_of(name)
    sides = ("decoder.", "logits", "answer") if name == TRANSLATION else ""
    return [
        by_hand(pipeline.network, trace, key, cell)
        for key in trace.graph.quantities
        if key in trace and key.startswith(sides)
        for cell in (strongest_cell(trace, key), *some_cells(trace, key))
    ]


def largest(values: np.ndarray) -> float:
    return float(np.abs(values, where=np.isfinite(values), out=np.zeros_like(values)).max())


def shown_exactly(value: float) -> Decimal:
    assert value == round(value, 5)
    return Decimal(f"{value:.5f}")


def calculated(expression: str) -> float:
    """Evaluate a line; of several forms, the last."""
    text = expression.split(" = ")[-1]
    text = re.sub(r"\\underbrace\{([^}]*)\}_\{\d+\}", r"\1", text)
    text = text.replace(r"\infty", "math.inf").replace(r"\times", "*").replace(r"\cdot", "*")
    text = re.sub(r"10\^\{(-?\d+)\}", r"10.0**\1", text)
    text = re.sub(r"e\^\{(.*)\}", r"math.exp(\1)", text)
    text = re.sub(r"\\sqrt\{([^}]*)\}", r"math.sqrt(\1)", text)
    text = re.sub(r"\\frac\{([^}]*)\}\{([^}]*)\}", r"(\1)/(\2)", text)
    text = re.sub(r"\\(sin|cos|tanh)\(", r"math.\1(", text)
    text = text.replace(r"P(\mathcal{N}(0, 1) \le ", "phi(").replace(r"\max(", "max(")
    return eval(text, {"math": math, "phi": lambda u: 0.5 * (1 + math.erf(u / math.sqrt(2)))})


def arrives(working: Working, values: np.ndarray) -> None:
    """Assert that the result and the last line equal the recorded number."""
    assert working.recorded == float(values[working.cell]) and not working.changed
    assert working.value == pytest.approx(working.recorded, rel=1e-4, abs=2e-6 * largest(values))
    near = 0 if math.isinf(working.value) else 1e-4 * max(1.0, largest(values))
    assert working.steps[-1].value == pytest.approx(working.value, abs=near)


def can_be_calculated(step: Step) -> None:
    """Assert that each line is correct with the digits shown, and that sums agree with the line below."""
    # Lines that only name a number have nothing to evaluate.
    if step.expression and not re.search(r"[A-Za-z)]_|\\hat|\\text", step.expression):
        digits = re.search(r"\.(\d+)", number(step.value))
        last = 10.0 ** -len(digits[1]) if digits and "times" not in number(step.value) else 1e-4 * abs(step.value)
        assert calculated(step.expression) == pytest.approx(step.value, rel=1e-12, abs=0.5001 * last), step.latex
    if re.fullmatch(r"-?(\d+\.\d{5}|\\underbrace\{[\d.]+\}_\{\d+\}| [+-] )+", step.expression):
        terms = re.findall(r"(-?) ?(?:\\underbrace\{)?(\d+\.\d{5})", step.expression)
        assert sum(Decimal(sign + text) for sign, text in terms) == shown_exactly(step.value), step.latex


def adds_up(table: Table) -> None:
    for column in table.columns:
        assert len(column.values) == len(table.places)
        if column.total is not None:
            parts = [*column.values, column.rest or 0.0, column.bias or 0.0]
            assert sum(map(shown_exactly, parts)) == shown_exactly(column.total), column.symbol
            assert (column.rest is not None) == bool(table.others)


def can_be_set(working: Working) -> None:
    for latex in (working.equation, working.where, *(step.latex for step in working.steps)):
        assert latex.count("{") == latex.count("}") and "+ -" not in latex and "nan" not in latex
        # no nested index, no two adjacent signs
        assert not re.search(r"_\{[^{}]*\}_|[+-] [+-]|\\cdot -", latex), latex


def tables_say_the_same(working: Working, trace: Trace) -> None:
    """Assert that a table's rows hold the numbers read, and that its totals appear in the line below."""
    table = working.tables[-1] if working.tables else Table("", (), ())
    places = list(table.places)
    if working.operation in ("linear", "split", "scores", "weighted_sum", "contribution"):
        assert table.columns[-1].total == working.steps[-1].value
    if working.operation == "weighted_sum":
        (A, a), (V, v) = working.lit
        np.testing.assert_allclose(table.columns[0].values, trace[A][a][places], atol=6e-6)
        np.testing.assert_allclose(table.columns[1].values, trace[V][v[0], :, v[2]][places], atol=6e-6)
    if working.operation == "softmax":
        masked, _, powers, weights = table.columns
        M, power, total, weight = working.steps[-4:]
        own = places.index(working.cell[-1])
        for column, step in ((masked, M), (powers, power), (weights, weight)):
            assert column.values[own] == pytest.approx(step.value, abs=5.01e-6)  # five decimals or more
        assert powers.total == total.value
        (read, row), *_ = working.lit
        row = (*row[:-1], slice(None))
        np.testing.assert_allclose(masked.values, trace[read][row][places], atol=2e-5)
        np.testing.assert_allclose(weights.values, trace[working.key][row][places], atol=2e-4)


@pytest.mark.parametrize("name", EVERY)
def test_the_arithmetic_gives_what_was_recorded_in_lines_and_tables_that_add_up(name: str) -> None:
    _, trace = run_of(name)
    for working in workings(name):
        arrives(working, trace[working.key])
        can_be_set(working)
        for step in working.steps:
            can_be_calculated(step)
        for table in working.tables:
            adds_up(table)
        if working.key.endswith(".weights") and trace[working.key.replace("weights", "masked")][working.cell] > -np.inf:
            assert working.tables[0].axis == "d_k", "a weight begins with its query and its key"
        if name in ("trained text", "trained digits", "pre-norm words", TRANSLATION):
            tables_say_the_same(working, trace)


@pytest.mark.parametrize("most", [5, 150])
def test_of_many_tokens_the_chosen_one_and_the_largest_are_named_and_the_rest_is_one_row(most: int) -> None:
    pipeline = networks.pipeline("002")
    trace = pipeline([5 + place % 900 for place in range(150)])
    weights = trace["layers.0.attention.weights"][3, 7]
    least = int(weights.argmin())
    working = by_hand(pipeline.network, trace, "layers.0.attention.weights", (3, 7, least), most)
    (table,) = working.tables[-1:]
    powers = table.columns[2]
    assert table.rows == 150 and len(table.places) == most and (powers.rest is None) == (most == 150)
    if most < 150:
        assert table.places[0] == least  # then in descending order
        assert list(table.places[1:]) == np.argsort(-weights, kind="stable")[: most - 1].tolist()
    else:
        assert table.places == tuple(range(150))
    whole = sum(map(shown_exactly, [*powers.values, powers.rest or 0.0]))
    assert whole == shown_exactly(powers.total)
    assert working.steps[-1].value == pytest.approx(float(weights[least]), abs=2e-6)


# -- what is lit -----------------------------------------------------------------------------------------------------


def inputs_of(name: str) -> tuple[torch.Tensor, ...]:
    pipeline, trace = run_of(name)
    if isinstance(pipeline.network, TranslationNetwork):
        return torch.tensor([trace.ids]), torch.tensor([trace.target_ids])
    return (pipeline.reader.read(networks.example(name)).tensor,)


@pytest.mark.parametrize(
    "name", ["narrow words, added only", "trained digits", "trained flat", "pre-norm words", TRANSLATION]
)
def test_what_is_lit_decides_and_nothing_else_of_it_does(name: str) -> None:
    """Change one number of a highlighted cell, then of another one, holding everything else as recorded."""
    pipeline, trace = run_of(name)
    inputs, dice = inputs_of(name), np.random.default_rng(0)

    def value_with(working: Working, changed: str, place: tuple[int, ...]) -> float:
        def hold(source: str):
            value = torch.tensor(trace[source])[None]
            if source == changed:
                value[(0, *place)] = 1e6
            return lambda *_: value

        edits = [(source, hold(source)) for source in sources(trace.graph, working.key)]
        _, values = record(pipeline.network, *inputs, edits=edits)
        return float(values[working.key][(0, *working.cell)])

    side = "decoder." if name == TRANSLATION else ""
    layers = {None, trace.graph.layers(side) - 1} | ({0} if not side else set())  # a decoder's layers are alike
    for key in trace:
        if trace.quantity(key).layer not in layers or not key.startswith(side):
            continue
        working = by_hand(pipeline.network, trace, key, some_cells(trace, key, 1)[0])
        lit = {source: index for source, index in working.lit if source in trace}
        assert set(lit) == set(sources(trace.graph, key)) or working.value == -math.inf
        for source, index in lit.items():
            on = np.zeros(trace[source].shape, dtype=bool)
            on[index] = True
            if working.operation == "weighted_sum" and source.endswith("V"):  # differences must be visible in float32
                A, row = working.lit[0]
                on &= trace[A][row][:, None] > 1e-4
            if on.any() and not (working.operation == "softmax" and trace[key].shape[-1] == 1):  # with one key always 1
                place = tuple(dice.choice(np.argwhere(on)))
                assert value_with(working, source, place) != pytest.approx(working.recorded), (key, source, place)
            off = np.ones_like(on)
            off[index] = False
            if off.any():
                place = tuple(dice.choice(np.argwhere(off)))
                unmoved = pytest.approx(working.recorded, rel=1e-5, abs=1e-6)
                assert value_with(working, source, place) == unmoved, (key, source, place)


def test_a_patch_lights_its_pixels() -> None:
    pipeline, trace = run_of("trained digits")
    for token in range(1, 50):
        ((key, index),) = by_hand(pipeline.network, trace, "embedding.tokens", (token, 3)).lit
        assert key == "input"
        np.testing.assert_array_equal(trace.picture[index].ravel(), trace.patches[token - 1])
    assert by_hand(pipeline.network, trace, "embedding.tokens", (0, 3)).lit == ()  # [CLS] is learned


# -- edits -----------------------------------------------------------------------------------------------------------


AT = "layers.1.attention."


@pytest.mark.parametrize(
    "edit",
    [
        Edit(AT + "masked", "causal"),
        Edit("layers.{l}.attention.masked", "special"),
        Edit(AT + "weights", "even"),
        Edit(AT + "weights", "hard"),
        Edit(AT + "scaled", "unscaled"),
        Edit(AT + "Q", "set", value=1e4),
        Edit(AT + "heads", "zero", head=2),
        Edit("layers.{l}.ffn.activation", "scale", value=-3.0),
        Edit("layers.1.add_1", "without"),
        Edit("layers.1.norm_1", "bypass"),
        Edit("embedding.tokens", "swap", token=1, from_token=2),
        Edit("embedding.positions", "shuffle"),
        Edit("embedding.sum", "remove", token=2),
    ],
    ids=lambda edit: edit.operation,
)
def test_every_number_of_an_edited_run_is_explained(edit: Edit) -> None:
    """Each number follows from those before it, or the edit set it, and then it has changed."""
    network, trace = run_with(edit)
    changed = set()
    for key in trace:
        quantity = trace.quantity(key)
        for cell in some_cells(trace, key, 4):
            working = by_hand(network, trace, key, cell)
            near = pytest.approx(working.recorded, rel=1e-4, abs=4e-6 * largest(trace[key]))
            assert (working.value != near) == working.changed, (key, cell)
            if working.changed:
                changed.add(quantity.row)
                assert edit.head in (None, cell[0]), "only the part that is edited"
    masks = {"layers.{l}.attention.masked"} if edit.operation == "remove" else set()
    assert changed <= masks | {trace.graph[edit.key].row if edit.key in trace else edit.key}


def test_a_chain_begins_where_an_edit_cuts_it() -> None:
    whole = by_hand(*run_with(), "layers.0.attention.weights", (1, 2, 3))
    assert [step.symbol for step in whole.steps[:3]] == ["S_{2,3}", r"\hat S_{2,3}", "M_{2,3}"]
    cut = by_hand(*run_with(Edit("layers.0.attention.scaled", "set", 1.5)), "layers.0.attention.weights", (1, 2, 3))
    assert [(step.symbol, step.value) for step in cut.steps[:2]] == [(r"\hat S_{2,3}", 1.5), ("M_{2,3}", 1.5)]
    assert cut.steps[0].expression == "" and not cut.changed
    cut = by_hand(*run_with(Edit("embedding.positions", "set", 0.25)), "embedding.sum", (1, 2))
    assert cut.steps[-2].latex == r"(E_{pos})_{1,3} = 0.25000"


def run_with(*edits: Edit) -> tuple[torch.nn.Module, Trace]:
    pipeline, _ = run_of("trained text")
    return pipeline.network, pipeline(networks.example("trained text"), edits)


# -- what is not recorded --------------------------------------------------------------------------------------------


def test_the_answer_and_the_way_to_it_are_computed_too() -> None:
    pipeline, trace = run_of("trained text")
    expected = softmax(trace["logits"].astype(np.float64))
    for word in (int(expected[2].argmax()), 77):
        working = by_hand(pipeline.network, trace, "answer", (2, word))
        assert working.value == pytest.approx(expected[2, word], rel=1e-6)
        assert word in working.tables[-1].places and working.tables[-1].others == 12_000 - 10
        warm = by_hand(pipeline.network, trace, "answer", (2, word), tau=1.5)
        assert warm.value == pytest.approx(softmax(trace["logits"][2].astype(np.float64) / 1.5)[word], rel=1e-6)
        assert warm.steps[-1].value == pytest.approx(warm.value, rel=1e-3)
        for step in warm.steps:
            can_be_calculated(step)
        can_be_set(warm)
        adds_up(warm.tables[-1])
    Z = torch.tensor(trace.Z)
    for number_of in range(3):
        expected = pipeline.network.transform[: number_of + 1](Z).numpy()
        working = by_hand(pipeline.network, trace, f"transform.{number_of}", (3, 17))
        assert working.value == pytest.approx(float(expected[3, 17]), rel=1e-4)
        assert working.lit == ((trace.graph.Z, (3, slice(None))),)


@pytest.mark.parametrize(
    ("key", "cell", "error"),
    [("layers.0.attention.weights", cell, IndexError) for cell in ((8, 0, 0), (0, 0), (0, 0, -1), ())]
    + [(key, (0, 0), KeyError) for key in ("layers.99.add_1", "nothing", "input")],
)
def test_a_cell_that_does_not_exist_or_is_not_computed_is_refused(
    key: str, cell: tuple[int, ...], error: type[Exception]
) -> None:
    pipeline, trace = run_of("trained text")
    with pytest.raises(error):
        by_hand(pipeline.network, trace, key, cell)


# -- how it is written -----------------------------------------------------------------------------------------------


def test_equations_name_the_cell_and_what_it_is_read_from() -> None:
    pipeline, trace = run_of("trained text")

    def equation(key: str, *cell: int) -> str:
        return by_hand(pipeline.network, trace, key, cell).equation

    at = "layers.0."
    assert equation(at + "attention.scores", 2, 1, 4) == r"S_{1,4} = \sum_{c=1}^{32} Q_{1,c}\, K_{4,c}"
    whole = r"Q_{1,5} = \sum_{m=1}^{256} X_{1,m}\, (W_Q)_{m,69} + (b_Q)_{69}"  # the third head begins at 65
    assert equation(at + "attention.Q", 2, 1, 4) == whole
    assert equation(at + "attention.concat", 1, 68) == r"\text{Concat}_{1,69} = (\text{head}_{3})_{1,5}"
    assert equation(at + "add_1", 1, 2) == r"(X_{\text{res}})_{1,3} = X_{1,3} + O_{1,3}"
    logits = r"y_{0,77} = \sum_{m=1}^{256} \hat G_{0,m}\, E^{\top}_{m,77} + c_{77}"  # words by id
    assert equation("logits", 0, 77) == logits
    network, digit = run_of("trained digits")[0].network, run_of("trained digits")[1]
    pixels = by_hand(network, digit, "embedding.tokens", (3, 0)).equation
    assert pixels == r"(X_{\text{embed}})_{3,1} = \sum_{m=1}^{16} (x_p)_{2,m}\, (W_E)_{m,1} + (b_E)_{1}"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.0, "0.00000"),
        (-0.0, "0.00000"),
        (-0.2935204, "-0.29352"),
        (12.3456789, "12.34568"),
        (0.0123456, "0.012346"),
        (0.5, "0.50000"),
        (0.0123, "0.01230"),
        (-0.00012345678, "-0.00012346"),
        (0.000000123456, r"1.2346 \times 10^{-7}"),
        (1e-5, "10^{-5}"),
        (-math.inf, r"-\infty"),
    ],
)
def test_numbers_have_as_many_digits_as_they_need(value: float, shown: str) -> None:
    assert number(value) == shown


def test_a_negative_number_behind_a_sign_stands_in_parentheses() -> None:
    assert operand(-0.29352) == "(-0.29352)" and operand(0.29352) == "0.29352"
    assert number(-0.000001, 4) == "0.0000"


# -- the cell to begin with ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["trained text", "trained digits", TRANSLATION])
def test_the_strongest_cell_is_the_strongest_and_of_scores_and_weights_the_highest_of_its_row(name: str) -> None:
    _, trace = run_of(name)
    for key in trace:
        values, highest = trace[key], key == "logits" or "key" in trace.axes(key)
        best = values[strongest_cell(trace, key)]
        assert best == values.max() if highest else abs(best) == largest(values)
        if "key" in trace.axes(key):
            for head, token in np.ndindex(values.shape[:2]):
                found = strongest_cell(trace, key, head, token)
                assert found[:2] == (head, token) and values[found] == values[head, token].max()
                assert strongest_cell(trace, key, head, token, keys=[1])[2] == 1


def test_the_strongest_cell_stays_in_the_chosen_token() -> None:
    _, trace = run_of("trained text")
    for key in trace:
        where = dict(zip(trace.axes(key), strongest_cell(trace, key, head=3, token=2), strict=True))
        assert where.get("token", where.get("query")) == 2 and where.get("head", 3) == 3


# -- fast enough for a click -----------------------------------------------------------------------------------------


def test_a_click_is_answered_at_once() -> None:
    pipeline, trace = run_of("bert-base")
    for key in trace:
        if trace.quantity(key).layer not in (None, 1):
            continue
        cell, spent = some_cells(trace, key, 1)[0], []
        for _ in range(5):
            start = time.thread_time()  # excludes other processes
            by_hand(pipeline.network, trace, key, cell)
            spent.append(time.thread_time() - start)
        assert min(spent) < (0.005 if key == "logits" else 0.002), key


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_an_activation_by_hand_is_its_module_however_large_the_number(name: str) -> None:
    function, u = ACTIVATIONS[name], torch.tensor([-1000.0, -30, -2, -1e-3, 0, 0.5, 30, 1000], dtype=torch.float64)
    found = [function.by_hand("u", float(one), lambda symbol, expression, value: value)[2] for one in u]
    np.testing.assert_allclose(found, function.module()(u), rtol=1e-9, atol=1e-12)
