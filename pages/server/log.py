"""Limit the log of failures, so that nobody can fill the disk by repeating one."""

import logging
import traceback
from time import monotonic

MINUTE = 60.0
#: Loggers of failures that visitors can cause.
FAILING = ("streamlit.error_util", "pages.screen.frame.frame", "pages.screen.link")


class OnceAMinute(logging.Filter):
    """Lets each kind of failure at each place in the code through once a minute."""

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
    """Log each failure at most once a minute."""
    once = OnceAMinute()
    for name in FAILING:
        logging.getLogger(name).addFilter(once)
