"""A judge in a run: one call per distinct pair, stored and replayed; failed verdicts are unscored and counted."""

from __future__ import annotations

import json
import re
import signal
import sqlite3

import polars as pl
import pytest
from aiohttp import web
from exam_server import ExamServer, text_of
from exam_study import case, start, wardround, write_cases, write_study
from judged_study import DISEASES, compare_letters, judged_pair, list_diagnoses, marks_of, run, write_judged_study

from wardround.core.errors import WardroundError
from wardround.marking.parser.choice import MODES
from wardround.pipeline import mark_run
from wardround.preflight import check_study


@pytest.fixture
def servers():
    with ExamServer(list_diagnoses) as candidate, ExamServer(compare_letters) as judge:
        yield candidate, judge


def quiet_mark(folder, **more):
    return mark_run(folder, note=lambda line: None, **more)


def test_the_judge_gets_one_call_per_distinct_pair(tmp_path, servers):
    candidate, judge = servers
    notes: list[str] = []
    ended = run(write_judged_study(tmp_path, candidate.url, {"base_url": judge.url}, top={"trials": 3}), notes=notes)
    expected = {(DISEASES[n % 4].lower(), name) for n in range(8) for name in ("lupus", "tetanus")}
    expected |= {(DISEASES[n].lower(), DISEASES[n].lower()) for n in (0, 2)}
    expected |= {("gout", "GOUT"), ("acute appendicitis", "ACUTE APPENDICITIS")}
    assert sorted(judged_pair(body) for body in judge.bodies) == sorted(expected)
    assert judge.calls == len(expected)
    assert f"judge: stored 0 of {len(expected)} verdicts; {len(expected)} new" in notes
    entry = ended.manifest["judge"]
    assert (entry["pairs"], entry["new"], entry["calls"], entry["failed"]) == (
        len(expected),
        len(expected),
        judge.calls,
        0,
    )
    assert entry["tokens_in"] == 100 * judge.calls
    assert ended.exit_code == 0


def test_marks_name_the_judge_and_its_verdict_on_each_rank(tmp_path, servers):
    candidate, judge = servers
    ended = run(write_judged_study(tmp_path, candidate.url, {"base_url": judge.url, "revision": "r2"}))
    marks = marks_of(ended)
    even, odd = marks[::2], marks[1::2]
    assert set(even["outcome"]) == {"right"}
    assert set(odd["outcome"]) == {"wrong"}
    assert even["hits"].to_list() == [[True, False, False]] * 4
    assert odd["hits"].to_list() == [[False, False, True]] * 4
    (name,) = set(marks["judge"])
    assert name.startswith("openai/judge@r2#")
    assert name == ended.manifest["judge"]["name"]
    figures = {row["measure"]: row for row in pl.read_csv(ended.folder / "measures.csv").iter_rows(named=True)}
    assert (figures["hit@1"]["value"], figures["hit@3"]["value"]) == (0.5, 1.0)


def test_the_judge_has_temperature_0_and_64_tokens_unless_it_has_settings_of_its_own(tmp_path, servers):
    candidate, judge = servers
    run(
        write_judged_study(
            tmp_path, candidate.url, {"base_url": judge.url}, sampling={"temperature": 0.9, "max_tokens": 300}
        )
    )
    assert {(body["temperature"], body["max_tokens"]) for body in judge.bodies} == {(0.0, 64)}
    assert {body["temperature"] for body in candidate.bodies} == {0.9}
    judge.bodies.clear()
    study = tmp_path / "warm"
    run(write_judged_study(study, candidate.url, {"base_url": judge.url, "temperature": 1.0, "max_tokens": 2000}))
    assert {(body["temperature"], body["max_tokens"]) for body in judge.bodies} == {(1.0, 2000)}


def test_a_stored_judge_is_replayed_without_its_server_or_its_key(tmp_path, servers, monkeypatch):
    candidate, judge = servers
    monkeypatch.setenv("JUDGE_KEY", "s3cret-of-the-judge")
    ended = run(write_judged_study(tmp_path, candidate.url, {"base_url": judge.url, "api_key_env": "JUDGE_KEY"}))
    before = marks_of(ended)
    calls = judge.calls, candidate.calls
    judge.stop()
    candidate.stop()
    monkeypatch.delenv("JUDGE_KEY")
    again = quiet_mark(ended.folder)
    assert again.exit_code == 0
    assert marks_of(again).equals(before)
    assert (judge.calls, candidate.calls) == calls
    assert again.manifest["judge"]["new"] == 0
    assert again.manifest["judge"]["calls"] == judge.calls  # the counts of the first marking are kept
    assert "s3cret" not in (ended.folder / "manifest.json").read_text()


