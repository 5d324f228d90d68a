"""Replies in odd encodings: read, stored, marked and reported; never thrown away."""

from __future__ import annotations

import codecs
import json
import math
from typing import Any

import orjson
import polars as pl
import pytest
from aiohttp import web
from exam_server import ExamServer
from exam_study import bodies, wardround, write_cases, write_study
from hypothesis import given
from hypothesis import strategies as st

from wardround.candidates.http import reply_json
from wardround.candidates.http.reply_json import MAX_DEPTH, NotJson, as_utf8, read_json

BODIES: dict[str, tuple[bytes, Any]] = {
    "UTF-8 mark": (codecs.BOM_UTF8 + b'{"a":"\xc3\xa9"}', {"a": "é"}),
    "UTF-16 with mark": ('{"a":"é"}'.encode("utf-16"), {"a": "é"}),
    "UTF-16 LE": ('{"a":"é"}'.encode("utf-16-le"), {"a": "é"}),
    "UTF-16 BE": ('{"a":"é"}'.encode("utf-16-be"), {"a": "é"}),
    "UTF-32": ('{"a":"é"}'.encode("utf-32"), {"a": "é"}),
    "half a pair": (rb'{"a":"x\ud83d"}', {"a": "x\ufffd"}),
    "the other half": (rb'{"a":"\ude00x"}', {"a": "\ufffdx"}),
    "a half as a name": (rb'{"\ud83d":1}', {"\ufffd": 1}),
    "a whole pair": (rb'{"a":"\ud83d\ude00", "b": NaN}', {"a": "😀", "b": None}),
    "NaN": (b'{"a":NaN,"b":[Infinity,-Infinity,1e999]}', {"a": None, "b": [None, None, None]}),
    "not UTF-8": (b'{"a":"M\xe9ni\xe8re"}', {"a": "M\ufffdni\ufffdre"}),
    "cut character": (b'{"a":"\xf0\x9f\x98"}', {"a": "\ufffd"}),
    "bare control characters": (b'{"a":"x\x00y\nz\t"}', {"a": "x\0y\nz\t"}),
    "huge number": (b'{"a":123456789012345678901234567890, "b": NaN}', {"a": 1.2345678901234568e29, "b": None}),
    "absurd number": (b'{"a":' + b"9" * 5000 + b"}", {"a": None}),
}


@pytest.mark.parametrize(("body", "value"), BODIES.values(), ids=BODIES)
def test_a_body_in_an_odd_encoding_is_read_and_can_be_written(body, value):
    assert read_json(body) == value
    assert orjson.loads(orjson.dumps(read_json(body))) == value


@pytest.mark.parametrize("body", [b"", b"<html>", b'{"a":', b"\xff\xfe", b"\xef\xbb\xbf", b"[" * 100_000, b'{"a":1}x'])
def test_what_is_not_json_in_any_encoding_is_said_so(body):
    with pytest.raises(NotJson):
        read_json(body)


@pytest.mark.parametrize("depth", [100, 300, 900])
def test_a_reply_that_is_too_deep_to_be_written_is_cut_below(depth):
    for body in (b'{"a":' * depth + b"1" + b"}" * depth, b"[" * depth + b"NaN" + b"]" * depth):
        written = orjson.dumps(read_json(body))
        assert written.count(body[:1]) == min(depth, MAX_DEPTH + 1)


def test_a_good_reply_is_read_by_one_call_of_orjson(monkeypatch):
    monkeypatch.setattr(reply_json, "_read_leniently", lambda _: pytest.fail("read twice"))
    monkeypatch.setattr(reply_json, "_clean", lambda *_: pytest.fail("walked through"))
    assert read_json(b'{"choices":[{"message":{"content":"A"}}]}') == {"choices": [{"message": {"content": "A"}}]}


@pytest.mark.parametrize(
    ("charset", "encoding"),
    [
        ("iso-8859-1", "latin-1"),
        ('"windows-1252"', "cp1252"),
        ("UTF-16", "utf-16"),
        ("utf-16le", "utf-16-le"),
        ("utf-32", "utf-32"),
        ("shift_jis", "shift_jis"),
        ("gb18030", "gb18030"),
    ],
)
def test_the_charset_of_the_content_type_is_followed(charset, encoding):
    text = "{'a':'日本'}" if encoding in ("shift_jis", "gb18030") else "{'a':'Ménière'}"
    body = text.replace("'", '"').encode(encoding)
    assert read_json(as_utf8(body, f"application/json; charset={charset}")) == json.loads(text.replace("'", '"'))


