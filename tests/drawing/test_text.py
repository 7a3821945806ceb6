"""The words of the pages: how values are filled in, and what must not be written in either language."""

import re

import numpy as np
import pytest
import streamlit as st

from model.guess import Guess
from pages.drawing.text import (
    LANGUAGES,
    SYMBOL,
    catalogue,
    joined,
    literal,
    plain,
    speaking,
    t,
    unmarked,
    with_length,
)
from pages.drawing.text.numbers import decimal, four_decimals, percent, percents, written
from tests.pages.opening import raw_names


@pytest.fixture(autouse=True)
def english(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(st, "session_state", {"lang": "en"})


@pytest.mark.parametrize(
    ("python", "people"),
    [
        ("-6.39", "−6.39"),
        ("9.2e-05", "9.2 × 10⁻⁵"),
        ("2e+10", "2 × 10¹⁰"),
        ("99.8 %", "99.8%"),
        ("-1,234.5", "−1,234.5"),
        ("12,000", "12,000"),
        ("+3", "+3"),
        ("-0.000", "0.000"),
    ],
)
def test_numbers_are_written_as_people_write_them(python: str, people: str) -> None:
    assert written(python) == people


@pytest.mark.parametrize(
    ("share", "said"),
    [
        (1, "100%"),
        (0.9999, "> 99.9%"),
        (0.9972, "99.7%"),
        (0.41, "41%"),
        (0.067, "6.7%"),
        (0.0003, "< 0.1%"),
        (0, "0%"),
        (-6e-8, "0%"),
        (-0.2, "−20%"),
    ],
)
def test_no_share_is_said_to_be_all_or_nothing_that_is_not(share: float, said: str) -> None:
    assert percent(share) == said


@pytest.mark.parametrize("token", ["-", "e-5", "un-", "[CLS]", "3-4", ",", ".", "##s", "−"])
def test_what_is_no_number_stays_as_it_is(token: str) -> None:
    assert written(token) == token


def test_numbers_in_sentences_have_a_minus_sign_and_no_e() -> None:
    said = t("attention.read.weights", query="it", key="cat", value="-0.25", where="layer 1")
    assert "−0" in said
    assert "-" not in said.replace("\\-", "")
    assert "10⁻⁷" in plain("attention.read.weights", query="it", key="cat", value="9.5e-07", where="")


def test_many_numbers_are_written_as_each_is() -> None:
    values = np.float32([0, -0.0, 1.25, -3.14159, 1e-7, -1e-7, 12345.6])
    assert four_decimals(values) == [written(f"{value:.4f}") for value in values]
    assert four_decimals(np.float32([-np.inf, np.nan])) == ["−∞", ""]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("token", "shown"),
    [
        ('"', '‘"’'),
        ("“", "‘“’"),
        ("”", "‘”’"),
        ("'", "“\xa0'\xa0”"),
        ("’", "“\xa0’\xa0”"),
        ("。", "“。”"),
        (" ", "“␣”"),
    ],
)
def test_every_sentence_quotes_a_mark_between_other_marks(token: str, shown: str, language: str) -> None:
    with speaking(language):
        for name, words in catalogue(language).items():
            if "`" not in words and (hit := re.search(r"“\{(\w+)\}”", words)):
                for fill in (plain, t):
                    assert shown in unmarked(fill(name, **{hit[1]: token})), f"{name}: {fill.__name__}"


def test_marks_within_marks_are_the_inner_ones() -> None:
    assert plain("common.quoted", token="“它”指的是什么？") == "“‘它’指的是什么？”"


@pytest.mark.parametrize("token", ["1e5", "-3", "99 %"])
def test_a_token_in_quotation_marks_is_no_number_to_be_typeset(token: str) -> None:
    for fill in (plain, t):
        said = fill("tokens.read.cut", word=token, n="-2", pieces="").replace("\\", "")
        assert f"“{token}”" in said and "−2" in said


def test_symbols_in_sentences_are_set_as_symbols() -> None:
    assert "$W_O$" in t("contribution.read_mixed", head=1, first=1, last=2, token="it", value="1")
    assert "W_O" in plain("contribution.read_mixed", head=1, first=1, last=2, token="it", value="1")
    assert "W_O" in t("error.link", name="W_O", value="1").replace("\\", "")  # what was typed is no symbol
    assert "$" not in t("error.link", name="W_O", value="1")


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_symbol_stands_raw_in_a_sentence(language: str) -> None:
    with speaking(language):
        assert [name for name in catalogue(language) if raw_names(t(name))] == []
    assert unmarked(t("shapes_and_cost.property_heads", d_k=2, h=2, product=4)).count("d_model") == 1


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_line_begins_with_the_comma_behind_a_symbol(language: str) -> None:
    with speaking(language):
        assert [name for name in catalogue(language) if re.search(r"_(\w|\{\w+\})\$([,.;)]|\$)", t(name))] == []


