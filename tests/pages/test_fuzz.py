"""A fixed part of what `python -m tests.fuzz_links` opens and reads."""

from tests.fuzz_links import fuzz


def test_links_from_the_grammar_open_on_their_pages_and_the_next_page_opens_too() -> None:
    assert [(address, wrong) for address, wrong in fuzz(pages=26, reads=0, seed=29) if wrong] == []


def test_damaged_links_are_read_and_what_was_understood_is_written_so_that_it_is_read_again() -> None:
    assert [(address, wrong) for address, wrong in fuzz(pages=0, reads=3000, seed=3) if wrong] == []
