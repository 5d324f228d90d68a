"""Serving: an index by HTTP, fuzzed from its own description, and as an MCP server for the official client."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager

import anyio
import pytest
from fake_index import FakeIndex
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, given, settings

from wardround.core.errors import BadInput, WardroundError
from wardround.core.sockets import is_loopback
from wardround.literature.index.build import build
from wardround.literature.index.index import Index
from wardround.literature.search.hit import Hit, snippet
from wardround.literature.serving.serve import read_pmids, serve_http
from wardround.literature.serving.served import ServedIndex

# a shell may have started the tests with Ctrl-C switched off, which children would inherit
HEARS_CTRL_C = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
WARDROUND = [sys.executable, "-c", f"{HEARS_CTRL_C}; from wardround.cli.main import main; main()"]
ARTICLES = [
    {"pmid": "1", "title": "Optic neuritis", "abstract": "Pain on eye movement. " * 40, "year": 2001},
    {"pmid": "2", "title": "Optic glioma", "abstract": "A tumour of childhood.", "year": 2011, "journal": "Eye"},
    {"pmid": "3", "title": "Appendicitis", "abstract": "Pain in the right iliac fossa.", "year": 2021},
    {"pmid": "4'); --", "title": "Optic disc", "abstract": "A name that tries to be a command.", "year": 1999},
]

OPERATIONS = [("/search", "GET"), ("/search", "POST"), ("/articles/{pmid}", "GET"), ("/about", "GET")]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("serving")
    source = folder / "articles.jsonl"
    source.write_text("".join(json.dumps(each) + "\n" for each in ARTICLES))
    build([source], folder / "index", columns=[])
    return folder / "index"


@pytest.fixture(scope="module")
def served(place):
    return ServedIndex(Index.open(place), without=("2",))


def http_app(served):
    from wardround.literature.serving import http  # loads MCP, which takes long

    return http.http_app(served)


@pytest.fixture(scope="module")
def http(served):
    with TestClient(http_app(served), base_url="http://127.0.0.1:80", raise_server_exceptions=False) as client:
        yield client


def pmids(response):
    assert response.status_code == 200, response.text
    return [hit["pmid"] for hit in response.json()["hits"]]


class TestHttp:
    def test_search_leaves_out_what_was_left_out_at_the_start(self, http, served):
        assert pmids(http.get("/search", params={"query": "optic"})) == ["4'); --", "1"]
        assert pmids(http.post("/search", json={"query": "optic"})) == ["4'); --", "1"]
        found = http.get("/search", params={"query": "appendicitis"}).json()
        assert found["fingerprint"] == served.index.fingerprint
        assert found["hits"][0]["abstract"] == "Pain in the right iliac fossa."

    def test_filters_restrict_a_search(self, http):
        assert pmids(http.get("/search", params={"query": "pain", "since": 2005})) == ["3"]
        assert pmids(http.get("/search", params={"query": "pain optic", "until": 2000})) == ["4'); --"]
        assert pmids(http.get("/search", params={"query": "pain", "k": 1})) == ["1"]
        assert pmids(http.post("/search", json={"query": "pain", "publication_types": ["Review"]})) == []

    def test_any_text_is_a_query(self, http):
        for text in ["", "   ", '"unclosed AND (', "+-*?~^:[]{}\\", "\x00", "σ⟩ pain", "pain " * 9_000]:
            assert http.post("/search", json={"query": text}).status_code == 200, text[:20]

    def test_an_article_is_read_by_pmid(self, http):
        assert http.get("/articles/3").json()["title"] == "Appendicitis"
        assert http.get("/articles/4'); --").json()["title"] == "Optic disc"
        assert [http.get(f"/articles/{pmid}").status_code for pmid in ("2", "99", "%00", "1' OR '1'='1")] == [404] * 4

    def test_about_describes_the_corpus(self, http, served):
        about = http.get("/about").json()
        assert (about["articles"], about["without"], about["retrievers"]) == (4, 1, ["bm25"])
        assert about["fingerprint"] == served.index.fingerprint

    @pytest.mark.parametrize(
        "wrong",
        [
            {"query": "a", "k": 0},
            {"query": "a", "k": 101},
            {"query": "a", "k": "many"},
            {"query": "x" * 50_001},
            {"query": "a", "retriever": "bge"},
            {"query": "a", "since": 10**30},
            {"query": "a", "colour": "red"},
            {"k": 3},
            [],
        ],
    )
    def test_what_is_refused_is_not_sent_back(self, http, wrong):
        response = http.post("/search", json=wrong)
        assert response.status_code == 422
        assert all(set(each) == {"loc", "msg", "type"} for each in response.json()["detail"])

    @pytest.mark.parametrize("body", [b"{", b"\xff\xfe", b'{"query": "\\ud800"}', b"null", b""])
    def test_a_broken_body_is_refused(self, http, body):
        response = http.post("/search", content=body, headers={"content-type": "application/json"})
        assert response.status_code in (400, 422)

    def test_an_index_that_went_away_is_said_in_one_line(self, served, monkeypatch):
        def gone(*_):
            raise WardroundError("index: no such file")

        monkeypatch.setattr(Index, "search_all", gone)
        with TestClient(http_app(served), raise_server_exceptions=False) as client:
            response = client.get("/search", params={"query": "a"})
        assert (response.status_code, response.json()) == (503, {"detail": "index: no such file"})

    def test_an_agent_is_told_too(self, served, monkeypatch):
        from mcp import Client

        from wardround.literature.serving.tools import mcp_server

        def gone(*_):
            raise WardroundError("index: no such file")

        async def both():
            async with Client(mcp_server(served)) as client:
                calls = [("search", {"query": "a"}), ("read", {"pmid": "1"})]
                return [await client.call_tool(*call) for call in calls]

        monkeypatch.setattr(Index, "search_all", gone)
        monkeypatch.setattr(Index, "articles", gone)
        results = anyio.run(both)
        assert all(each.is_error and each.content[0].text.endswith("index: no such file") for each in results)

    def test_retrievers_are_fused_by_default_if_that_is_better(self):
        index = FakeIndex([Hit("1", 0, "optic neuritis", ""), Hit("2", 0, "pit", "optic optic")])
        assert ServedIndex(index).retrievers == ["bm25", "fused", "fused-paper", "letters"]
        index.is_fusion_better = True
        client = TestClient(http_app(ServedIndex(index)))
        assert client.get("/about").json()["retrievers"] == ["fused", "fused-paper", "bm25", "letters"]
        assert pmids(client.get("/search", params={"query": "optic"})) == ["1", "2"]
        client.get("/search", params={"query": "optic", "retriever": "letters", "k": 3})
        assert [(name, k) for _, name, k, _ in index.asked] == [("bm25", 100), ("letters", 100), ("letters", 3)]


class TestPage:
    def test_it_loads_nothing_from_elsewhere(self, http):
        page = http.get("/docs").text
        assert not re.search(r"(?:src|href|import|url)\W+(?:https?:)?//", page)
        assert "openapi.json" in page

    @pytest.mark.slow
    @pytest.mark.skipif(not shutil.which("chromium"), reason="no chromium here")
    def test_a_browser_shows_every_operation(self, place):
        with serving(place) as (url, _):
            command = ["chromium", "--headless", "--no-sandbox", "--virtual-time-budget=5000", "--dump-dom"]
            page = subprocess.run([*command, f"{url}/docs"], capture_output=True, text=True, timeout=600).stdout
        assert re.findall(r"<h2>(.*?)</h2>", page) == [f"{method} {path}" for path, method in OPERATIONS]


MODES = [(*each, mode) for each in OPERATIONS for mode in ("positive", "negative")]


@pytest.fixture(scope="module")
def described(served):
    import schemathesis  # takes long to load

    return schemathesis.openapi.from_asgi("/openapi.json", http_app(served))


@pytest.mark.parametrize(("path", "method", "mode"), MODES[:-1])  # nothing can be wrong about asking for /about
def test_no_request_that_the_description_leads_to_breaks_the_server(described, path, method, mode):
    from schemathesis import GenerationMode
    from schemathesis.specs.openapi.checks import negative_data_rejection

    known = [each.ok() for each in described.get_all_operations()]
    assert [(each.path, each.method.upper()) for each in known] == OPERATIONS
    assert [each.value for each in GenerationMode] == ["positive", "negative"]

    @settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
    @given(case=described[path][method].as_strategy(GenerationMode(mode)))
    def ask(case):
        case.call_and_validate(excluded_checks=[negative_data_rejection])  # "3" and false are taken for numbers

    ask()


@contextmanager
def serving(place, *more):
    """The command as a user starts it, with the first line that it prints."""
    command = [*WARDROUND, "literature", "serve", "--index", str(place), *more]
    started = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield started.stdout.readline().strip(), started
    finally:
        started.kill()
        started.communicate()


async def used(server):
    """What a client of the official SDK is told by a server."""
    from mcp import Client  # takes long to load

    async with Client(server) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        found = await client.call_tool("search", {"query": "optic pain", "k": 5})
        whole = await client.call_tool("read", {"pmid": "1"})
        refused = [
            await client.call_tool(*call)
            for call in [("read", {"pmid": "2"}), ("search", {"query": "a", "k": 1000}), ("search", {"k": 3})]
        ]
        return tools, found, whole, refused


def check_mcp(tools, found, whole, refused):
    assert set(tools) == {"search", "read"}
    assert tools["search"].input_schema["required"] == ["query"]
    assert not found.is_error
    hits = found.structured_content["result"]
    assert [hit["pmid"] for hit in hits] == ["1", "3", "4'); --"]
    assert hits[0]["beginning"].endswith(" ...")
    assert "abstract" not in hits[0]
    assert whole.structured_content["abstract"] == " ".join(["Pain on eye movement."] * 40)
    assert all(each.is_error for each in refused)
    assert "no article with PMID 2" in refused[0].content[0].text


class TestCommand:
    @pytest.fixture
    def without(self, tmp_path):
        (tmp_path / "without.txt").write_text("2\n77\n")
        return tmp_path / "without.txt"

    @pytest.mark.slow
    def test_mcp_over_http_and_an_end_by_ctrl_c(self, place, without):
        with serving(place, "--without", str(without), "--json") as (line, started):
            url = json.loads(line)["url"]
            assert re.fullmatch(r"http://127\.0\.0\.1:\d+", url)
            check_mcp(*anyio.run(used, f"{url}/mcp"))
            started.send_signal(signal.SIGINT)
            rest, errors = started.communicate(timeout=600)
        assert (started.returncode, rest) == (130, "")
        assert "Traceback" not in errors
        assert errors.splitlines()[-1] == "wardround: stopped"

    def test_mcp_over_stdio_searches_and_reads(self, place, without):
        arguments = [*WARDROUND[1:], "literature", "serve", "--index", str(place), "--mcp"]
        from mcp import StdioServerParameters

        parameters = StdioServerParameters(
            command=sys.executable, args=[*arguments, "--without", str(without)], env=dict(os.environ)
        )
        check_mcp(*anyio.run(used, parameters))

    def test_stdio_ends_by_ctrl_c(self, place):
        command = [*WARDROUND, "literature", "serve", "--index", str(place), "--mcp"]
        started = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        try:
            assert "over standard input and output" in started.stderr.readline()
            started.send_signal(signal.SIGINT)
            rest, errors = started.communicate(timeout=600)
        finally:
            started.kill()
        assert (started.returncode, rest) == (130, "")
        assert "Traceback" not in errors

    @pytest.mark.slow
    def test_listening_beyond_loopback_is_warned_about(self, place):
        with serving(place, "--host", "0.0.0.0") as (line, started):
            assert re.fullmatch(r"http://0\.0\.0\.0:\d+", line)
            started.send_signal(signal.SIGINT)
            _, errors = started.communicate(timeout=600)
        assert "anyone who can reach this machine" in errors

    def test_a_missing_index_is_one_line(self, tmp_path):
        with serving(tmp_path / "none") as (line, started):
            _, errors = started.communicate(timeout=600)
        assert (line, started.returncode, len(errors.splitlines())) == ("", 1, 1)


def test_a_port_in_use_is_refused(served):
    def take_the_same(url):
        serve_http(served, "127.0.0.1", int(url.rsplit(":", 1)[1]), lambda _: pytest.fail("listens on a taken port"))

    with pytest.raises(WardroundError, match="cannot listen there"):
        serve_http(served, "127.0.0.1", 0, take_the_same)
    with pytest.raises(WardroundError, match="cannot listen there"):
        serve_http(served, "no.such.host.invalid", 0, lambda _: pytest.fail("listens nowhere"))


def test_excluded_pmids_are_read_from_a_file(tmp_path):
    (tmp_path / "pmids").write_text("\ufeff12\n 13\t12\n\n")
    assert read_pmids(tmp_path / "pmids") == ("12", "13")
    (tmp_path / "pmids").write_bytes(b"\xff")
    with pytest.raises(BadInput, match="not UTF-8"):
        read_pmids(tmp_path / "pmids")


def test_only_loopback_addresses_are_loopback():
    assert [is_loopback(host) for host in ("127.0.0.1", "localhost", "::1", "0.0.0.0", "10.0.0.1")] == [
        *(True, True, True, False, False)
    ]


def test_a_snippet_is_one_line_of_limited_length():
    assert snippet("a\nb") == "a b"
    assert len(snippet("word " * 100)) <= 304
