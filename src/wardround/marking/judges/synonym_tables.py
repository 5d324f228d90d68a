"""Tables of synonyms that users have: a CSV table, MONDO (OBO, JSON), Orphanet (product 1) or UMLS (MRCONSO.RRF).

Only exact synonyms count. A name of two concepts does not join them. Formats and limits: docs/judges.md.
"""

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b
from pathlib import Path

import orjson

from wardround.core.errors import BadInput, describe_unreadable
from wardround.core.names import Synonyms, read_synonyms

_OBO_SYNONYM = re.compile(r'synonym: "((?:[^"\\]|\\.)*)" EXACT\b')
_ESCAPED = re.compile(r"\\(.)")
_RRF_FIELDS = 18
_ORPHANET_NOTE = re.compile(r"NON RARE IN EUROPE:\s*", re.I)


def read_synonym_table(file: Path) -> Synonyms:
    """The synonyms in a file, by the ending of its name."""
    if file.suffix.lower() == ".csv":
        return Synonyms(read_synonyms(file))
    reader = READERS.get(file.suffix.lower())
    if reader is None:
        raise BadInput(file, f"expected a table of synonyms: {', '.join(('.csv', *READERS))}")
    try:
        synonyms = Synonyms(concepts=(names for names in reader(file) if len(names) > 1))
    except FileNotFoundError:
        raise BadInput(file, "there is no such table of names") from None
    except (OSError, UnicodeDecodeError, ET.ParseError, orjson.JSONDecodeError) as error:
        raise BadInput(file, describe_unreadable(error)) from None
    if not len(synonyms):
        raise BadInput(file, "contains no disease with a synonym")
    return synonyms


def hash_table(file: Path) -> str:
    """A short hash of a table, for the name of the judge that uses it."""
    with file.open("rb") as opened:
        hasher = blake2b(digest_size=4)
        while part := opened.read(1 << 20):
            hasher.update(part)
    return hasher.hexdigest()


def _read_obo(file: Path) -> Iterator[list[str]]:
    with file.open(encoding="utf-8") as lines:
        for stanza in _stanzas(lines):
            if stanza[0] == "[Term]" and "is_obsolete: true" not in stanza:
                names = [line.removeprefix("name: ") for line in stanza if line.startswith("name: ")]
                names += [match[1] for line in stanza if (match := _OBO_SYNONYM.match(line))]
                yield [_ESCAPED.sub(r"\1", name) for name in names]


def _stanzas(lines: Iterable[str]) -> Iterator[list[str]]:
    stanza: list[str] = []
    for line in lines:
        if line.startswith("[") and stanza:
            yield stanza
            stanza = []
        if line.strip():
            stanza.append(line.strip())
    if stanza:
        yield stanza


def _read_obographs(file: Path) -> Iterator[list[str]]:
    content = orjson.loads(file.read_bytes())
    if not isinstance(content, dict) or not isinstance(content.get("graphs"), list):
        raise BadInput(file, "expected OBO Graphs JSON, with a list of graphs")
    for graph in content["graphs"]:
        for node in graph.get("nodes", ()):
            meta = node.get("meta") or {}
            if node.get("lbl") and node.get("type", "CLASS") == "CLASS" and not meta.get("deprecated"):
                exact = [s["val"] for s in meta.get("synonyms", ()) if s.get("pred") == "hasExactSynonym"]
                yield [node["lbl"], *exact]


def _read_orphanet(file: Path) -> Iterator[list[str]]:
    for _, element in ET.iterparse(file):
        if element.tag == "Disorder":
            names = [name.text or "" for name in (*element.iterfind("Name"), *element.iterfind("SynonymList/Synonym"))]
            if names and not names[0].upper().startswith("OBSOLETE"):
                yield [_ORPHANET_NOTE.sub("", name) for name in names if name]
            element.clear()


def _read_mrconso(file: Path) -> Iterator[list[str]]:
    """Rows come in the order of their concepts."""
    concept = ""
    names: list[str] = []
    with file.open(encoding="utf-8", newline="\n") as lines:
        for number, line in enumerate(lines, 1):
            fields = line.rstrip("\r\n").split("|")
            if len(fields) < _RRF_FIELDS:
                raise BadInput(file, f"expected the {_RRF_FIELDS} fields of MRCONSO, not {len(fields)}", line=number)
            if fields[0] != concept:
                yield names
                concept, names = fields[0], []
            if fields[16] == "N":  # not suppressed
                names.append(fields[14])
    yield names


READERS: dict[str, Callable[[Path], Iterator[list[str]]]] = {
    ".obo": _read_obo,
    ".json": _read_obographs,
    ".xml": _read_orphanet,
    ".rrf": _read_mrconso,
}
