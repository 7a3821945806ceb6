"""The closed forms of model/measures/cost.py agree with real modules, and the lecture notes' numbers with both."""

from collections import Counter
from dataclasses import replace
from functools import cache, partial

import pytest
import torch
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from model.config import PRESETS, EncoderConfig
from model.encoder import Encoder
from model.heads import network_for
from model.measures.cost import (
    attention_cost,
    attention_memory,
    count,
    crossings,
    ffn_cost,
    layer_parameters,
    letters,
    multiply_adds,
    parameters,
    recurrent_cost,
    shape_walk,
    total,
)
from model.measures.note_claims import NOTE_CLAIMS, Value
from model.unallocated import real_parameters
from tests.networks import CONFIGS, COVER
from tests.refusals import refused

#: Small networks whose layers are all alike.
SMALL = [name for name, config in CONFIGS.items() if config.d_model <= 64 and config.first_norm]
small = pytest.mark.parametrize("name", SMALL)
#: Networks that compare each pair of tokens once.
pairwise = pytest.mark.parametrize("name", [name for name in COVER if not CONFIGS[name].distance_terms])
every = pytest.mark.parametrize("name", CONFIGS)
cover = pytest.mark.parametrize("name", COVER)
presets = pytest.mark.parametrize("config", PRESETS.values(), ids=PRESETS.keys())


def on_meta(config: EncoderConfig) -> Encoder:
    """The real network without numbers."""
    with torch.device("meta"):
        return network_for(config).eval()


@cache
def small_network(config: EncoderConfig) -> Encoder:
    torch.manual_seed(0)
    return network_for(config).eval()


def length(config: EncoderConfig) -> int:
    return 7 if config.input == "words" else config.max_tokens


def an_input(config: EncoderConfig, n: int, batch: int = 1, device: str = "cpu") -> Tensor:
    if config.input == "words":
        return torch.zeros(batch, n, dtype=torch.long, device=device)
    one_plane = config.input == "flat" or config.channels == 1
    return torch.rand(batch, *([] if one_plane else [config.channels]), *2 * [config.image_size], device=device)


def part_of(name: str) -> str:
    """The part in `parameters` to which a parameter of the real module belongs."""
    first, *rest = name.split(".")
    if first == "embedding":
        return "positions" if rest[0] == "positions" else "embedding"
    if "distance_norm" in rest:
        return "norms"
    if first == "layers":
        kinds = {"norm": "norms", "scale": "layer_scale"}
        return kinds.get(rest[1].partition("_")[0], rest[1])
    return "final_norm" if first == "norm" else "head"


# Parameters.


def check_parameters(config: EncoderConfig) -> None:
    real = Counter()
    for name, parameter in on_meta(config).named_parameters():  # tied matrices appear once
        real[part_of(name)] += parameter.numel()
    ours = parameters(config)
    assert {part: counted.number for part, counted in ours.items() if counted.number} == real
    assert total(ours).number == sum(real.values()) == real_parameters(config)


@every
def test_parameters_and_multiply_adds_are_those_of_the_real_modules(name: str) -> None:
    config = CONFIGS[name]
    check_parameters(config)
    check_flops(config, length(config))


@presets
def test_one_layer_equals_the_real_layer(config: EncoderConfig) -> None:
    real = Counter()
    for name, parameter in on_meta(config).layers[0].named_parameters():
        part = name.split(".")[0]
        kind = "norms" if part.startswith("norm") else f"{part}.{'weights' if parameter.dim() == 2 else 'biases'}"
        real[kind] += parameter.numel()
    assert {part: counted.number for part, counted in layer_parameters(config).items()} == real


def test_published_totals() -> None:
    # torchvision.models.vit_b_16 has 86,567,656. BERT-base has 109,482,240 with its pooler, which ours lacks.
    assert total(parameters(PRESETS["vit-b-16"])).number == 86_567_656
    assert total(parameters(PRESETS["bert-base"])).number == 109_482_240 - (768 * 768 + 768) == 108_891_648


# Multiply–adds.


