"""Sharing: the link to what is on screen, as text and as a QR code."""

from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import given, settings
from streamlit.runtime.state import QueryParamsProxy
from streamlit.testing.v1 import AppTest

from pages.drawing.state.choice import Choice
from pages.drawing.text import catalogue
from pages.screen.frame.share import address
from tests.links import choices
from tests.pages.opening import open_page, run_fine

SCHOOL = "http://encoder.school.example/attention?lang=en"


def shared(address: str, own_picture: bool = False) -> AppTest:
    def page(address: str, own_picture: bool) -> None:
        from pages.screen.frame import share

        share._share(address, own_picture)

    return AppTest.from_function(page, args=(address, own_picture)).run()


@given(choices)
@settings(max_examples=8)
def test_it_leads_to_the_same_choice_but_for_the_size_of_a_projector_and_a_teachers_notes(choice: Choice) -> None:
    parts = urlsplit(address("http://encoder.school.example/heads", choice))
    assert (parts.netloc, parts.path) == ("encoder.school.example", "/heads")
    found, problems = Choice.from_link(dict(parse_qsl(parts.query, keep_blank_values=True)))
    assert found == choice.with_(big=False, role=None) and not problems


def test_it_is_short_where_what_is_shown_is_usual() -> None:
    assert address("what_if", Choice(sentence="hi", tab="heads")) == "what_if?lang=en&s=hi&tab=heads"


@pytest.mark.parametrize(
    ("link", "codes", "said"),
    [
        (SCHOOL, 1, "scan"),
        (f"{SCHOOL}&s={'a' * 3000}", 0, "too_long"),
        ("http://localhost:8501/?lang=en", 0, "own_name"),
        ("http://127.0.0.1/?lang=en", 0, "own_name"),
        ("http://[::1]/?lang=en", 0, "own_name"),
    ],
)
def test_there_is_a_code_where_others_can_come_by_it(link: str, codes: int, said: str) -> None:
    app = shared(link)
    assert not app.exception
    assert len(app.image) == codes
    assert [code.value for code in app.code] == [link]
    assert catalogue("en")[f"share.{said}"] in [text.value for text in (*app.markdown, *app.warning)]


def test_it_is_said_that_a_picture_of_ones_own_is_not_in_it() -> None:
    said = catalogue("en")["share.own_picture"]
    assert [[text.value for text in shared(SCHOOL, own).caption] for own in (False, True)] == [[], [said]]


def test_it_opens_over_the_page_that_it_shares() -> None:
    app = open_page("heads", s="the dog chased the cat .", layer="3", head="7", big="true")
    run_fine(app.button(key="share").click())
    (code,) = (code.value for code in app.code)
    query = dict(parse_qsl(urlsplit(code).query))
    assert query.items() >= {"layer": "3", "head": "7", "s": "the dog chased the cat ."}.items() and "big" not in query


def test_what_waits_for_another_input_is_shared_as_well() -> None:
    link = {"s": "i love you .", "token": "9", "edits": "embedding.sum~remove~token.9~~layers.2.attention.heads~zero"}
    app = open_page("heads", **link)
    app.button(key="share").click().run()
    (code,) = (code.value for code in app.code)
    query = dict(parse_qsl(urlsplit(code).query))
    assert query.items() >= link.items()


def test_of_quick_clicks_the_last_stands_in_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if it returns to the earlier value before the address in between has arrived."""
    written: list[dict[str, str]] = []
    usual = QueryParamsProxy.from_dict
    monkeypatch.setattr(QueryParamsProxy, "from_dict", lambda own, link: (written.append(dict(link)), usual(own, link)))
    app = open_page("attention", s="i love you .", head="2")
    before = {name: app.query_params[name] for name in app.query_params}
    app.button_group(key="either.head").set_value(7).run()
    assert written[-1]["head"] == "8"
    app.query_params.clear()
    app.query_params.update(before)
    app.button_group(key="either.head").set_value(1).run()
    assert written[-1]["head"] == "2"
    steps = len(written)
    app.run()
    assert len(written) == steps, "nothing is written twice"
