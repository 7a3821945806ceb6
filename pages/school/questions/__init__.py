"""The questions for learners, a file for each subject; `QUESTIONS` holds them in the order of these files."""

from pages.school.questions import answers, positions, attention, heads, layers, drawings, decoder  # noqa: F401, I001
from pages.school.questions.question import QUESTIONS as QUESTIONS
