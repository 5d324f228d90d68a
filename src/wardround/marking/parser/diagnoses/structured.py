"""Diagnoses in places that mark them as the answer: JSON, a LaTeX box, an <answer> tag."""

import ast
import json
import re
from collections.abc import Iterator
from typing import Any

MAX_ATTEMPTS = 20  # at reading JSON

_BRACKET = re.compile(r"[\[{]")
_TRAILING_COMMA = re.compile(r",\s*(?=[\]}])")
_BOX = re.compile(r"\\boxed\s*\{((?:[^{}]|\{[^{}]*\})*)\}?")
_TAG = re.compile(r"<(?:final_?)?(ans(?:wer)?|conclusion)>(.*?)(?:</(?:final_?)?\1>|\Z)", re.S | re.I)
_LATEX = re.compile(r"\\[a-zA-Z]+\s*|[{}]")
_STATED_KEY = re.compile(
    r"(?:final|most_(?:likely|probable)|primary|leading|main|principal|working|top_diagnosis|best|correct|predicted|probable)(?:_\w+)?|answer"
    r"|diagnosis|dx|impression|conclusion|prediction"
)
_FURTHER_KEY = re.compile(
    r"\w*(?:diagnos[ei]s|diagnoses|differential|ddx|alternativ|diseases?|conditions?|candidates|possib\w*|ranked|ranking|second|third"
    r"|predictions|less_likely|hypothes[ei]s|results?|list|other\w*|rank_?\d)\w*|\d{1,2}|first|answers?|output|response|data"
)
_NAME_KEYS = ("diagnosis", "name", "disease", "condition", "label", "title", "disease_name", "diagnosis_name", "answer")
_ASIDE_KEY = re.compile(
    r"\w*(?:confiden|probabil|reason|rational|explan|rank|score|likelihood|finding|summary|step|test|treat|manag|plan|icd|code|note"
    r"|evidence|support|against|feature|histor|symptom|image|age|sex|recommend|excluded|ruled|analysis|justif|comment)\w*"
)
_SHARE_KEYS = ("probability", "confidence", "likelihood", "score", "percentage")


def names_in_json(text: str) -> list[str] | None:
    """Names in the first JSON array or object that has any; None if there is none."""
    for attempt, opened in enumerate(_BRACKET.finditer(text)):
        if attempt == MAX_ATTEMPTS:
            break
        names = list(_names_in(_read_value(text[opened.start() :], is_first=attempt == 0)))
        if names:
            return names
    return None


def _read_value(text: str, *, is_first: bool) -> Any:
    """The JSON value, or the Python literal, that a text begins with; None if there is none."""
    closed = max(text.rfind("]"), text.rfind("}"))
    whole = _TRAILING_COMMA.sub("", text[: closed + 1])
    try:
        return json.JSONDecoder().raw_decode(_TRAILING_COMMA.sub("", text))[0]
    except (ValueError, RecursionError):
        pass
    if not is_first:
        return None
    for reader, draft in ((ast.literal_eval, whole), (json.loads, _completed(text))):
        try:
            return reader(draft)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
    return None


def _completed(text: str) -> str:
    """JSON that was cut off, without its unfinished entry and with its brackets closed."""
    closers: list[str] = []
    is_quoted, end, start = False, 0, 0
    for place, character in enumerate(text):
        if is_quoted:
            if character == '"' and text[place - 1] != "\\":
                is_quoted = False
        elif character == '"':
            is_quoted, start = True, place
        elif character in "[{":
            closers.append("]" if character == "[" else "}")
        elif character in "]}" and closers:
            closers.pop()
        elif character == ",":
            end = place
    complete = text[: start if is_quoted else len(text)].rstrip().rstrip(",")
    if complete.endswith(":"):
        complete = text[:end]
    return complete + "".join(reversed(closers))


def _names_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        if re.search(r"[^\W\d_]{2}", value):
            yield value
    elif isinstance(value, list | tuple):
        for entry in _by_share(list(value)):
            yield from _names_in(entry)
    elif isinstance(value, dict):
        yield from _names_in_object(value)


def _names_in_object(value: dict[Any, Any]) -> Iterator[str]:
    fields = {re.sub(r"[\s-]+", "_", str(key).strip().casefold()): field for key, field in value.items()}
    stated = [field for key, field in fields.items() if _STATED_KEY.fullmatch(key)]
    if "name" in fields or not stated:
        stated = [fields[key] for key in _NAME_KEYS if key in fields][:1] or stated
    further = [
        field
        for key, field in fields.items()
        if _FURTHER_KEY.fullmatch(key) and not _STATED_KEY.fullmatch(key) and not _ASIDE_KEY.fullmatch(key)
    ]
    if stated or further:
        for field in (*stated, *further):
            yield from _names_in(field)
    elif all(isinstance(field, int | float) for field in fields.values()):  # {"Asthma": 0.7, "COPD": 0.2}
        yield from sorted(map(str, value), key=lambda name: -value[name])
    else:
        for key, field in fields.items():
            if not _ASIDE_KEY.fullmatch(key):
                yield from _names_in(field)


def _by_share(entries: list[Any]) -> list[Any]:
    """Entries by their rank or share, if all have one."""
    for keys, sign in ((("rank", "order"), 1), (_SHARE_KEYS, -1)):
        for key in keys:
            values = [entry.get(key) if isinstance(entry, dict) else None for entry in entries]
            numbers = [value for value in values if isinstance(value, int | float)]
            if len(numbers) == len(entries) > 0:
                return [
                    entry for _, entry in sorted(zip(numbers, entries, strict=True), key=lambda pair: sign * pair[0])
                ]
    return entries


def marked_answer(text: str) -> tuple[str, str] | None:
    """The last answer in a tag or a box, and the reply without it; None if there is none."""
    for pattern, group in ((_TAG, 2), (_BOX, 1)):
        answers = [match for match in pattern.finditer(text) if match[group].strip()]
        if answers:
            answer = _LATEX.sub(" ", answers[-1][group]) if pattern is _BOX else answers[-1][group]
            return answer.strip(), pattern.sub("\n", text)
    return None
