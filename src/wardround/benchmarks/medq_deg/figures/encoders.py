"""Image encoders: wardround's own simple features, or a model from Hugging Face or a folder.

BiomedCLIP, which the paper used, is `hf-hub:microsoft/BiomedCLIP-PubMedBERT_256-vit_base_patch16_224`.
"""

import io
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from wardround.candidates.pixel_features import features
from wardround.cases.encoded_image import EncodedImage
from wardround.core.errors import WardroundError
from wardround.literature.encoders.weights import first_line, import_package

Values = NDArray[np.float64]
Encoder = Callable[[Sequence[EncodedImage]], Values]
OPEN_CLIP = "hf-hub:"
BATCH = 32


def load_encoder(name: str | None) -> Encoder:
    """A function from images to one row of features each; None loads wardround's own features."""
    if name is None:
        return lambda images: np.stack([features(image) for image in images])
    torch = import_package("torch", "encoders")
    encode = _load_open_clip(name) if name.startswith(OPEN_CLIP) else _load_transformers(name)

    def encode_in_batches(images: Sequence[EncodedImage]) -> Values:
        with torch.inference_mode():
            rows = [encode(_open_images(images[start : start + BATCH])) for start in range(0, len(images), BATCH)]
        return np.concatenate([row.float().cpu().numpy().astype(np.float64) for row in rows])

    return encode_in_batches


def _open_images(images: Sequence[EncodedImage]) -> list[Image.Image]:
    return [Image.open(io.BytesIO(image.data)).convert("RGB") for image in images]


def _load_open_clip(name: str) -> Callable[[list[Image.Image]], Any]:
    open_clip, torch = (import_package(package, "encoders") for package in ("open_clip", "torch"))
    try:
        model, preprocess = open_clip.create_model_from_pretrained(name)
    except Exception as error:
        raise WardroundError(f"encoder {name} cannot be loaded: {first_line(error)}") from None
    model.eval()
    return lambda images: model.encode_image(torch.stack([preprocess(image) for image in images]))


def _load_transformers(name: str) -> Callable[[list[Image.Image]], Any]:
    transformers = import_package("transformers", "encoders")
    try:
        processor = transformers.AutoImageProcessor.from_pretrained(name)
        model = transformers.AutoModel.from_pretrained(name)
    except Exception as error:
        raise WardroundError(f"encoder {name} cannot be loaded: {first_line(error)}") from None
    model.eval()

    def encode(images: list[Image.Image]) -> Any:
        inputs = processor(images=images, return_tensors="pt")
        output = model.get_image_features(**inputs) if hasattr(model, "get_image_features") else model(**inputs)
        if hasattr(output, "pooler_output") and output.pooler_output is not None:
            return output.pooler_output
        return output.last_hidden_state.mean(dim=1) if hasattr(output, "last_hidden_state") else output

    return encode
