"""Several servers of one model: each call goes to the server that will answer it first, and one that dies is left."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from wardround.candidates.batches.batch_api import BatchApi
from wardround.candidates.candidate import (
    Candidate,
    CandidateUnavailable,
    Fault,
    QuestionRefused,
    RateLimited,
    Reply,
    Request,
    RequestRejected,
)
from wardround.cases.set import CaseSet
from wardround.core.ask import Identity
from wardround.core.study import CandidateSettings

FIRST_SECONDS_OUT = 5.0  # for which a server is left after its first fault; doubled with each further one
MAX_SECONDS_OUT = 120.0


@dataclass
class Server:
    """One server: what it has under way, how long a call takes, and until when it is left."""

    candidate: Candidate
    under_way: int = 0
    seconds: float = 0.1  # of a call, by the latest ones
    answers: int = 0
    models: set[str] = field(default_factory=set)  # as it names them
    last_fault: str = ""
    out_until: float = 0.0
    seconds_out: float = FIRST_SECONDS_OUT

    @property
    def expected_seconds(self) -> float:
        """Until it would answer one more call, if calls under way are answered one after the other."""
        return (self.under_way + 1) * self.seconds

    def answered(self, reply: Reply, seconds: float) -> None:
        self.answers += 1
        self.models |= {answer.model for answer in reply.answers if answer.model}
        self.seconds += 0.2 * (seconds - self.seconds)
        self.seconds_out, self.out_until = FIRST_SECONDS_OUT, 0.0

    def faulted(self, now: float, message: str) -> None:
        self.last_fault = message
        self.out_until = now + self.seconds_out
        self.seconds_out = min(2 * self.seconds_out, MAX_SECONDS_OUT)


class ServerPool(Candidate):
    """A candidate with `base_urls`. A call that one server fails is put to the others before it counts as a fault."""

    def __init__(self, settings: CandidateSettings, candidates: Sequence[Candidate]) -> None:
        self.settings = settings
        self.identity: Identity = settings.identity
        self.servers = [Server(candidate) for candidate in candidates]
        first = candidates[0]
        self.search_mode, self.supports_probes = first.search_mode, first.supports_probes

    @property
    def max_concurrency(self) -> int:
        return self.settings.concurrency * len(self.servers)

    @property
    def supports_multiple(self) -> bool:  # type: ignore[override]
        return all(server.candidate.supports_multiple for server in self.servers)

    @property
    def warnings(self) -> list[str]:  # type: ignore[override]
        warnings = [text for server in self.servers for text in server.candidate.warnings]
        silent = [server for server in self.servers if server.last_fault and not server.answers]
        for server in silent:
            warnings.append(f"{server.candidate.settings.address} answered nothing: {server.last_fault}")
        if len({frozenset(server.models) for server in self.servers if server.models}) > 1:
            named = (
                f"{server.candidate.settings.address}: {', '.join(sorted(server.models))}" for server in self.servers
            )
            warnings.append(f"the servers in `base_urls` name different models ({'; '.join(named)})")
        return list(dict.fromkeys(warnings))

    @property
    def adaptations(self) -> Sequence[str]:  # type: ignore[override]
        return list(dict.fromkeys(text for server in self.servers for text in server.candidate.adaptations))

    async def prepare(self, cases: CaseSet) -> None:
        for server in self.servers:
            await server.candidate.prepare(cases)

    async def check_access(self) -> None:
        for server in self.servers:
            await server.candidate.check_access()

    async def close(self) -> None:
        for server in self.servers:
            await server.candidate.close()

    def batch_api(self) -> BatchApi | None:
        return None

    def sent_fields(self, request: Request) -> Mapping[str, Any] | None:
        """Those that all servers are sent."""
        fields = [server.candidate.sent_fields(request) or {} for server in self.servers]
        return {name: value for name, value in fields[0].items() if all(name in other for other in fields)}

    async def answer(self, request: Request) -> Reply:
        if request.address is not None:
            return await self._answer_of(request.address, request)
        untried, fault, clock = list(self.servers), None, asyncio.get_running_loop().time
        while untried:
            now = clock()
            ready = [server for server in untried if server.out_until <= now]
            if not ready and fault is not None:
                break
            server = min(ready or untried, key=lambda server: server.expected_seconds)
            untried.remove(server)
            server.under_way += 1
            try:
                reply = await server.candidate.answer(request)
            except CandidateUnavailable as unavailable:
                server.faulted(now, str(unavailable))
                fault = Fault(str(unavailable), kind="unavailable", unreachable=True)
            except RateLimited as limited:
                fault = limited
            except Fault as failure:
                server.faulted(now, str(failure))
                fault = failure
            else:
                server.answered(reply, clock() - now)
                return replace(reply, address=server.candidate.settings.address)
            finally:
                server.under_way -= 1
        assert fault is not None
        raise fault

    async def _answer_of(self, address: str, request: Request) -> Reply:
        """The reply of one server, or one without answers: the others can still answer, so nothing is raised."""
        server = next(server for server in self.servers if server.candidate.settings.address == address)
        now = (clock := asyncio.get_running_loop().time)()
        server.under_way += 1
        try:
            reply = await server.candidate.answer(request)
        except (RateLimited, QuestionRefused, RequestRejected):
            return Reply([], address=address, was_sent=False)
        except (CandidateUnavailable, Fault) as failure:
            server.faulted(now, str(failure))
            return Reply([], address=address, was_sent=False)
        finally:
            server.under_way -= 1
        server.answered(reply, clock() - now)
        return replace(reply, address=address)