def test_what_is_read_aloud_has_no_marks() -> None:
    marked = r"**a** “\$x\$” \* `b` :gray[c] :red[**\[SEP\]** 5%] \[CLS\] [CLS] &ensp;$W_O$"
    assert unmarked(marked) == "a “$x$” * b c [SEP] 5% [CLS] [CLS] W_O"


def test_a_share_is_certain_or_nothing_in_percent_where_it_is_in_decimals() -> None:
    for far in (0.0, 2e-7, 2e-6, 3e-5, 6e-5, 9.99e-5, 4e-4, 0.004, 0.3):
        for share in (far, 1 - far):
            ends = [(percent(share) == all_, decimal(share) == one) for all_, one in (("0%", "0"), ("100%", "1.00"))]
            assert all(short is written_out for short, written_out in ends), share


@pytest.mark.parametrize("seed", range(20))
def test_shares_of_one_whole_add_up_to_it_as_they_are_written(seed: int) -> None:
    shares = np.random.default_rng(seed).normal(size=3 + seed % 4)
    shares[0] += 1 - shares.sum()  # with signs, as they are in a score
    shown = [int(share.replace("−", "-").removesuffix("%")) for share in percents(shares)]
    assert sum(shown) == 100 and np.abs(np.array(shown) - 100 * shares).max() < 1
    rests = 100 * shares - np.floor(100 * shares)
    up = np.array(shown) > np.floor(100 * shares)
    assert rests[up].min(initial=1) >= rests[~up].max(initial=0)


def test_a_sentence_ends_with_a_full_stop_in_both_languages() -> None:
    english, chinese = map(catalogue, LANGUAGES)
    ends = {name: words.endswith(".") for name, words in english.items() if " " in words}
    assert {name: chinese[name].endswith("。") for name in ends} == ends


def test_a_chinese_head_can_stand_within_a_sentence() -> None:
    assert "，" not in catalogue("zh")["common.where"]  # as in “没有第 2 层第 3 头，……”


@pytest.mark.parametrize("language", LANGUAGES)
def test_one_kind_of_quotation_mark_one_minus_one_way_to_write_a_percentage(language: str) -> None:
    for name, words in catalogue(language).items():
        assert "‘" not in words, f"{name} has another kind of quotation mark: {words}"
        assert not re.search(r"\d %", words), f"{name} writes a percentage with a space: {words}"
        assert not re.search(r"(?<![\w`\-\d/])-\d", words), f"{name} has a hyphen for a minus: {words}"
        formula = name.startswith(("lesson.", "study.")) and name.endswith((".ask", ".why"))
        assert not (formula and re.search(r" [=≈·×÷−+/] \S", words)), f"{name} may break a formula at a line's end"


def test_words_are_hidden_and_the_attention_mask_masks() -> None:
    for words, hidden in (("zh", r"遮"), ("en", r"(?i)(?<!{)hid|nothing.* masked")):
        of_masks = {
            key for key, text in catalogue(words).items() if key.startswith("attention.") and re.search(hidden, text)
        }
        assert of_masks == {"attention.mask_is_no_word"}, "hidden words beside the attention mask"


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_symbol_is_marked_as_one_within_mathematics(language: str) -> None:
    for name, text in catalogue(language).items():
        assert not any(SYMBOL.search(f" {inner}") for inner in re.findall(r"\$(.+?)\$", text)), name


def test_chinese_sentences_stand_behind_each_other_without_a_space() -> None:
    assert joined("一。 二。 三") == "一。二。三" and joined("One. Two.") == "One. Two."


def test_between_the_marks_of_code_nothing_is_escaped() -> None:
    said = t("error.checkpoint.setting", folder="a`_b", setting="problem_type", value="x*y")
    assert "`problem_type`" in said and "`a'_b`" in said and "`x*y`" in said


def test_both_catalogues_have_the_same_keys_and_placeholders() -> None:
    english, chinese = map(catalogue, LANGUAGES)
    assert english.keys() == chinese.keys()
    for key in english:
        places = [sorted(set(re.findall(r"\{(\w+)(?::[^}]*)?\}", text))) for text in (english[key], chinese[key])]
        assert places[0] == places[1], key
        assert english[key].strip() and chinese[key].strip(), key


