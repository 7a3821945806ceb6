"""A run on one screen: its numbers in few bytes, and the painter that draws them in a browser."""

from model.overview.answers import Answers, answers_of
from model.overview.opened import exact
from model.overview.packing import Packed, columns_of, pack
from model.overview.page import NUMBERS, PAD, PAINTER, STYLE, Overview, painter
from model.overview.run import Difference
from model.overview.words import WORDS, words_of

__all__ = [
    "NUMBERS",
    "PAD",
    "PAINTER",
    "STYLE",
    "WORDS",
    "Answers",
    "Difference",
    "Overview",
    "Packed",
    "answers_of",
    "columns_of",
    "exact",
    "pack",
    "painter",
    "words_of",
]
