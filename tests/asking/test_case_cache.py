"""What is kept of the latest cases."""

from wardround.asking.case_cache import CaseCache
from wardround.core.case import Case


def make_case(name: str) -> Case:
    question = {"id": "q", "kind": "choice", "prompt": "Which?", "options": ["a", "b"], "gold": 0}
    return Case.model_validate({"id": name, "history": "Pain.", "questions": [question]})


def test_what_was_computed_for_a_case_is_there_when_it_comes_back() -> None:
    cache, first, second = CaseCache(10), make_case("1"), make_case("2")
    cache.of(first)["content"] = "of the first"
    cache.of(second)["content"] = "of the second"
    assert cache.of(first) == {"content": "of the first"}
    assert cache.of(second) == {"content": "of the second"}


def test_a_changed_case_of_the_same_id_is_another_case() -> None:
    cache = CaseCache(10)
    cache.of(make_case("1"))["content"] = "of the first"
    assert cache.of(make_case("1")) == {}


def test_the_oldest_cases_are_dropped_when_there_are_too_many_entries() -> None:
    cache, cases = CaseCache(4), [make_case(str(number)) for number in range(4)]
    for case in cases:
        cache.of(case).update(content=1, reason=2)
    assert [len(cache.of(case)) for case in reversed(cases)] == [2, 2, 0, 0]


def test_entries_that_are_added_later_count() -> None:
    cache, first, second, third = CaseCache(2), make_case("1"), make_case("2"), make_case("3")
    cache.of(first)["content"] = 1
    cache.of(second)["content"] = 1
    cache.of(first)["reason"] = 2
    cache.of(third)
    assert cache.of(first) == {}
