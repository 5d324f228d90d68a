"""A question that people are to write is read and edited on the desk, and joins its case by `build review`."""

from __future__ import annotations

from desk_site import DeskSite, case, opinion, read_all, write_set

from wardround.building.review.review import review
from wardround.cases.set import CaseSet

DRAFT = {"id": "cd", "kind": "choice", "stage": "CD", "prompt": "What now?", "options": ["laser", "drops"], "gold": 0}


def test_a_draft_is_edited_in_its_case_and_enters_the_set(tmp_path):
    site = DeskSite(tmp_path)
    queue = [{"id": f"c{number}", "level": "physician", "adds": DRAFT} for number in range(2)]
    write_set(site.root / "set", [case(number) for number in range(2)], {"decisions": queue})
    task = site.make_task("review", "set/review/decisions.jsonl", ["role:attending"], share="0")
    physician = site.add_person("Phil", "attending")

    def writes(number, page):
        assert "What now?" in page
        changed = {"edit:questions.cd.options": "surgery\r\ndrops", "edit:questions.cd.gold": "1"}
        return opinion("edit", "physician", **changed)

    assert sorted(read_all(physician, task, writes)) == ["decisions/c0", "decisions/c1"]
    file = tmp_path / "given.jsonl"
    file.write_bytes(site.admin.get(f"/admin/tasks/{task.id}/export/review.jsonl").content)
    review(site.root / "set", [file], tmp_path / "new", share=0)
    for record in CaseSet.open(tmp_path / "new", strict=True):
        asked = {question.id: question for question in record.questions}
        assert (asked["cd"].options, asked["cd"].gold, asked["mcq"].gold) == (["surgery", "drops"], 1, 0)
