"""How much memory it takes to read a picture: known before it is unpacked, and so before it is too late."""

from PIL import Image

MOST_READ = 12 * 2**20  # bytes of a file that is sent: of a larger one only enough is kept to say so
MOST_UNPACKED = 100_000_000  # bytes of memory while it is read: a telephone's HEIC of 12 megapixels takes 97
#: Bytes for each pixel, by format, and else by mode: unpacked, and as what it is turned into. Measured.
TAKES = {"WEBP": 18.0, "HEIF": 8.0, "1": 6.5, "L": 1.5, "P": 6.5, "RGB": 4.8, "RGBA": 10.0, "I;16": 8.0}
TAKES_MOST = 14.0  # of grey with transparency, and of what is rarer still
TAKES_SCANS = 8.0  # of a JPEG that comes in several scans, which are put together before anything is made smaller


def bytes_to_read(picture: Image.Image, content: bytes, most: int) -> float:
    """About how many bytes of memory it takes to read a picture, by its head alone. most: the side, in pixels, to which
    Pillow's `draft` may reduce a JPEG on the way.

    Of a format that packs a plain surface into next to nothing, neither the file's size nor the pixels say it: each
    row takes 16 bytes besides.
    """
    width, height = picture.size
    takes = TAKES.get(picture.format or "") or TAKES.get(picture.mode, TAKES_MOST)
    if "transparency" in picture.info or (picture.format == "HEIF" and picture.mode != "RGB"):
        takes = TAKES_MOST
    if picture.format == "JPEG":
        if comes_in_several_scans(content):
            return TAKES_SCANS * width * height
        smaller = max(1, min(8, width // most, height // most))
        width, height = width // smaller, height // smaller
    return takes * width * height + 16 * height


def comes_in_several_scans(jpeg: bytes) -> bool:
    """Whether a JPEG is progressive, or has its colours one after the other."""
    place, colours = 2, 0
    while place + 10 <= len(jpeg) and jpeg[place] == 0xFF:
        kind, length = jpeg[place + 1], int.from_bytes(jpeg[place + 2 : place + 4], "big")
        if kind == 0xDA:  # the first scan
            return jpeg[place + 4] < colours
        if kind in (0xC0, 0xC1):  # a frame that is not progressive
            colours = jpeg[place + 9]
        elif 0xC2 <= kind <= 0xCF and kind not in (0xC4, 0xC8, 0xCC):  # any other frame
            return True
        place += 1 if kind == 0xFF else 2 + length
    return True
