"""Images for a checkpoint: resized, cropped and normalised as its folder says."""

import io
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from PIL import Image, ImageOps
from torch import Tensor

from model.checkpoints.answers import guesses
from model.config import EncoderConfig
from model.pipeline import InputError, Reading, numbers_of
from model.trace import Guess
from model.unpacking import MOST_UNPACKED, bytes_to_read

MOST_PIXELS = 50_000_000  # of a file; others are refused before unpacking
MOST_PACKED = 1000  # times its size, when unpacked
MOST_SIDE = 4096  # of a resized image
SLIP = 0.01  # beyond 0 and 1, as after resampling
#: Pillow's numbers of resampling filters, which these files use.
RESAMPLING = (0, 1, 2, 3, 4, 5)


class CheckpointImageReader:
    """Reads images in colour or grey.

    Accepts files (bytes), Pillow images, uint8 arrays (height, width, channel), and float arrays of the network's size
    in [0, 1]. The first three are resized, and cropped if the settings say so. Also accepts what the network reads,
    (picture − mean) / deviation for each channel: (channel, height, width), as in a trace; (1, channel, height, width),
    as made by an image processor; or its dictionary with `pixel_values`. `shown` inverts the normalisation. `labels`
    are a classifier's classes.
    """

    vocabulary: Sequence[str] = ()

    def __init__(
        self, config: EncoderConfig, settings: Mapping[str, Any], labels: Sequence[str] = (), side: int = 0
    ) -> None:
        """side: image size before the pixels beyond the last whole patch, right and below, are cut off."""
        self.config, self.labels, self.side = config, tuple(labels), side or config.image_size
        normalised = settings.get("do_normalize", True)
        white = _white(settings)  # mean and deviation refer to 0…white, ours to 0…1
        self.mean = _of_channels(settings.get("image_mean"), config.channels) / white if normalised else 0.0
        self.deviation = (_of_channels(settings.get("image_std"), config.channels, 0.0) if normalised else 1.0) / white
        self.resample = settings["resample"] if settings.get("resample") in RESAMPLING else Image.Resampling.BILINEAR
        self.size, self.cut = _sides(settings.get("size")), _cut(settings)

    def read(self, x: object) -> Reading:
        """Raises InputError("not_an_image"), or ("not_from_0_to_1") for floats out of range."""
        pixels = self._pixels(x)
        side, channels = self.config.image_size, self.config.channels
        if pixels.shape == (1, channels, side, side):
            pixels = pixels[0]
        if pixels.shape == (self.side, self.side, channels):
            pixels = pixels[:side, :side]
        as_read = pixels.shape == (channels, side, side)
        if not (as_read or pixels.shape == (side, side, channels)) or not np.isfinite(pixels).all():
            raise InputError("not_an_image", shape=pixels.shape)
        if not as_read and not -SLIP <= pixels.min() <= pixels.max() <= 1 + SLIP:
            raise InputError("not_from_0_to_1", least=float(pixels.min()), most=float(pixels.max()))
        read = pixels if as_read else ((pixels - self.mean) / self.deviation).astype(np.float32).transpose(2, 0, 1)
        rows = range(1, self.config.patches_per_side + 1)
        tokens = [*self.config.front, *(f"r{row}c{column}" for row in rows for column in rows)]
        return Reading(torch.from_numpy(read.copy())[None], tokens, [])

    def _pixels(self, x: object) -> np.ndarray:
        """Input as an array; files, Pillow images and uint8 arrays are prepared."""
        if isinstance(x, bytes):
            return self._unpacked(x)
        if isinstance(x, Mapping) and "pixel_values" in x:
            x = x["pixel_values"]
        try:
            if isinstance(x, Image.Image):
                return self._prepared(x)
            array = numbers_of(x)
            return (
                self._prepared(Image.fromarray(array.squeeze()))
                if array.dtype == np.uint8
                else array.astype(np.float32)
            )
        except (TypeError, ValueError, RuntimeError, OSError) as error:
            raise InputError("not_an_image") from error

    def _unpacked(self, file: bytes) -> np.ndarray:
        """Decode a file to (height, width, channel) in [0, 1], of the network's size."""
        try:
            with Image.open(io.BytesIO(file), formats=("PNG", "JPEG", "WEBP")) as opened:
                too_much = max(MOST_UNPACKED, MOST_PACKED * len(file))
                if opened.width * opened.height > MOST_PIXELS or bytes_to_read(opened, file, MOST_PIXELS) > too_much:
                    raise InputError("not_an_image", shape=opened.size)
                return self._prepared(opened)
        except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
            raise InputError("not_an_image") from error

    def _prepared(self, opened: Image.Image) -> np.ndarray:
        """Prepared image: (height, width, channel) in [0, 1], of the network's size."""
        upright = ImageOps.exif_transpose(opened)  # rotate as the camera's EXIF tag says
        picture = self._of_its_size(upright.convert("RGB" if self.config.channels == 3 else "L"))
        pixels = np.asarray(picture, dtype=np.float32) / 255
        return pixels.reshape(*pixels.shape[:2], -1)

    def _of_its_size(self, picture: Image.Image) -> Image.Image:
        """Resize to both sides or by the shorter one, crop the centre, and resize to the network's size."""
        width, height = picture.size
        if isinstance(self.size, int):
            scale = self.size / min(width, height)
            if scale * max(width, height) > MOST_SIDE:
                raise InputError("not_an_image", shape=picture.size)
            picture = picture.resize((max(1, int(width * scale)), max(1, int(height * scale))), self.resample)
        elif self.size:
            picture = picture.resize(self.size, self.resample)
        if isinstance(self.cut, tuple):
            width, height = self.cut
            left, top = (picture.width - width) // 2, (picture.height - height) // 2
            picture = picture.crop((left, top, left + width, top + height))
        wanted = (self.side, self.side)
        return picture if picture.size == wanted else picture.resize(wanted, self.resample)

    def shown(self, picture: np.ndarray) -> np.ndarray:
        """Network input (channel, height, width) -> the image (height, width, 3) in [0, 1]."""
        seen = (picture.transpose(1, 2, 0) * self.deviation + self.mean).clip(0, 1)
        return seen if seen.shape[-1] == 3 else seen.repeat(3, axis=-1)

    def guesses(self, logits: Tensor, reading: Reading) -> tuple[Guess, ...]:
        return guesses(self.config.head, self.labels, logits, reading.tokens)

    def examples(self) -> tuple[object, ...]:
        return ()


