"""Case pages: everything that was sent and said, escaped, and reachable from every cell."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest
from report_page import Page
from simulated_run import OPTIONS, picture, views, write_run

from wardround.reporting import AskView, CaseView, Part, TrialView, report
from wardround.reporting.case_pages import page_name, prompts, write_cases

HOSTILE = "</script><script>alert(1)</script>"


def one(id: str = "c1", **told: object) -> CaseView:
    """A case with one ask; keywords replace fields of the ask."""
    trial = TrialView(trial=0, text="B", outcome="right", option=2, confidence=0.7, rule="letter alone")
    ask = AskView("me", "mcq", {"images": "blank"}, (Part("Which?"),), 2, (trial,), ("x", "y", "z"), (0, 2, 1))
    return CaseView(id, (replace(ask, **told),))


def shown(folder: Path, *cases: CaseView) -> Page:
    write_run(folder)
    report(folder, cases=cases)
    return Page((folder / "cases" / page_name(cases[0].id)).read_text(encoding="utf-8"))


def page_of(folder: Path, case: str) -> str:
    return (folder / "cases" / f"{case}.html").read_text(encoding="utf-8")


def spelt_out(numbers: str) -> list[int]:
    """0 to 2, 4 are the trials 0, 1, 2 and 4."""
    found: list[int] = []
    for part in numbers.split(", "):
        first, _, last = part.partition(" to ")
        found += range(int(first), int(last or first) + 1)
    return found


def test_every_answer_is_there_with_its_mark(tmp_path: Path) -> None:
    rows = write_run(tmp_path, cases=4)
    report(tmp_path, cases=views(rows))
    page = Page(page_of(tmp_path, "case-03"))
    mine = [row for row in rows if row["case"] == "case-03"]
    shown = Counter()
    for chunk in re.findall(r"<tbody>.*?</tbody>", page_of(tmp_path, "case-03"), re.DOTALL):
        for row in re.findall(r"<tr.*?</tr>", chunk, re.DOTALL):
            told = Page(row)
            (_, numbers), *_ = told.find("td", "number")
            (_, outcome), *_ = told.find("span", "outcome")
            shown.update((trial, outcome) for trial in spelt_out(numbers))
    assert shown == Counter((row["trial"], row["outcome"]) for row in mine)
    assert {text.split(". ")[1].removesuffix(" right answer") for _, text in page.find("li")} == set(OPTIONS)


def test_trials_with_the_same_answer_and_mark_share_a_row(tmp_path: Path) -> None:
    same = TrialView(trial=0, text="B", outcome="right", option=2)
    trials = [replace(same, trial=number) for number in (0, 1, 2, 4, 6)]
    (ask,) = one(trials=(*trials, TrialView(3, "C", "wrong", 1), replace(same, trial=5, finish="length"))).asks
    assert [numbers for numbers, _ in ask.alike] == ["0 to 2, 4, 6", "3", "5"]
    page = shown(tmp_path, CaseView("c1", (ask,)))
    assert len([text for told, text in page.find("th") if text == "me"]) == 3
    assert [text for _, text in page.find("span", "hidden")].count("me") == 2, "a name is shown once"


def test_candidates_stand_in_the_order_of_the_report(tmp_path: Path) -> None:
    (ask,) = one().asks
    case = CaseView("c", tuple(replace(ask, candidate=name) for name in ("a", "b", "c")))
    (prompt,) = prompts(case, order=["c", "a"])
    assert [ask.candidate for ask in prompt.asks] == ["c", "a", "b"]
    write_cases([case], tmp_path, run="r", report="report.html", order=["c", "a"])
    index = Page((tmp_path / "index.html").read_text(encoding="utf-8"))
    assert [text for told, text in index.find("th", "number")] == ["c", "a", "b"]


def test_options_are_lettered_as_they_were_shown(tmp_path: Path) -> None:
    page = shown(tmp_path, one())
    assert [text for _, text in page.find("li")] == ["A. x", "B. z right answer", "C. y"]
    assert any("B. z" in text and "right" in text for _, text in page.find("tr"))


def test_a_prompt_that_candidates_share_is_shown_once_and_an_image_embedded_once(tmp_path: Path) -> None:
    image = Part("CT", image=picture("a"))
    (ask,) = one(prompt=(image, Part("Which?"))).asks
    case = CaseView("c", (ask, replace(ask, candidate="you"), replace(ask, condition={"images": "as-is"})))
    groups = prompts(case)
    assert [[ask.candidate for ask in group.asks] for group in groups] == [["me", "you"], ["me"]]
    page = shown(tmp_path, case)
    assert [told["src"] for told, _ in page.find("img")] == [image.image]
    assert any(text.startswith("the same image as image 1") for _, text in page.find("p"))


def test_prompts_go_by_question_and_condition_and_show_images_first() -> None:
    (ask,) = one(condition={"images": "as-is"}).asks
    seen = replace(ask, candidate="you", prompt=(Part("CT", image=picture("a")), Part("Which?")))
    swapped = replace(seen, condition={"images": "swapped"})
    groups = prompts(CaseView("c", (ask, replace(ask, question="open"), swapped, seen)))
    shown = [(group.question, group.condition.get("images"), group.images) for group in groups]
    assert shown == [("mcq", None, 1), ("mcq", None, 0), ("mcq", "swapped", 1), ("open", None, 0)]
    assert [again for group in groups for part, _, again in group.parts if part.image] == [False, True]


def test_hostile_cases_are_shown_and_not_obeyed(tmp_path: Path) -> None:
    trial = TrialView(0, HOSTILE, "wrong", reasoning=HOSTILE, finish=HOSTILE, rule=HOSTILE)
    told = {
        "candidate": HOSTILE,
        "question": HOSTILE,
        "prompt": (Part(HOSTILE), Part(HOSTILE, image='x" onerror="alert(1)')),
        "options": (HOSTILE, "b"),
        "order": (1, 0),
        "gold": 0,
        "trials": (trial,),
        "slices": {"specialty": (HOSTILE, "other")},
    }
    case = replace(one(f"../{HOSTILE}", **told), history=HOSTILE, facts={"sex": HOSTILE})
    page = shown(tmp_path, case)
    assert len(page.find("script")) == 1
    assert not page.find("img"), "what is no data URI is not an image"
    index = Page((tmp_path / "cases" / "index.html").read_text(encoding="utf-8"))
    assert len(index.find("script")) == 3
    data = next("".join(text) for tag, told, text in index.elements if told.get("id") == "data")
    assert json.loads(data)["candidates"][-1] == HOSTILE
    assert sorted(path.name for path in tmp_path.parent.iterdir() if path.suffix == ".html") == []


def test_pages_lead_to_their_neighbours_and_back(tmp_path: Path) -> None:
    shown(tmp_path, one("first"), one("second"), one("third"))
    for name, before, after in [("first", None, "second"), ("second", "first", "third"), ("third", "second", None)]:
        page = Page((tmp_path / "cases" / f"{name}.html").read_text(encoding="utf-8"))
        links = {told.get("rel") or text: told["href"] for told, text in page.find("a") if told.get("href")}
        assert links.get("prev") == (f"{before}.html" if before else None)
        assert links.get("next") == (f"{after}.html" if after else None)
        assert links["all cases"] == "index.html"
        assert links["report"] == "../report.html"


@pytest.mark.parametrize(
    ("case", "name"),
    [("eurorad-18001", r"eurorad-18001\.html"), ("index", r"index-\w{12}\.html"), ("..", r"\w{12}\.html")],
)
def test_page_names(case: str, name: str) -> None:
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
    data = json.loads(next("".join(text) for _, told, text in index.elements if told.get("id") == "data"))
    links = [urlsplit(told["href"]) for told, _ in page.find("a") if (told["href"] or "").startswith("cases/")]
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
