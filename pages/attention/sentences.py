"""Two sentences in one input: who looks at whom, within a sentence or across."""

from pages.ui.frame.pickers import either
from pages.ui.state.choice import BETWEEN
from pages.ui.text import plain
from pages.ui.view import View


def which_sentences(view: View) -> None:
    """Buttons for the part of a map that is shown: from one sentence to one; nothing where there is one sentence."""
    if 1 in view.trace.sentence_of:
        words = [plain(f"sentences.{name}") for name in BETWEEN]
        either("between", plain("sentences.between"), BETWEEN, words, view.choice.between, label_visibility="collapsed")


def of_sentences(view: View, queries: list[int], keys: list[int]) -> tuple[list[int], list[int]]:
    """Those of the queries and keys that stand in the chosen sentences; all where there is one sentence."""
    sentence_of = view.trace.sentence_of
    if view.choice.between == "all" or 1 not in sentence_of:
        return queries, keys
    looks, looked_at = ("AB".index(name) for name in view.choice.between)
    kept = [place for place in queries if sentence_of[place] == looks]
    kept_keys = [place for place in keys if sentence_of[place] == looked_at]
    return (kept, kept_keys) if kept and kept_keys else (queries, keys)
