"""The image encoders of CLIP and SigLIP."""

from dataclasses import replace

from model.checkpoints.families.family import ACTS, IMAGES, Family, Head, in_layers, stacked
from model.checkpoints.families.vit import VIT

#: Radford et al. 2021, section 2.4.
CLIP = Family(
    prefix="vision_model",
    called="clip",
    settings=VIT.settings,
    defaults={
        "hidden_size": 768, "intermediate_size": 3072, "num_hidden_layers": 12, "num_attention_heads": 12,
        "num_channels": 3, "image_size": 224, "patch_size": 32, "hidden_act": "quick_gelu", "layer_norm_eps": 1e-5,
        "projection_dim": 512,
    },
    pictures={
        "image_mean": [0.48145466, 0.4578275, 0.40821073], "image_std": [0.26862954, 0.26130258, 0.27577711],
        "resample": 3,
    },
    fixed={**IMAGES, "final_norm": False, "embedding_norm": True, "unbiased": ("patches",)},
    only={"hidden_act": ("quick_gelu", *ACTS), "num_channels": (3, 1)},
    names={
        "embedding.cls": "embeddings.class_embedding",
        "embedding.W_E": "embeddings.patch_embedding",
        "embedding.positions.table": "embeddings.position_embedding.weight",
        "embedding.norm": "pre_layrnorm",
        **in_layers(
            "encoder.layers.{l}.",
            {
                "norm_1": "layer_norm1",
                "attention.W_Q": "self_attn.q_proj",
                "attention.W_K": "self_attn.k_proj",
                "attention.W_V": "self_attn.v_proj",
                "attention.W_O": "self_attn.out_proj",
                "norm_2": "layer_norm2",
                "ffn.W_1": "mlp.fc1",
                "ffn.W_2": "mlp.fc2",
            },
        ),
        "cls_norm": "post_layernorm",
    },
    heads={
        "VisionModel": Head("vector"),
        "VisionModelWithProjection": Head("vector", {"vector": "visual_projection"}, projected="projection_dim"),
        "Model": Head("vector", {"vector": "visual_projection"}, projected="projection_dim"),
        "ForImageClassification": Head("classifier", {"logits": "classifier"}, patches="alone"),
    },
    unread=("*position_ids", "*post_layernorm.*", "text_model.*", "text_projection.*", "logit_scale"),
    laid_out={"embedding.W_E.weight": VIT.laid_out["embedding.W_E.weight"]},
)  # fmt: skip

#: No [CLS]; a learned probe attends to all patches at the end  (Zhai et al. 2023).
SIGLIP = replace(
    CLIP,
    called="siglip",
    defaults={
        **{name: value for name, value in CLIP.defaults.items() if name != "projection_dim"},
        "patch_size": 16, "hidden_act": "gelu_pytorch_tanh", "layer_norm_eps": 1e-6,
    },
    pictures={"resample": 3},
    fixed={**IMAGES, "cls_token": False},
    only={"hidden_act": ("gelu_pytorch_tanh", *ACTS), "num_channels": (3, 1)},
    names={
        **CLIP.names,
        "norm": "post_layernorm",
        **in_layers(
            "head.",
            {
                "probe.vector": "probe",
                **{f"cross.W_{role}": "attention.in_proj" for role in "QKV"},
                "cross.W_O": "attention.out_proj",
                "norm": "layernorm",
                "ffn.W_1": "mlp.fc1",
                "ffn.W_2": "mlp.fc2",
            },
            "pool.",
        ),
    },
    heads={
        "VisionModel": Head("vector", only={"vision_use_head": (True,)}),
        "Model": Head("vector", only={"vision_use_head": (True,)}),
        "ForImageClassification": Head("classifier", {"logits": "classifier"}, patches="alone"),
    },
    unread=("*position_ids", "head.*", "vision_model.head.*", "text_model.*", "logit_scale", "logit_bias"),
    laid_out={
        **CLIP.laid_out,
        "pool.probe.vector": lambda probe, _: probe[0],
        **stacked("pool.cross.W_Q", "pool.cross.W_K", "pool.cross.W_V"),
    },
)  # fmt: skip

FAMILIES = {
    "clip_vision_model": CLIP,
    "clip": replace(CLIP, inside="vision_config"),
    "siglip_vision_model": SIGLIP,
    "siglip": replace(SIGLIP, inside="vision_config"),
}
