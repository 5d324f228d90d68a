"""An ONNX network: its files, and the class probabilities that it gives for an image."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from wardround.candidates.classifier.description import ClassifierDescription
from wardround.candidates.classifier.input_tensor import Tensor, input_tensor
from wardround.cases.encoded_image import EncodedImage
from wardround.core.errors import BadInput, WardroundError, describe_unreadable

INSTALL = "pip install 'wardround[classifier]'"
# the name of a file with weights: an entry of the protobuf with the key `location` and a value of up to 127 bytes
WEIGHTS_FILE = re.compile(rb"\n\x08location\x12([\x01-\x7f])", re.DOTALL)
INPUT_TYPES = {"tensor(float)": np.float32, "tensor(float16)": np.float16, "tensor(double)": np.float64}
ROUNDING = 1e-3  # probabilities in half precision may miss 0 and 1 by that
Probabilities = NDArray[np.float64]


class Network:
    """A loaded network. It is given one image at a time."""

    def __init__(self, file: Path, description: ClassifierDescription) -> None:
        try:
            import onnxruntime
        except ImportError as error:
            raise WardroundError(f"onnxruntime cannot be loaded ({error}): {INSTALL}") from None
        self._file, self._description = file, description
        settings = onnxruntime.SessionOptions()
        settings.log_severity_level = 4  # its messages come as exceptions, too
        try:
            self._session = onnxruntime.InferenceSession(file, settings, providers=["CPUExecutionProvider"])
        except Exception as error:  # it raises classes of its own
            raise BadInput(file, f"onnxruntime cannot use it: {_one_line(error)}") from None
        node = self._choose_node("input", self._session.get_inputs())
        if node.type not in INPUT_TYPES:
            raise BadInput(file, f"its input is a {node.type}; expected one of {', '.join(INPUT_TYPES)}")
        self._input, self._input_type = node.name, INPUT_TYPES[node.type]
        self._output = self._choose_node("output", self._session.get_outputs()).name
        self._run_black_image()

    def probabilities(self, image: EncodedImage) -> Probabilities:
        """The probability of every class, in their order."""
        return self._activated(self._run(input_tensor(image, self._description.image)))

    def _choose_node(self, kind: str, nodes: list[Any]) -> Any:
        """The input or output that the description names, or the only one."""
        name, names = getattr(self._description, kind), ", ".join(node.name for node in nodes)
        chosen = nodes if name is None else [node for node in nodes if node.name == name]
        if len(chosen) != 1:
            wanted = f"there is no {kind} {name!r}" if name is not None else f"it has several {kind}s"
            raise BadInput(self._file, f"{wanted}; set {kind} to one of {names}")
        return chosen[0]

    def _run_black_image(self) -> None:
        """Raises unless the network takes an image of the described size and gives a value for each class."""
        height, width = self._description.image.height_and_width
        channels = 1 if self._description.image.channels == "grey" else 3
        shape = (
            (1, channels, height, width) if self._description.image.layout == "NCHW" else (1, height, width, channels)
        )
        values, count = self._run(np.zeros(shape, np.float32)), len(self._description.classes)
        if values.size != count and (values.size, count) != (1, 2):
            raise BadInput(self._file, f"gives {values.size} values for an image, but {count} classes are described")
        if self._description.activation == "softmax" and values.size == 1:
            raise BadInput(self._file, 'gives one value for two classes, which needs activation = "sigmoid" or "none"')
        self._activated(values)

    def _run(self, tensor: Tensor) -> Probabilities:
        try:
            [values] = self._session.run([self._output], {self._input: tensor.astype(self._input_type)})
        except Exception as error:
            raise BadInput(self._file, f"does not take an image as described: {_one_line(error)}") from None
        return np.asarray(values, dtype=np.float64).ravel()

    def _activated(self, values: Probabilities) -> Probabilities:
        """The output as probabilities. One value for two classes is the probability of the second."""
        activation = self._description.activation
        if activation == "softmax":
            values = softmax(values)
        elif activation == "sigmoid":
            values = expit(values)
        if not np.all((values >= -ROUNDING) & (values <= 1 + ROUNDING)):
            value = next(float(value) for value in values if not -ROUNDING <= value <= 1 + ROUNDING)
            raise BadInput(self._file, f"gives {value:g} as a probability; check `activation` and [image]")
        values = np.clip(values, 0, 1)
        return values if len(values) > 1 else np.array([1 - values[0], values[0]])


def network_files(file: Path) -> list[Path]:
    """The file, and those beside it that hold its weights."""
    try:
        content = file.read_bytes()
    except OSError as error:
        raise BadInput(file, describe_unreadable(error)) from None
    weights = sorted({file.parent / name for name in _weights_names(content)})
    for path in weights:
        if not path.is_file():
            raise BadInput(path, f"is missing; {file.name} keeps weights in it")
    return [file, *weights]


def _weights_names(content: bytes) -> Iterator[str]:
    for match in WEIGHTS_FILE.finditer(content):
        yield content[match.end() : match.end() + match[1][0]].decode(errors="replace")


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:300]
