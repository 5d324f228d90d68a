"""Finds a model's files on this machine, identifies them, and loads them. Nothing is ever downloaded."""

import json
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wardround.candidates.transformers.job import ModelPlan, ModelProblem
from wardround.core.canonical import blake, sha256_file

if TYPE_CHECKING:
    from wardround.candidates.transformers.chat_model import ChatModel

INSTALL = "pip install 'wardround[transformers]'"
HASH_DIGITS = 16
HASHED_SUFFIXES = {".safetensors", ".bin", ".json", ".jinja", ".txt", ".model"}


@dataclass(frozen=True)
class ModelFiles:
    """A folder with a model, and the revision that identifies it."""

    folder: Path
    name: str
    revision: str

    @property
    def sees(self) -> bool:
        """Whether the model has a part for images."""
        return "vision_config" in read_config(self.folder)


def find_model(model: str, revision: str | None) -> ModelFiles:
    """A folder, or a model of the Hub in this machine's cache; a revision of the Hub is resolved to its commit."""
    if (folder := Path(model)).is_dir():
        read_config(folder)
        return ModelFiles(folder, folder.resolve().name, revision or _hash_files(folder))
    if model.startswith((".", "/", "~")) or model.count("/") != 1:
        raise ModelProblem(f"model {model}: there is no such folder")
    hub = import_package("huggingface_hub")
    try:
        snapshot = Path(hub.snapshot_download(model, revision=revision, local_files_only=True))
    except (OSError, ValueError, hub.errors.HfHubHTTPError):
        pinned = f" --revision {revision}" if revision else ""
        raise ModelProblem(
            f"model {model} is not on this machine: run `hf download {model}{pinned}` first, or name its folder"
        ) from None
    read_config(snapshot)
    return ModelFiles(snapshot, model, snapshot.name)


def read_config(folder: Path) -> dict[str, Any]:
    """The model's config.json."""
    try:
        config = json.loads((folder / "config.json").read_bytes())
    except (OSError, ValueError):
        raise ModelProblem(
            f"model {folder}: has no config.json that can be read; expected a folder of a model"
        ) from None
    if not isinstance(config, dict):
        raise ModelProblem(f"model {folder}: config.json is not an object")
    return config


def import_package(name: str) -> Any:
    """A package of the extra `transformers`."""
    try:
        return import_module(name)
    except ImportError as error:
        raise ModelProblem(f"{name} cannot be loaded ({_first_line(error)}): {INSTALL}") from None


def load_model(plan: ModelPlan) -> "ChatModel":
    """The model on its device, ready to answer."""
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    torch, transformers = import_package("torch"), import_package("transformers")
    from wardround.candidates.transformers.chat_model import ChatModel

    transformers.utils.logging.set_verbosity_error()  # no progress bars or advice
    transformers.utils.logging.disable_progress_bar()
    device = plan.device or ("cuda" if torch.cuda.is_available() else "cpu")
    if device.startswith("cuda") and not torch.cuda.is_available():
        raise ModelProblem("PyTorch finds no CUDA device on this machine")
    local: dict[str, Any] = {"local_files_only": True}
    try:
        config = transformers.AutoConfig.from_pretrained(plan.folder, **local)
        sees = type(config) in transformers.MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING
        make = transformers.AutoModelForImageTextToText if sees else transformers.AutoModelForCausalLM
        placed = {"device_map": plan.device_map} if plan.device_map is not None else {}
        model = make.from_pretrained(plan.folder, dtype=plan.dtype, **placed, **local)
        processor = (transformers.AutoProcessor if sees else transformers.AutoTokenizer).from_pretrained(
            plan.folder, **local
        )
    except (ImportError, OSError, ValueError, KeyError, AttributeError, TypeError, RuntimeError) as error:
        raise ModelProblem(f"transformers cannot load {plan.name}: {_first_line(error)}") from None
    if plan.device_map is None:
        model = model.to(device)
    if sees and not processor.chat_template:
        processor.chat_template = processor.tokenizer.chat_template
    return ChatModel(model, processor, plan, sees=sees)


def _hash_files(folder: Path) -> str:
    """A short hash of all files that decide on answers: weights, configuration, tokenizer, template."""
    files = sorted(path for path in folder.iterdir() if path.suffix in HASHED_SUFFIXES)
    with ThreadPoolExecutor(max_workers=4) as pool:
        hashes = list(pool.map(sha256_file, files))
    return blake({path.name: value for path, value in zip(files, hashes, strict=True)}).hex()[:HASH_DIGITS]


def _first_line(error: Exception) -> str:
    return " ".join((str(error).strip().splitlines() or [type(error).__name__])[0].split())[:300]