def test_another_judge_makes_its_own_calls_only_once(tmp_path, servers):
    candidate, judge = servers
    ended = run(write_judged_study(tmp_path, candidate.url, {"base_url": judge.url}))
    asked, first = candidate.calls, judge.calls
    with ExamServer(lambda body, index: "B") as stern:
        file = tmp_path / "stern.toml"
        file.write_text(f'[judge]\nprovider = "openai"\nmodel = "stern"\nbase_url = "{stern.url}"\n')
        again = quiet_mark(ended.folder, judge=file)
        assert stern.calls == again.manifest["judge"]["pairs"] == first
        assert set(marks_of(again)["outcome"]) == {"wrong"}
        quiet_mark(ended.folder, judge=file)
        assert stern.calls == first
    assert (candidate.calls, judge.calls) == (asked, first)
    back = quiet_mark(ended.folder)
    assert marks_of(back)["outcome"].value_counts().sort("outcome")["count"].to_list() == [4, 4]
    assert (candidate.calls, judge.calls) == (asked, first)


def test_without_ask_judge_only_stored_verdicts_count(tmp_path, servers):
    candidate, judge = servers
    ended = run(write_judged_study(tmp_path, candidate.url, None))
    file = tmp_path / "judge.toml"
    file.write_text(f'[judge]\nprovider = "openai"\nmodel = "judge"\nbase_url = "{judge.url}"\n')
    marked = quiet_mark(ended.folder, judge=file, ask_judge=False)
    assert (judge.calls, marked.exit_code) == (0, 3)
    assert marked.manifest["why"] == "the judge: it is not asked after an interruption"
    assert set(marks_of(marked)["rule"]) == {"no verdict"}
    assert quiet_mark(ended.folder, judge=file).manifest["status"] == "complete"


@pytest.mark.slow
def test_the_mark_command_calls_no_judge_again(tmp_path, servers):
    candidate, judge = servers
    ended = run(write_judged_study(tmp_path, candidate.url, {"base_url": judge.url}))
    calls = judge.calls
    process = wardround("mark", ended.folder, "--json", cwd=tmp_path)
    assert (process.returncode, json.loads(process.stdout)["status"], judge.calls) == (0, "complete", calls)
    unknown = wardround("mark", ended.folder, "--parser", "guess", cwd=tmp_path)
    assert unknown.returncode == 1
    assert "guess" in unknown.stderr
    assert "Traceback" not in unknown.stderr


def test_without_a_judge_open_answers_are_unscored_and_no_model_is_asked(tmp_path, servers):
    candidate, judge = servers
    ended = run(write_judged_study(tmp_path, candidate.url, None))
    marks = marks_of(ended)
    assert set(marks["outcome"]) == {"unscored"}
    assert set(marks["rule"]) == {"no judge"}
    assert ended.manifest["judge"] is None
    assert judge.calls == 0
    assert not any("Proposed diagnosis" in text_of(body) for body in candidate.bodies)


def test_a_judge_that_fails_leaves_marks_unscored_and_the_run_incomplete(tmp_path, servers):
    candidate, judge = servers
    judge.replying = lambda body, number: web.Response(status=500) if judged_pair(body)[1] == "lupus" else None
    study = write_judged_study(tmp_path, candidate.url, {"base_url": judge.url, "attempts": 2})
    ended = run(study)
    assert ended.exit_code == 3
    assert ended.manifest["judge"]["failed"] == 4
    assert "no answer after 2 attempts" in ended.manifest["why"]
    marks = marks_of(ended)
    assert marks[1::2]["outcome"].to_list() == ["unscored"] * 4
    assert marks[1::2]["hits"].to_list() == [[None, False, True]] * 4
    assert marks[::2]["hits"].to_list() == [[True, None, False]] * 4
    figures = {row["measure"]: row for row in pl.read_csv(ended.folder / "measures.csv").iter_rows(named=True)}
    assert figures["unscored"]["value"] == 0.5
    assert (figures["hit@1"]["n"], figures["hit@3"]["n"]) == (4, 8)
    assert not any("Proposed diagnosis" in text_of(body) for body in candidate.bodies)  # no fallback

    judge.replying = None
    calls = judge.calls
    again = run(study)
    assert (again.exit_code, again.manifest["status"], again.manifest["why"]) == (0, "complete", None)
    assert judge.calls == calls + 4
    assert "unscored" not in set(marks_of(again)["outcome"])


def test_a_run_is_marked_without_a_judge_that_cannot_be_reached(tmp_path, servers, monkeypatch):
    candidate, judge = servers
    monkeypatch.setattr("wardround.running.caller.MAX_SECONDS_UNREACHED", 0.5)
    judge.stop()
    ended = run(write_judged_study(tmp_path, candidate.url, {"base_url": judge.url}))
    assert ended.exit_code == 3
    assert "the judge: given up" in ended.manifest["why"]
    assert set(marks_of(ended)["outcome"]) == {"unscored"}
    judge.start()
    again = quiet_mark(ended.folder)
    assert (again.exit_code, again.manifest["status"]) == (0, "complete")