def check_flops(config: EncoderConfig, n: int) -> None:
    """PyTorch counts two FLOPs per multiply–add of a matrix product, and nothing else."""
    small = config.d_model <= 64  # larger ones without numbers
    network = small_network(config) if small else on_meta(config)
    with FlopCounterMode(display=False) as counter:
        network(an_input(config, n, device="cpu" if small else "meta"))
    counted = {operation.__name__ for operation in counter.get_flop_counts()["Global"]}
    assert counted <= {"addmm", "mm", "bmm"}  # with bias, without, and batched
    assert 2 * total(multiply_adds(config, n)).number == counter.get_total_flops()


@presets
def test_one_layer_is_attention_and_ffn(config: EncoderConfig) -> None:
    for n in (1, 50, 3000):
        whole = multiply_adds(config, n)
        for part, one in attention_cost(config, n).items():
            assert whole[part].number == config.layers * one.number
        assert whole["ffn"].number == config.layers * ffn_cost(config, n).number


def sides(config: EncoderConfig, n: int) -> dict[str, tuple[int, int]]:
    """Crossing -> the part growing with n², and the part it is compared with."""
    cost, ffn = attention_cost(config, n), ffn_cost(config, n).number
    projections, squared = cost["projections"].number, cost["scores"].number + cost["weighted_sum"].number
    return {
        "recurrent": (squared, recurrent_cost(config, n).number),
        "projections": (squared, projections),
        "ffn": (squared, ffn),
        "projections_and_ffn": (squared, projections + ffn),
        "attention_and_ffn": (squared + projections, ffn),
    }


def check_crossings(config: EncoderConfig) -> None:
    for against, crossing in crossings(config).items():
        if crossing.number <= 0:
            squared, other = sides(config, 1)[against]
            assert squared > other
            continue
        squared, other = sides(config, crossing.number)[against]
        assert squared == other
        squared, other = sides(config, crossing.number + 1)[against]
        assert squared > other
        if crossing.number > 1:
            squared, other = sides(config, crossing.number - 1)[against]
            assert squared < other


@pairwise
def test_costs_are_equal_where_they_cross_and_nowhere_else(name: str) -> None:
    check_crossings(replace(CONFIGS[name], ffn="plain", d_head=0))


# The shape walk.


@cache
def observed(config: EncoderConfig, batch: int) -> dict[str, Tensor]:
    """Input, and output of every module of a small real network, in order of computation."""
    x = an_input(config, length(config), batch)
    network, outputs = small_network(config), {"input": x}

    def keep(path: str, _module: nn.Module, _inputs: tuple, value: Tensor) -> None:
        outputs[path] = value

    handles = [
        module.register_forward_hook(partial(keep, path))
        for path, module in network.named_modules()
        if path and type(module) is not nn.Identity
    ]
    with torch.no_grad():
        answer = network(x)
    for handle in handles:
        handle.remove()
    if config.head != "none":
        outputs["answer"] = answer.softmax(dim=-1)
    return outputs


@small
def test_shapes_and_bytes_are_those_of_the_real_modules(name: str) -> None:
    """Each step's shape, symbolic and numeric, and the memory it adds."""
    config, batch = CONFIGS[name], 1 + SMALL.index(name) % 2
    outputs, seen, n = observed(config, batch), 0, length(CONFIGS[name])
    known = {parameter.untyped_storage().data_ptr() for parameter in small_network(config).parameters()}
    known |= {buffer.untyped_storage().data_ptr() for buffer in small_network(config).buffers()}
    for step in shape_walk(config, n, batch):
        for axis, size in zip(
            (*step.output.axes, step.output.elements), (*step.output.sizes, step.output.size), strict=True
        ):
            assert count(axis, letters(config, n, batch)).number == size
        if step.key not in outputs:
            continue
        seen += 1
        real = tuple(outputs[step.key].shape)
        assert step.output.sizes == (real if batch > 1 else real[1:]), step.key
        one_token = config.input == "flat" or step.key.startswith("pool.")
        if one_token and step.key.endswith("concat"):  # PyTorch avoids that copy
            continue
        memory = outputs[step.key].untyped_storage()
        new = memory.data_ptr() not in known
        if step.kind == "view" and step.reads and not {*step.reads} & outputs.keys():
            new = False  # a view of something no module made
        assert step.bytes.number == (memory.nbytes() if new else 0), step.key
        known.add(memory.data_ptr())
    assert seen >= 24  # all but the patches or the row, and the classifier's first token
    kept = sum(value.nbytes for key, value in outputs.items() if key.endswith("attention.weights"))
    assert attention_memory(config, n).number * batch == kept


