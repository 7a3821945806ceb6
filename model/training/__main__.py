"""The command line of the recipes.

    python -m model.training text        --data DIR [--tokens 60e6]
    python -m model.training translation --data DIR [--tokens 60e6] --from model/weights/text.safetensors
    python -m model.training digits      --data DIR [--epochs 60]
    python -m model.training flat        --data DIR [--epochs 30]
    python -m model.training doubt       --data DIR
    python -m model.training lens        --data DIR
    python -m model.training evaluate    --data DIR [--model FOLDER]

The first four train: stop one at any time and start it again, and it goes on from its last checkpoint.
`doubt` measures when a drawing is unlike every digit; it follows each training of `digits`. `lens` fits the calibrated
lens; it follows each training of `text`.
The last prints the model card's figures again, from the shipped weights, and writes the tables beside them; or it
measures what the heads and neurons of a Hugging Face folder do, for the pages that show it.
"""

import argparse
from importlib import import_module
from pathlib import Path

import torch

from model.checkpoints.hub import found


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m model.training", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("recipe", choices=["text", "translation", "digits", "flat", "doubt", "lens", "evaluate"])
    parser.add_argument("--data", type=Path, required=True, help="folder with text/, pairs/, mnist/ and ud/")
    parser.add_argument("--checkpoints", type=Path, default=Path("checkpoints"), help="folder for unfinished runs")
    parser.add_argument("--from", dest="start_from", type=Path, help="weights to start from instead of random ones")
    parser.add_argument("--model", type=found, help="evaluate: a Hugging Face folder, not the shipped weights")
    parser.add_argument("--tokens", type=float, default=60e6, help="text, translation: how many pieces in all")
    parser.add_argument("--peak", type=float, default=1.0, help="text, translation: share of the full rate")
    parser.add_argument("--epochs", type=int, default=60, help="digits, flat: how many times through the images")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, help="CPU threads (default: all)")
    arguments = parser.parse_args()
    data, checkpoints = arguments.data, arguments.checkpoints
    if arguments.threads:
        torch.set_num_threads(arguments.threads)

    if arguments.recipe == "evaluate":
        from model.training.evaluate import evaluate, evaluate_others

        if arguments.model:
            evaluate_others(data, arguments.model)
        else:
            evaluate(data)
        return
    recipe = import_module(f"model.training.{arguments.recipe}")
    if arguments.recipe in ("doubt", "lens"):
        recipe.make(data, arguments.seed)
    else:
        long = [arguments.epochs] if arguments.recipe in ("digits", "flat") else [arguments.tokens, arguments.peak]
        recipe.train(data, checkpoints, *long, arguments.seed, arguments.start_from)


if __name__ == "__main__":
    main()
