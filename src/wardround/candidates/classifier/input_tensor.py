"""From an image as it is sent to the input of a network."""

import io

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps

from wardround.candidates.classifier.description import ImagePreparation
from wardround.cases.encoded_image import EncodedImage

Tensor = NDArray[np.float32]
FILTERS = {name: Image.Resampling[name.upper()] for name in ("nearest", "box", "bilinear", "bicubic", "lanczos")}


def input_tensor(image: EncodedImage, preparation: ImagePreparation) -> Tensor:
    """The image as a batch of one, in the network's layout."""
    with Image.open(io.BytesIO(image.data)) as opened:
        pixels = opened.convert(pixel_mode(preparation))
    return to_tensor(fitted(pixels, preparation), preparation)


def pixel_mode(preparation: ImagePreparation) -> str:
    """Pillow's name for the channels."""
    return "L" if preparation.channels == "grey" else "RGB"


def fitted(image: Image.Image, preparation: ImagePreparation) -> Image.Image:
    """The image in the network's size. Pillow shrinks with antialiasing, as torchvision does with Pillow's images."""
    height, width = preparation.height_and_width
    resampling = FILTERS[preparation.filter]
    if preparation.fit == "stretch":
        return image.resize((width, height), resampling)
    if preparation.fit == "pad":
        return ImageOps.pad(image, (width, height), resampling, color=0)
    if preparation.resize is None:
        scale = max(width / image.width, height / image.height)  # just large enough
    else:
        scale = preparation.resize / min(image.size)
    enlarged = (max(width, round(image.width * scale)), max(height, round(image.height * scale)))
    image = image.resize(enlarged, resampling)
    left, top = (image.width - width) // 2, (image.height - height) // 2
    return image.crop((left, top, left + width, top + height))


def to_tensor(image: Image.Image, preparation: ImagePreparation) -> Tensor:
    """Pixel values in the network's range, standardised."""
    values = np.asarray(image, dtype=np.float64) / 255
    values = values[..., None] if values.ndim == 2 else values
    if preparation.channels == "bgr":
        values = values[..., ::-1]
    black, white = preparation.range
    values = (black + values * (white - black) - np.asarray(preparation.mean)) / np.asarray(preparation.std)
    if preparation.layout == "NCHW":
        values = values.transpose(2, 0, 1)
    return np.ascontiguousarray(values[None], dtype=np.float32)