@cover
def test_steps_add_up_to_the_whole(name: str) -> None:
    config = CONFIGS[name]
    n, batch = length(config), 3
    steps = shape_walk(config, n, batch)
    assert sum(step.sets * step.parameters.number for step in steps) == total(parameters(config)).number
    alike = [step for step in steps if step.output.axes[0] == "1" and step.multiply_adds.number]  # once per batch
    counted = sum(step.times * step.multiply_adds.number * (batch if step in alike else 1) for step in steps)
    assert counted == batch * total(multiply_adds(config, n)).number
    assert all("distance" in step.axes for step in alike)
    assert all(step.kind == "product" for step in steps if step.multiply_adds.number)


@pytest.mark.parametrize(
    ("preset", "n", "reason"),
    [
        ("text", 0, "not_positive"),
        ("text", 65, "too_long"),
        ("digits", 49, "image_sets_length"),
        ("flat", 2, "image_sets_length"),
    ],
)
def test_a_length_that_the_network_cannot_read(preset: str, n: int, reason: str) -> None:
    with refused(reason):
        shape_walk(PRESETS[preset], n)


# Counts.


def test_a_count_shows_what_it_computes() -> None:
    counted = count("N·(4·d_model² + 4·d_model) − |V|", letters(PRESETS["004"]))
    assert counted.numbers == "6·(4·512² + 4·512) − 10000"
    assert counted.number == 6 * (4 * 512**2 + 4 * 512) - 10_000
    assert str(count("d_k", letters(PRESETS["004"]))) == "d_k = 64"


@cover
def test_every_formula_with_its_numbers_put_in_comes_to_its_number(name: str) -> None:
    config = CONFIGS[name]
    for counted in (*parameters(config).values(), *multiply_adds(config, 17).values(), attention_memory(config, 17)):
        python = counted.numbers.replace("·", "*").replace("²", "**2").replace("−", "-")
        assert eval(python) == counted.number  # only our own digits and signs


# The lecture notes.


def agree(says: Value, ours: Value, within: float) -> bool:
    if isinstance(says, tuple) and isinstance(ours, tuple):
        return len(says) == len(ours) and all(agree(a, b, within) for a, b in zip(says, ours, strict=True))
    return says == ours if isinstance(says, str) else abs(says - ours) <= within


@pytest.mark.parametrize("claim", NOTE_CLAIMS, ids=[claim.key for claim in NOTE_CLAIMS])
def test_a_claim_is_judged_by_its_numbers(claim) -> None:
    if claim.verdict != "partly":
        assert agree(claim.says, claim.ours, claim.within) == (claim.verdict == "right")
    if ".table." in claim.key and claim.note == "004":
        assert claim.says[:2] == claim.ours[:2]  # shapes must be exact


def test_the_corrected_numbers_of_the_notes() -> None:
    ours = {claim.key: claim.ours for claim in NOTE_CLAIMS}
    assert len(ours) == len(NOTE_CLAIMS)
    assert (ours["004.ffn"], ours["004.attention"], ours["004.table.layer"][2]) == (2_099_712, 1_048_576, 3_152_384)
    assert ours["003.randn"] == pytest.approx(0.3413, abs=1e-4)  # density of a normal distribution between 0 and 1
    assert ours["003.softmax_1"] == pytest.approx((0.5987, 0.4013), abs=1e-4)
    assert ours["002.softmax"] == pytest.approx((0.9981, 0.0019, 0), abs=1e-4)
