"""Image encoders: wardround's own simple features, or a model from Hugging Face or a folder.

BiomedCLIP, which the paper used, is `hf-hub:microsoft/BiomedCLIP-PubMedBERT_256-vit_base_patch16_224`.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from wardround.candidates.pixel_features import features
from wardround.cases.encoded import Encoded
from wardround.core.errors import WardroundError

Values = NDArray[np.float64]
Encoder = Callable[[Sequence[Encoded]], Values]
OPEN_CLIP = "hf-hub:"
BATCH = 32


def encoder_named(name: str | None) -> Encoder:
    """What makes one row of numbers of each image. None: wardround's own features."""
    if name is None:
        return lambda images: np.stack([features(image) for image in images])
    try:
        import torch
    except ImportError:
        raise WardroundError('an image encoder needs torch: pip install "wardround[encoders]"') from None
    encode = _open_clip(name) if name.startswith(OPEN_CLIP) else _transformers(name)

    def in_batches(images: Sequence[Encoded]) -> Values:
        with torch.inference_mode():
            rows = [encode(_opened(images[at : at + BATCH])) for at in range(0, len(images), BATCH)]
        return np.concatenate([row.float().cpu().numpy().astype(np.float64) for row in rows])

    return in_batches


def _opened(images: Sequence[Encoded]) -> list[Image.Image]:
    return [Image.open(io.BytesIO(image.data)).convert("RGB") for image in images]


def _open_clip(name: str) -> Callable[[list[Image.Image]], Any]:
    try:
        import open_clip
        import torch
    except ImportError:
        raise WardroundError(f'{name} needs open_clip: pip install "wardround[encoders]"') from None
    try:
        model, prepared = open_clip.create_model_from_pretrained(name)
    except Exception as error:
        raise WardroundError(f"encoder {name} cannot be loaded: {_first_line(error)}") from None
    model.eval()
    return lambda images: model.encode_image(torch.stack([prepared(image) for image in images]))


def _transformers(name: str) -> Callable[[list[Image.Image]], Any]:
    try:
        from transformers import AutoImageProcessor, AutoModel
    except ImportError:
        raise WardroundError(f'{name} needs transformers: pip install "wardround[encoders]"') from None
    try:
        processor, model = AutoImageProcessor.from_pretrained(name), AutoModel.from_pretrained(name)
    except Exception as error:
        raise WardroundError(f"encoder {name} cannot be loaded: {_first_line(error)}") from None
    model.eval()

    def encode(images: list[Image.Image]) -> Any:
        given = processor(images=images, return_tensors="pt")
        found = model.get_image_features(**given) if hasattr(model, "get_image_features") else model(**given)
        if hasattr(found, "pooler_output") and found.pooler_output is not None:
            return found.pooler_output
        return found.last_hidden_state.mean(dim=1) if hasattr(found, "last_hidden_state") else found

    return encode


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
