"""The replay of links: the same code shows the same, and a number that is another one is noticed."""

from tests.links import LINKS
from tests.replay import differences, record


def test_a_link_recorded_twice_is_equal_and_a_changed_number_is_noticed() -> None:
    link = next((page, link) for page, link in LINKS if page == "attention")
    before, after = record([link]), record([link])
    assert differences(before, after) == {}
    ((name, lines),) = after.items()
    place = next(place for place, line in enumerate(lines) if "heatmap" in line)
    lines[place] = lines[place].replace("0.1", "0.2", 1)
    assert differences(before, after).keys() == {name}
