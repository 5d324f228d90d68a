"""The searches that a study is known to make, made together before anybody is asked.

Queries of `rag` conditions are texts of the cases. Those that a candidate writes (`query = "candidate"`, agents) come
one by one while it is asked. Results are stored under the keys of single searches: a run that is stopped here goes on
with those that are missing.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from typing import Any

from wardround.asking.evidence import planned_search
from wardround.cases.set import CaseSet
from wardround.core.errors import BadInput
from wardround.running.context import RunContext
from wardround.running.plan import planned_units

BATCH = 1_000  # searches made and stored together


async def make_planned_searches(context: RunContext, cases: CaseSet, note: Callable[[str], None]) -> int:
    """Makes the searches for one candidate's questions that are not stored. Returns how many were made."""
    if not any(condition.evidence.startswith("rag") for condition in context.study.all_conditions):
        return 0
    made, searches = 0, _searches(context, cases)
    while batch := list(islice(searches, BATCH)):
        made += await context.tools.store_results("search", batch)
        if made >= BATCH:
            note(f"{made:,} searches of the literature made")
    return made


def _searches(context: RunContext, cases: CaseSet) -> Iterator[dict[str, Any]]:
    """The arguments of the planned searches, each once for a case."""
    for number, case in enumerate(cases):
        searches: list[dict[str, Any]] = []
        with suppress(BadInput):  # the replay says what is wrong with the case
            for planned in planned_units(context, number, case):
                search = planned_search(case, planned.condition, context.study.literature)
                if search is not None and search not in searches:
                    searches.append(search)
        yield from searches
