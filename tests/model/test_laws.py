"""The equations of the paper hold on what a run recorded, for every preset and every trained pipeline."""

import numpy as np
import pytest
import torch
from torch.nn import functional

from model.stages import STAGES
from tests.networks import ALL, pipeline, trace_of


def close(a: np.ndarray, b: object, tolerance: float = 1e-4) -> None:
    b = np.asarray(b)
    assert a.shape == b.shape
    np.testing.assert_allclose(a, b, atol=tolerance * max(1.0, float(np.abs(b[np.isfinite(b)]).max(initial=0))))


def linear(layer: torch.nn.Linear, x: np.ndarray) -> np.ndarray:
    return x @ layer.weight.numpy().T + layer.bias.numpy()


def split(x: np.ndarray, heads: int) -> np.ndarray:
    """(token, d_model) -> (head, token, d_k)."""
    return x.reshape(len(x), heads, -1).transpose(1, 0, 2)


def layer_norm(norm: torch.nn.LayerNorm, x: np.ndarray) -> np.ndarray:
    mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    return norm.weight.numpy() * (x - mean) / np.sqrt(variance + norm.eps) + norm.bias.numpy()


@pytest.mark.parametrize("name", ALL)
def test_the_equations_hold_on_recorded_values(name: str) -> None:
    trace, network = trace_of(name), pipeline(name).network
    config = network.config
    close(trace["embedding.sum"], trace["embedding.tokens"] + trace["embedding.positions"])
    for number, layer in enumerate(network.layers):
        at = f"layers.{number}."
        x = trace.layer_input(number)
        asks = layer_norm(layer.norm_1, x) if config.norm_first else x
        Q, K, V = (trace[f"{at}attention.{letter}"] for letter in "QKV")
        close(Q, split(linear(layer.attention.W_Q, asks), config.heads))
        close(K, split(linear(layer.attention.W_K, asks), config.heads))
        close(V, split(linear(layer.attention.W_V, asks), config.heads))
        scores, scaled, masked, weights, heads = (
            trace[f"{at}attention.{key}"] for key in ("scores", "scaled", "masked", "weights", "heads")
        )
        close(scores, Q @ K.transpose(0, 2, 1))
        close(scaled, scores / np.sqrt(config.d_k))
        close(masked, scaled)  # one input, nothing padded, nothing hidden
        exponentials = np.exp(masked - masked.max(-1, keepdims=True))
        close(weights, exponentials / exponentials.sum(-1, keepdims=True))
        close(weights.sum(-1), np.ones(weights.shape[:2]))
        close(heads, weights @ V)
        concat, output = trace[f"{at}attention.concat"], trace[f"{at}attention.output"]
        close(concat, np.concatenate(list(heads), axis=-1))
        close(output, linear(layer.attention.W_O, concat))
        add_1, norm_1 = trace[f"{at}add_1"], trace[f"{at}norm_1"]
        close(add_1, x + output)
        close(norm_1, layer_norm(layer.norm_1, x if config.norm_first else add_1))
        hidden, activation, ffn = (trace[f"{at}ffn.{key}"] for key in ("hidden", "activation", "output"))
        thinks = trace[f"{at}norm_2"] if config.norm_first else norm_1
        close(hidden, linear(layer.ffn.W_1, thinks))
        bend = functional.relu if config.activation == "relu" else functional.gelu
        close(activation, bend(torch.tensor(hidden)))
        close(ffn, linear(layer.ffn.W_2, activation))
        add_2, norm_2 = trace[f"{at}add_2"], trace[f"{at}norm_2"]
        close(add_2, (add_1 if config.norm_first else norm_1) + ffn)
        close(norm_2, layer_norm(layer.norm_2, add_1 if config.norm_first else add_2))


@pytest.mark.parametrize("name", ALL)
def test_layer_norm_gives_mean_0_and_variance_1_before_its_scale_and_shift(name: str) -> None:
    trace, network = trace_of(name), pipeline(name).network
    for number, layer in enumerate(network.layers):
        for norm in ("norm_1", "norm_2"):
            module = getattr(layer, norm)
            core = (trace[f"layers.{number}.{norm}"] - module.bias.numpy()) / module.weight.numpy()
            close(core.mean(-1), np.zeros(len(core)), 1e-3)
            close(core.var(-1), np.ones(len(core)), 1e-2)


@pytest.mark.parametrize("name", ALL)
def test_every_stage_is_recorded_in_order_of_the_table_with_its_axes(name: str) -> None:
    trace, config = trace_of(name), pipeline(name).config
    layer_keys = [stage.key for stage in STAGES if "{l}" in stage.key]
    if config.norm_first:  # the norms come before their sub-layers
        layer_keys = [key for key in layer_keys if not key.endswith(("norm_1", "norm_2"))]
        layer_keys.insert(0, "layers.{l}.norm_1")
        layer_keys.insert(layer_keys.index("layers.{l}.ffn.hidden"), "layers.{l}.norm_2")
    expected = ["embedding.tokens", "embedding.positions", "embedding.sum"]
    for number in range(config.layers):
        expected += [key.replace("{l}", str(number)) for key in layer_keys]
    expected += ["norm"] * config.final_norm + ["logits"] * (config.head != "none")
    assert trace.keys() == expected

    n = len(trace["embedding.sum"])
    sizes = {"head": config.heads, "token": n, "query": n, "key": n, "d_k": config.d_k}
    sizes |= {"d_model": config.d_model, "d_ff": config.d_ff, "class": config.classes, "word": config.vocab_size}
    for key in trace:
        assert trace[key].shape == tuple(sizes[axis] for axis in trace.axes(key)), key
        assert trace[key].dtype == np.float32
        assert not trace[key].flags.writeable


@pytest.mark.parametrize("name", ALL)
def test_every_key_is_the_path_of_its_module(name: str) -> None:
    modules = dict(pipeline(name).network.named_modules())
    assert set(trace_of(name).keys()) <= set(modules)


def test_words_are_looked_up_and_scaled() -> None:
    trace, network = trace_of("trained text"), pipeline("trained text").network
    rows = network.embedding.E.weight.numpy()[trace.ids]
    close(trace["embedding.tokens"], rows * np.sqrt(network.config.d_model))


def test_sinusoids_are_the_papers() -> None:
    trace = trace_of("002")
    d_model = 512
    for pos, i in [(0, 0), (1, 0), (3, 17), (6, 255)]:
        angle = pos / 10_000 ** (2 * i / d_model)
        assert trace["embedding.positions"][pos, 2 * i] == pytest.approx(np.sin(angle), abs=1e-5)
        assert trace["embedding.positions"][pos, 2 * i + 1] == pytest.approx(np.cos(angle), abs=1e-5)
