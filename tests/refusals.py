"""What is refused, by its reason."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from model.errors import ReasonedError


@contextmanager
def refused(reason: str, match: str | None = None) -> Iterator[pytest.ExceptionInfo[ReasonedError]]:
    """The block ends with an error of this reason, whose sentence holds this."""
    with pytest.raises(ReasonedError, match=match) as raised:
        yield raised
    assert raised.value.reason == reason
