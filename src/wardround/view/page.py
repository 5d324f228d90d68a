"""The pages of the explorer from templates: everything escaped, nothing inline."""

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined

from wardround import __version__

SCRIPTS = (
    *("theme.js", "documents.js", "table_data.js", "selection.js", "patterns.js", "widgets.js", "questions.js"),
    *("viewer.js", "question.js", "overview.js", "runs.js", "main.js"),
)


@cache
def _environment() -> Environment:
    loader = PackageLoader("wardround.view", "templates")
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)


def render_page(template: str = "index.html", *, csrf: str = "", message: str = "", policy: str = "") -> str:
    """A page; `csrf` is empty in an export, which has a `policy` of its own instead of a server's headers."""
    context = {"csrf": csrf, "message": message, "policy": policy, "scripts": SCRIPTS, "version": __version__}
    return _environment().get_template(template).render(context)
