"""Uploads: each is read as its digit or refused in a sentence, and all together take little memory."""

import asyncio
import zlib
from collections.abc import Callable
from contextlib import AsyncExitStack

import numpy as np
import pytest
from PIL import Image

from model import load
from model.digits import DigitError
from model.unpacking import MOST_READ, MOST_UNPACKED, TAKES, comes_in_several_scans
from pages.drawing.state import sketch
from pages.drawing.text import LANGUAGES, catalogue
from pages.server import uploads
from pages.server.uploads import Uploads
from tests.model.making import saved
from tests.server.making import READ, REFUSED, sheet


@pytest.mark.parametrize("name", READ)
def test_it_is_read_as_the_digit_that_it_shows(name: str) -> None:
    digit, make = READ[name]
    drawing = sketch.from_file(make())
    assert load("digits")(sketch.ink(drawing)).answer[0].best == str(digit)


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
def test_it_is_refused_in_a_sentence(name: str) -> None:
    reason, make = REFUSED[name]
    with pytest.raises((sketch.DrawingError, DigitError)) as refusal:
        sketch.from_file(make())
    assert refusal.value.reason == reason
    kind = "picture" if isinstance(refusal.value, sketch.DrawingError) else "upload" if reason == "blank" else "digit"
    for language in LANGUAGES:
        assert len(catalogue(language)[f"error.{kind}_{reason}"]) > 15


def test_a_jpeg_of_endless_scans_is_not_unpacked() -> None:
    noise = np.random.default_rng(0).integers(0, 255, (64, 64), np.uint8)
    content, mark = saved(Image.fromarray(noise), "JPEG", progressive=True), b"\xff\xda"
    assert 1 < content.count(mark) <= sketch.MOST_SCANS
    sketch.opened(content, sketch.in_grey)
    last = content[content.rindex(mark) : -2]
    with pytest.raises(sketch.DrawingError, match="large"):
        sketch.opened(content[:-2] + last * sketch.MOST_SCANS + content[-2:], sketch.in_grey)


def claims(width: int, height: int, kind: str, mode: str = "RGB", **options: object) -> bytes:
    """A file whose header claims this many pixels, with next to no data."""
    content = bytearray(saved(Image.new(mode, (16, 16)), kind, **options))
    if kind == "PNG":
        content[16:24] = width.to_bytes(4, "big") + height.to_bytes(4, "big")
        content[29:33] = zlib.crc32(content[12:29]).to_bytes(4, "big")
    elif kind == "JPEG":
        head = next(place for place in range(len(content)) if content[place : place + 2] in (b"\xff\xc0", b"\xff\xc2"))
        content[head + 5 : head + 9] = height.to_bytes(2, "big") + width.to_bytes(2, "big")
    elif kind == "WEBP":  # lossless: 14 bits each, behind the signature
        rest = int.from_bytes(content[21:25], "little") >> 28 << 28
        content[21:25] = (rest | height - 1 << 14 | width - 1).to_bytes(4, "little")
    elif kind == "GIF":
        for place in (6, content.index(b",", 13) + 5):
            content[place : place + 4] = width.to_bytes(2, "little") + height.to_bytes(2, "little")
    return bytes(content)


LARGE: dict[str, Callable[[], bytes]] = {
    "WebP of 49 megapixels": lambda: claims(16383, 3000, "WEBP", lossless=True),
    "PNG of one column": lambda: claims(1, 49_900_000, "PNG", "L"),
    "PNG in colours": lambda: claims(8000, 6000, "PNG"),
    "PNG of 16 bits": lambda: claims(8000, 6000, "PNG", "I;16"),
    "GIF": lambda: claims(8000, 6000, "GIF", "P"),
    "JPEG that is progressive": lambda: claims(8000, 6000, "JPEG", progressive=True),
    "JPEG too narrow to be made smaller on the way": lambda: claims(65_000, 700, "JPEG"),
}
NOT_TOO_LARGE: dict[str, Callable[[], bytes]] = {
    "JPEG of 48 megapixels": lambda: claims(8000, 6000, "JPEG"),
    "scan, grey": lambda: claims(7000, 5000, "PNG", "L"),
    "WebP of a telephone's screen": lambda: claims(1440, 3200, "WEBP", lossless=True),
}