@pytest.mark.parametrize("charset", ["utf-8", "UTF8", "latin-1", "utf-16", "no-such", "base64", "rot13", "", "\u00e9"])
def test_a_body_in_utf_8_is_read_whatever_its_content_type_says(charset):
    body = '{"a":"Ménière"}'.encode()
    assert read_json(as_utf8(body, f"application/json;charset={charset}")) == {"a": "Ménière"}
    assert as_utf8(body, None) is body
    assert as_utf8(body, "application/json") is body


ODD_TEXTS = st.text(st.characters(), max_size=20)  # surrogates included
ODD_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**80), 2**80) | st.floats() | ODD_TEXTS,
    lambda values: st.lists(values, max_size=4) | st.dictionaries(ODD_TEXTS, values, max_size=4),
    max_leaves=12,
)


def expected(value: Any) -> Any:
    """What may come out: by definition, not by the code under test."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, int) and not isinstance(value, bool) and not -(2**63) <= value < 2**64:
        return float(value)
    if isinstance(value, dict):
        return {expected(key): expected(item) for key, item in value.items()}
    return [expected(item) for item in value] if isinstance(value, list) else value


@given(ODD_VALUES, st.booleans(), st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32-be"]))
def test_whatever_python_writes_as_json_is_read_and_can_be_written(value, is_ascii, encoding):
    body = json.dumps([value], ensure_ascii=is_ascii).encode(encoding, "surrogatepass")
    result = read_json(body)
    assert orjson.loads(orjson.dumps(result)) == result
    if is_ascii:
        assert result == [expected(value)]


@given(st.binary(max_size=60), st.text(max_size=20))
def test_any_bytes_are_read_or_refused_and_never_crash(body, charset):
    for variant in (body, b'{"a":"' + body + b'"}', as_utf8(body, f"text/plain; charset={charset}")):
        try:
            value = read_json(variant)
        except NotJson:
            continue
        assert orjson.loads(orjson.dumps(value)) == value


ODD_CONTENTS = {
    "half a pair": rb'"Answer: A\n\n\ud83d"',
    "control characters": rb'"Answer: A\n\n\u0000\u0001\u0008\u000b\u001b[31m\u007f\u0085\u2028\ufffe\uffff \u202e"',
    "bare controls": b'"Answer: A\\n\\n\x00\x01\x1f"',
    "not UTF-8": b'"Answer: A\\n\\nM\xe9ni\xe8re \xff"',
    "NaN beside it": b'"A", "odd": NaN',
    "formula and quotes": rb'"Answer: A\n\n=cmd|\"x\", ;\r\n\u0000</script><b>&amp;"',
}


@pytest.mark.parametrize(
    "mark", [pytest.param(b"", id="plain"), pytest.param(codecs.BOM_UTF8, id="marked", marks=pytest.mark.slow)]
)
def test_odd_replies_are_bought_once_stored_marked_and_reported(tmp_path, mark):
    """Every reply says A; each comes in another odd encoding. A second run buys nothing."""
    contents = list(ODD_CONTENTS.values())
    write_cases(tmp_path / "cases", len(contents) * 2)

    def reply(body: Any, number: int) -> web.Response:
        content = contents[number % len(contents)]
        text = b'{"model":"m\\ud83d","choices":[{"index":0,"finish_reason":"stop","message":{"content":' + content
        return web.Response(body=mark + text + b'}}],"usage":{"prompt_tokens":9}}', content_type="application/json")

    with ExamServer(replying=reply) as server:
        study = write_study(tmp_path, server.url)
        ended = wardround("run", study, "--pack", cwd=tmp_path)
        assert (ended.returncode, "Traceback" in ended.stderr) == (0, False), ended.stderr
        calls = server.calls
        again = wardround("run", study, cwd=tmp_path)
        assert again.returncode == 0, again.stderr
        assert server.calls == calls
    report = wardround("report", "runs/exam", "--with-cases", cwd=tmp_path)
    assert report.returncode == 0, report.stderr
    folder = tmp_path / "runs" / "exam"
    marks = pl.read_parquet(folder / "marks.parquet")
    assert marks["outcome"].is_in(["right", "wrong"]).all()
    assert len(bodies(tmp_path / "answers.sqlite")) == len(contents) * 2
    assert pl.read_csv(folder / "measures.csv", infer_schema_length=None).height
    for page in folder.rglob("*.html"):
        text = page.read_bytes().decode()
        assert "\0" not in text
        assert "<b>&amp;" not in text
    for file in folder.rglob("*.csv"):
        pl.read_csv(file, infer_schema_length=None)
