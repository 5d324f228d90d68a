"""Secrets belong into variables: what a study may say, and what no file and no message contains."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from connecting import HOST, KEY, answer, ask, settings
from exam_server import ExamServer
from exam_study import bodies, wardround, write_cases, write_study
from relay import Relay

from wardround.benchmarks.engine.candidate_text import parse_candidate, read_candidates
from wardround.candidates.candidate import Fault
from wardround.candidates.http.address import public_address
from wardround.candidates.http.connection import Connection
from wardround.candidates.registry import make_candidate, refuse_remote
from wardround.core.errors import WardroundError
from wardround.core.secrets import has_secret_name, is_secret_value, is_variable_name
from wardround.core.study import Study, load_study

SECRET_PLACES: dict[str, tuple[dict[str, Any], str]] = {
    "key": ({"url": f"https://{HOST}/v1?key={KEY}"}, "base_url: the value of 'key'"),
    "short key": ({"url": f"https://{HOST}/v1?api-key=pass-word"}, "base_url: the value of 'api-key'"),
    "token": ({"url": f"https://{HOST}/v1?api-version=2024-10-21&token=pass-word"}, "the value of 'token'"),
    "sig": ({"url": f"https://{HOST}/v1?sig=pass%2Fword"}, "the value of 'sig'"),
    "code": ({"url": f"https://{HOST}/v1?code=pass-word"}, "the value of 'code'"),
    "odd name": ({"url": f"https://{HOST}/v1?x=Zm9vYmFyYmF6MTIzNDU2Nzg5MGFiYw"}, "the value of 'x'"),
    "extra body": ({"extra_body": {"api_key": "pass-word"}}, "extra_body.api_key"),
    "deep": ({"extra_body": {"a": [{"b": {"authToken": "pass-word"}}]}}, r"extra_body.a\[0\].b.authToken"),
    "list": ({"extra_body": {"api_keys": ["pass-word"]}}, r"extra_body.api_keys\[0\]"),
    "known value": ({"extra_body": {"user": KEY}}, "extra_body.user"),
    "password": ({"extra_body": {"data_sources": [{"password": "pass-word"}]}}, "password"),
    "header": ({"headers": {"X-Api-Key": "pass-word"}}, "header 'X-Api-Key'"),
    "odd header": ({"headers": {"X-Ward": f"Bearer {KEY}"}}, "header 'X-Ward'"),
    "key in a header": ({"headers": {"X-Ward": KEY}}, "header 'X-Ward'"),
    "random header": ({"headers": {"X-Ward": "9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c4d"}}, "header 'X-Ward'"),
    "pasted after $": ({"headers": {"X-Ward": f"${KEY}"}}, "header 'X-Ward'"),
}


@pytest.mark.parametrize(("fields", "place"), SECRET_PLACES.values(), ids=SECRET_PLACES)
def test_a_secret_in_the_study_is_refused_with_the_way_to_write_it(fields, place):
    fields = {"url": f"https://{HOST}/v1", **fields}
    with pytest.raises(WardroundError, match=place) as raised:
        make_candidate(settings(fields.pop("url"), **fields))
    assert str(raised.value).endswith(' looks like a secret; write "$NAME" and set the environment variable NAME')
    assert "pass" not in str(raised.value).replace("password", "")
    assert KEY not in str(raised.value)


HARMLESS: list[dict[str, Any]] = [
    {"url": f"https://{HOST}/openai/deployments/gpt?api-version=2024-10-21-preview&debug="},
    {"extra_body": {"max_tokens": 5, "max_completion_tokens": 5, "stop_token_ids": [1], "eos_token": "</s>"}},
    {"extra_body": {"response_format": {"json_schema": {"properties": {"token": {"type": "string"}}}}}},
    {"extra_body": {"prompt_cache_key": "ward", "user": "9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c4d", "guided_regex": "^A$"}},
    {"extra_body": {"skip_special_tokens": True, "token": None, "key": ""}},
    {"headers": {"anthropic-beta": "max-tokens-3-5-sonnet-2024-07-15", "X-Study": "ward-7-2024-10-21-preview"}},
    {"headers": {"OpenAI-Organization": "org-1a2b3c4d5e6f7g8h9i0jklmn", "HTTP-Referer": "https://ward.example/study"}},
]


@pytest.mark.parametrize("fields", HARMLESS)
def test_what_is_harmless_is_allowed(fields):
    fields = {"url": f"https://{HOST}/v1", **fields}
    allowed = settings(fields.pop("url"), **fields)
    assert make_candidate(allowed).settings == allowed


def test_variables_reach_headers_query_and_extra_body_and_nothing_else(monkeypatch, server):
    monkeypatch.setenv("EXAM_KEY", "a+b/c d&e=é%41")
    monkeypatch.setenv("EXAM_TOKEN", KEY)
    fields = {
        "headers": {"Authorization": "Bearer $EXAM_TOKEN", "X-Ward": "$EXAM_TOKEN"},
        "extra_body": {"source": {"key": "$EXAM_TOKEN", "parts": ["$EXAM_TOKEN", "5 $EXAM_TOKEN", "$"]}},
    }
    with Relay(server.port, is_proxy=True) as front:
        url = f"http://127.0.0.1:{front.port}/v1/?api-version=2024-10-21&key=$EXAM_KEY"
        to = make_candidate(settings(url, **fields))
        assert ask(to)
    target = urlsplit(front.heads[0].split(" ")[1])
    assert target.path == "/v1/chat/completions"
    assert parse_qsl(target.query) == [("api-version", "2024-10-21"), ("key", "a+b/c d&e=é%41")]
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"
    assert server.headers[0]["X-Ward"] == KEY
    assert server.bodies[0]["source"] == {"key": KEY, "parts": [KEY, "5 $EXAM_TOKEN", "$"]}
    assert to.identity.extra_body == fields["extra_body"]
    assert KEY not in to.identity.json + str(to.settings)


def test_a_variable_that_is_not_set_is_named():
    with pytest.raises(WardroundError, match="environment variable NOT_SET_ANYWHERE is not set"):
        make_candidate(settings(f"https://{HOST}/v1", extra_body={"key": "$NOT_SET_ANYWHERE"}))
    with pytest.raises(WardroundError, match="environment variable NOT_SET_ANYWHERE is not set"):
        make_candidate(settings(f"https://{HOST}/v1?key=$NOT_SET_ANYWHERE"))


def test_messages_contain_neither_secrets_nor_the_query(monkeypatch):
    monkeypatch.setenv("EXAM_KEY", "pass word/77")
    with Relay(9) as gone:
        pass
    connection = Connection(settings(f"http://127.0.0.1:{gone.port}/v1?key=$EXAM_KEY"))
    assert connection.url("/chat/completions").endswith("/v1/chat/completions?key=pass%20word%2F77")
    assert connection.address == f"http://127.0.0.1:{gone.port}/v1"
    messages = ("pass word/77", "?key=pass%20word%2F77", "?key=pass%20word/77", "pass word/77 pass word/77")
    assert not any("77" in connection.redact(message) for message in messages)
    with pytest.raises(Fault) as raised:
        answer(f"http://127.0.0.1:{gone.port}/v1?key=$EXAM_KEY")
    assert str(raised.value).startswith(f"http://127.0.0.1:{gone.port}/v1 cannot be reached: ")
    assert "77" not in str(raised.value).replace(str(gone.port), "")


def test_an_address_that_is_refused_is_not_repeated_with_its_secrets():
    for url in (f"ftp://me:{KEY}@h/v1", f"me:{KEY}@h/v1", f"https://me:{KEY}@h/v1", f"https://h/v1#{KEY}"):
        with pytest.raises(WardroundError) as raised:
            make_candidate(settings(url))
        assert KEY not in str(raised.value)
        with pytest.raises(WardroundError) as raised:
            refuse_remote(settings(url))
        assert KEY not in str(raised.value)
    assert public_address(f"https://me:{KEY}@h:1/v1?key={KEY}#{KEY}") == "https://h:1/v1"


PASTED = [KEY, "hf_AbCdEfGhIjKlMnOp1234", "d41d8cd98f00b204e9800998ecf8427e", "my key", "Bearer_x-y", "pass-word"]


@pytest.mark.parametrize("pasted", PASTED)
def test_a_key_pasted_in_place_of_its_variable_is_never_printed(pasted):
    with pytest.raises(ValueError, match="is not the name of an environment variable") as raised:
        settings(f"https://{HOST}/v1", api_key_env=pasted)
    assert pasted not in str(raised.value)
    with pytest.raises(ValueError, match="is not the name of an environment variable") as raised:
        Study(name="s", cases="c", candidates=[{"name": "a", "provider": "openai", "api_key_env": pasted}])  # type: ignore
    assert pasted not in str(raised.value)


@pytest.mark.parametrize("table", ["candidates", "judge"])
@pytest.mark.parametrize("command", ["run", "check"])
def test_a_study_with_a_pasted_key_stops_before_anything_is_written(tmp_path, command, table):
    write_cases(tmp_path / "cases", 2)
    pasted = {"api_key_env": KEY}
    judge = {"judge": {"provider": "openai", "base_url": "http://127.0.0.1:9/v1", **pasted}} if table == "judge" else {}
    study = write_study(tmp_path, candidate={} if judge else pasted, **judge)
    before = sorted(tmp_path.rglob("*"))
    ended = wardround(command, study, cwd=tmp_path)
    field = "judge.api_key_env" if judge else "candidates[0].api_key_env"
    advice = "is not the name of an environment variable; put the key into a variable and name it here"
    assert (ended.returncode, ended.stdout, ended.stderr) == (1, "", f"wardround: {study}: {field}: {advice}\n")
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("value", ['["%s"]', "{ a = '%s' }"])
def test_a_key_of_the_wrong_type_is_not_printed(tmp_path, value):
    for key in ("api_key_env", "headers", "extra_body", "base_url"):
        (tmp_path / "study.toml").write_text(
            f'name = "s"\ncases = "cases"\n[[candidates]]\nname = "a"\nprovider = "openai"\n{key} = [{value % KEY}]\n'
        )
        with pytest.raises(WardroundError) as error:
            load_study(tmp_path / "study.toml")
        assert f"candidates[0].{key}" in str(error.value)
        assert KEY not in str(error.value)


def test_a_run_with_a_variable_in_extra_body_writes_only_its_name(tmp_path):
    write_cases(tmp_path / "cases", 2)
    with ExamServer() as server:
        extra = {"extra_body": {"source": {"key": "$EXAM_KEY"}}}
        study = write_study(tmp_path, f"{server.url}?api-version=1&key=$EXAM_KEY", candidate=extra)
        ended = wardround("run", study, cwd=tmp_path, EXAM_KEY=KEY)
        assert ended.returncode == 0, ended.stderr
        again = wardround("run", study, cwd=tmp_path, EXAM_KEY="another")
    assert again.returncode == 0, again.stderr
    assert [body["source"] for body in server.bodies if body["source"] != {"key": KEY}] == []
    assert bodies(tmp_path / "answers.sqlite")
    assert [file for file in tmp_path.rglob("*") if file.is_file() and KEY.encode() in file.read_bytes()] == []
    manifest = json.loads(Path(tmp_path / "runs" / "exam" / "manifest.json").read_text())
    assert manifest["candidates"][0]["settings"]["extra_body"] == extra["extra_body"]


def test_what_looks_like_a_secret():
    names = ["api_key", "apiKey", "X-API-Key", "key", "access_token", "Authorization", "sig", "client_secret"]
    plain = ["max_tokens", "eos_token", "tokenizer", "keyboard", "monkey", "sort_key", "assignment", "model"]
    assert [name for name in names if not has_secret_name(name)] == []
    assert [name for name in plain if has_secret_name(name)] == []
    values = [KEY, f"Bearer {KEY}", "AKIAIOSFODNN7EXAMPLE", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc"]
    values += ["9a8b7c6d-5e4f-4a2b-9c0d-9e8f7a6b5c4d", "Zm9vYmFyYmF6MTIzNDU2Nzg5MGFiYw=="]
    texts = ["2024-10-21-preview", "meta-llama/Llama-3.2-90B-Vision-Instruct", "application/json", "ward 7", "on"]
    assert [value for value in values if not is_secret_value(value)] == []
    assert [text for text in texts if is_secret_value(text)] == []
    assert is_variable_name("AZURE_OPENAI_API_KEY_2024_EU2")


def test_a_judge_file_with_a_secret_is_refused_before_anything_is_marked(tmp_path, server):
    write_cases(tmp_path / "cases", 2)
    study = write_study(tmp_path, server.url)
    assert wardround("run", study, cwd=tmp_path).returncode == 0
    before = {file: file.read_bytes() for file in (tmp_path / "runs" / "exam").iterdir() if file.is_file()}
    judge = f'[judge]\nprovider = "openai"\nmodel = "j"\nbase_url = "{server.url}?key={KEY}"\n'
    (tmp_path / "judge.toml").write_text(judge)
    ended = wardround("mark", "runs/exam", "--judge", "judge.toml", cwd=tmp_path)
    assert ended.returncode == 1
    assert "candidate 'judge': base_url: the value of 'key' looks like a secret" in ended.stderr
    assert {file: file.read_bytes() for file in before} == before


@pytest.mark.parametrize("pasted", ["api_key_env", "base_url", "extra_body.api_key"])
def test_a_bench_study_with_a_secret_is_refused_before_its_file_is_written(tmp_path, pasted):
    write_cases(tmp_path / "cases", 2)
    url = f"http://127.0.0.1:9/v1?key={KEY}" if pasted == "base_url" else "http://127.0.0.1:9/v1"
    more = "" if pasted == "base_url" else f",{pasted}={KEY}"
    candidate = f"x={url},model=exam{more}"
    ended = wardround("bench", "medq-deg/table6", "--cases", "cases", "--candidate", candidate, cwd=tmp_path)
    assert ended.returncode == 1, ended.stderr
    assert KEY not in ended.stdout + ended.stderr
    assert not (tmp_path / "runs").exists()


def test_certificates_of_a_bench_candidate_are_beside_its_file(tmp_path):
    (tmp_path / "them.toml").write_text('[[candidates]]\nname = "x"\nprovider = "openai"\nca_bundle = "tls/ca.pem"\n')
    ((candidate,), judge) = read_candidates(tmp_path / "them.toml")
    assert candidate["ca_bundle"] == str(tmp_path / "tls" / "ca.pem")
    assert judge is None
    assert parse_candidate("x=openai,client_cert=ward.crt")["client_cert"] == str(Path.cwd() / "ward.crt")
