"""Small networks written as ONNX files, and images for them."""

from __future__ import annotations

import base64
import hashlib
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from PIL import Image as Picture

from wardround.cases.encoded_image import EncodedImage

Values = NDArray[Any]


def write_network(
    file: Path,
    layers: Sequence[tuple[Values, Values]],
    shape: Sequence[int | str],
    *,
    type: int = TensorProto.FLOAT,
    weights_file: str | None = None,
    second_output: bool = False,
) -> Path:
    """Dense layers on the flattened input, ReLU between them; the last layer's values are the output `scores`."""
    nodes = [helper.make_node("Flatten", ["image"], ["x0"], axis=1)]
    weights = []
    for number, (matrix, bias) in enumerate(layers):
        is_last = number == len(layers) - 1
        dtype = np.float16 if type == TensorProto.FLOAT16 else np.float32
        weights += [
            numpy_helper.from_array(np.asarray(matrix, dtype), f"w{number}"),
            numpy_helper.from_array(np.asarray(bias, dtype), f"b{number}"),
        ]
        out = "scores" if is_last else f"h{number}"
        nodes.append(helper.make_node("Gemm", [f"x{number}", f"w{number}", f"b{number}"], [out]))
        if not is_last:
            nodes.append(helper.make_node("Relu", [out], [f"x{number + 1}"]))
    outputs = [helper.make_tensor_value_info("scores", type, [shape[0], len(layers[-1][1])])]
    if second_output:
        outputs.append(helper.make_tensor_value_info("x0", type, [shape[0], "pixels"]))
    graph = helper.make_graph(
        nodes, "network", [helper.make_tensor_value_info("image", type, list(shape))], outputs, weights
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
    onnx.checker.check_model(model)
    if weights_file is None:
        onnx.save(model, file)
    else:
        onnx.save(model, file, save_as_external_data=True, location=weights_file, size_threshold=0)
    return file


def encoded(pixels: Values) -> EncodedImage:
    """The pixels as a PNG that is sent."""
    buffer = io.BytesIO()
    Picture.fromarray(np.asarray(pixels, np.uint8)).save(buffer, "PNG")
    data = buffer.getvalue()
    height, width = pixels.shape[:2]
    return EncodedImage(base64.b64encode(data), "image/png", hashlib.sha256(data).hexdigest(), width, height)