def test_bold_chinese_is_bold() -> None:
    # Markdown does not close ** between a full-width stop and a character: the stop belongs outside.
    for key, text in catalogue("zh").items():
        parts = text.split("**")
        assert len(parts) % 2, key
        for before, bold, after in zip(parts[:-1:2], parts[1::2], parts[2::2], strict=True):
            assert not (re.search(r"[。，：；？！）”]$", bold) and re.match(r"\w", after)), key
            assert not (re.search(r"\w$", before) and re.match(r"[（“]", bold)), key


def test_literal_escapes_every_sign_that_markdown_reads() -> None:
    assert literal("<b>$x$`y`:z:[w](v)*u*") == r"\<b\>\$x\$\`y\`\:z\:\[w\]\(v\)\*u\*"
    assert literal("it 我 é 5") == "it 我 é 5"
    assert literal("7 @ 50 : 2 // 3, wwww") == r"7 \@ 50 \: 2 \/\/ 3\, wwww"
    for address in ("www.evil.example", "https://evil.example", "a@evil.example"):  # Markdown sees links in words
        assert literal(address).count("\u200b") == 1


@pytest.mark.parametrize("language", LANGUAGES)
def test_of_what_others_fill_in_nothing_is_counted(language: str) -> None:
    with speaking(language):
        assert plain("overview.legend_unseen") == catalogue(language)["overview.legend_unseen"]


@pytest.mark.parametrize("key", [key for key, text in catalogue("zh").items() if "中有 {" in text])
def test_of_none_and_of_all_a_count_is_said_in_words(key: str) -> None:
    names = re.findall(r"\{(\w+)[:}]", catalogue("zh")[key])
    with speaking("zh"):
        for count in "820":
            said = plain(key, **dict.fromkeys(names, count))
            for one, of in re.findall(r"\{\w+\} (\w)(\w*)中有 \{", catalogue("zh")[key]):
                bare = f"{count} {one}{of}中有 {count} {one}"
                assert bare not in said or f"{bare}（" in said, said
                told = {"8": f"8 {one}{of}都", "2": f"两{one}{of}都", "0": f"{of}中没有一{one}"}[count]
                assert told in said or f"{bare}（" in said, said


#: What is counted, and what pages never have one of: widths, limits, what is large; in some texts others, too.
COUNTED = (
    "cells changes characters components heads labels layers lines merges minutes neurons numbers pairs parameters \
parts patches phones pieces places positions questions rows seconds sentences steps tokens words".replace(" ", "|")
)
SEVERAL = (
    "batch cells d_ff d_k d_model double each fast file layer long merges most numbers off others out parameters "
    "patches pieces pixels place places real rows seconds share size step steps there ties together tokens total where "
    "width window words"
)
SEVERAL_IN = {
    "n": "alike.read_pairs alike.read_search change.full common.every_row flat.read_patches judged.measured "
    "overview.film_patch overview.film_word tokens.read.cut why_add_and_norm.spread",
    "heads": "lesson.blur.ask lesson.blur.why lesson.heads.ask lesson.mixed.ask "
    "shapes_and_cost.error_heads_do_not_divide",
    "count": "lesson.blur.why roles.measured roles.measured_other translation.known",
    "layers": "lesson.residual.ask",
    "N": "shared.one shared.some",
}


def test_no_plural_stands_behind_a_count_that_can_be_one() -> None:
    """“1 tokens”: such a count stands behind its noun (“tokens: 1”)."""
    behind = re.compile(rf"(?<!of )(?<!of the )\{{(\w+)\}}[*]* (?:[a-z]+ )?(?:{COUNTED})\b")
    found = [(count, key) for key, text in catalogue("en").items() for count in behind.findall(text)]
    one = [
        (count, key)
        for count, key in found
        if count not in SEVERAL.split() and key not in SEVERAL_IN.get(count, "").split()
    ]
    assert one == [] and len(found) > 50


@pytest.mark.parametrize("language", LANGUAGES)
def test_behind_the_name_of_a_vector_its_length_is_no_factor(language: str) -> None:
    """Whatever the vector is called: after "= X⁰ · 22.9" who reads would multiply."""
    with speaking(language):
        for name in ("X", "= X⁰", "+ it", "− bₒ"):
            said = with_length(name, 22.94)
            word = said.removeprefix(name).removesuffix("22.9")
            assert said == f"{name}{word}22.9" and word.strip() in (":", "：")


def test_a_notebook_writes_probabilities_as_the_pages_do() -> None:
    shares = (0.9989, 0.0009, 0.41, 0.00996, 8e-5, 0.99996, 0.0)
    answer = str(Guess(tuple("abcdefg"), shares)).split(", ")
    assert sorted(one.partition(" ")[2] for one in answer) == sorted(
        decimal(share).replace(" × 10⁻⁵", "e-05") for share in shares
    )
