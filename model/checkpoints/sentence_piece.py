"""Convert SentencePiece's .spm files to the tokenizers library.

The file is a Protocol Buffers message: numbered fields with values, or with bytes that are messages themselves. Three
fields are read: the pieces with their scores, the training settings with the algorithm, and the normaliser.

Sources: sentencepiece_model.proto of SentencePiece; protobuf.dev, "Encoding"; Kudo 2018, "Subword Regularization".
"""

import json
import struct
from base64 import b64encode
from collections import defaultdict
from collections.abc import Iterator

UNIGRAM = 1  # the algorithm that chooses the likeliest segmentation
NORMAL, UNKNOWN, USER_DEFINED = 1, 2, 4  # kinds of pieces that are used; others match no text
PIECES, TRAINER, NORMALIZER = 1, 2, 3  # fields of the file
SPACE = "▁"


class NotUnigramError(ValueError):
    """The file uses another algorithm, or byte fallback."""


def tokenizer_json(data: bytes) -> str:
    """tokenizer.json equivalent to a .spm file, with the same ids.

    Raises NotUnigramError; ValueError if the bytes are no such file.
    """
    try:
        return _tokenizer(data)
    except NotUnigramError:
        raise
    except (IndexError, KeyError, TypeError, StopIteration, struct.error) as error:  # truncated or malformed
        raise ValueError("not a file of SentencePiece") from error


def _tokenizer(data: bytes) -> str:
    whole = _fields(data)
    (trainer,) = map(_fields, whole[TRAINER] or [b""])
    if trainer.get(3, [UNIGRAM]) != [UNIGRAM] or trainer.get(35, [0]) != [0]:  # model_type, byte_fallback
        raise NotUnigramError
    pieces: list[tuple[str, float]] = []
    unknown = None
    for place, message in enumerate(whole[PIECES]):
        piece = _fields(message)
        (kind,) = piece.get(3, [NORMAL])
        text = piece[1][0].decode()
        if kind == UNKNOWN:
            unknown = place
        if kind not in (NORMAL, USER_DEFINED):
            text = f"\0{place}"  # matches no text
        pieces.append((text, struct.unpack("<f", piece[2][0])[0] if 2 in piece else 0.0))
    if unknown is None:
        raise ValueError("there is no piece for what is unknown")
    (normalizer,) = map(_fields, whole[NORMALIZER] or [b""])
    plain: list[dict[str, object]] = []
    if table := b"".join(normalizer[2]):
        plain.append({"type": "Precompiled", "precompiled_charsmap": b64encode(table).decode()})
    if normalizer.get(4, [1]) == [1]:  # remove_extra_whitespaces
        plain.append({"type": "Strip", "strip_left": True, "strip_right": True})
        plain.append({"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "})
    before = "always" if normalizer.get(3, [1]) == [1] else "never"  # add_dummy_prefix
    return json.dumps(
        {
            "version": "1.0",
            "added_tokens": [],
            "normalizer": {"type": "Sequence", "normalizers": plain},
            "pre_tokenizer": {"type": "Metaspace", "replacement": SPACE, "prepend_scheme": before, "split": False},
            "model": {"type": "Unigram", "unk_id": unknown, "vocab": pieces, "byte_fallback": False},
        }
    )


def _fields(message: bytes) -> defaultdict[int, list]:
    """Field number -> its values in order, ints or bytes."""
    found: defaultdict[int, list] = defaultdict(list)
    bytes_left = iter(message)
    for key in _numbers(bytes_left):
        match key & 7:
            case 0:
                value: int | bytes = next(_numbers(bytes_left))
            case 1 | 5 as kind:
                value = _take(bytes_left, 8 if kind == 1 else 4)
            case 2:
                value = _take(bytes_left, next(_numbers(bytes_left)))
            case kind:
                raise ValueError(f"there is no kind {kind} of a field")
        found[key >> 3].append(value)
    return found


def _numbers(bytes_left: Iterator[int]) -> Iterator[int]:
    """Varints: seven bits per byte, lowest first; the last byte is below 128."""
    number = shift = 0
    for byte in bytes_left:
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield number
            number = shift = 0
        elif shift > 63:
            raise ValueError("a number takes more than ten bytes")


def _take(bytes_left: Iterator[int], many: int) -> bytes:
    taken = bytes(byte for _, byte in zip(range(many), bytes_left, strict=False))
    if len(taken) < many:
        raise IndexError(many)
    return taken
