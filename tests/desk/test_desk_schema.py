"""The JSON endpoints by their schema, and verdicts of any shape on every kind of task: the desk never fails."""

from __future__ import annotations

import pytest
from desk_site import FINE, DeskSite, write_set
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_retain_task import degraded

MANY = {"max_examples": 25, "deadline": None, "suppress_health_check": list(HealthCheck)}
pytestmark = pytest.mark.slow
KINDS = ("review", "judge", "retain", "severity", "exam")
SOMETHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=6,
)
FIELDS = st.sampled_from(["history", "questions.mcq.gold", "questions.mcq", "images.0", "id", "questions.9.x", "", "."])
SAID = {
    "verdict": st.sampled_from(["keep", "edit", "discard"]),
    "criteria": st.just(dict.fromkeys(FINE["student"], True)) | st.just(dict.fromkeys(FINE["physician"], False)),
    "comment": st.text(max_size=10),
    "edits": st.dictionaries(FIELDS, SOMETHING, max_size=2),
    "same": st.sampled_from(["same", "not same"]),
    "decision": st.sampled_from(["retain", "discard"]),
    "reasons": st.lists(st.sampled_from(["type", "answerable", "x"]), max_size=2),
    "after_blind": st.booleans(),
    "l1": st.floats(0, 2) | st.integers(),
    "l2": st.floats(0, 2),
    "agreed": st.booleans(),
    "option": st.integers(-1, 5),
    "confidence": st.floats(-1, 2),
    "ai": st.sampled_from(["yes", "no"]),
}
ANYTHING = st.fixed_dictionaries({}, optional={name: usual | SOMETHING for name, usual in SAID.items()}) | SOMETHING


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> DeskSite:
    """A desk with a task of each kind that needs no run."""
    site = DeskSite(tmp_path_factory.mktemp("desk"))
    write_set(site.root / "set", [degraded(number) | {"specialty": "cardiology"} for number in range(4)])
    (site.root / "pairs.csv").write_text("gold,diagnosis\ngout,podagra\n")
    site.reader = site.add_person("Phil", "attending")
    more = {"review": {"share": "1"}, "severity": {"types": "gaussian_blur"}, "exam": {"cases": "2"}}
    for kind in KINDS:
        site.make_task(kind, "pairs.csv" if kind == "judge" else "set", ["role:attending"], **more.get(kind, {}))
    for number in range(1, len(KINDS) + 1):
        site.reader.get(f"/tasks/{number}/next")
    return site


def described():
    from wardround.desk.app import desk_app

    class Nothing:
        """Enough of a desk to describe its routes."""

    return desk_app(Nothing()).openapi()


OPERATIONS = [(path, method) for path, methods in described()["paths"].items() for method in methods]


@pytest.mark.parametrize("mode", ["positive", "negative"])
@pytest.mark.parametrize(("path", "method"), OPERATIONS)
def test_no_request_that_the_description_leads_to_breaks_the_desk(site, path, method, mode):
    import schemathesis  # takes long to load

    operation = schemathesis.openapi.from_dict(described())[path][method]
    cases = operation.as_strategy(schemathesis.GenerationMode(mode))

    @settings(**MANY)
    @given(case=cases, task=st.integers(1, 6), item=st.integers(1, 3))
    def ask(case, task, item):
        there = path.replace("{task}", str(task)).replace("{item}", str(item))
        body = {"json": case.body} if method == "post" and not isinstance(case.body, bytes) else {}
        try:
            answer = site.reader.request(method, there, headers={"x-csrf-token": site.reader.token}, **body)
        except (TypeError, ValueError):  # what is no JSON cannot be sent as such
            return
        assert answer.status_code < 500, answer.text

    ask()


@pytest.mark.parametrize("number", range(1, len(KINDS) + 1), ids=KINDS)
def test_no_verdict_breaks_the_desk(site, number):
    @settings(**MANY)
    @given(said=ANYTHING, item=st.integers(1, 4), once=st.text("abc", min_size=8, max_size=10))
    def say(said, item, once):
        answer = site.reader.submit_json(f"/api/tasks/{number}/items/{item}/verdict", {"said": said, "once": once})
        assert answer.status_code in (200, 404, 422), answer.text

    say()
    assert site.admin.get(f"/admin/tasks/{number}").status_code == 200
    assert site.admin.get(f"/admin/tasks/{number}/export/verdicts.csv").status_code == 200


@pytest.mark.parametrize(
    "path", ["/api/tasks/99999999999999999999", "/tasks/-1", "/tasks/1/items/99999999999999999999"]
)
def test_numbers_that_no_database_holds(site, path):
    assert site.reader.get(path).status_code in (404, 422)
    assert site.admin.get(path.replace("/tasks", "/admin/tasks").replace("/api", "")).status_code in (404, 422)


def test_what_is_no_json_is_told(site):
    headers = {"x-csrf-token": site.reader.token, "content-type": "application/json"}
    for body in (b"{", b"\xff", b"null", b"[" * 100_000, b'{"said": 1e999}'):
        answer = site.reader.post("/api/tasks/1/items/1/verdict", content=body, headers=headers)
        assert answer.status_code in (400, 422)


def test_the_set_of_kinds_here_is_whole(site):
    assert set(site.desk.kinds) == {*KINDS, "errors", "grading", "construct", "criteria", "rubrics"}
