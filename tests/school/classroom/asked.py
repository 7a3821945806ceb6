"""A question of each kind with its answer and right and wrong guesses."""

from typing import Any, NamedTuple

from pages.school.classroom.questions import Shown, Told

ASK = {"en": "What does it answer?", "zh": "它回答什么？"}
SECRET = {"en": "Because of the residual.", "zh": "因为有残差。"}


class Example(NamedTuple):
    """Guesses of three kinds: right, wrong, and impossible (must be refused)."""

    shown: Shown
    truth: Told
    right: list[Any]
    wrong: list[Any]
    impossible: list[Any]


def _example(gesture: str, answer: object, right: list, wrong: list, impossible: list, **more: Any) -> Example:
    near = more.pop("near", 0.0)
    shown = Shown(key="a", gesture=gesture, ask=ASK, reads="she [MASK] home", **more)
    truth = Told(answer=answer, near=near, why=SECRET, see="attention?s=she+went+home&layer=3")
    return Example(shown, truth, right, wrong, impossible)


WORDS = {"en": ["as it was", "otherwise"], "zh": ["不变", "变了"]}
TOKENS = {language: ["she", "went", "home"] for language in ("en", "zh")}
ANYTHING = [None, {}, True, "", " ", "x" * 25, "two words", "a\u0000b", [1], -1, 10**9, float("nan")]
EXAMPLES = {
    "word": _example("word", "Went", ["went", " Ｗent", "WENT", "Went。"], ["came", "<b>came</b>", "去"], ANYTHING),
    "tap": _example(
        "tap", "1", ["1"], ["0"], [*ANYTHING, "2", 0], options=["0", "1"], names={"en": ["0", "1"], "zh": ["0", "1"]}
    ),
    "same": _example("same", "same", ["same"], ["different"], ANYTHING, options=["same", "different"], names=WORDS),
    "slide": _example(
        "slide", 0.02, [0.02, 0.1, 0], [0.5, 1], [*ANYTHING[:-3], -0.01, 1.01, "0.5"], span=[0.0, 1.0], near=0.1
    ),
    "number": _example("number", 5, [5, 6], [0, 48], [*ANYTHING[:-3], 49, 4.5, "5"], span=[0, 48], near=1),
    "chips": _example(
        "chips", [10.5, 69.4, 20.1], [[0, 3, 0], [1, 2, 0]], [[3, 0, 0], [1, 1, 1]],
        [*ANYTHING, [1, 2], [1, 1, 0], [-1, 3, 1], [1.5, 1.5, 0], [True, 2, 0]],
        options=["she", "went", "home"], names=TOKENS,
    ),
}  # fmt: skip
EXAMPLES["tap"].truth["own"] = True  # a teacher wrote it herself