@pytest.mark.parametrize("name", LARGE)
def test_what_would_take_much_memory_is_refused_before_it_is_unpacked(name: str) -> None:
    prepared: list[Image.Image] = []
    with pytest.raises(sketch.DrawingError, match="large"):
        sketch.opened(LARGE[name](), prepared.append)
    assert not prepared


@pytest.mark.parametrize("name", NOT_TOO_LARGE)
def test_what_people_upload_is_not_too_large(name: str) -> None:
    prepared: list[tuple[int, int]] = []
    sketch.opened(NOT_TOO_LARGE[name](), lambda picture: prepared.append(picture.size))
    assert prepared and max(prepared[0]) >= 3200
    assert TAKES["HEIF"] * 4032 * 3024 < MOST_UNPACKED, "nor is a telephone's HEIC"


def test_a_small_picture_inside_a_photo_is_no_second_scan() -> None:
    thumbnail, whole = (saved(sheet(7, side).convert("RGB"), "JPEG") for side in (64, 600))
    once = whole[:2] + b"\xff\xe1" + (2 + len(thumbnail)).to_bytes(2, "big") + thumbnail + whole[2:]  # as cameras do
    assert once.count(b"\xff\xda") > 1 and not comes_in_several_scans(once)
    assert comes_in_several_scans(saved(sheet(7).convert("RGB"), "JPEG", progressive=True))


def test_of_each_visit_one_file_is_kept_until_it_is_read_and_of_a_large_one_no_more_than_is_read() -> None:
    files = Uploads(100)
    files.keep("a", "1", b"first")
    files.keep("a", "2", b"second")
    files.keep("b", "1", bytes(2 * MOST_READ))
    assert files.take("a", "1") is None and files.held == len(b"second") + MOST_READ + 1
    assert files.take("b", "2") is None and len(files.take("b", "1")) == MOST_READ + 1
    with pytest.raises(sketch.DrawingError, match="large"):
        sketch.from_file(bytes(MOST_READ + 1))
    assert files.take("a", "2") == b"second" and files.take("a", "2") is None
    files.keep("a", "3", b"third")
    files.drop("a")
    assert files.take("a", "3") is None and files.held == 0


@pytest.fixture
def little_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, seconds in (("LATE", 0.2), ("LONGEST_WAIT", 1.0), ("LOOK", 0.01)):
        monkeypatch.setattr(uploads, name, seconds)


@pytest.mark.usefixtures("little_patience")
@pytest.mark.parametrize("holder", ["on its way", "unread"])
async def test_a_file_waits_for_room_which_late_ones_make(holder: str) -> None:
    files = Uploads(100)

    async def send(size: int, seconds: float = 0) -> str:
        try:
            async with files.room(size):
                assert files.held <= 100
                await asyncio.sleep(seconds)
        except TimeoutError:
            return "refused"
        return "came"

    if holder == "unread":
        files.keep("a", "1", bytes(90))
    slow = asyncio.create_task(send(1 if holder == "unread" else 90, 0.5))
    await asyncio.sleep(0)
    assert await send(10) == "came", "there is room for it"
    assert await asyncio.gather(*(send(1000) for _ in range(3)), send(60, 0.1)) == ["came"] * 4
    assert await slow == "refused", "it took long, and others waited"
    assert files.held == 0 and not files.take("a", "1")
    assert await send(100, 0.5) == "came", "it took as long, and nobody waited"


@pytest.mark.usefixtures("little_patience")
async def test_many_uploads_do_not_block_others() -> None:
    files, came = Uploads(100), []

    async def send(address: str, size: int) -> None:
        async with files.room(size, address):
            came.append(address)
            await asyncio.sleep(0.02)

    await asyncio.gather(*(send("many", 30) for _ in range(9)), send("one", 60))
    assert came.index("one") <= 4


@pytest.mark.usefixtures("little_patience")
async def test_where_there_is_no_room_in_time_a_file_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "LATE", 60.0)

    files = Uploads(100)
    async with AsyncExitStack() as held:
        await held.enter_async_context(files.room(100))
        with pytest.raises(TimeoutError):
            async with files.room(1):
                pass
    async with files.room(100):
        assert files.held == 100
    assert files.held == 0
