"""The agent: a candidate that searches the literature by itself, in turns, before it answers.

Our closed-corpus version of the paper's agent, which searched the live web. The candidate has three tools: search,
read and finish, as tool calls or, if its server has none, as lines of text. When it finishes or reaches a limit, it
is asked the question like every other candidate, without tools, so that its answer has the same form.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import orjson

from wardround.asking.evidence import SEARCH_KEYS, search_documents
from wardround.asking.reasoning import without_reasoning
from wardround.core.ask import Answer, Message
from wardround.core.case import Question
from wardround.core.evidence import Document, Evidence, fence_texts, parse_documents
from wardround.core.examiner import Examiner
from wardround.literature.search.hit import snippet

MAX_MISTAKES = 2  # in a row: then the answer is asked for
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


class ToolCall(NamedTuple):
    """One tool call of an agent. `mistake` is the reply to a call that cannot be parsed."""

    tool: str
    argument: str = ""
    id: str | None = None
    mistake: str | None = None


@dataclass
class AgentSearch:
    """The state of one agent's search."""

    examiner: Examiner
    transcript: list[Message] = field(default_factory=list)
    documents_by_pmid: dict[str, Document] = field(default_factory=dict)  # whole if read, else with a snippet
    hits: dict[str, None] = field(default_factory=dict)
    queries: list[str] = field(default_factory=list)
    mistakes: int = 0
    ended: str | None = None

    @property
    def evidence(self) -> Evidence:
        return Evidence(tuple(self.documents_by_pmid.values()), tuple(self.hits), tuple(self.queries), ended=self.ended)

    async def handle_reply(self, answer: Answer) -> None:
        """Executes the candidate's tool calls, and adds them and their results to the transcript."""
        by_calls = self.examiner.search_mode == "calls"
        calls = list(map(parse_tool_call, answer.tool_calls)) if by_calls else [parse_text_call(answer.text)]
        self.transcript.append(Message("assistant", (answer.text,), answer.tool_calls if by_calls else ()))
        for call in calls:
            result = call.mistake or await self._execute(call)
            self.transcript.append(Message("tool" if by_calls else "user", (result,), tool_call_id=call.id))
        self.mistakes = self.mistakes + 1 if any(call.mistake is not None for call in calls) else 0
        if self.mistakes >= MAX_MISTAKES and not self.ended:
            self.ended = "not understood"

    async def _execute(self, call: ToolCall) -> str:
        if call.tool == "finish":
            self.ended = "finished"
            return "Finished."
        if call.tool == "read":
            return await self._read(call.argument)
        if reaches(self.examiner.literature.agent.searches, len(self.queries)):
            return SPENT
        return await self._search(call.argument)

    async def _search(self, query: str) -> str:
        literature = self.examiner.literature
        settings = literature.model_dump(include=SEARCH_KEYS) | {"k": literature.agent.hits}
        documents = await search_documents(self.examiner, query, settings)
        self.queries.append(query)
        for document in documents:
            self.hits.setdefault(document.pmid)
            self.documents_by_pmid.setdefault(document.pmid, document._replace(text=snippet(document.text)))
        lines = [f"PMID {document.pmid}: {document.title}\n{snippet(document.text)}" for document in documents]
        return fence_texts(lines) if lines else NOTHING_FOUND

    async def _read(self, pmid: str) -> str:
        documents = parse_documents(await self.examiner.use("read", {"pmids": [pmid]})) if pmid in self.hits else ()
        if not documents:
            return UNKNOWN.format(pmid=pmid[:20])
        self.documents_by_pmid[pmid] = documents[0]
        return fence_texts([f"PMID {pmid}: {documents[0].title}\n{documents[0].text}"])


async def run_agent(question: Question, earlier_answers: Mapping[str, Answer], examiner: Examiner) -> Answer:
    """Lets the candidate search until it finishes, answers or reaches a limit; then asks for its answer."""
    search, limits = AgentSearch(examiner), examiner.literature.agent
    by_calls = examiner.search_mode == "calls"
    turns = 0
    while not reaches(limits.turns, turns):
        turns += 1
        if examiner.tokens(search.transcript) > limits.tokens:
            search.ended = "tokens"
            break
        answer = await examiner.ask(
            question,
            earlier_answers=earlier_answers,
            step="agent-calls" if by_calls else "agent-text",
            transcript=search.transcript,
            tools=TOOLS if by_calls else (),
        )
        if by_calls and not answer.tool_calls:  # it has answered, or has nothing more to look for
            search.transcript.append(Message("assistant", (answer.text,)))
            search.ended = "answered"
            break
        await search.handle_reply(answer)
        if search.ended:
            break
    search.ended = search.ended or "turns"
    return await examiner.ask(
        question, earlier_answers=earlier_answers, evidence=search.evidence, transcript=search.transcript
    )


def reaches(limit: int | str, count: int) -> bool:
    """Whether a count is at its limit; `unlimited` is never reached."""
    return isinstance(limit, int) and count >= limit


def parse_tool_call(call: dict[str, Any]) -> ToolCall:
    function = call.get("function")
    function = function if isinstance(function, dict) else {}
    id, name = str(call.get("id", "")), str(function.get("name", ""))
    if name == "finish":
        return ToolCall(name, id=id)
    parameter = {"search": "query", "read": "pmid"}.get(name)
    if parameter is None:
        return ToolCall(name, id=id, mistake=f"There is no tool {name[:40]!r}; there are search, read and finish.")
    try:
        arguments = orjson.loads(function.get("arguments") or "{}")
        value = str(arguments[parameter]).strip()
    except (orjson.JSONDecodeError, KeyError, TypeError):
        value = ""
    if not value:
        return ToolCall(name, id=id, mistake=f'{name} needs {{"{parameter}": "..."}} as its arguments.')
    return ToolCall(name, value, id)


_LINE = re.compile(r"^[\s*`>#-]*(SEARCH|READ)\s*:\s*(?:PMID:?\s*)?(\S.*?)[\s*`]*$|^[\s*`>#-]*(FINISH)\b", re.M | re.I)


def parse_text_call(text: str) -> ToolCall:
    """The call in the first line of a text that has one, outside its reasoning."""
    line = _LINE.search(without_reasoning(text))
    if line is None:
        return ToolCall("", mistake=NOT_UNDERSTOOD)
    if line[3]:
        return ToolCall("finish")
    return ToolCall(line[1].lower(), line[2].strip("\"'“”*` "))
