"""Export the translator as a transformers folder, an encoder as ONNX, a run for bertviz.

    python -m model.export marian FOLDER
    python -m model.export onnx FOLDER [MODEL] [--recorded]
    python -m model.export bertviz FILE SENTENCE [MODEL]

MODEL is anything that `load` takes; default "text". With --recorded, every quantity of a trace is an output named by
its key, each head can be switched off, and the weights are in a second file, model.onnx.data. The exported translator
writes Chinese by default; for English give the decoder's first token:
model.generate(**read, decoder_start_token_id=tokenizer.convert_tokens_to_ids("[EN]")).
"""

import json
import sys
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from model.checkpoints.families.marian import in_their_order
from model.checkpoints.marian import MarianReader
from model.decoder import TARGET_LANGUAGES, TranslationNetwork
from model.encoder import Encoder
from model.graph import SIDES
from model.loading import WeightsError, load
from model.pipeline import InputError, Pipeline, TextReader
from model.trace import Trace, graph_of, recorded
from model.translator import TranslationTrace, Translator

#: Our module names in a layer -> Marian's. Norms, which Marian does not number, are in NORMS.
NAMES = {
    "attention.W_Q": "self_attn.q_proj", "attention.W_K": "self_attn.k_proj", "attention.W_V": "self_attn.v_proj",
    "attention.W_O": "self_attn.out_proj", "cross.W_Q": "encoder_attn.q_proj", "cross.W_K": "encoder_attn.k_proj",
    "cross.W_V": "encoder_attn.v_proj", "cross.W_O": "encoder_attn.out_proj", "ffn.W_1": "fc1", "ffn.W_2": "fc2",
}  # fmt: skip
NORMS = {"": ("self_attn", "final"), "decoder.": ("self_attn", "encoder_attn", "final")}
NEVER = -1e4  # logit of the language tokens, which are never written


#: Packages that torch needs to write ONNX.
ONNX = ("onnx", "onnxscript")
DATA = "model.onnx.data"  # weights in a file of their own need not be held in memory twice
LEAST_HALVED = 64  # numbers; smaller tensors stay float32


class ExportError(ValueError):
    """Why something cannot be written, in one sentence."""


