"""A pen that draws nothing, to test tabs as functions."""

from pages.drawing.picture import Make, Numbers, Picture
from pages.drawing.place import Place
from pages.drawing.screen import Screen


class Recorder:
    """Keep the pictures by name."""

    def __init__(self, screen: Screen) -> None:
        self.screen, self.shown = screen, {}

    def show(self, name: str, make: Picture | Make, *, at: Place | None = None, noted: bool = True) -> list[Numbers]:
        picture = make if isinstance(make, Picture) else make(self.screen.run, at or self.screen.at)
        self.shown[name] = picture
        return [part.drawn for part in picture.parts]