def _of_channels(values: object, channels: int, above: float = -math.inf) -> np.ndarray:
    """One number per channel, or one for all; 0.5 if the value is unusable."""
    each = values if isinstance(values, list) else [values] * channels
    if len(each) != channels or not all(isinstance(v, int | float) and above < v < math.inf for v in each):
        each = [0.5] * channels
    return np.array(each, np.float32)


def _white(settings: Mapping[str, Any]) -> float:
    """Value of white after rescaling by `rescale_factor`: 1 by default, 255 without rescaling."""
    factor = settings.get("rescale_factor") if settings.get("do_rescale", True) else 1
    return 255 * factor if isinstance(factor, int | float) and 0 < factor < math.inf else 1.0


def _sides(size: object) -> tuple[int, int] | int | None:
    """(width, height) of a size setting, or its shortest side as an int; None if it names none."""
    if not isinstance(size, dict):
        size = {"width": size, "height": size}
    width, height = _side(size.get("width")), _side(size.get("height"))
    return (width, height) if width and height else _side(size.get("shortest_edge"))


def _cut(settings: Mapping[str, Any]) -> tuple[int, int] | int | None:
    """Size of the centre crop; None if there is none."""
    return _sides(settings.get("crop_size")) if settings.get("do_center_crop") else None


def side_of_pictures(settings: Mapping[str, Any]) -> int | None:
    """Side of the square images these settings produce; None if they name none."""
    found = _cut(settings) or _sides(settings.get("size"))
    return found[0] if isinstance(found, tuple) and found[0] == found[1] else None


def interpolated(table: Tensor, learned: int, side: int, antialias: bool) -> Tensor:
    """Resize a position table (rows in front + learned², d_model) bicubically to side² patches, like DINOv2."""
    in_front = len(table) - learned**2
    squares = table[in_front:].T.reshape(1, -1, learned, learned)
    new = torch.nn.functional.interpolate(squares, (side, side), mode="bicubic", antialias=antialias)
    return torch.cat([table[:in_front], new[0].flatten(start_dim=1).T])


def _side(value: object) -> int | None:
    return value if type(value) is int and 0 < value <= MOST_SIDE else None
