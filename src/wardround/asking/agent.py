"""The agent: a candidate that searches the literature by itself, in turns, before it answers.

Our closed-corpus version of the paper's agent, which searched the live web. The candidate has three tools: search,
read and finish, as tool calls or, where its server knows none, as lines of text. When it finishes, or a limit is
reached, it is put the question as everybody is, without tools; so its answer has the same form.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import orjson

from wardround.asking.evidence import SETTINGS, found
from wardround.core.ask import Answer, Message
from wardround.core.case import Question
from wardround.core.evidence import Document, Evidence, documents_told, fenced
from wardround.core.examiner import Hall
from wardround.literature.search.hit import snippet

MISTAKES = 2  # in a row: then the answer is asked for
NOTHING_FOUND = "Nothing was found."
SPENT = "No searches are left. Read what was found, or finish."
UNKNOWN = "There is no article with PMID {pmid} in the index."
NOT_UNDERSTOOD = (
    "That could not be understood. Reply with one line, and nothing else: SEARCH: words to search for, "
    "or READ: a PMID, or FINISH"
)


def _tool(name: str, description: str, argument: str | None, meaning: str = "") -> dict[str, Any]:
    properties = {argument: {"type": "string", "description": meaning}} if argument else {}
    parameters = {"type": "object", "properties": properties, "required": list(properties)}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


TOOLS = (
    _tool("search", "Searches the medical literature.", "query", "Words to search for"),
    _tool("read", "Shows the whole abstract of an article.", "pmid", "Its PMID, as a search showed it"),
    _tool("finish", "Ends the search: the answer is asked for next.", None),
)


class Wish(NamedTuple):
    """What an agent wants done. `mistake` is what is told of a wish that cannot be understood."""

    tool: str
    argument: str = ""
    call: str | None = None  # the id of the tool call
    mistake: str | None = None


@dataclass
class Search:
    """One agent's search so far."""

    hall: Hall
    said: list[Message] = field(default_factory=list)
    shown: dict[str, Document] = field(default_factory=dict)  # by PMID: read ones whole, others as the hits told them
    hits: dict[str, None] = field(default_factory=dict)
    queries: list[str] = field(default_factory=list)
    mistakes: int = 0
    ended: str | None = None

    @property
    def evidence(self) -> Evidence:
        return Evidence(tuple(self.shown.values()), tuple(self.hits), tuple(self.queries), ended=self.ended)

    async def follow(self, answer: Answer) -> None:
        """Does what the candidate wants, and adds both to what was said."""
        calls = self.hall.searching == "calls"
        wishes = called(answer) if calls else written(answer.text)
        self.said.append(Message("assistant", (answer.text,), answer.tool_calls if calls else ()))
        wrong = False
        for wish in wishes:
            told = wish.mistake or await self._done(wish)
            wrong = wrong or wish.mistake is not None
            self.said.append(Message("tool" if calls else "user", (told,), tool_call_id=wish.call))
        self.mistakes = self.mistakes + 1 if wrong else 0
        if self.mistakes >= MISTAKES and not self.ended:
            self.ended = "not understood"

    async def _done(self, wish: Wish) -> str:
        if wish.tool == "finish":
            self.ended = "finished"
            return "Finished."
        if wish.tool == "read":
            return await self._read(wish.argument)
        if len(self.queries) >= self.hall.literature.agent.searches:
            return SPENT
        return await self._search(wish.argument)

    async def _search(self, query: str) -> str:
        literature = self.hall.literature
        settings = literature.model_dump(include=SETTINGS) | {"k": literature.agent.hits}
        documents = await found(self.hall, query, settings)
        self.queries.append(query)
        for document in documents:
            self.hits.setdefault(document.pmid)
            self.shown.setdefault(document.pmid, document._replace(text=snippet(document.text)))
        lines = [f"PMID {each.pmid}: {each.title}\n{snippet(each.text)}" for each in documents]
        return fenced(lines) if lines else NOTHING_FOUND

    async def _read(self, pmid: str) -> str:
        documents = documents_told(await self.hall.use("read", {"pmids": [pmid]})) if pmid in self.hits else ()
        if not documents:
            return UNKNOWN.format(pmid=pmid[:20])
        self.shown[pmid] = documents[0]
        return fenced([f"PMID {pmid}: {documents[0].title}\n{documents[0].text}"])


async def searching_agent(question: Question, given: Mapping[str, Answer], hall: Hall) -> Answer:
    """Lets the candidate search until it finishes, answers or has reached a limit; then asks for its answer."""
    search, limits = Search(hall), hall.literature.agent
    calls = hall.searching == "calls"
    for _ in range(limits.turns):
        if hall.tokens(search.said) > limits.tokens:
            search.ended = "tokens"
            break
        step = "agent-calls" if calls else "agent-text"
        answer = await hall.ask(question, given=given, step=step, after=search.said, tools=TOOLS if calls else ())
        if calls and not answer.tool_calls:  # it has answered, or has nothing more to look for
            search.said.append(Message("assistant", (answer.text,)))
            search.ended = "answered"
            break
        await search.follow(answer)
        if search.ended:
            break
    search.ended = search.ended or "turns"
    return await hall.ask(question, given=given, evidence=search.evidence, after=search.said)


def called(answer: Answer) -> list[Wish]:
    """What tool calls want."""
    return [_called(call) for call in answer.tool_calls]


def _called(call: dict[str, Any]) -> Wish:
    function = call.get("function")
    told = function if isinstance(function, dict) else {}
    id, name = str(call.get("id", "")), str(told.get("name", ""))
    if name == "finish":
        return Wish(name, call=id)
    wanted = {"search": "query", "read": "pmid"}.get(name)
    if wanted is None:
        return Wish(name, call=id, mistake=f"There is no tool {name[:40]!r}; there are search, read and finish.")
    try:
        arguments = orjson.loads(told.get("arguments") or "{}")
        value = str(arguments[wanted]).strip()
    except (orjson.JSONDecodeError, KeyError, TypeError):
        value = ""
    if not value:
        return Wish(name, call=id, mistake=f'{name} needs {{"{wanted}": "..."}} as its arguments.')
    return Wish(name, value, id)


_LINE = re.compile(r"^[\s*`>#-]*(SEARCH|READ)\s*:\s*(?:PMID:?\s*)?(\S.*?)[\s*`]*$|^[\s*`>#-]*(FINISH)\b", re.M | re.I)


def written(text: str) -> list[Wish]:
    """What the first line that asks for something wants."""
    line = _LINE.search(text)
    if line is None:
        return [Wish("", mistake=NOT_UNDERSTOOD)]
    if line[3]:
        return [Wish("finish")]
    return [Wish(line[1].lower(), line[2].strip("\"'“”*` "))]
