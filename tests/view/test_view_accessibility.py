"""Every page of the explorer through axe-core, narrow and wide, light and dark; nothing is wider than the screen."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest
from chromium import needs_chromium
from playwright.sync_api import Browser
from view_browser import at, chromium, open_page, serving_view

pytestmark = needs_chromium
GRAVE = ("serious", "critical")
PAGES = {
    "questions": "",
    "pattern": "pattern=pair&modality=CT",
    "trials": "pattern=trials&search=weeks",
    "question": "page=question&case=case-004&question=dd&replies=all",
    "open question": "page=question&case=case-001&question=open",
    "map": "page=map",
    "confusions": "page=confusions",
    "runs": "page=runs",
}


def look(browser: Browser, run: Path, width: int, scheme: str, names: list[str]) -> tuple[list[object], int]:
    """What axe finds grave on these pages, and how many of its rules passed."""
    axe = (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")
    violations: list[object] = []
    passes = 0
    with serving_view(run) as link:
        # the page's own policy would refuse the checker, as it refuses every other script
        page, errors = open_page(browser, link, width, color_scheme=scheme, bypass_csp=True)
        for name in names:
            at(page, PAGES[name])
            page.evaluate(axe)
            checked = page.evaluate("axe.run()")
            passes += len(checked["passes"])
            violations += [
                (name, violation["id"], [node["target"] for node in violation["nodes"]][:3])
                for violation in checked["violations"]
                if violation["impact"] in GRAVE
            ]
            if page.evaluate("document.documentElement.scrollWidth") > width:
                violations.append((name, "wider than the screen"))
        violations += errors
        page.context.close()
    return violations, passes


def test_the_table_and_a_question_have_no_serious_violation(explored: Path) -> None:
    with chromium() as browser:
        assert look(browser, explored, 390, "dark", ["pattern", "question"])[0] == []
        violations, passes = look(browser, explored, 1440, "light", ["pattern", "question"])
    assert violations == []
    assert passes > 30


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 820, 1440, 2560])
def test_no_page_has_a_serious_violation(explored: Path, width: int, scheme: str) -> None:
    with chromium() as browser:
        violations, passes = look(browser, explored, width, scheme, list(PAGES))
    assert violations == []
    assert passes > 100
