"""Tiny Hugging Face models with random weights, saved as folders with tokenizer, processor and chat template."""

from __future__ import annotations

import base64
import hashlib
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from wardround.cases.encoded_image import EncodedImage

SPECIAL = ("<pad>", "<end>", "<user>", "<assistant>", "<system>")
IMAGE_TOKENS = {
    "llava": "<image>",
    "idefics3": "<image>",
    "gemma3": "<image_soft_token>",
    "qwen2_5_vl": "<|image_pad|>",
}
MORE_TOKENS = {
    "idefics3": ("<fake_token_around_image>", "<global-img>", "<end_of_utterance>"),
    "gemma3": ("<start_of_image>", "<end_of_image>"),
    "qwen2_5_vl": ("<|vision_start|>", "<|vision_end|>", "<|video_pad|>"),
}
PLACEHOLDERS = {"gemma3": "<start_of_image>", "qwen2_5_vl": "<|vision_start|><|image_pad|><|vision_end|>"}
WORDS = ("Answer", ":", "A", "B", "C", "D", "the", "lung", "liver", "heart", "brain", "of", "and", "left", "right")
TEXT = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 512,
    "initializer_range": 0.4,  # large, so that some tokens are much likelier than others
}


def tokenizer_of(kind: str) -> Any:
    """Bytes, and some words as one token."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE({character: number for number, character in enumerate(alphabet)}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_tokens([AddedToken(word, normalized=False) for word in (*WORDS, "<think>", "</think>")])
    images = [IMAGE_TOKENS[kind], *MORE_TOKENS.get(kind, ())] if kind in IMAGE_TOKENS else []
    named = dict(zip(("image_token", "boi_token", "eoi_token"), images, strict=True)) if kind == "gemma3" else {}
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="<pad>",
        eos_token="<end>",
        padding_side="left",
        extra_special_tokens=named,
    )
    fast.add_tokens([AddedToken(token, special=True) for token in (*SPECIAL[2:], *images)], special_tokens=True)
    return fast


def template_of(placeholder: str, *, thinks: bool) -> str:
    parts = (
        "{% if m.content is string %}{{ m.content }}{% else %}{% for c in m.content %}"
        "{% if c.type == 'image' %}" + placeholder + "{% else %}{{ c.text }}{% endif %}{% endfor %}{% endif %}"
    )
    opening = "{% if enable_thinking is defined and enable_thinking %}<think>\n{% endif %}" if thinks else ""
    return "{% for m in messages %}<{{ m.role }}>" + parts + "<end>{% endfor %}<assistant>" + opening


def save_model(kind: str, folder: Path, *, thinks: bool = False, seed: int = 1) -> Path:
    """A model of this kind: llama, llava, idefics3, gemma3 or qwen2_5_vl."""
    import torch
    import transformers

    torch.manual_seed(seed)
    image_token = IMAGE_TOKENS.get(kind)
    tokenizer = tokenizer_of(kind)
    template = template_of(PLACEHOLDERS.get(kind, image_token or ""), thinks=thinks)
    ids = {"pad_token_id": tokenizer.pad_token_id, "eos_token_id": tokenizer.eos_token_id, "bos_token_id": None}
    text = {**TEXT, "vocab_size": len(tokenizer), **ids}
    image_id = tokenizer.convert_tokens_to_ids(image_token) if image_token else None
    vision = {
        "hidden_size": 16,
        "intermediate_size": 24,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "image_size": 28,
        "patch_size": 14,
        "initializer_range": 0.4,
        "initializer_factor": 20.0,
    }
    if kind == "llama":
        model = transformers.LlamaForCausalLM(transformers.LlamaConfig(**text))
        tokenizer.chat_template = template
        tokenizer.save_pretrained(folder)
    elif kind == "llava":
        config = transformers.LlavaConfig(
            text_config={"model_type": "llama", **text},
            vision_config={"model_type": "clip_vision_model", "projection_dim": 16, **vision},
            image_token_index=image_id,
            image_seq_length=4,
            **ids,
        )
        model = transformers.LlavaForConditionalGeneration(config)
        images = transformers.CLIPImageProcessor(size={"shortest_edge": 28}, crop_size=28)
        transformers.LlavaProcessor(
            images,
            tokenizer,
            patch_size=14,
            vision_feature_select_strategy="default",
            num_additional_image_tokens=1,
            chat_template=template,
        ).save_pretrained(folder)
    elif kind == "idefics3":
        config = transformers.Idefics3Config(
            text_config={"model_type": "llama", **text},
            vision_config={**vision, "image_size": 56},
            image_token_id=image_id,
            scale_factor=2,
            **ids,
        )
        model = transformers.Idefics3ForConditionalGeneration(config)
        images = transformers.Idefics3ImageProcessor(
            size={"longest_edge": 56}, max_image_size={"longest_edge": 56}, do_image_splitting=False
        )
        transformers.Idefics3Processor(images, tokenizer, image_seq_len=4, chat_template=template).save_pretrained(
            folder
        )
    elif kind == "gemma3":
        window = {"sliding_window": 8, "layer_types": ["sliding_attention", "full_attention", "sliding_attention"]}
        config = transformers.Gemma3Config(
            text_config={**text, "head_dim": 8, **window},
            vision_config={**vision, "model_type": "siglip_vision_model"},
            mm_tokens_per_image=4,
            image_token_index=image_id,
            boi_token_index=tokenizer.convert_tokens_to_ids("<start_of_image>"),
            eoi_token_index=tokenizer.convert_tokens_to_ids("<end_of_image>"),
            **ids,
        )
        model = transformers.Gemma3ForConditionalGeneration(config)
        images = transformers.Gemma3ImageProcessor(size={"height": 28, "width": 28})
        transformers.Gemma3Processor(images, tokenizer, chat_template=template, image_seq_length=4).save_pretrained(
            folder
        )
    else:
        rope = {"rope_type": "default", "mrope_section": [1, 1, 2], "rope_theta": 1e4}
        config = transformers.Qwen2_5_VLConfig(
            text_config={**text, "rope_parameters": rope},
            vision_config={
                "depth": 2,
                "hidden_size": 16,
                "intermediate_size": 24,
                "num_heads": 2,
                "out_hidden_size": TEXT["hidden_size"],
                "fullatt_block_indexes": [1],
                "window_size": 56,
                "initializer_range": 0.4,
            },
            image_token_id=image_id,
            video_token_id=tokenizer.convert_tokens_to_ids("<|video_pad|>"),
            vision_start_token_id=tokenizer.convert_tokens_to_ids("<|vision_start|>"),
            vision_end_token_id=tokenizer.convert_tokens_to_ids("<|vision_end|>"),
            **ids,
        )
        model = transformers.Qwen2_5_VLForConditionalGeneration(config)
        tokenizer.chat_template = template
        tokenizer.save_pretrained(folder)
    model.generation_config = transformers.GenerationConfig(**ids)
    model.save_pretrained(folder)
    return folder


def qwen_processor(folder: Path) -> Any:
    """Qwen's processor without its part for videos, which needs torchvision."""
    import transformers
    from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

    class WithoutVideos(transformers.Qwen2_5_VLProcessor):
        def check_argument_for_proper_class(self, name: str, argument: Any) -> Any:
            return None

    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    images = Qwen2VLImageProcessorPil(patch_size=14, min_pixels=28 * 28, max_pixels=28 * 28 * 16)
    return WithoutVideos(images, tokenizer, None, chat_template=tokenizer.chat_template)


def picture(seed: int = 0, side: int = 40) -> EncodedImage:
    """A picture of noise."""
    pixels = np.random.default_rng(seed).integers(0, 255, (side, side + 12, 3), np.uint8)
    file = BytesIO()
    Image.fromarray(pixels).save(file, "PNG")
    data = file.getvalue()
    return EncodedImage(base64.b64encode(data), "image/png", hashlib.sha256(data).hexdigest(), side + 12, side)
