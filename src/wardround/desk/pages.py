"""Pages from templates: everything escaped, nothing inline."""

from __future__ import annotations

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
    env.filters["figure"] = _figure
    env.globals["version"] = __version__
    return env


def render(template: str, **told: Any) -> Markup:
    return Markup(environment().get_template(template).render(told))


def page(request: Request, template: str, status: int = 200, **told: Any) -> HTMLResponse:
    """A whole page for whoever asks."""
    visit = request.state.visit
    told = {"person": visit.person, "csrf": visit.token, "here": request.url.path, "scripts": (), **told}
    return HTMLResponse(environment().get_template(template).render(told), status)


def _figure(value: float | None, digits: int = 2) -> str:
    return "–" if value is None or value != value else f"{value:.{digits}f}".replace("-", "−")
