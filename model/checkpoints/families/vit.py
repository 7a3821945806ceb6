"""Image encoders: ViT, DeiT, ViT-MSN, ViT-MAE."""

from dataclasses import replace

from model.checkpoints.families.family import ACTS, IMAGES, LAYERS, Family, Head, in_layers

VIT = Family(
    prefix="vit",
    settings={**LAYERS, "image_size": "image_size", "patch_size": "patch_size", "channels": "num_channels"},
    fixed=IMAGES,
    only={"hidden_act": tuple(ACTS), "qkv_bias": (True,), "num_channels": (3, 1)},
    names={
        "embedding.cls": "embeddings.cls_token",
        "embedding.W_E": "embeddings.patch_embeddings.projection",
        "embedding.positions.table": "embeddings.position_embeddings",
        **in_layers(
            "encoder.layer.{l}.",
            {
                "norm_1": "layernorm_before",
                "attention.W_Q": "attention.attention.query",
                "attention.W_K": "attention.attention.key",
                "attention.W_V": "attention.attention.value",
                "attention.W_O": "attention.output.dense",
                "norm_2": "layernorm_after",
                "ffn.W_1": "intermediate.dense",
                "ffn.W_2": "output.dense",
            },
        ),
        "norm": "layernorm",
    },
    heads={
        "Model": Head("none"),
        "ForImageClassification": Head("classifier", names={"logits": "classifier"}),
    },
    unread=("*pooler.dense.*", "*embeddings.mask_token"),
    laid_out={
        "embedding.cls": lambda token, _: token[0, 0],
        "embedding.distillation": lambda token, _: token[0, 0],
        "embedding.positions.table": lambda table, _: table[0],
        "embedding.W_E.weight": lambda kernel, _: kernel.flatten(start_dim=1),
    },
)

DEIT = replace(
    VIT,
    prefix="deit",
    fixed={**IMAGES, "distillation_token": True},
    names={**VIT.names, "embedding.distillation": "embeddings.distillation_token"},
    heads={
        **VIT.heads,
        "ForImageClassificationWithTeacher": Head(
            "classifier",
            names={"cls_logits": "cls_classifier", "distillation_logits": "distillation_classifier"},
            distillation=True,
        ),
    },
)

#: Trained with most patches hidden; the decoder that reconstructed them is not read  (He et al. 2022; patch_waves.py).
VIT_MAE = replace(
    VIT,
    settings={**VIT.settings, "hidden_in_training": "mask_ratio"},
    defaults={"mask_ratio": 0.75},
    heads={"Model": Head("none"), "ForPreTraining": Head("none")},
    unread=(*VIT.unread, "decoder.*"),
)

FAMILIES = {"vit": VIT, "deit": DEIT, "vit_msn": VIT, "vit_mae": VIT_MAE}
