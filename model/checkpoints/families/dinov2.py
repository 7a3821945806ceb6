"""DINOv2: each sub-layer's output is multiplied by learned scales  (Oquab et al. 2024; layer_scale.py)."""

from dataclasses import replace

from model.checkpoints.families.family import IMAGES, Family, Head, in_layers, stacked
from model.checkpoints.families.vit import VIT

DINOV2 = replace(
    VIT,
    prefix="dinov2",
    settings={**VIT.settings, "d_ff": "mlp_ratio"},
    worked_out={"d_ff": lambda theirs: int(theirs["hidden_size"] * theirs["mlp_ratio"])},
    defaults={
        "hidden_act": "gelu", "layer_norm_eps": 1e-6, "image_size": 224, "patch_size": 14, "num_channels": 3,
        "mlp_ratio": 4,
    },
    pictures={"image_mean": [0.485, 0.456, 0.406], "image_std": [0.229, 0.224, 0.225], "resample": 3},
    interpolated="plain",
    fixed={**IMAGES, "layer_scale": True},
    names={
        **VIT.names,
        **in_layers(
            "encoder.layer.{l}.",
            {
                "norm_1": "norm1",
                "scale_1.scale": "layer_scale1.lambda1",
                "norm_2": "norm2",
                "ffn.W_1": "mlp.fc1",
                "ffn.W_2": "mlp.fc2",
                "scale_2.scale": "layer_scale2.lambda1",
            },
        ),
    },
    heads={
        "Model": Head("none"),
        "ForImageClassification": Head(
            "classifier", names={"cls_logits": "classifier", "patch_logits": "classifier"}, patches="beside"
        ),
    },
    laid_out={
        **VIT.laid_out,
        "embedding.registers": lambda tokens, _: tokens[0],
        "cls_logits.weight": lambda matrix, _: matrix[:, : matrix.shape[1] // 2],
        "patch_logits.weight": lambda matrix, _: matrix[:, matrix.shape[1] // 2 :],
    },
)  # fmt: skip

REGISTERS = replace(
    DINOV2,
    prefix="dinov2_with_registers",
    settings={**DINOV2.settings, "registers": "num_register_tokens"},
    defaults={**DINOV2.defaults, "num_register_tokens": 4},
    interpolated="antialias",
    names={**DINOV2.names, "embedding.registers": "embeddings.register_tokens"},
    unread=(*DINOV2.unread, "*embeddings.register_tokens"),  # there may be none
)


def with_gates(family: Family) -> Family:
    """A family whose FFN is gated if `use_swiglu_ffn`: two thirds as many neurons, rounded up to a multiple of 8."""
    fused = "encoder.layer.{l}.mlp.weights_in"
    gates = replace(
        family,
        fixed={**family.fixed, "ffn": "gated", "activation": "silu"},
        worked_out={"d_ff": lambda theirs: -(int(int(theirs["hidden_size"] * theirs["mlp_ratio"]) * 2 / 3) // -8) * 8},
        names={
            **family.names,
            "layers.{l}.ffn.W_1": fused,
            "layers.{l}.ffn.W_3": fused,
            "layers.{l}.ffn.W_2": "encoder.layer.{l}.mlp.weights_out",
        },
        laid_out={**family.laid_out, **stacked("layers.{l}.ffn.W_1", "layers.{l}.ffn.W_3")},
    )
    return replace(family, where={("use_swiglu_ffn", True): gates})


FAMILIES = {"dinov2": with_gates(DINOV2), "dinov2_with_registers": with_gates(REGISTERS)}
