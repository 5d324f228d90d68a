"""Case pages: every prompt and answer, escaped, and reachable from every table cell."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections import Counter
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest
from report_page import Page
from simulated_run import OPTIONS, picture, views, write_run

from wardround.reporting import AskView, CaseView, PromptPart, TrialView, report
from wardround.reporting.case_pages import group_prompts, page_name, write_cases

HOSTILE = "</script><script>alert(1)</script>"


def one_case(id: str = "c1", **fields: object) -> CaseView:
    """A case with one ask; keywords replace fields of the ask."""
    trial = TrialView(trial=0, text="B", outcome="right", option=2, confidence=0.7, rule="letter alone")
    ask = AskView("me", "mcq", {"images": "blank"}, (PromptPart("Which?"),), 2, (trial,), ("x", "y", "z"), (0, 2, 1))
    return CaseView(id, (replace(ask, **fields),))


def write_and_read(folder: Path, *cases: CaseView) -> Page:
    write_run(folder)
    report(folder, cases=cases)
    return Page((folder / "cases" / page_name(cases[0].id)).read_text(encoding="utf-8"))


def page_of(folder: Path, case: str) -> str:
    return (folder / "cases" / f"{case}.html").read_text(encoding="utf-8")


def trial_numbers(text: str) -> list[int]:
    """`0 to 2, 4` are the trials 0, 1, 2 and 4."""
    numbers: list[int] = []
    for part in text.split(", "):
        first, _, last = part.partition(" to ")
        numbers += range(int(first), int(last or first) + 1)
    return numbers


def test_every_answer_is_printed_with_its_mark(tmp_path: Path) -> None:
    rows = write_run(tmp_path, cases=4)
    report(tmp_path, cases=views(rows))
    page = Page(page_of(tmp_path, "case-03"))
    mine = [row for row in rows if row["case"] == "case-03"]
    shown = Counter()
    for chunk in re.findall(r"<tbody>.*?</tbody>", page_of(tmp_path, "case-03"), re.DOTALL):
        for row in re.findall(r"<tr.*?</tr>", chunk, re.DOTALL):
            expected = Page(row)
            (_, numbers), *_ = expected.find("td", "number")
            (_, outcome), *_ = expected.find("span", "outcome")
            shown.update((trial, outcome) for trial in trial_numbers(numbers))
    assert shown == Counter((row["trial"], row["outcome"]) for row in mine)
    assert {text.split(". ")[1].removesuffix(" right answer") for _, text in page.find("li")} == set(OPTIONS)


def test_trials_with_the_same_answer_and_mark_share_a_row(tmp_path: Path) -> None:
    same = TrialView(trial=0, text="B", outcome="right", option=2)
    trials = [replace(same, trial=number) for number in (0, 1, 2, 4, 6)]
    (ask,) = one_case(trials=(*trials, TrialView(3, "C", "wrong", 1), replace(same, trial=5, finish="length"))).asks
    assert [numbers for numbers, _ in ask.distinct_trials] == ["0 to 2, 4, 6", "3", "5"]
    page = write_and_read(tmp_path, CaseView("c1", (ask,)))
    assert len([text for attributes, text in page.find("th") if text == "me"]) == 3
    assert [text for _, text in page.find("span", "hidden")].count("me") == 2, "a name is shown once"


def test_candidates_are_in_the_order_of_the_report(tmp_path: Path) -> None:
    (ask,) = one_case().asks
    case = CaseView("c", tuple(replace(ask, candidate=name) for name in ("a", "b", "c")))
    (prompt,) = group_prompts(case, order=["c", "a"])
    assert [ask.candidate for ask in prompt.asks] == ["c", "a", "b"]
    write_cases([case], tmp_path, run="r", report="report.html", order=["c", "a"])
    index = Page((tmp_path / "index.html").read_text(encoding="utf-8"))
    assert [text for attributes, text in index.find("th", "number")] == ["c", "a", "b"]


def test_options_are_lettered_as_they_were_shown(tmp_path: Path) -> None:
    page = write_and_read(tmp_path, one_case())
    assert [text for _, text in page.find("li")] == ["A. x", "B. z right answer", "C. y"]
    assert any("B. z" in text and "right" in text for _, text in page.find("tr"))


def test_a_prompt_that_candidates_share_is_shown_once_and_so_is_an_image(tmp_path: Path) -> None:
    image = PromptPart("CT", image=picture("a"))
    (ask,) = one_case(prompt=(image, PromptPart("Which?"))).asks
    case = CaseView("c", (ask, replace(ask, candidate="you"), replace(ask, condition={"images": "as-is"})))
    groups = group_prompts(case)
    assert [[ask.candidate for ask in group.asks] for group in groups] == [["me", "you"], ["me"]]
    page = write_and_read(tmp_path, case)
    (address,) = [attributes["src"] for attributes, _ in page.find("img")]
    encoded = b64encode((tmp_path / "cases" / str(address)).read_bytes()).decode()
    assert f"data:image/png;base64,{encoded}" == image.image
    assert any(text.startswith("the same image as image 1") for _, text in page.find("p"))


def test_prompts_are_sorted_by_question_condition_and_images() -> None:
    (ask,) = one_case(condition={"images": "as-is"}).asks
    with_image = replace(ask, candidate="you", prompt=(PromptPart("CT", image=picture("a")), PromptPart("Which?")))
    swapped = replace(with_image, condition={"images": "swapped"})
    groups = group_prompts(CaseView("c", (ask, replace(ask, question="open"), swapped, with_image)))
    shown = [(group.question, group.condition.get("images"), group.image_count) for group in groups]
    assert shown == [("mcq", None, 1), ("mcq", None, 0), ("mcq", "swapped", 1), ("open", None, 0)]
    assert [is_repeated for group in groups for part, _, is_repeated in group.parts if part.image] == [False, True]


def test_markup_in_a_case_is_escaped(tmp_path: Path) -> None:
    trial = TrialView(0, HOSTILE, "wrong", reasoning=HOSTILE, finish=HOSTILE, rule=HOSTILE)
    fields = {
        "candidate": HOSTILE,
        "question": HOSTILE,
        "prompt": (PromptPart(HOSTILE), PromptPart(HOSTILE, image='x" onerror="alert(1)')),
        "options": (HOSTILE, "b"),
        "order": (1, 0),
        "gold": 0,
        "trials": (trial,),
        "slices": {"specialty": (HOSTILE, "other")},
    }
    case = replace(one_case(f"../{HOSTILE}", **fields), history=HOSTILE, facts={"sex": HOSTILE})
    page = write_and_read(tmp_path, case)
    assert len(page.find("script")) == 1
    assert not page.find("img"), "only a file that we wrote is an image"
    index = Page((tmp_path / "cases" / "index.html").read_text(encoding="utf-8"))
    assert len(index.find("script")) == 3
    data = next("".join(text) for tag, attributes, text in index.elements if attributes.get("id") == "data")
    assert json.loads(data)["candidates"][-1] == HOSTILE
    assert sorted(path.name for path in tmp_path.parent.iterdir() if path.suffix == ".html") == []


def test_a_case_page_links_to_its_neighbours_the_list_and_the_report(tmp_path: Path) -> None:
    write_and_read(tmp_path, one_case("first"), one_case("second"), one_case("third"))
    for name, before, after in [("first", None, "second"), ("second", "first", "third"), ("third", "second", None)]:
        page = Page((tmp_path / "cases" / f"{name}.html").read_text(encoding="utf-8"))
        links = {
            attributes.get("rel") or text: attributes["href"]
            for attributes, text in page.find("a")
            if attributes.get("href")
        }
        assert links.get("prev") == (f"{before}.html" if before else None)
        assert links.get("next") == (f"{after}.html" if after else None)
        assert links["all cases"] == "index.html"
        assert links["report"] == "../report.html"


@pytest.mark.parametrize(
    ("case", "name"),
    [("eurorad-18001", r"eurorad-18001\.html"), ("index", r"index-\w{12}\.html"), ("..", r"\w{12}\.html")],
)
def test_a_page_name_is_safe(case: str, name: str) -> None:
    assert re.fullmatch(name, page_name(case))


def test_no_two_cases_share_a_page() -> None:
    ids = ["a/b", "a b", "A-B", "a-b", "a.b", "ä", "ö", "x" * 200, "x" * 201, "CON", "con"]
    names = [page_name(id).lower() for id in ids]
    assert len(set(names)) == len(ids)
    assert all(re.fullmatch(r"[a-z0-9-]+\.html", name) and len(name) < 90 for name in names)


def test_every_score_links_to_the_cases_behind_it(tmp_path: Path) -> None:
    rows = write_run(tmp_path)
    page = Page(report(tmp_path, cases=views(rows)).read_text(encoding="utf-8"))
    index = Page((tmp_path / "cases" / "index.html").read_text(encoding="utf-8"))
    data = json.loads(next("".join(text) for _, attributes, text in index.elements if attributes.get("id") == "data"))
    links = [
        urlsplit(attributes["href"])
        for attributes, _ in page.find("a")
        if (attributes["href"] or "").startswith("cases/")
    ]
    scores = [text for _, text in page.find("td", "value") if text and "not asked" not in text]
    assert len(links) >= len(scores)
    values = {tuple(pair) for pair in data["values"]}
    for link in links:
        assert (tmp_path / link.path).is_file()
        for key, value in parse_qsl(link.fragment):
            known = data["candidates"] if key == "candidate" else ["right", "wrong", "unparsed", "unscored"]
            assert value in known if key in ("candidate", "outcome") else (key, value) in values


def test_without_cases_nothing_links_to_them(tmp_path: Path) -> None:
    write_run(tmp_path)
    assert "cases/index.html" not in report(tmp_path).read_text(encoding="utf-8")


def test_pages_share_image_files_and_old_ones_are_removed(tmp_path: Path) -> None:
    rows = write_run(tmp_path / "run")
    folder = tmp_path / "run" / "cases"
    (folder / "images").mkdir(parents=True)
    (folder / "images" / "old.png").write_bytes(b"old")
    report(tmp_path / "run", cases=views(rows))
    drawn = {part.image for case in views(rows) for ask in case.asks for part in ask.prompt if part.image}
    assert len(list((folder / "images").iterdir())) == len(drawn)
    shown = set(re.findall(r'<img src="images/([^"]+)"', (folder / "case-03.html").read_text()))
    assert len(shown) == 2  # as-is and swapped, however many candidates saw them
    assert all((folder / "images" / name).read_bytes().startswith(b"\x89PNG") for name in shown)
    assert "base64" not in (folder / "case-03.html").read_text()
