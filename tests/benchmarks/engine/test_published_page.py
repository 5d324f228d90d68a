"""docs/published.md tells every note that stands at a published figure."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

DOCS = Path(__file__).parents[3] / "docs"


def test_the_page_is_what_the_notes_say() -> None:
    spec = spec_from_file_location("make_published", DOCS / "published" / "make.py")
    assert spec is not None
    assert spec.loader is not None
    make = module_from_spec(spec)
    spec.loader.exec_module(make)
    assert (DOCS / "published.md").read_text(encoding="utf-8") == make.page(), "run docs/published/make.py"
