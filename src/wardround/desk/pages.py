"""Pages from templates: everything escaped, nothing inline."""

from functools import cache
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader
from markupsafe import Markup

from wardround import __version__


@cache
def environment() -> Environment:
    loader = PackageLoader("wardround.desk", "templates")
    env = Environment(loader=loader, autoescape=True, auto_reload=False, trim_blocks=True, lstrip_blocks=True)
    env.filters["moment"] = lambda time: time[:16].replace("T", " ") if time else ""
    env.filters["figure"] = _format_figure
    env.globals["version"] = __version__
    return env


def render_fragment(template: str, **context: Any) -> Markup:
    return Markup(environment().get_template(template).render(context))


def render_page(request: Request, template: str, status: int = 200, **context: Any) -> HTMLResponse:
    """A whole page for the person of the request."""
    visit = request.state.visit
    context = {"person": visit.person, "csrf": visit.token, "here": request.url.path, "scripts": (), **context}
    return HTMLResponse(environment().get_template(template).render(context), status)


def _format_figure(value: float | None, digits: int = 2) -> str:
    return "–" if value is None or value != value else f"{value:.{digits}f}".replace("-", "−")
