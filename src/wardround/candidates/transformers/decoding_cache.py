"""The keys and values of the rows that are decoded together; rows join and leave while others go on.

All rows end at the same column, so that one token of each is written at once. A short row is padded at its left.
"""

from typing import Any

import torch
from transformers.cache_utils import Cache, DynamicLayer

SPARE_COLUMNS = 256  # for new tokens, before the rows are moved


class RowsLayer(DynamicLayer):
    """One layer: buffers of [rows, heads, columns, width], of which the model sees the part in use."""

    def __init__(self, shared: "DecodingCache", keys: torch.Tensor, values: torch.Tensor) -> None:
        super().__init__()
        self.lazy_initialization(keys, values)
        self.shared = shared
        self.buffers = [tensor.new_empty((0, tensor.shape[1], 0, tensor.shape[3])) for tensor in (keys, values)]

    def update(self, key_states: Any, value_states: Any, *_: Any, **__: Any) -> tuple[Any, Any]:
        cache = self.shared
        rows, end = key_states.shape[0], cache.end
        for buffer, states in zip(self.buffers, (key_states, value_states), strict=True):
            buffer[:rows, :, end] = states[:, :, 0]
        keys, values = (buffer[:rows, :, cache.start : end + 1] for buffer in self.buffers)
        return keys, values

    def get_seq_length(self) -> int:
        return self.shared.end - self.shared.start


class DecodingCache(Cache):
    """Rows of different lengths as one rectangle."""

    def __init__(self) -> None:
        super().__init__(layers=[])
        self.layers: list[Any]
        self.lengths: list[int] = []  # tokens of each row
        self.end = 0  # the column of the next token
        self.bytes_per_token = 0

    @property
    def start(self) -> int:
        """The first column that some row uses."""
        return self.end - max(self.lengths, default=0)

    @property
    def columns(self) -> int:
        """The tokens of the longest row."""
        return max(self.lengths, default=0)

    def join(self, prompt: Cache, rows: int) -> None:
        """Adds so many rows that all begin with the prompt."""
        length = prompt.get_seq_length()
        if not self.layers:
            self.layers = [RowsLayer(self, layer.keys, layer.values) for layer in prompt.layers]
            sizes = [layer.keys[0, :, 0].nbytes + layer.values[0, :, 0].nbytes for layer in prompt.layers]
            self.bytes_per_token = sum(sizes)
        self._make_room(len(self.lengths) + rows, length)
        first = len(self.lengths)
        for layer, source in zip(self.layers, prompt.layers, strict=True):
            for buffer, states in zip(layer.buffers, (source.keys, source.values), strict=True):
                buffer[first : first + rows, :, self.end - length : self.end] = states
        self.lengths += [length] * rows

    def advance(self) -> None:
        """After one token of each row was written."""
        self.lengths = [length + 1 for length in self.lengths]
        self.end += 1
        if self.lengths and self.end == self.layers[0].buffers[0].shape[2]:
            self._make_room(len(self.lengths), 0)

    def leave(self, row: int) -> int:
        """Removes a row; the last row takes its place. Returns the number of that last row."""
        last = len(self.lengths) - 1
        if row != last:
            for layer in self.layers:
                for buffer in layer.buffers:
                    buffer[row, :, self.end - self.lengths[last] : self.end] = buffer[
                        last, :, self.end - self.lengths[last] : self.end
                    ]
            self.lengths[row] = self.lengths[last]
        self.lengths.pop()
        return last

    def mask(self) -> torch.Tensor:
        """Which columns each row attends to, the column of its next token included."""
        device = self.layers[0].buffers[0].device
        padding = torch.tensor([self.columns - length for length in self.lengths], device=device)
        return torch.arange(self.columns + 1, device=device) >= padding[:, None]

    def _make_room(self, rows: int, length: int) -> None:
        """Sees to buffers of so many rows, with `length` columns before the end and one after it."""
        columns = max(self.columns, length)
        capacity, _, width, _ = self.layers[0].buffers[0].shape
        if rows <= capacity and columns <= self.end < width:
            return
        if rows > capacity:
            capacity = max(rows, min(2 * capacity, rows + 32))
        used, old_end, new_end = self.columns, self.end, columns
        live = len(self.lengths)
        for layer in self.layers:
            for number, old in enumerate(layer.buffers):
                # zeros: what is masked is multiplied by 0, and must not be infinite
                new = old.new_zeros((capacity, old.shape[1], new_end + SPARE_COLUMNS, old.shape[3]))
                new[:live, :, new_end - used : new_end] = old[:live, :, old_end - used : old_end]
                layer.buffers[number] = new
        self.end = new_end
