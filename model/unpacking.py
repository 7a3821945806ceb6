"""Estimate the memory needed to decode a picture, before decoding it."""

from PIL import Image

MOST_READ = 12 * 2**20  # bytes of an uploaded file; larger ones are refused
MOST_UNPACKED = 100_000_000  # bytes of memory for decoding; a phone's HEIC of 12 megapixels takes 97 MB
#: Bytes per pixel by format, else by mode, for the decoded and the converted picture. Measured.
TAKES = {"WEBP": 18.0, "HEIF": 8.0, "1": 6.5, "L": 1.5, "P": 6.5, "RGB": 4.8, "RGBA": 10.0, "I;16": 8.0}
TAKES_MOST = 14.0  # grey with transparency, and all rarer modes
TAKES_SCANS = 8.0  # a JPEG of several scans, which are combined before any reduction


def bytes_to_read(picture: Image.Image, content: bytes, most: int) -> float:
    """Estimated bytes of memory to decode a picture, from its header alone.

    most: side in pixels to which Pillow's `draft` may reduce a JPEG while decoding. Each row takes 16 bytes more.
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
    """Whether a JPEG is progressive, or stores its colour channels one after the other."""
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
