"""Judges from plug-ins: `wardround.judges`."""

from __future__ import annotations

import pytest
from exam_server import ExamServer
from judged_study import list_diagnoses, marks_of, run, write_judged_study

from wardround import plugins
from wardround.core.errors import WardroundError
from wardround.marking.judges.judge import DiagnosisPair, read_verdicts
from wardround.pipeline import mark_run


class FirstLetterJudge:
    """The same disease if both names begin alike; no verdict on lupus."""

    name = "first-letter-1"
    works_offline = True

    def __init__(self, settings):
        self.settings = settings

    def verdicts(self, pairs):
        return [self.verdict(pair) for pair in pairs]

    def verdict(self, pair: DiagnosisPair) -> bool | None:
        return None if pair.diagnosis == "lupus" else pair.diagnosis[0].lower() == pair.gold[0].lower()


class WrongCountJudge(FirstLetterJudge):
    def verdicts(self, pairs):
        return [True]


class WrongTypeJudge(FirstLetterJudge):
    def verdict(self, pair):
        return "same"


class BrokenJudge(FirstLetterJudge):
    def verdict(self, pair):
        raise KeyError("no such disease")


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    """Forgets after each test what it registered."""
    monkeypatch.setattr(plugins, "_from_files", {})


@pytest.fixture
def candidate():
    with ExamServer(list_diagnoses) as server:
        yield server


def test_the_verdicts_of_a_plugin_are_those_of_the_marks(tmp_path, candidate):
    plugins.register("judges", "first-letter", FirstLetterJudge)
    ended = run(write_judged_study(tmp_path, candidate.url, {"provider": "first-letter"}))
    marks = marks_of(ended)
    assert marks[::2]["hits"].to_list() == [[True, None, False]] * 4
    assert marks[1::2]["hits"].to_list() == [[None, False, True]] * 4
    assert set(marks["judge"]) == {"first-letter-1"}
    assert set(read_verdicts(ended.folder)["judge"]) == {"first-letter-1"}
    entry = ended.manifest["judge"]
    assert (entry["name"], entry["provider"], entry["why"]) == ("first-letter-1", "first-letter", None)
    assert ended.manifest["warnings"] == ["4 of the judge's 12 verdicts could not be read and are unscored"]
    assert ended.exit_code == 0


def test_a_plugin_is_not_asked_without_ask_judge(tmp_path, candidate):
    plugins.register("judges", "broken", BrokenJudge)
    ended = run(write_judged_study(tmp_path, candidate.url, None))
    file = tmp_path / "judge.toml"
    file.write_text('[judge]\nprovider = "broken"\n')
    marked = mark_run(ended.folder, judge=file, ask_judge=False, note=lambda line: None)
    assert (marked.exit_code, marked.manifest["why"]) == (3, "the judge: it is not asked after an interruption")


@pytest.mark.parametrize(
    ("judge", "problem"),
    [
        (WrongCountJudge, r"judge first-letter-1: returned 1 verdicts for 12 pairs"),
        (WrongTypeJudge, r"judge first-letter-1: returned 'same' for .*; expected True, False or None"),
        (BrokenJudge, r"judge first-letter-1: KeyError: 'no such disease'"),
    ],
)
def test_wrong_verdicts_are_refused_in_one_line(tmp_path, candidate, judge, problem):
    plugins.register("judges", "wrong", judge)
    with pytest.raises(WardroundError, match=f"^{problem}$"):
        run(write_judged_study(tmp_path, candidate.url, {"provider": "wrong"}))


@pytest.mark.parametrize("name", ["lexical", "openai"])
def test_a_plugin_with_the_name_of_a_built_in_is_refused(tmp_path, candidate, name):
    plugins.register("judges", name, FirstLetterJudge)
    with pytest.raises(WardroundError, match=f"'{name}' in wardround.judges is a built-in name"):
        run(write_judged_study(tmp_path, candidate.url, {"provider": "simulated"}))
    assert candidate.calls == 0


def test_an_unknown_judge_is_refused_with_the_names_of_plugins(tmp_path, candidate):
    plugins.register("judges", "first-letter", FirstLetterJudge)
    with pytest.raises(WardroundError, match=r"'oracle'; there are openai, .*, lexical, first-letter$"):
        run(write_judged_study(tmp_path, candidate.url, {"provider": "oracle"}))
    assert candidate.calls == 0


def test_a_plugin_cannot_name_error_classes(tmp_path, candidate):
    plugins.register("judges", "first-letter", FirstLetterJudge)
    with pytest.raises(WardroundError, match="error classes need a judge that is a model, not 'first-letter'"):
        run(write_judged_study(tmp_path, candidate.url, {"provider": "first-letter", "errors": True}))
    assert candidate.calls == 0
