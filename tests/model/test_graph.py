"""The graph of a network: in order, with matching symbols."""

import re
from dataclasses import replace

import pytest

from model.config import DECODER, PRESETS
from model.graph import Graph, graph
from tests.networks import CONFIGS, COVER

GRAPHS = {name: graph(config) for name, config in CONFIGS.items()}
GRAPHS |= {f"{name}, normed elsewhere": graph(replace(CONFIGS[name], norm_first=not CONFIGS[name].norm_first))
           for name in COVER}  # fmt: skip
GRAPHS["translation"] = graph(replace(PRESETS["text"], head="none"), DECODER)
graphs = pytest.mark.parametrize("of", GRAPHS.values(), ids=GRAPHS.keys())


def sides(of: Graph) -> tuple[str, ...]:
    return ("", "decoder.") if of.decoder else ("",)


@graphs
def test_each_quantity_reads_what_comes_before_it_and_all_but_the_last_and_asides_are_read(of: Graph) -> None:
    seen: set[str] = set()
    for quantity in of:
        assert set(quantity.reads) <= seen
        seen.add(quantity.key)
    *_, last = of
    read = {read for quantity in of.quantities.values() for read in quantity.reads}
    assert {quantity.key for quantity in of} - read == {last.key}
    asides = [quantity for quantity in of.quantities.values() if quantity.aside]
    assert len(asides) == sum(quantity.operation == "concat" for quantity in of)
    assert not any(aside in list(of) or aside.traced or aside.key in read for aside in asides)


def written(of: Graph, read: str, reader: str) -> str:
    """Symbol of a quantity where it is read: X within a layer, Z outside."""
    outside = of[reader].layer is None or reader.startswith("decoder.")
    symbol = "Z" if read == of.Z and outside else of[read].symbol
    return symbol.replace("^{(l+1)}", "").replace("^{(0)}", "").removesuffix("_i")


@graphs
def test_an_equation_is_written_in_the_symbols_of_what_it_reads(of: Graph) -> None:
    for quantity in of:
        assert quantity.equation.count("{") == quantity.equation.count("}")
        for read in quantity.reads:
            just_this = rf"(?<!bar )(?<!bar {{)(?<!hat ){re.escape(written(of, read, quantity.key))}(?!')"
            assert re.search(just_this, quantity.equation), (quantity.key, quantity.equation)


def test_a_symbol_names_one_quantity_in_a_layer() -> None:
    for of in GRAPHS.values():
        for side in sides(of):
            for prefix in {s.prefix for s in of.sublayers(0, side)} | {f"{side}layers.0.", f"{side}embedding."}:
                symbols = [q.symbol for q in of if q.key.startswith(prefix) and "." not in q.key[len(prefix) :]]
                assert len(symbols) == len(set(symbols)), (prefix, symbols)
