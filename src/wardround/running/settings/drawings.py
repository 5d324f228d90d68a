"""The images of probes: a plain colour, and small print on white."""

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from wardround.cases.encoded_image import EncodedImage
from wardround.cases.images.render import encode_pixels

COLOURS = {
    "red": (220, 20, 20),
    "green": (0, 150, 0),
    "blue": (20, 40, 220),
    "yellow": (250, 230, 0),
    "black": (0, 0, 0),
    "white": (255, 255, 255),
}
COLOUR_SIDE = 448  # pixels
PRINT_HEIGHT = 14  # pixels of a line of small print: unreadable once 1536 pixels are shrunk to 512


def draw_colour(name: str) -> EncodedImage:
    """A square of one colour."""
    return _encode(Image.new("RGB", (COLOUR_SIDE, COLOUR_SIDE), COLOURS[name]))


def draw_print(number: str, side: int) -> EncodedImage:
    """A number in small print in the middle of a white square."""
    image = Image.new("RGB", (side, side), "white")
    font = ImageFont.load_default(size=PRINT_HEIGHT)
    ImageDraw.Draw(image).text((side // 2, side // 2), number, fill="black", font=font, anchor="mm")
    return _encode(image)


def _encode(image: Image.Image) -> EncodedImage:
    return encode_pixels(np.asarray(image), "png")