def test_unreadable_verdicts_are_stored_and_unscored(tmp_path, servers):
    candidate, judge = servers
    judge.answering = lambda body, index: {
        "message": {"role": "assistant", "content": "Let me think about both"},
        "finish_reason": "length",
    }
    ended = run(write_judged_study(tmp_path, candidate.url, {"base_url": judge.url}))
    entry, calls = ended.manifest["judge"], judge.calls
    assert ended.exit_code == 0
    assert entry["unreadable"] == entry["cut"] == entry["pairs"] == calls
    assert any("larger max_tokens" in line for line in ended.manifest["warnings"])
    assert set(marks_of(ended)["rule"]) == {"no verdict"}
    quiet_mark(ended.folder)
    assert judge.calls == calls


def test_unreadable_verdicts_raise_a_warning(tmp_path, servers):
    candidate, judge = servers
    judge.answering = lambda body, index: "It depends."
    study = write_judged_study(tmp_path, candidate.url, {"base_url": judge.url})
    process = wardround("run", study, cwd=tmp_path)
    assert re.search(r"warning: (\d+) of the judge's \1 verdicts could not be read", process.stderr)


def test_a_judge_that_is_an_examined_candidate_raises_one_warning(tmp_path, servers):
    candidate, _ = servers
    candidate.answering = lambda body, index: (compare_letters if "Proposed" in text_of(body) else list_diagnoses)(
        body, index
    )
    ended = run(write_judged_study(tmp_path, candidate.url, {"base_url": candidate.url, "model": "exam"}))
    expected = ["the judge is the examined candidate 'server' itself"]
    assert ended.manifest["warnings"] == expected
    assert quiet_mark(ended.folder).manifest["warnings"] == expected


def test_a_simulated_judge_is_not_every_simulated_candidate(tmp_path):
    candidate = {"provider": "simulated", "extra_body": {"hit1": 0.5}}
    judge = {"provider": "simulated", "model": "exam"}
    ended = run(write_judged_study(tmp_path, "http://127.0.0.1:9/v1", judge, candidate=candidate))
    assert not [line for line in ended.manifest["warnings"] if "itself" in line]


def test_the_budget_limits_the_judge_too(tmp_path, servers):
    candidate, judge = servers
    study = write_judged_study(
        tmp_path, candidate.url, {"base_url": judge.url, "concurrency": 1}, budget={"requests": 12}
    )
    ended = run(study)
    sentinels = ended.manifest["sentinel"]["server"]["asked_again"]
    assert judge.calls == 12 - 8 - sentinels
    assert ended.exit_code == 3
    assert ended.manifest["why"] == "the judge: the budget of 12 requests is spent"


def test_an_offline_study_refuses_a_judge_elsewhere_before_anything_is_asked(tmp_path, servers):
    candidate, _ = servers
    study = write_judged_study(tmp_path, candidate.url, {"base_url": "http://judge.example/v1"}, top={"offline": True})
    with pytest.raises(WardroundError, match=r"offline.*judge\.example"):
        run(study)
    assert candidate.calls == 0


@pytest.mark.parametrize(
    ("judge", "problem"),
    [
        ({"provider": "oracle"}, "unknown provider 'oracle'"),
        ({"provider": "lexical", "extra_body": {"synonyms": "none.csv"}}, "there is no such table"),
        ({"provider": "lexical", "extra_body": {"fuzzy": True}}, "extra_body.fuzzy: unknown key"),
    ],
)
def test_wrong_judge_settings_are_refused_before_anything_is_asked(tmp_path, servers, judge, problem):
    candidate, _ = servers
    with pytest.raises(WardroundError, match=problem):
        run(write_judged_study(tmp_path, candidate.url, judge))
    assert candidate.calls == 0


def test_the_lexical_judge_makes_no_call_and_is_named_in_marks(tmp_path, servers):
    candidate, judge = servers
    (tmp_path / "names.csv").write_text("name,same_as\nLupus,gout\n")
    table = {"provider": "lexical", "extra_body": {"synonyms": "names.csv"}}
    ended = run(write_judged_study(tmp_path, candidate.url, table))
    marks = marks_of(ended)
    assert judge.calls == 0
    (name,) = set(marks["judge"])
    assert name.startswith("lexical-4:")
    gouty = marks.filter(pl.col("case").is_in(["case-1", "case-5"]))  # lupus is gout by the table
    assert gouty["hits"].to_list() == [[True, False, True]] * 2
    assert marks.filter(pl.col("case") == "case-3")["hits"].to_list() == [[False, False, True]]


