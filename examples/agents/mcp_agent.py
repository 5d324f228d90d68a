"""An outside agent that searches through MCP, as a candidate of the provider `external`.

wardround writes one request to the standard input and reads one answer from the standard output. In between, the model
at MODEL_URL calls the tools of an MCP server as often as it likes, until it answers or MAX_CHARACTERS are spent.

To examine an agent framework, hand it the command in SEARCH_SERVER as its MCP server, give it `request["prompt"]` and
the images in place of `search_and_answer`, and report what it read as `sources`.

    MODEL_URL      an OpenAI-compatible address, such as http://127.0.0.1:8000/v1
    MODEL_NAME     the model there
    MODEL_KEY      its key (optional)
    SEARCH_SERVER  the command of an MCP server, such as `wardround literature serve --index pubmed --mcp`
"""

import asyncio
import json
import os
import shlex
import sys
import urllib.request
from typing import Any

from mcp import Client, StdioServerParameters

MAX_CHARACTERS = 400_000  # of all results: the only limit of the search


async def main() -> None:
    request = json.load(sys.stdin)
    command, *arguments = shlex.split(os.environ["SEARCH_SERVER"])
    async with Client(StdioServerParameters(command=command, args=arguments, env=dict(os.environ))) as server:
        text, sources = await search_and_answer(request, server)
    json.dump({"text": text, "sources": sources}, sys.stdout)


async def search_and_answer(request: dict[str, Any], server: Client) -> tuple[str, list[dict[str, str]]]:
    """Lets the model call tools until it answers in words."""
    tools = [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description or "", "parameters": tool.input_schema},
        }
        for tool in (await server.list_tools()).tools
    ]
    messages: list[dict[str, Any]] = [{"role": "user", "content": case_content(request)}]
    sources: dict[str, dict[str, str]] = {}
    characters = 0
    while True:
        may_search = characters < MAX_CHARACTERS
        message = ask_model(messages, tools if may_search else [])
        calls = message.get("tool_calls") or []
        if not calls or not may_search:
            return message.get("content") or "", list(sources.values())
        messages.append({"role": "assistant", "content": message.get("content"), "tool_calls": calls})
        for call in calls:
            result = await server.call_tool(call["function"]["name"], json.loads(call["function"]["arguments"] or "{}"))
            shown = "\n".join(part.text for part in result.content if part.type == "text")
            characters += len(shown)
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": shown})
            if not result.is_error:
                sources |= {source["pmid"]: source for source in read_sources(result.structured_content)}


def case_content(request: dict[str, Any]) -> list[dict[str, Any]]:
    """The images and the prompt that every other candidate gets."""
    images = [f"data:{image['media_type']};base64,{image['base64']}" for image in request["images"]]
    return [
        *({"type": "image_url", "image_url": {"url": url}} for url in images),
        {"type": "text", "text": f"You may search the literature before you answer.\n\n{request['prompt']}"},
    ]


def read_sources(content: Any) -> list[dict[str, str]]:
    """The articles of a tool's structured result: wardround's search gives a list, its read gives one."""
    articles = content.get("result", [content]) if isinstance(content, dict) else []
    return [
        {"pmid": article["pmid"], "title": article["title"], "text": article.get("abstract") or article["beginning"]}
        for article in articles
        if isinstance(article, dict) and {"pmid", "title"} <= article.keys()
    ]


def ask_model(messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> dict[str, Any]:
    body: dict[str, Any] = {"model": os.environ["MODEL_NAME"], "messages": messages}
    if tools:
        body["tools"] = tools
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {os.environ.get('MODEL_KEY', '')}"}
    address = os.environ["MODEL_URL"].rstrip("/") + "/chat/completions"
    with urllib.request.urlopen(urllib.request.Request(address, json.dumps(body).encode(), headers)) as reply:
        message: dict[str, Any] = json.load(reply)["choices"][0]["message"]
    return message


if __name__ == "__main__":
    asyncio.run(main())