def as_marian(translator: Translator, folder: Path) -> None:
    """Write config.json, model.safetensors and the tokenizer into a folder, creating it."""
    network, reader = translator.network, translator.reader
    folder.mkdir(parents=True, exist_ok=True)
    save_file(_weights(network), folder / "model.safetensors", {"format": "pt"})
    ids = {name: reader.vocabulary.index(f"[{name}]") for name in ("PAD", "CLS", "SEP", "UNK", "MASK")}
    config = translator.config
    sides = {"encoder": config, "decoder": network.decoder_config}
    settings: dict[str, object] = {}
    for side, of in sides.items():
        settings |= {f"{side}_layers": of.layers, f"{side}_attention_heads": of.heads, f"{side}_ffn_dim": of.d_ff}
    settings |= {
        "model_type": "marian", "architectures": ["MarianMTModel"], "d_model": config.d_model, "dropout": 0.0,
        "vocab_size": config.vocab_size + len(TARGET_LANGUAGES), "max_position_embeddings": config.max_len,
        "activation_function": config.activation, "scale_embedding": True, "share_encoder_decoder_embeddings": True,
        "tie_word_embeddings": True, "pad_token_id": ids["PAD"], "bos_token_id": ids["CLS"], "eos_token_id": ids["SEP"],
        "decoder_start_token_id": config.vocab_size + list(TARGET_LANGUAGES).index("zh"), "forced_eos_token_id": None,
    }  # fmt: skip
    (folder / "config.json").write_text(json.dumps(settings, indent=2))
    tokenizer = type(reader.tokenizer).from_str(reader.tokenizer.to_str())
    tokenizer.add_special_tokens(list(TARGET_LANGUAGES.values()))
    tokenizer.save(str(folder / "tokenizer.json"))
    names = {f"{name.lower()}_token": f"[{name}]" for name in ids}
    more = {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": config.max_len, "eos_token": "[SEP]"}
    (folder / "tokenizer_config.json").write_text(json.dumps(names | more, indent=2))


def _weights(network: TranslationNetwork) -> dict[str, Tensor]:
    """Our weights under Marian's names, with the d_model axis in Marian's order."""
    found: dict[str, Tensor] = {}
    for key, value in network.named_parameters():
        side, inside, rest = key.partition("layers.")
        if not inside:
            continue
        layer, _, part = rest.partition(".")
        module, _, last = part.rpartition(".")
        name = NAMES.get(module) or f"{NORMS[side][int(module[-1]) - 1]}_layer_norm"
        found[f"model.{side or 'encoder.'}layers.{layer}.{name}.{last}"] = in_their_order(key, value)
    assert network.decoder.embedding.language is not None  # ours has one
    E, languages = network.embedding.E.weight, network.decoder.embedding.language.weight
    found["model.shared.weight"] = in_their_order("embedding.E.weight", torch.cat([E, languages]))
    never = torch.full((len(languages),), NEVER)
    found["final_logits_bias"] = torch.cat([network.logits.bias, never])[None]
    return found


# -- an encoder for ONNX -------------------------------------------------------------------------------------------


def as_onnx(pipeline: Pipeline, folder: Path) -> None:
    """Write model.onnx into a folder, creating it, and tokenizer.json unless its ids differ from the network's.

    Inputs and outputs have optimum's names. Inputs: `input_ids`, (1, length ≥ 2), and `token_type_ids` of the same
    shape if the network has segments. Output: "logits" or another key of the head; without a head "last_hidden_state".
    Of a translator, only the encoder is written. Raises ExportError.
    """
    pipeline = pipeline.encoder if isinstance(pipeline, Translator) else pipeline
    if not isinstance(pipeline.reader, TextReader):
        raise ExportError(f"{pipeline.name} reads pictures, and only encoders of sentences are written for ONNX")
    *_, last = (quantity.key for quantity in pipeline.graph if quantity.traced)
    outputs = ["last_hidden_state" if pipeline.config.head == "none" else last]
    _write_onnx(pipeline, pipeline.network, _inputs(pipeline), outputs, folder)


def as_recorded(pipeline: Pipeline, folder: Path) -> None:
    """Write model.onnx with every quantity of a trace as an output named by its key (batch of one in front), and
    model.onnx.data with the weights.

    The input `heads`, (layer, head), multiplies each head's output: 1 keeps it, 0 switches it off like
    Edit("layers.2.attention.heads", "zero", head=3). For words or classes, the output `lens` is the logit lens after
    each layer: (layer, class), or (layer, asked, word) at the tokens in the input `asked`. Pictures are passed as
    `pixel_values`. Weights that float16 represents exactly are stored as float16. Raises ExportError.
    """
    pipeline = pipeline.encoder if isinstance(pipeline, Translator) else pipeline
    network, config = Recorded(pipeline.network), pipeline.config
    inputs: dict[str, tuple] = {"heads": (torch.ones(config.layers, config.heads), None), "asked": (None, None)}
    if config.head == "masked-word":
        inputs["asked"] = torch.tensor([1, 2]), {0: torch.export.Dim("asked", min=1, max=config.max_len)}
    outputs = [*network.keys, *["lens"] * network.reads]
    _write_onnx(pipeline, network, inputs | _inputs(pipeline), outputs, folder, apart=True)


class Recorded(nn.Module):
    """A network that returns all that a trace records, in the order of `keys`, with heads that can be switched off."""

    def __init__(self, network: Encoder) -> None:
        super().__init__()
        self.network, self.graph = network, graph_of(network)
        self.keys = list(recorded(network))
        self.switched = {self.graph.sublayers(layer)[0].prefix + "heads": layer for layer in range(self.graph.layers())}
        self.reads = network.config.head in ("masked-word", "classifier")  # after each layer
        self.eval()

    def forward(
        self, heads: Tensor, asked: Tensor | None, x: Tensor, mask: Tensor | None = None, segments: Tensor | None = None
    ) -> tuple[Tensor, ...]:
        values: dict[str, Tensor] = {}

        def passed(key: str, value: Tensor) -> Tensor:
            if key in self.switched:
                value = value * heads[self.switched[key]][:, None, None]
            values[key] = value
            return value

        modules = recorded(self.network)
        hooks = [modules[key].register_forward_hook(partial(_hook, partial(passed, key))) for key in self.keys]
        self.network(x, mask, segments)
        for hook in hooks:
            hook.remove()
        found = tuple(values[key] for key in self.keys)
        return (*found, self._lens(values, asked)) if self.reads else found

    def _lens(self, values: dict[str, Tensor], asked: Tensor | None) -> Tensor:
        ends = [values[self.graph.stream(layer)[-1]] for layer in range(self.graph.layers())]
        Z = self.network.norm(torch.cat(ends))
        return self.network.read_out(Z if asked is None else Z[:, asked])


def _hook(passed: Callable[[Tensor], Tensor], _module: nn.Module, _inputs: tuple, value: Tensor) -> Tensor:
    return passed(value)


def _inputs(pipeline: Pipeline) -> dict[str, tuple]:
    """Input name -> (example, dynamic axes). An example None is passed on, but is no input of the file."""
    config = pipeline.config
    if not isinstance(pipeline.reader, TextReader):
        side = config.image_size
        return {"pixel_values": (torch.rand(1, *[config.channels] * (config.channels > 1), side, side), None)}
    length, ids = {1: torch.export.Dim("length", min=2, max=config.max_len)}, torch.zeros((1, 5), dtype=torch.long)
    inputs: dict[str, tuple] = {"input_ids": (ids, length)}
    if config.segments:
        # There is no mask between them. clone: torch takes the same tensor twice for one input.
        inputs |= {"mask": (None, None), "token_type_ids": (ids.clone(), length)}
    return inputs


def _write_onnx(
    pipeline: Pipeline,
    network: nn.Module,
    inputs: dict[str, tuple],
    outputs: list[str],
    folder: Path,
    apart: bool = False,
) -> None:
    if missing := [name for name in ONNX if find_spec(name) is None]:
        raise ExportError(f"for ONNX more packages are needed: .venv/bin/pip install {' '.join(missing)}")
    given, shapes = zip(*inputs.values(), strict=True)
    names = [name for name, (example, _) in inputs.items() if example is not None]
    folder.mkdir(parents=True, exist_ok=True)
    torch.onnx.export(
        network, given, folder / "model.onnx", dynamo=True, verbose=False, external_data=False, dynamic_shapes=shapes,
        input_names=names, output_names=outputs,
    )  # fmt: skip
    _made_lean(folder / "model.onnx", apart)
    reader = pipeline.reader
    if isinstance(reader, TextReader) and not (isinstance(reader, MarianReader) and reader.own_ids):
        reader.tokenizer.save(str(folder / "tokenizer.json"))  # otherwise its ids would differ


def _made_lean(path: Path, apart: bool) -> None:
    """Remove metadata that names our source code and this machine's folders.

    apart: store weights in a second file, as float16 where that is exact; the model casts them back.
    """
    onnx = import_module("onnx")
    model = onnx.load(path)
    graph, casts = model.graph, []
    for one in (graph, *graph.node, *graph.initializer, *graph.value_info, *graph.input, *graph.output):
        del one.metadata_props[:]
    for one in graph.initializer if apart else ():
        exact = onnx.numpy_helper.to_array(one)
        if exact.dtype == np.float32 and exact.size > LEAST_HALVED and np.array_equal(exact.astype(np.float16), exact):
            half = f"{one.name}.half"
            casts.append(onnx.helper.make_node("Cast", [half], [one.name], to=onnx.TensorProto.FLOAT))
            one.CopyFrom(onnx.numpy_helper.from_array(exact.astype(np.float16), half))
    nodes = [*casts, *graph.node]
    del graph.node[:]
    graph.node.extend(nodes)
    onnx.save(model, path, save_as_external_data=apart, location=DATA)


# -- a run for bertviz ---------------------------------------------------------------------------------------------


def as_bertviz(trace: Trace) -> dict[str, Any]:
    """Arguments of bertviz's head_view(**…) and model_view(**…): (1, head, query, key) for each layer, and the tokens.

    For a pair of sentences also where the second begins; for a translation the attention of encoder and decoder and the
    cross-attention, limited to the number of layers that both have.
    """

    def of(name: str, side: str = "") -> list[Tensor]:
        return [torch.tensor(A)[None] for A in trace.over_layers(f"{name}.weights", side)]

    if isinstance(trace, TranslationTrace):
        return {
            "encoder_attention": of("attention"), "decoder_attention": of("attention", "decoder."),
            "cross_attention": of("cross", "decoder."),
            "encoder_tokens": trace.tokens, "decoder_tokens": trace.target_tokens,
            "include_layers": list(range(min(trace.graph.layers(side) for side in SIDES))),
        }  # fmt: skip
    second = trace.tokens.index("[SEP]") + 1 if "[SEP]" in trace.tokens else len(trace.tokens)
    two = {"sentence_b_start": second} if second < len(trace.tokens) else {}
    return {"attention": of("attention"), "tokens": trace.tokens} | two


def write_bertviz(trace: Trace, file: Path) -> None:
    """Write the result of `as_bertviz` as a JSON file."""
    file.write_text(json.dumps(as_bertviz(trace), default=Tensor.tolist), encoding="utf-8")


def read_bertviz(file: Path) -> dict[str, Any]:
    """Read a file of `write_bertviz` into arguments for bertviz."""
    run = json.loads(file.read_text(encoding="utf-8"))
    return {name: list(map(torch.tensor, of)) if name.endswith("attention") else of for name, of in run.items()}


def main(said: Sequence[str]) -> None:
    """The command line."""
    match said:
        case ["marian", folder]:
            translator = load("translation")
            assert isinstance(translator, Translator)
            as_marian(translator, Path(folder))
        case ["onnx", folder, *model, "--recorded"] if len(model) < 2:
            as_recorded(load(*model or ["text"]), Path(folder))
        case ["onnx", folder, *model] if len(model) < 2:
            as_onnx(load(*model or ["text"]), Path(folder))
        case ["bertviz", file, sentence, *model] if len(model) < 2:
            write_bertviz(load(*model or ["text"])(sentence), Path(file))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except InputError as error:
        sys.exit(f"this sentence cannot be read: {error.reason}")
    except (ValueError, WeightsError) as error:  # a name, a folder or a sentence that cannot be read
        sys.exit(str(error))
