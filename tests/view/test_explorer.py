"""The explorer in a real Chromium: filters, patterns, orders and the page of a question."""

from __future__ import annotations

import csv
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl
import pytest
from chromium import needs_chromium
from playwright.sync_api import Browser, Page, expect
from view_browser import at, chromium, open_page, serving_view, settle, shown_cases

from wardround.marking.review_notes import read_notes

pytestmark = needs_chromium


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as opened:
        yield opened


@pytest.fixture(scope="module")
def visited(browser: Browser, explored: Path) -> Iterator[tuple[Page, list[str]]]:
    with serving_view(explored) as link:
        yield open_page(browser, link)


@pytest.fixture
def page(visited: tuple[Page, list[str]]) -> Page:
    """The table without filters; no page wrote an error before."""
    opened, errors = visited
    assert errors == []
    opened.goto(opened.url.partition("#")[0] + "#")
    opened.get_by_role("heading", name="Questions").wait_for(state="attached")
    expect(opened.locator(".count")).to_contain_text("of 135 questions")
    return opened


def shares(run: Path, **where: str) -> dict[tuple[str, str, str, str], float]:
    """The share right of each case, question, candidate and degradation, from the marks alone."""
    right: dict[tuple[str, str, str, str], list[bool]] = defaultdict(list)
    marks = pl.read_parquet(run / "marks.parquet").filter(**where)
    for mark in marks.explode("modality").iter_rows(named=True):
        degradation = json.loads(mark["condition"])["degradation"]
        right[mark["case"], mark["question"], mark["candidate"], degradation].append(mark["outcome"] == "right")
    return {key: sum(values) / len(values) for key, values in right.items()}


def test_replies_and_both_images_of_a_pattern_are_five_clicks_away(page: Page, explored: Path) -> None:
    """A right and B wrong in histopathology at L2: the pattern, two filters, the first question."""
    clicks = 0

    def click(role: str, name: str) -> None:
        nonlocal clicks
        clicks += 1
        page.get_by_role(role, name=name).first.click()  # type: ignore[arg-type]

    click("button", "A right, B wrong")
    click("button", "Histopathology")
    click("button", "L2")
    settle(page)
    marked = shares(explored, severity="L2")
    histopathology = {f"case-{number:03}" for number in range(0, 36, 3)}
    wanted = {
        f"{case} {question}"
        for (case, question, candidate, degradation), share in marked.items()
        if candidate == "resident-8b"
        and share > 0.5
        and case in histopathology
        and marked[case, question, "student-2b", degradation] < 0.5
    }
    assert set(shown_cases(page)) <= wanted
    expect(page.locator(".count b")).to_have_text(str(len(wanted)))
    click("link", sorted(wanted)[0].split()[0])
    assert clicks <= 5
    expect(page.locator(".replies thead th").nth(1)).to_have_text("resident-8b")
    expect(page.locator(".replies thead th").nth(2)).to_have_text("student-2b")
    assert page.locator(".replies tbody tr").first.locator("td .said").count() >= 2
    assert page.locator(".frame img").count() == 2
    for image in page.locator(".frame img").all():
        image.evaluate("image => image.decode()")
    assert len({image.get_attribute("src") for image in page.locator(".frame img").all()}) == 2


def test_the_difference_on_top_equals_the_comparison_of_the_report(page: Page, explored: Path) -> None:
    at(page, "kind=choice&type=none&severity=L0&axis.degradation=none&pattern=pair&a=resident-8b&b=student-2b")
    page.locator(".figure[data-value]").wait_for()
    with (explored / "comparisons.csv").open() as file:
        row = next(
            row
            for row in csv.DictReader(file)
            if row["measure"] == "accuracy" and {row["a"], row["b"]} == {"resident-8b", "student-2b"}
        )
    sign = 1 if row["a"] == "resident-8b" else -1
    shown = {
        name: float(page.locator(".figure").get_attribute(f"data-{name}") or "nan") for name in ("value", "low", "high")
    }
    assert shown["value"] == pytest.approx(sign * float(row["value"]), abs=1e-9)
    bounds = sorted(sign * float(row[name]) for name in ("low", "high"))
    assert [shown["low"], shown["high"]] == pytest.approx(bounds, abs=0.02)  # another seed of the same bootstrap


def test_a_pattern_of_degradation_uses_the_clean_question_of_a_degraded_one(page: Page, explored: Path) -> None:
    at(page, "pattern=degraded&a=resident-8b&type=gaussian_noise")
    marked = shares(explored)
    falls = [
        case
        for (case, question, candidate, degradation), share in marked.items()
        if (question, candidate, degradation) == ("mcq-deg", "resident-8b", "assigned")
        and share < 0.5
        and marked[case, "mcq-deg", "resident-8b", "none"] > 0.5
    ]
    expect(page.locator(".quadrant.q10 b")).to_have_text(str(len(falls)))
    assert {name.split()[0] for name in shown_cases(page)} <= set(falls)


def test_right_in_some_trials_only(page: Page, explored: Path) -> None:
    at(page, "pattern=trials&a=coin&axis.degradation=none")
    some = {
        key[:2] for key, share in shares(explored).items() if key[2] == "coin" and 0 < share < 1 and key[3] == "none"
    }
    expect(page.locator(".count b")).to_have_text(str(len(some)))


def test_orders_put_the_hardest_first(page: Page, explored: Path) -> None:
    at(page, "sort=hardest&kind=choice")
    marked = shares(explored, kind="choice")
    means: dict[tuple[str, str], list[float]] = defaultdict(list)
    for (case, question, _, _), share in marked.items():
        means[case, question].append(share)
    difficulty = {f"{case} {question}": sum(values) / len(values) for (case, question), values in means.items()}
    listed = [difficulty[name] for name in shown_cases(page)]
    assert listed == sorted(listed)
    assert listed[0] == pytest.approx(min(difficulty.values()))


