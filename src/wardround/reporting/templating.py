"""Pages from templates: everything escaped, one file each, and a policy that lets nothing else load or run."""

from __future__ import annotations

import hashlib
import os
from base64 import b64encode
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from wardround import __version__
from wardround.reporting import labels as words
from wardround.reporting import numbers


@cache
def environment() -> Environment:
    loader = PackageLoader("wardround.reporting", "templates")
    env = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    env.filters.update(
        percent=numbers.percent,
        count=numbers.count,
        p_value=numbers.p_value,
        listed=numbers.listed,
        slice_words=words.slice_words,
    )
    return env


def render(template: str, **told: Any) -> Markup:
    return Markup(environment().get_template(template).render(told))


def page(template: str, *, scripts: tuple[str, ...] = ("theme.js",), **told: Any) -> str:
    """A whole page with its style and scripts inside, allowed by their hashes and nothing else."""
    style, sources = _asset("style.css"), [_asset(name) for name in scripts]
    policy = "; ".join(
        [
            "default-src 'none'",
            "img-src data:",
            f"style-src {_hashed(style)}",
            f"script-src {' '.join(_hashed(source) for source in sources)}",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )
    return render(
        template,
        style=Markup(style),
        scripts=[Markup(source) for source in sources],
        policy=policy,
        wardround_version=__version__,
        **told,
    )


def write_page(path: Path, html: str) -> Path:
    """Writes a page whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_text(html, encoding="utf-8", newline="\n")
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
    return path


@cache
def _asset(name: str) -> str:
    return (files("wardround.reporting") / "templates" / name).read_text(encoding="utf-8")


def _hashed(source: str) -> str:
    return f"'sha256-{b64encode(hashlib.sha256(source.encode()).digest()).decode()}'"
