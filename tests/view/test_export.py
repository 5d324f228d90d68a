"""The explorer as static files, opened from a file address."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from chromium import needs_chromium
from exam_study import wardround
from playwright.sync_api import expect
from view_browser import at, chromium, open_page, serving_view, settle, shown_cases


@pytest.fixture(scope="module")
def exported(explored: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("export") / "site"
    written = wardround("view", explored, "--export", folder, "--json", cwd=explored.parent)
    assert written.returncode == 0, written.stderr
    facts = json.loads(written.stdout)
    assert facts["questions"] == 135
    assert facts["images"] == len(list((folder / "images").iterdir())) == 36 * 3  # clean, blurred, with noise
    return folder


@needs_chromium
def test_the_export_shows_from_a_file_address_what_the_server_shows(exported: Path, explored: Path) -> None:
    selection = "kind=choice&pattern=pair&a=resident-8b&b=coin&modality=CT&sort=hardest"
    with chromium() as browser, serving_view(explored) as link:
        served, errors = open_page(browser, link)
        at(served, selection)
        page, more_errors = open_page(browser, (exported / "index.html").as_uri())
        at(page, selection)
        assert shown_cases(page) == shown_cases(served)
        figure = page.locator(".figure[data-value]").get_attribute("data-value")
        assert float(figure or "nan") == pytest.approx(
            float(served.locator(".figure[data-value]").get_attribute("data-value") or "nan"), abs=1e-9
        )
        page.locator(".space .row a").first.click()
        expect(page.locator(".replies mark").first).to_be_visible()
        for image in page.locator(".frame img").all():
            image.evaluate("image => image.decode()")
        page.get_by_role("link", name="back to the table").click()
        page.get_by_role("searchbox").fill("night sweats")
        page.get_by_role("searchbox").press("Enter")
        settle(page)
        assert {int(name.split()[0][5:]) % 6 for name in shown_cases(page)} == {1}
        page.get_by_role("link", name="Runs").click()
        expect(page.get_by_role("region", name="explored")).to_contain_text("36 cases")
        assert errors + more_errors == []


def test_an_export_into_a_folder_with_files_is_refused(explored: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    refused = wardround("view", explored, "--export", tmp_path, cwd=tmp_path)
    assert refused.returncode == 1
    assert "is not an empty folder" in refused.stderr
    assert [file.name for file in tmp_path.iterdir()] == ["mine.txt"]