@pytest.mark.parametrize(
    ("phrase", "expected"),
    [("night sweats", {1, 7, 13, 19, 25, 31}), ("Quelby", None), ("no such words", set())],
)
def test_search_finds_histories_and_replies(page: Page, phrase: str, expected: set[int] | None) -> None:
    page.get_by_role("searchbox").fill(phrase)
    page.get_by_role("searchbox").press("Enter")
    settle(page)
    if expected == set():
        expect(page.locator(".empty")).to_be_visible()
        return
    cases = {int(name.split()[0][5:]) for name in shown_cases(page)}
    assert cases
    if expected is None:  # a word that only a simulated reply has
        assert all("open" in name for name in shown_cases(page))
    else:
        assert cases <= expected


def test_previous_and_next_stay_in_the_filter_and_the_address_can_be_shared(page: Page, browser: Browser) -> None:
    at(page, "tag=rare&stage=DD&page=question&case=case-000&question=dd")
    page.get_by_role("link", name="next").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("case-020")
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_have_text("case-020")
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("heading", level=1)).to_have_text("case-000")
    expect(page.locator(".turn")).to_contain_text("1 of 2")


def test_the_phrase_that_was_read_is_marked_and_the_chain_is_a_path(page: Page) -> None:
    at(page, "page=question&case=case-004&question=dd&candidate=coin")
    assert "answer is" in page.locator("mark").first.inner_text()
    steps = page.locator(".chains li").first.locator(".step")
    assert [step.locator("b").inner_text() for step in steps.all()] == ["IQA", "AL", "DD"]


def test_an_image_is_wiped_windowed_and_made_large(page: Page) -> None:
    at(page, "page=question&case=case-001&question=mcq")
    frame = page.locator(".frame").first
    page.locator(".wipe").fill("20")
    assert page.locator(".layer.over").evaluate("layer => layer.style.clipPath").startswith("inset(0px 0px 0px 20%")
    page.get_by_role("button", name="Window").click()
    frame.focus()
    page.keyboard.press("ArrowRight")
    assert float(frame.get_attribute("data-width") or 1) != 1
    page.keyboard.press("0")
    page.keyboard.press("f")
    assert page.locator(".viewer.whole .frame").bounding_box()["width"] > 1400  # type: ignore[index]
    page.keyboard.press("Escape")
    assert page.locator(".viewer.whole").count() == 0


def test_the_map_leads_to_the_wrong_answers_of_a_field(page: Page, explored: Path) -> None:
    at(page, "page=map")
    marked = [share for key, share in shares(explored).items() if key[2:] == ("coin", "none")]
    field = page.get_by_role("link", name="coin, reference")
    assert f"{100 * sum(marked) / len(marked):.1f}%" in field.inner_text()
    field.click()
    settle(page)
    marks = pl.read_parquet(explored / "marks.parquet").filter(candidate="coin", outcome="wrong")
    wrong = {
        row[:2] for row in marks.select("case", "question", "condition").iter_rows() if '"degradation":"none"' in row[2]
    }
    expect(page.locator(".count b")).to_have_text(str(len(wrong)))


def test_confusions_count_what_was_chosen_instead(page: Page) -> None:
    at(page, "page=confusions&a=coin&kind=choice")
    page.locator("table.plain").first.wait_for()
    counts = [int(cell.inner_text()) for cell in page.locator("table.plain .number").all()]
    assert counts == sorted(counts, reverse=True)
    page.locator("table.plain a").first.click()
    expect(page.locator(".replies")).to_be_visible()


def test_confusions_count_the_first_diagnoses_of_open_answers(page: Page, explored: Path) -> None:
    """The counts by hand from the verdicts: of three trials the diagnosis named most often, else that of trial 0."""
    named: dict[tuple[str, str], list[tuple[str, str, bool]]] = defaultdict(list)
    verdicts = pl.read_parquet(explored / "verdicts.parquet").filter(candidate="coin", rank=1).sort("trial")
    for row in verdicts.iter_rows(named=True):
        if json.loads(row["condition"])["degradation"] == "none":
            named[row["case"], row["question"]].append((row["gold"], row["diagnosis"], row["same"]))
    expected = Counter(
        (gold, diagnosis)
        for trials in named.values()
        for gold, diagnosis, same in [max(trials, key=trials.count)]  # the first of several maxima
        if not same
    )
    at(page, "page=confusions&a=coin&axis.degradation=none&severity=L0")
    rows = page.locator(".diagnoses tbody tr")
    rows.first.wait_for()
    cells = [row.locator("td").all_inner_texts() for row in rows.all()]
    shown = {(right, named_first): int(times) for right, named_first, times, _ in cells}
    assert sum(expected.values()) > 5
    assert shown == expected
    expect(page.locator(".diagnoses .meaning")).to_contain_text(f"{len(expected)} confusions")


def test_a_flag_is_kept_with_the_run(browser: Browser, copied_run: Callable[[], Path]) -> None:
    run = copied_run()
    with serving_view(run) as link:
        page, errors = open_page(browser, link)
        at(page, "page=question&case=case-002&question=mcq")
        page.get_by_label("Note").fill("the key is another")
        page.get_by_role("button", name="The key is wrong").click()
        expect(page.locator(".notes")).to_contain_text("the key is another")
        assert errors == []
        page.context.close()
    assert [(note.case, note.kind) for note in read_notes(run)] == [("case-002", "wrong key")]
    assert pl.read_csv(run / "items_to_review.csv")["case"][0] == "case-002"
