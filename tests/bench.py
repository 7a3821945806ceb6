"""`make bench`: what tracing and a page rerun cost.

Times are printed as ratios to something measured in the same run, or as CPU milliseconds of this process;
no test depends on them.
"""

import gc
import json
import logging
import resource
import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from unittest.mock import patch

import psutil
import torch
from streamlit.runtime.scriptrunner.script_cache import ScriptCache

from model import load
from model.config import PRESETS
from model.heads import network_for
from model.trace import record
from pages.screen.frame.contents import NAMES
from tests.model.making import MINILM
from tests.pages.opening import charts, open_page

# AppTest reads a session's state outside of any script run, and Streamlit warns of that each time: a thousand lines.
logging.getLogger("streamlit.runtime.scriptrunner_utils.script_run_context").addFilter(
    lambda record: "missing ScriptRunContext" not in record.getMessage()
)

STORY = "the small dog and the old cat sat near a big house and saw many people on their way home . "


def sentence(tokens: int) -> str:
    """A sentence of that many pieces, [CLS] and [SEP] included."""
    return " ".join((STORY * 8).split()[: tokens - 2])


def alternate(first: Callable, second: Callable, times: int) -> tuple[float, float]:
    """Median CPU seconds of two things, run turn by turn so that both see the same weather."""
    seconds: tuple[list[float], list[float]] = ([], [])
    for turn in range(times + 3):
        for run, kept in zip((first, second), seconds, strict=True):
            start = time.process_time()
            run()
            if turn >= 3:
                kept.append(time.process_time() - start)
    return statistics.median(seconds[0]), statistics.median(seconds[1])


def bench_tracing() -> None:
    print("Tracing against the bare forward pass (text encoder, one thread)")
    torch.set_num_threads(1)
    network = network_for(replace(PRESETS["text"], max_len=128)).eval()
    for n in (16, 32, 128):
        ids = torch.randint(5, 12_000, (1, n))
        with torch.inference_mode():
            bare, traced = alternate(lambda x=ids: network(x), lambda x=ids: record(network, x), 30)
        print(f"  N = {n:3}: {traced / bare:.2f} ×   (bare {bare * 1e3:.1f} ms, traced {traced * 1e3:.1f} ms)")
    text = load("text")
    bare, traced = alternate(lambda: None, lambda: text(sentence(32)), 30)
    print(f"  whole text pipeline at N = 32: {traced * 1e3:.1f} ms")


def bench_checkpoint() -> None:
    """A real checkpoint of six layers, twelve heads each, d_model 384: time, and memory beside its weights."""
    print("\nA checkpoint, all-MiniLM-L6-v2 (one thread)")
    torch.set_num_threads(1)
    before = psutil.Process().memory_info().rss
    pipeline = load(str(MINILM))
    ids = pipeline.reader.read(sentence(32)).inputs
    with torch.inference_mode():
        bare, traced = alternate(lambda: pipeline.network(*ids), lambda: record(pipeline.network, *ids), 30)
    print(f"  N = {len(ids[0][0]):3}: {traced / bare:.2f} ×   (bare {bare * 1e3:.1f} ms, traced {traced * 1e3:.1f} ms)")
    weights = sum(weight.nbytes for weight in pipeline.network.parameters())
    grown = psutil.Process().memory_info().rss - before
    print(f"  memory: {grown / 1e6:.0f} MB more, of which {weights / 1e6:.0f} MB are its weights")


def bench_pages() -> None:
    """One rerun as a server does it: AppTest would compile every script anew, which a server does once."""
    compiled = ScriptCache()
    print("Server CPU of one warm rerun (median of 15, AppTest), and the weight of the page's pictures")
    with patch("streamlit.testing.v1.app_test.ScriptCache", lambda: compiled):
        measure_pages()


def measure_pages() -> None:
    for name in NAMES:
        costs = []
        for n in (16, 64):
            app = open_page(name, s=sentence(n))
            gc.collect()
            gc.freeze()
            seconds = []
            for _ in range(18):
                start = time.process_time()
                app.run()
                seconds.append(time.process_time() - start)
            costs.append(statistics.median(seconds[3:]) * 1e3)
        size = sum(len(json.dumps(chart)) for chart in charts(open_page(name, s=sentence(32))))
        print(f"  {name:20} N = 16: {costs[0]:5.0f} ms   N = 64: {costs[1]:5.0f} ms   N = 32: {size // 1000:4} kB")


if __name__ == "__main__":
    bench_tracing()
    bench_checkpoint()
    bench_pages()
    print(f"Largest memory of this process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MB")
