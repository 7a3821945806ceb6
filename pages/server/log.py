"""What is written of failures: who asks for the same one again and again fills no disk."""

import logging
import traceback
from time import monotonic

MINUTE = 60.0
#: Who writes a failure down that a visitor can bring about.
FAILING = ("streamlit.error_util", "pages.screen.frame.frame", "pages.screen.link")


class OnceAMinute(logging.Filter):
    """Lets a failure through if none of its kind at its place in the code was, within the last minute."""

    def __init__(self) -> None:
        super().__init__()
        self._last: dict[tuple[object, ...], float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        if not isinstance(record.exc_info, tuple) or record.exc_info[0] is None:
            return True
        kind, _, trace = record.exc_info
        place = traceback.extract_tb(trace)[-1:]
        key = (kind, *((frame.filename, frame.lineno) for frame in place))
        new = monotonic() - self._last.get(key, -MINUTE) >= MINUTE
        if new:
            self._last[key] = monotonic()
        return new


def quieten() -> None:
    """Let each failure be written down once a minute."""
    once = OnceAMinute()
    for name in FAILING:
        logging.getLogger(name).addFilter(once)
