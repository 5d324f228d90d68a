"""Runs under way: their progress is shown, and buttons stop and resume them."""

from __future__ import annotations

from pathlib import Path

import pytest
from chromium import needs_chromium
from exam_server import ExamServer
from exam_study import start, stored, write_cases, write_study
from playwright.sync_api import expect
from view_browser import chromium, open_page, serving_view

from wardround.core.errors import WardroundError
from wardround.pipeline import run_study
from wardround.view.run_list import find_runs
from wardround.view.run_progress import is_locked, read_progress, stop_run


@needs_chromium
def test_a_run_is_watched_stopped_and_resumed(tmp_path: Path) -> None:
    write_cases(tmp_path / "cases", 60)
    with ExamServer() as server, chromium() as browser:
        server.hold(answers=20)
        study = write_study(tmp_path, server.url, candidate={"concurrency": 8})
        process = start("run", study, cwd=tmp_path)
        server.wait_for(lambda: server.held == 8, process)
        with serving_view(tmp_path / "runs") as link:
            page, errors = open_page(browser, link)
            run = page.get_by_role("region", name="exam")
            expect(run).to_contain_text("20 of 60")
            expect(run.locator(".status")).to_have_text("running")
            run.get_by_role("button", name="Stop").click()
            expect(page.get_by_text("stopping when the calls under way are answered")).to_be_visible()
            server.release()
            process.communicate(timeout=600)
            assert process.returncode == 130
            expect(run.locator(".status")).to_have_text("incomplete")
            run.get_by_role("button", name="Resume").click()
            expect(run.locator(".status")).to_have_text("complete")
            page.get_by_role("link", name="Questions").click()
            expect(page.locator(".count")).to_contain_text("60 of 60 questions")
            assert errors == []
        assert len(stored(tmp_path / "answers.sqlite")) == 60  # none twice
        folder = tmp_path / "runs" / "exam"
        assert read_progress(folder) == {}


def test_a_run_is_under_way_until_it_is_marked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_cases(tmp_path / "cases", 3)
    seen = []
    monkeypatch.setattr("wardround.pipeline.unpack", lambda folder: seen.append(is_locked(folder)))
    with ExamServer() as server:
        run_study(write_study(tmp_path, server.url), runs=tmp_path / "runs", quiet=True, note=lambda line: None)

    assert seen == [True]  # it was asked, and not marked yet
    assert not is_locked(tmp_path / "runs" / "exam")


def test_a_run_that_is_not_under_way_is_not_stopped(explored: Path) -> None:
    (run,) = find_runs([explored])
    with pytest.raises(WardroundError, match="is not under way"):
        stop_run(run)
