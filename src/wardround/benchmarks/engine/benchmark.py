"""Where benchmarks are: those of wardround, those of plug-ins, and any folder of TOML given by its path."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from importlib.resources import files
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from wardround.core.errors import BadInput, WardroundError
from wardround.plugins import Plugin, extensions

BUILT_IN = ("cure", "xpcr", "medq-deg", "clinbench")
STUDIES = "studies.toml"
STUDY_FILE = "bench.toml"  # what bench asked for; the run keeps its own copy as study.toml
SECTIONS = "sections"
REPORT_SECTION = "bench"  # its entry point in pyproject.toml


@dataclass(frozen=True)
class Benchmark:
    """A benchmark: the name users type before the slash, and its folder.

    `package` is the Python package whose module `sections` draws; without one, sections.py is loaded from the folder.
    """

    name: str
    folder: Path
    package: str | None = None

    def section_function(self, study: str) -> Callable[..., Any]:
        """The function of sections.py that draws a study: the study's name with `_` for `-`."""
        function = study.replace("-", "_")
        path = self.folder / f"{SECTIONS}.py"
        if not path.is_file():
            raise BadInput(self.folder / STUDIES, f"needs {path.name} in the same folder", field=_drawn_from(study))
        module = import_module(f"{self.package}.{SECTIONS}") if self.package else _load_module(path)
        draw: Callable[..., Any] | None = getattr(module, function, None)
        if draw is None:
            raise BadInput(path, f"has no function {function}(), which {STUDIES} asks for in {_drawn_from(study)}")
        return draw


def benchmarks() -> dict[str, Benchmark]:
    """The built-in benchmarks, then those of plug-ins, by name."""
    known = {name: _built_in(name) for name in BUILT_IN}
    for name, plugin in extensions("benchmarks").items():
        if name in known:
            raise WardroundError(f"plug-in {plugin.origin}: benchmark {name!r} has the name of a built-in benchmark")
        known[name] = _plugin_benchmark(plugin)
    return known


def find_benchmark(name: str) -> Benchmark | None:
    """A benchmark by its name or path; a name that is not known is None."""
    if is_path(name):
        return benchmark_at(Path(name))
    name = normalize_name(name)
    return _built_in(name) if name in BUILT_IN else benchmarks().get(name)


def benchmark_at(folder: Path) -> Benchmark:
    """The benchmark in a folder; its name is the folder's."""
    folder = folder.expanduser().absolute()
    if not (folder / STUDIES).is_file():
        raise BadInput(folder, f"is not a benchmark: it has no {STUDIES}")
    return Benchmark(normalize_name(folder.resolve().name), folder)


def is_path(name: str) -> bool:
    """Whether a typed name is a path, such as ./my-benchmark/table1, and not that of a known benchmark."""
    return name.startswith((".", "/", "~"))


def normalize_name(name: str) -> str:
    return name.strip().lower().replace("_", "-")


def resolve_name(name: str, names: Iterable[str], kind: str, command: str) -> str:
    """The listed name that was typed, or an error with the names that come close."""
    listed, normalized = {normalize_name(known): known for known in names}, normalize_name(name)
    if normalized in listed:
        return listed[normalized]
    close = get_close_matches(normalized, listed, n=3, cutoff=0.5)
    hint = f"did you mean {', '.join(close)}?" if close else f"`{command}` lists them"
    raise WardroundError(f"there is no {kind} {name!r}; {hint}")


def _plugin_benchmark(plugin: Plugin) -> Benchmark:
    """From an entry point that loads to a folder, or to the package whose folder it is."""
    target = plugin.load()
    if isinstance(target, ModuleType):
        folder, package = Path(str(files(target))), target.__name__
    elif isinstance(target, str | Path):
        folder, package = Path(target), None
    else:
        raise WardroundError(
            f"plug-in {plugin.origin}: benchmark {plugin.name!r} is {target!r}; expected a folder's path or a package"
        )
    if not (folder / STUDIES).is_file():
        raise BadInput(folder, f"is not a benchmark: it has no {STUDIES} (plug-in {plugin.origin})")
    return Benchmark(normalize_name(plugin.name), folder, package)


def _built_in(name: str) -> Benchmark:
    folder = name.replace("-", "_")
    root = Path(str(files("wardround.benchmarks")))
    return Benchmark(name, root / folder, f"wardround.benchmarks.{folder}")


def _drawn_from(study: str) -> str:
    return f"studies.{study}.drawn_from"


@cache
def _load_module(path: Path) -> ModuleType:
    spec = spec_from_file_location(f"wardround_benchmark_{path.parent.name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise BadInput(path, f"could not be loaded: {type(error).__name__}: {error}") from error
    return module
