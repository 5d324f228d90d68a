"""Images that ship with installed packages, for case sets that need no data."""

from importlib.util import find_spec
from pathlib import Path

from wardround.core.errors import WardroundError


def find_packaged_file(package: str, name: str) -> Path:
    """A file of an installed package, found without importing it."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise WardroundError(f"images come from the package {package}: pip install 'wardround[demo]'")
    file = Path(spec.submodule_search_locations[0]) / name
    if not file.is_file():
        raise WardroundError(f"the installed version of {package} does not have {file.name}")
    return file
