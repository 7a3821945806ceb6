"""What others add to each page, without the pages knowing of them."""

from typing import Any, Protocol


class School(Protocol):
    """What lessons and classes add to each page; pages know no more of them."""

    def beside(self, page: str) -> None:
        """Draw in the drawer, given the name of the page."""

    def under_title(self, screen: Any, pen: Any) -> None:
        """Draw under the title of a page."""

    def beside_way_on(self, screen: Any, pen: Any) -> None:
        """Draw at the end of a page, beside the link to the next one."""
