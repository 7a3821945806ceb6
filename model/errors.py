"""What cannot be done, and why: whoever shows it has the words."""


class ReasonedError(ValueError):
    """`reason` says in a word why something cannot be done, `values` what is concerned."""

    def __init__(self, reason: str, **values: object) -> None:
        super().__init__(f"{reason}: {values}")
        self.reason = reason
        self.values = values
