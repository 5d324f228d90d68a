"""Asks of ten votes answered a second by `transformers` candidates, beside generate() per ask and by batches of 16."""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from collections.abc import Callable
from io import BytesIO
from typing import Any

from perf.bars import bar, versions

OURS, PLAIN, BATCHED = "wardround", "generate() per ask", "generate() by 16 asks"
VOTES, BATCH = 10, 16
# Qwen2.5-VL-7B's shape, and a tiny one to try the program; how fast a model is does not depend on what it knows
TEXT = {
    "7b": {"hidden_size": 3584, "intermediate_size": 18944, "num_hidden_layers": 28, "num_attention_heads": 28},
    "tiny": {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4},
}
VISION = {
    "7b": {
        "depth": 32,
        "hidden_size": 1280,
        "intermediate_size": 3420,
        "num_heads": 16,
        "fullatt_block_indexes": [7, 15, 23, 31],
    },
    "tiny": {"depth": 2, "hidden_size": 32, "intermediate_size": 48, "num_heads": 2, "fullatt_block_indexes": [1]},
}
SPECIAL = (
    "<|im_end|>",
    "<pad>",
    "<|im_start|>",
    "<|image_pad|>",
    "<|video_pad|>",
    "<|vision_start|>",
    "<|vision_end|>",
)
TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{% for c in m.content %}{% if c.type == 'image' %}"
    "<|vision_start|><|image_pad|><|vision_end|>{% else %}{{ c.text }}{% endif %}{% endfor %}<|im_end|>\n{% endfor %}"
    "<|im_start|>assistant\n"
)


def main(arguments: list[str]) -> bool:
    parser = argparse.ArgumentParser("perf transformers")
    parser.add_argument("--shape", choices=list(TEXT), help="default: 7b on a GPU, else tiny")
    parser.add_argument("--asks", type=int, help="default: 64 on a GPU, else 8")
    parser.add_argument("--tokens", type=int, default=64, help="of each answer")
    options = parser.parse_args(arguments)
    os.environ["HF_HUB_OFFLINE"] = "1"
    import torch

    has_gpu = torch.cuda.is_available()
    shape = options.shape or ("7b" if has_gpu else "tiny")
    count = options.asks or (64 if has_gpu else 8)
    name = torch.cuda.get_device_name() if has_gpu else "cpu"
    print(f"  {versions('transformers', 'torch')}; {name}; shape {shape}; {VOTES} votes of {options.tokens} tokens")
    chat_model = make_model(shape, "cuda" if has_gpu else "cpu")
    asks = invented_asks(count, options.tokens, side=640 if shape == "7b" else 56)
    rates: dict[str, float] = {}
    for way, (run, asked) in ways(chat_model, asks, options.tokens).items():
        run(asked[:2])  # kernels are chosen and memory is taken the first time
        started = clock()
        run(asked)
        rates[way] = len(asked) / (clock() - started)
        print(f"  {way}: {rates[way]:.3f} asks a second ({len(asked)} asks)", flush=True)
    return all(
        [
            bar(f"{OURS} / {PLAIN}", rates[OURS] / rates[PLAIN], at_least=5),
            bar(f"{OURS} / {BATCHED}", rates[OURS] / rates[BATCHED], at_least=1.5),
        ]
    )


def clock() -> float:
    import torch

    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter()


