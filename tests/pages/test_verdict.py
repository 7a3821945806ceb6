"""The verdict beside the pad: a digit, no digit or nothing; and the result of an upload."""

import re

import numpy as np
import pytest
from PIL import Image, ImageDraw

from pages.drawing.state import sketch
from pages.drawing.text import catalogue
from pages.server import streamlit_private
from tests.pages.opening import open_page, said, texts, warnings
from tests.server.making import READ, REFUSED


def smiley() -> bytes:
    """A drawing of a face."""
    sheet = Image.new("L", (112, 112))
    draw = ImageDraw.Draw(sheet)
    draw.ellipse([12, 12, 100, 100], outline=255, width=6)
    for x in (40, 72):
        draw.ellipse([x - 4, 38, x + 4, 48], fill=255)
    draw.arc([34, 42, 78, 82], 20, 160, 255, 6)
    return sketch.from_picture(np.asarray(sheet) / 255)


def verdict(app) -> str:
    """The text beside the drawing."""
    return str(app.main.markdown[0].value)


@pytest.mark.parametrize(("kind", "language"), [("digit", "zh"), ("flat", "en")])
def test_a_smiley_is_called_no_digit_and_two_digits_two(kind: str, language: str) -> None:
    link, unsure = {"input": kind, "lang": language}, catalogue(language)["doubt.strange"]
    app = open_page("answer", ink=sketch.to_code(smiley()), **link)
    assert unsure in verdict(app) and "。 " not in verdict(app)
    assert texts(app).count(unsure) == 2, "under the pad, and under the bars"
    other = {"learned": "1"} if kind == "digit" else {"edits": "layers.0.ffn.output~zero"}
    app = open_page("answer", ink=sketch.to_code(smiley()), **link, **other)
    assert unsure not in texts(app), "the rule for doubt was measured of the finished network as it is"
    row = np.concatenate([sketch.grey(sketch.example(which)) for which in (4, 2)], axis=1)
    app = open_page("answer", ink=sketch.to_code(sketch.from_picture(sketch.framed(row))), **link)
    assert texts(app).count(catalogue(language)["doubt.several"]) == 2
    app = open_page("answer", ink=sketch.to_code(sketch.example(7)), **link)
    assert unsure not in texts(app)
    explained = [element.help for element in app.markdown if element.help]
    assert kind == "flat" or all(rate in explained[0] for rate in (r"1\.5\%", r"11\%", r"82\%")), (
        "as the table of the weights has them"
    )


def test_one_probability_is_written_alike_wherever_it_stands_on_the_screen() -> None:
    app = open_page("answer", input="flat", ink=sketch.to_code(sketch.example(3)))
    shares = re.findall(r"\*\*odd\*\* \((.+?)\)", said(app))
    assert len(shares) == 2 and len(set(shares)) == 1 and 0.999 < float(shares[0]) < 1


def test_a_drawing_is_answered_at_once_wherever_one_draws_and_an_empty_pad_not() -> None:
    words, three = catalogue("en"), sketch.to_code(sketch.example(3))
    answered = words["sidebar.verdict"].partition("**")[0], words["doubt.forced"].partition("{")[0]
    for page, kind in (("home", "flat"), ("layers", "digit"), ("answer", "flat")):
        app = open_page(page, input=kind, ink=three)
        assert answered[0] in verdict(app), page
    app.session_state["drawing"] = app.session_state["drawing.on_pad"] = sketch.pack(np.zeros((112, 112)))
    app.run()
    assert warnings(app) == [words["error.digit_blank"]]
    assert not any(text in verdict(app) for text in answered)


def test_an_upload_becomes_the_drawing_or_a_sentence_says_why_not(monkeypatch: pytest.MonkeyPatch) -> None:
    language = "zh"
    app = open_page("answer", input="digit", lang=language, ink=sketch.to_code(sketch.example(3)))
    app.file_uploader(key="upload").upload("photo.heic", READ["HEIC"][1](), "image/heic").run()
    assert app.session_state["choice"].drawing == sketch.from_file(READ["HEIC"][1]())
    drawn = app.session_state["choice"].drawing
    for name, key in (("a PDF", "picture_file"), ("1 × 1", "digit_too_small"), ("white", "upload_blank")):
        app.file_uploader(key="upload").upload("file", REFUSED[name][1](), "application/octet-stream").run()
        assert warnings(app) == [catalogue(language)[f"error.{key}"]]
        assert app.session_state["choice"].drawing == drawn, "the last drawing stays"
    monkeypatch.setattr(streamlit_private, "UploadedFile", type(None))  # the same as no file
    app.file_uploader(key="upload").upload("photo.heic", READ["HEIC"][1](), "image/heic").run()
    assert warnings(app) == [catalogue(language)["error.picture_lost"]]
