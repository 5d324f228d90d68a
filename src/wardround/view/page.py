"""The pages of the explorer from templates: everything escaped, nothing inline."""

from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from jinja2 import Environment, PackageLoader, StrictUndefined

from wardround import __version__

# the explorer's own files, and the colours and the switch of light and dark that it shares with the report
STATIC_FOLDERS = (("wardround.view", "static"), ("wardround.reporting", "templates/assets"))
SHARED_FILES = ("palette.css", "theme.js")
SCRIPTS = (
    *("theme.js", "documents.js", "table_data.js", "selection.js", "patterns.js", "widgets.js", "questions.js"),
    *("viewer.js", "question.js", "overview.js", "runs.js", "main.js"),
)


def static_files() -> Iterator[Traversable]:
    """The files that a page loads."""
    own, shared = (files(package) / folder for package, folder in STATIC_FOLDERS)
    yield from own.iterdir()
    yield from (shared / name for name in SHARED_FILES)


@cache
def _environment() -> Environment:
    loader = PackageLoader("wardround.view", "templates")
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)


def render_page(template: str = "index.html", *, csrf: str = "", message: str = "", policy: str = "") -> str:
    """A page; `csrf` is empty in an export, which has a `policy` of its own instead of a server's headers."""
    context = {"csrf": csrf, "message": message, "policy": policy, "scripts": SCRIPTS, "version": __version__}
    return _environment().get_template(template).render(context)