def ways(chat_model: Any, asks: list[Any], tokens: int) -> dict[str, tuple[Callable[[list[Any]], None], list[Any]]]:
    """Each way, and the asks that it is given; all prepare their own prompts and images."""
    import torch

    from wardround.candidates.transformers.engine import Engine

    model, processor = chat_model.model, chat_model._processor

    def ours(jobs: list[Any]) -> None:
        engine = Engine(chat_model)
        for outcome in [engine.submit(job) for job in jobs]:
            assert len(outcome.result().completions) == VOTES
        engine.close()

    def generate(batch: list[Any]) -> None:
        messages = [[chat_model._message(turn) for turn in job.turns] for job in batch]
        inputs = processor.apply_chat_template(
            messages,
            add_generation_prompt=True,
            tokenize=True,
            return_dict=True,
            return_tensors="pt",
            processor_kwargs={"padding": True},
        ).to(model.device, model.dtype)
        settings = {"do_sample": True, "temperature": 1.0, "top_k": 0, "top_p": 1.0, "max_new_tokens": tokens}
        with torch.inference_mode():
            written = model.generate(**inputs, num_return_sequences=VOTES, **settings)
        texts = processor.batch_decode(written[:, inputs["input_ids"].shape[1] :], skip_special_tokens=True)
        assert len(texts) == VOTES * len(batch)

    def plain(jobs: list[Any]) -> None:
        model.set_attn_implementation("sdpa")
        for job in jobs:
            generate([job])

    def batched(jobs: list[Any]) -> None:
        model.set_attn_implementation("sdpa")
        for start in range(0, len(jobs), BATCH):
            generate(jobs[start : start + BATCH])

    some = asks[: max(4, len(asks) // 4)]
    return {OURS: (ours, asks), PLAIN: (plain, some), BATCHED: (batched, asks[: max(BATCH, len(asks) // 2)])}


def invented_asks(count: int, tokens: int, side: int) -> list[Any]:
    """A history of 150 to 350 words, an image of noise, and a question; votes at temperature 1."""
    import numpy as np
    from PIL import Image

    from wardround.candidates.transformers.job import ChatTurn, Job, TokenSampling

    draw, noise = random.Random(1), np.random.default_rng(1)
    jobs = []
    for number in range(count):
        file = BytesIO()
        Image.fromarray(noise.integers(0, 255, (side, side, 3), np.uint8)).save(file, "PNG")
        words = "".join(f"w{draw.randrange(100)} " for _ in range(draw.randint(50, 120)))
        turn = ChatTurn("user", (file.getvalue(), f"{words}Which diagnosis is the likeliest? Answer with a letter."))
        seeds = tuple(range(number * VOTES, (number + 1) * VOTES))
        jobs.append(Job((turn,), seeds, TokenSampling(temperature=1.0, max_tokens=tokens)))
    return jobs


def make_model(shape: str, device: str) -> Any:
    """A model of this shape with random weights, in half precision on a GPU."""
    import torch
    import transformers
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
    from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

    from wardround.candidates.transformers.chat_model import ChatModel
    from wardround.candidates.transformers.job import ModelPlan

    class WithoutVideos(transformers.Qwen2_5_VLProcessor):
        """Its part for videos would need torchvision."""

        def check_argument_for_proper_class(self, name: str, argument: Any) -> Any:
            return None

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    characters = Tokenizer(models.BPE({character: number for number, character in enumerate(alphabet)}, []))
    characters.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    characters.decoder = decoders.ByteLevel()
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=characters, eos_token=SPECIAL[0], pad_token=SPECIAL[1], padding_side="left"
    )
    tokenizer.add_tokens([AddedToken(token, special=True) for token in SPECIAL[2:]], special_tokens=True)
    ids = {token: tokenizer.convert_tokens_to_ids(token) for token in SPECIAL}
    width = TEXT[shape]["hidden_size"] // TEXT[shape]["num_attention_heads"]
    rope = {"rope_type": "default", "rope_theta": 1e6, "mrope_section": [width // 8, width // 8, width // 4]}
    config = transformers.Qwen2_5_VLConfig(
        text_config={
            **TEXT[shape],
            "num_key_value_heads": 4 if shape == "7b" else 2,
            "vocab_size": 152_064,
            "max_position_embeddings": 32_768,
            "rope_parameters": rope,
        },
        vision_config={**VISION[shape], "out_hidden_size": TEXT[shape]["hidden_size"]},
        image_token_id=ids["<|image_pad|>"],
        video_token_id=ids["<|video_pad|>"],
        vision_start_token_id=ids["<|vision_start|>"],
        vision_end_token_id=ids["<|vision_end|>"],
    )
    torch.manual_seed(1)
    dtype = torch.bfloat16 if device == "cuda" else torch.float32
    default = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    with torch.device(device):
        model = transformers.Qwen2_5_VLForConditionalGeneration(config)
    torch.set_default_dtype(default)
    model = model.to(device)
    # no token ends an answer: all ways write as many
    model.generation_config = transformers.GenerationConfig(pad_token_id=ids["<pad>"])
    processor = WithoutVideos(Qwen2VLImageProcessorPil(patch_size=14), tokenizer, None, chat_template=TEMPLATE)
    chat_model = ChatModel(model, processor, ModelPlan("", f"qwen2.5-vl-{shape}"), sees=True)
    chat_model.end_tokens = set()
    return chat_model


if __name__ == "__main__":
    sys.exit(not main(sys.argv[1:]))
