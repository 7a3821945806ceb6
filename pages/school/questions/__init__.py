"""What learners are asked, a file for each subject: `QUESTIONS` holds them all, in the order of these files."""

from pages.school.questions import answers, positions, attention, heads, layers, drawings, decoder  # noqa: F401, I001
from pages.school.questions.question import QUESTIONS as QUESTIONS
