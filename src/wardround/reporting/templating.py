"""Pages from templates: escaped, self-contained, with a content security policy that blocks everything else."""

import hashlib
import re
from base64 import b64encode
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from wardround import __version__
from wardround.core.files import write_file
from wardround.reporting.compiled_templates import CompiledTemplates
from wardround.reporting.labels import slice_words
from wardround.reporting.numbers import count, join_words, p_value, percent

CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


FILTERS = (percent, count, p_value, join_words, slice_words)


@cache
def environment() -> Environment:
    env = Environment(
        loader=PackageLoader("wardround.reporting", "templates"),
        bytecode_cache=CompiledTemplates([__file__, *sorted({function.__code__.co_filename for function in FILTERS})]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    env.filters |= {function.__name__: function for function in FILTERS}
    return env


def render(template: str, **context: Any) -> Markup:
    return Markup(environment().get_template(template).render(context))


def page(template: str, *, scripts: tuple[str, ...] = ("theme.js",), images: str = "data:", **context: Any) -> str:
    """A whole page with its style and scripts inline; the policy allows these by their hashes.

    `images` says where its images may come from.
    """
    style, sources = _asset("palette.css") + _asset("style.css"), [_asset(name) for name in scripts]
    policy = "; ".join(
        [
            "default-src 'none'",
            f"img-src {images}",
            f"style-src {_policy_hash(style)}",
            f"script-src {' '.join(_policy_hash(source) for source in sources)}",
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
        **context,
    )


def write_page(path: Path, html: str) -> Path:
    """Writes a page atomically. Control characters, which HTML does not allow, are shown as U+FFFD."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_file(path, CONTROLS.sub("\ufffd", html))
    return path


@cache
def _asset(name: str) -> str:
    return (files("wardround.reporting") / "templates" / "assets" / name).read_text(encoding="utf-8")


def _policy_hash(source: str) -> str:
    return f"'sha256-{b64encode(hashlib.sha256(source.encode()).digest()).decode()}'"
