"""Why a folder cannot be read: one sentence for each reason."""

from model.errors import ReasonedError

MOST = 120  # letters of a name, which a file may make as long as it likes
SENTENCES = {
    "no_folder": "there is no folder {folder}, and no model of that name was fetched from the Hugging Face hub",
    "missing": "{folder} has no {file}",
    "outside": "{file} in {folder} is a link that leads out of the folder, and is not followed",
    "damaged": "{file} in {folder} is damaged, or is not what its name says",
    "pickle": (
        "{folder} has its weights only as pickles ({file}), which can run code and are not opened; convert them with "
        "save_pretrained(folder, safe_serialization=True) of the transformers library"
    ),
    "family": "{folder} holds a model of the family {family}; those that are read are {families}",
    "architecture": "{folder} holds a {architecture}, whose head is not read; those that are read end in {heads}",
    "no_setting": "config.json in {folder} does not say {setting}",
    "setting": "config.json in {folder} says {setting} = {value}, which this encoder does not compute",
    "size": "config.json in {folder} says {setting} = {value}, which is no size for an encoder here",
    "tensor_missing": "the weights in {folder} lack {tensor}",
    "tensor_left_over": "the weights in {folder} hold {tensor}, which no part of this encoder reads",
    "tensor_shape": "{tensor} in {folder} has the shape {found}, where the configuration asks for {expected}",
    "tensor_kind": "{tensor} in {folder} holds numbers of the kind {kind}; those that are read have a floating point",
    "tensor_not_finite": "{tensor} in {folder} holds numbers that are not finite",
    "tensor_untied": "{tensor} in {folder} differs from the matrix that looks words up; here they are one",
    "no_tokenizer": "{folder} has neither tokenizer.json nor vocab.txt, so no sentence can be read",
    "tokenizer_fails": "the tokenizer in {folder} fails where it reads a sentence: {why}",
    "tokenizer_slow": "the tokenizer in {folder} did not read some sentences within {seconds} seconds",
    "vocabulary": "the tokenizer in {folder} does not fit the vocabulary of the weights",
}


class CheckpointError(ReasonedError):
    """A folder that cannot be read. `reason` is a key of the sentences above, `values` what stands in them."""

    def __init__(self, reason: str, **values: object) -> None:
        short = {name: value[:MOST] if isinstance(value, str) else value for name, value in values.items()}
        super().__init__(reason, **short)

    def __str__(self) -> str:
        return SENTENCES[self.reason].format(**self.values)
