"""Attention of one new token per row, without copies of the keys for every head that shares them.

PyTorch's attention takes a mask or grouped heads, not both, so transformers repeats keys and values for each query
head as soon as rows are padded. Here the heads of a group stand in the place of query positions: the same product,
and keys and values are read once.
"""

from typing import Any

import torch
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

NAME = "grouped_sdpa"


def use_grouped_attention(model: Any) -> None:
    """Switches a model from `sdpa` to this; other implementations stay."""
    if model.config._attn_implementation != "sdpa":
        return
    AttentionInterface.register(NAME, grouped_attention)
    AttentionMaskInterface.register(NAME, sdpa_mask)
    model.set_attn_implementation(NAME)


def grouped_attention(
    module: Any, query: Any, key: Any, value: Any, attention_mask: Any, scaling: float | None = None, **options: Any
) -> tuple[Any, None]:
    rows, heads, length, width = query.shape
    key_heads = key.shape[1]
    plain = not any(options.get(name) is not None for name in ("position_bias", "softcap", "cache"))
    if length > 1 or heads == key_heads or attention_mask is None or attention_mask.shape[1] > 1 or not plain:
        output, _ = sdpa_attention_forward(module, query, key, value, attention_mask, scaling=scaling, **options)
        return output, None
    grouped = query.view(rows, key_heads, heads // key_heads, width)
    mask = attention_mask.expand(-1, -1, heads // key_heads, -1)
    output = torch.nn.functional.scaled_dot_product_attention(grouped, key, value, attn_mask=mask, scale=scaling)
    return output.reshape(rows, 1, heads, value.shape[-1]), None
