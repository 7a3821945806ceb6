"""The replay of fixed links: the same code shows the same, and what shows something else is named."""

import json

from model.edits import OPERATIONS
from pages.ui.frame.contents import PAGES
from pages.ui.state.choice import LANGUAGES, PIPELINES, SHOWN, Choice
from tests.replay import differences, record
from tests.replay_links import links

LINK = "attention?s=i love you .&layer=2"


def test_a_link_recorded_twice_is_equal_and_a_changed_number_is_noticed() -> None:
    before, after = record([LINK]), record([LINK])
    assert differences(before, after) == {}
    changed = json.loads(json.dumps(after))
    chart = next(part for part in changed["parts"].values() if part.get("component_name") == "chart")
    chart["data"]["figure"]["data"][0]["z"]["values"][7] += 0.01
    changed["links"][LINK] = [f"{part} changed" for part in after["links"][LINK]]
    changed["parts"] = {f"{part} changed": element for part, element in changed["parts"].items()}
    ((said, where),) = differences(before, changed).items()
    assert "data.figure.data.0.z.values.7: " in said and where == [LINK]
    after["links"][LINK].pop(5)
    ((said, where),) = differences(before, after).items()
    assert said.endswith("is gone") and where == [LINK]


def test_the_links_name_every_page_language_operation_and_way_to_show_runs() -> None:
    named = "\n".join(links())
    assert {link.partition("?")[0] for link in links()} == {row.name for row in PAGES}
    for name, values in {"lang": LANGUAGES, "shown": SHOWN}.items():
        assert [value for value in values if f"{name}={value}&" not in f"{named}&".replace("\n", "&\n")] == []
    assert [name for name in OPERATIONS if f"~{name}~" not in named.replace("&", "~").replace("\n", "~")] == []
    assert [kind for kind in PIPELINES if kind != Choice().input and f"input={kind}&" not in named] == []
