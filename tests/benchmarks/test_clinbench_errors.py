"""clinbench/table9: the judge names one kind of error for each answer that is not right."""

from __future__ import annotations

import pytest
from bench_cases import clinbench_cases
from exam_server import ExamServer, text_of
from exam_study import case, write_cases

from wardround.benchmarks.engine.bench import bench
from wardround.benchmarks.engine.named_study import find_study
from wardround.core.errors import WardroundError

REASON = "The fever and the cough of many days led me to think of this one, so: The answer is [{}]."
KINDS = ("Key Information Omission", "Temporal Sequence Confusion")


def answering(body, index):
    """Always B, with reasons but for patients below 4; of patient 39 nothing that can be read."""
    number = int(text_of(body).partition("patient ")[2].split()[0].rstrip("."))
    if number == 39:
        return "I do not know what to think of the cough and the fever of so many days in this patient."
    return "B" if number < 4 else REASON.format("B")


def judging(body, index):
    """Omission where the right answer is alpha, sequence elsewhere; of patient 8 two kinds at once."""
    text = text_of(body)
    if "patient 8." in text:
        return "\n".join(f"Error Category: {kind}" for kind in KINDS)
    kind = KINDS[0] if "alpha" in text.partition("Correct answer:")[2].splitlines()[0] else KINDS[1]
    return f"Error Category: {kind}\nJustification: so it is."


def benched(tmp_path, url, judge):
    return bench(
        "clinbench/table9",
        cases=write_cases(tmp_path / "cases", [case(number) for number in range(40)]),
        candidates=[{"name": "m", "provider": "openai", "model": "m", "base_url": url}],
        judge=judge,
        runs=tmp_path / "runs",
        note=lambda line: None,
    )


def test_wrong_answers_are_counted_by_kind(tmp_path):
    with ExamServer(answering) as candidate, ExamServer(judging) as judge:
        settings = {"provider": "openai", "model": "judge", "base_url": judge.url}
        found = benched(tmp_path, candidate.url, settings)
        # 30 of 40 are not right: patients 0, 2 and 3 without reasons, patient 8 with two kinds, 39 unparsed
        counts = {
            column.heading: cell.value
            for column, cell in zip(found.tables[1].columns, found.tables[1].rows[0].cells, strict=True)
        }
        assert judge.calls == 31
        assert counts == {
            "Key Information Omission": 9,
            "Clinical Context Misunderstanding": 0,
            "Medical Knowledge Deficiency": 0,
            "Priority Judgment Error": 0,
            "Temporal Sequence Confusion": 20,
            "No class": 1,
            "Not right": 30,
            "Without reasoning": 3,
        }
        accuracy = found.tables[0].rows[0].cells[0]
        assert sum(list(counts.values())[:6]) == counts["Not right"] == accuracy.n - round(accuracy.value * accuracy.n)
        share, none = found.tables[2].rows[0].cells[:2]
        assert share.value == pytest.approx(9 / 29)
        assert share.low < share.value < share.high
        assert (none.value, none.low) == (0, 0)
        assert none.high > 0.05
        assert "The judge of errors is not validated" in found.tables[1].notes[1]
        wording = [note for note in found.tables[0].notes if note.startswith("Wording")]
        assert wording == ["Wording: wardround's own, after the paper's structure (clinbench/choice and judge/error)."]
        again = benched(tmp_path, candidate.url, settings)
        assert judge.calls == 31
    assert [row.cells for row in again.tables[1].rows] == [row.cells for row in found.tables[1].rows]
    assert "Wrong answers by kind of error" in (found.folder / "report.html").read_text()


def test_cases_are_told_in_text_where_the_set_has_both_tellings(tmp_path):
    """The paper's error analysis is on its text version; a case's own history may be that with images."""
    texts: list[dict[str, object]] = []

    def answering_wrongly(body, index):
        texts.append(body)
        return REASON.format("D")

    with ExamServer(answering_wrongly) as candidate, ExamServer(judging) as judge:
        bench(
            "clinbench/table9",
            cases=clinbench_cases(tmp_path / "cases", 6),
            candidates=[{"name": "m", "provider": "openai", "model": "m", "base_url": candidate.url}],
            judge={"provider": "openai", "model": "judge", "base_url": judge.url},
            runs=tmp_path / "runs",
            note=lambda line: None,
        )
    asked = {str(body) for body in texts}
    assert len(asked) == 6, asked
    assert all("the scan shows a mass" in text and "image_url" not in text for text in asked)
    assert find_study("clinbench/table8").template.conditions["telling"] == ["text"]


@pytest.mark.parametrize(
    ("judge", "said"),
    [
        (None, "clinbench/table9 needs a judge that is a model"),
        ({"provider": "lexical"}, "error classes need a judge that is a model, not 'lexical'"),
    ],
)
def test_without_a_model_as_judge_nothing_is_asked(tmp_path, judge, said):
    with pytest.raises(WardroundError, match=said):
        benched(tmp_path, "http://127.0.0.1:9/v1", judge)
    assert not (tmp_path / "answers.sqlite").exists()