def test_the_answers_of_the_judge_are_packed_with_the_run(tmp_path, servers):
    candidate, judge = servers
    ended = run(write_judged_study(tmp_path, candidate.url, {"base_url": judge.url}), pack=True)
    before = marks_of(ended)
    (tmp_path / "answers.sqlite").unlink()
    judge.stop()
    assert marks_of(quiet_mark(ended.folder)).equals(before)


def test_calls_of_a_judge_are_not_counted_as_those_of_a_candidate_named_judge(tmp_path, servers):
    candidate, judge = servers
    study = write_judged_study(tmp_path, candidate.url, {"base_url": judge.url}, candidate={"name": "judge"})
    manifest = run(study).manifest
    assert manifest["candidates"][0]["calls"] == 9  # one is a sentinel
    assert manifest["judge"]["calls"] == judge.calls


def test_a_study_of_choices_never_calls_its_judge(tmp_path, servers):
    _, judge = servers
    write_cases(tmp_path / "cases", [case(number) for number in range(3)])
    with ExamServer() as candidate:
        study = write_study(tmp_path, candidate.url, judge={"provider": "openai", "base_url": judge.url})
        ended = run(study)
    assert (ended.exit_code, judge.calls, ended.manifest["judge"]["pairs"]) == (0, 0, 0)


def test_verdicts_are_in_the_store_of_answers(tmp_path, servers):
    candidate, judge = servers
    run(write_judged_study(tmp_path, candidate.url, {"base_url": judge.url}))
    connection = sqlite3.connect(tmp_path / "answers.sqlite")
    runs = dict(connection.execute("select run, count(*) from calls group by run").fetchall())
    connection.close()
    assert runs == {"exam": 9, "exam: judge": judge.calls}  # one is a sentinel


def test_check_asks_the_judge_for_one_verdict(tmp_path, servers):
    candidate, judge = servers
    study = write_judged_study(tmp_path, candidate.url, {"base_url": judge.url})
    checked = check_study(study, runs=tmp_path / "runs", note=lambda line: None)
    assert checked.ready
    assert checked.summary["judge"]["warnings"] == []
    assert [judged_pair(body) for body in judge.bodies] == [("pneumonia", "pneumonia")]
    judge.answering = lambda body, index: "Who knows?"
    study = write_judged_study(tmp_path / "unreadable", candidate.url, {"base_url": judge.url})
    checked = check_study(study, runs=tmp_path / "unreadable" / "runs", note=lambda line: None)
    assert "it says no readable verdict" in checked.summary["judge"]["warnings"][-1]


def test_a_check_fails_if_the_judge_does_not_answer(tmp_path, servers):
    candidate, judge = servers
    judge.replying = lambda body, number: web.json_response({"error": "no such model"}, status=404)
    study = write_judged_study(tmp_path, candidate.url, {"base_url": judge.url})
    checked = check_study(study, runs=tmp_path / "runs", note=lambda line: None)
    assert not checked.ready
    assert "no such model" in checked.summary["judge"]["why"]


def test_ctrl_c_during_the_calls_of_the_judge_keeps_its_verdicts(tmp_path, servers):
    candidate, judge = servers
    judge.hold(answers=2)
    study = write_judged_study(tmp_path, candidate.url, {"base_url": judge.url, "concurrency": 1})
    process = start("run", study, "--runs", tmp_path / "runs", cwd=tmp_path)
    judge.wait_for(lambda: judge.held > 0, process)
    process.send_signal(signal.SIGINT)  # pending before the reply: at most one more call begins
    judge.release()
    out, err = process.communicate()
    assert process.returncode == 130, (out, err)
    calls = judge.calls
    assert calls < 14
    manifest = json.loads((tmp_path / "runs" / "exam" / "manifest.json").read_text())
    assert manifest["why"] == "the judge: it was interrupted"
    assert manifest["judge"]["new"] == judge.succeeded == calls
    again = run(study)
    assert (again.exit_code, judge.calls) == (0, again.manifest["judge"]["pairs"])


def test_other_parser_modes_read_the_same_answers_again_without_a_call(tmp_path):
    write_cases(tmp_path / "cases", [case(number) for number in range(3)])
    with ExamServer(lambda body, index: "The answer is B") as candidate:
        ended = run(write_study(tmp_path, candidate.url))
        calls = candidate.calls
        strict = marks_of(ended)
        assert strict["option"].to_list() == [1, 1, 1]
        for mode in MODES:
            again = quiet_mark(ended.folder, parser=mode)
            assert again.manifest["parser"] == mode
            if mode == "medq-deg-paper":  # the first capital letter is T
                assert set(marks_of(again)["outcome"]) != set(strict["outcome"])
        assert marks_of(quiet_mark(ended.folder)).equals(strict)
    assert candidate.calls == calls
