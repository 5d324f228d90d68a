"""Image encoders of the feature map: real models are loaded from a folder and see differences between images."""

from __future__ import annotations

import base64
import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from wardround.benchmarks.medq_deg.figures.encoders import load_encoder
from wardround.cases.encoded_image import EncodedImage
from wardround.core.errors import WardroundError


def encoded(grey: int) -> EncodedImage:
    held = io.BytesIO()
    Image.new("RGB", (40, 30), (grey, 255 - grey, grey // 2)).save(held, "PNG")
    return EncodedImage(base64.b64encode(held.getvalue()), "image/png", f"{grey}", 40, 30)


IMAGES = [encoded(grey) for grey in (10, 120, 240)]


def test_without_a_name_the_features_are_our_own() -> None:
    seen = load_encoder(None)(IMAGES)
    assert len(seen) == 3
    assert len(np.unique(seen, axis=0)) == 3


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["clip", "vit", "dinov2"])
def test_models_of_hugging_face_are_loaded_from_a_folder(tmp_path: Path, kind: str) -> None:
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(0)
    small = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    if kind == "clip":
        text = transformers.CLIPTextConfig(vocab_size=99, **small)
        vision = transformers.CLIPVisionConfig(image_size=32, patch_size=8, **small)
        config = transformers.CLIPConfig(text_config=text.to_dict(), vision_config=vision.to_dict(), projection_dim=16)
        model, processor = (
            transformers.CLIPModel(config),
            transformers.CLIPImageProcessor(size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32}),
        )
    elif kind == "vit":
        model = transformers.ViTModel(transformers.ViTConfig(image_size=32, patch_size=8, **small))
        processor = transformers.ViTImageProcessor(size={"height": 32, "width": 32})
    else:
        config = transformers.Dinov2Config(image_size=28, patch_size=14, mlp_ratio=2, **small)
        model = transformers.Dinov2Model(config)
        processor = transformers.ViTImageProcessor(size={"height": 28, "width": 28})
    model.save_pretrained(tmp_path)
    processor.save_pretrained(tmp_path)
    seen = load_encoder(str(tmp_path))(IMAGES)
    assert seen.shape[0] == 3
    assert seen.shape[1] in (16, 32)
    assert np.isfinite(seen).all()
    assert len(np.unique(seen.round(6), axis=0)) == 3


def test_a_model_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(WardroundError, match=r"pip install|cannot be loaded") as refused:
        load_encoder(str(tmp_path / "none"))
    assert "\n" not in str(refused.value)
