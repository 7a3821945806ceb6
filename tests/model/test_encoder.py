"""The encoder against PyTorch's own, its masks, and the example that closes lecture note 002."""

import pytest
import torch
from torch import nn

from model.activations import ACTIVATIONS
from model.config import EncoderConfig
from model.encoder import Encoder, causal_mask, padding_mask
from model.variants.relative import RelativeAttention, table_rows
from tests.networks import QUICK, example, pipeline

PLAIN = [
    name
    for name in QUICK
    if (config := pipeline(name).config).ffn == "plain"
    and config.positions != "rotary"
    and not config.distance_terms
    and config.heads * config.d_k == config.d_model
]  # as torch has it


def torchs_own(encoder: Encoder) -> nn.TransformerEncoder:
    """torch.nn.TransformerEncoder with this encoder's weights."""
    config = encoder.config
    layer = nn.TransformerEncoderLayer(
        config.d_model,
        config.heads,
        config.d_ff,
        config.dropout,
        ACTIVATIONS[config.activation].module().forward,  # of a GELU torch would take its own
        config.norm_eps,
        batch_first=True,
        norm_first=config.norm_first,
    )
    theirs = nn.TransformerEncoder(layer, config.layers, enable_nested_tensor=False).eval()
    for ours, other in zip(encoder.layers, theirs.layers, strict=True):
        attention = ours.attention
        projections = (attention.W_Q, attention.W_K, attention.W_V)
        scales = [scale.scale if config.layer_scale else torch.ones(1) for scale in (ours.scale_1, ours.scale_2)]
        state = {
            "self_attn.in_proj_weight": torch.cat([p.weight for p in projections]),
            "self_attn.in_proj_bias": torch.cat([p.bias for p in projections]),
            "self_attn.out_proj.weight": attention.W_O.weight * scales[0][:, None],
            "self_attn.out_proj.bias": attention.W_O.bias * scales[0],
            "linear1.weight": ours.ffn.W_1.weight,
            "linear1.bias": ours.ffn.W_1.bias,
            "linear2.weight": ours.ffn.W_2.weight * scales[1][:, None],
            "linear2.bias": ours.ffn.W_2.bias * scales[1],
            "norm1.weight": ours.norm_1.weight,
            "norm1.bias": ours.norm_1.bias,
            "norm2.weight": ours.norm_2.weight,
            "norm2.bias": ours.norm_2.bias,
        }
        other.load_state_dict(state)
    return theirs


@pytest.mark.parametrize("name", PLAIN)
@torch.no_grad()
def test_the_layers_equal_torchs_own(name: str) -> None:
    network = pipeline(name).network
    x = network.embedding(pipeline(name).reader.read(example(name)).tensor)
    theirs = torchs_own(network)(x, mask=by_distance(network, x.size(1)))
    for layer in network.layers:
        x = layer(x)
    torch.testing.assert_close(x, theirs, atol=1e-5, rtol=1e-5)


def by_distance(network: Encoder, n: int) -> torch.Tensor | None:
    """What is added to each score for the distance: torch adds it as a mask, (head, query, key)."""
    attention = network.layers[0].attention
    if not isinstance(attention, RelativeAttention):
        return None
    rows = table_rows(n, n, attention.distances.num_embeddings, attention.farthest)
    return attention.distances(rows).permute(2, 0, 1)


@torch.no_grad()
def test_masked_layers_equal_torchs_own() -> None:
    network = pipeline("pre-norm words").network
    x = torch.randn(3, 9, 64)
    ids = torch.tensor([[5] * 9, [5] * 6 + [0] * 3, [5] * 2 + [0] * 7])
    mask = padding_mask(ids) & causal_mask(9)
    ours = x
    for layer in network.layers:
        ours = layer(ours, mask)
    theirs = torchs_own(network)(x, mask=~causal_mask(9), src_key_padding_mask=ids == 0)
    torch.testing.assert_close(ours[ids != 0], theirs[ids != 0], atol=1e-5, rtol=1e-5)


def test_dropout_is_on_when_training_and_off_when_evaluating() -> None:
    network = Encoder(EncoderConfig(32, 4, 1, 64, dropout=0.1))
    ids = torch.arange(5)[None]
    with torch.no_grad():
        assert not torch.equal(network.train()(ids), network(ids))
        assert torch.equal(network.eval()(ids), network(ids))
