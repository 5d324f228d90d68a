"""Synonyms of disease names: concepts with all their names, and the table of two columns that users write.

Tables of ontologies are read by marking/judges/synonym_tables.py.
"""

import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from wardround.core.errors import BadInput, describe_unreadable
from wardround.core.names.comparison import compared_words, same_name
from wardround.core.names.words import content_words


class Synonyms:
    """Concepts, each with its names. Pairs make transitive groups; a name of two concepts does not join them."""

    def __init__(self, pairs: Iterable[tuple[str, str]] = (), concepts: Iterable[Sequence[str]] = ()) -> None:
        self._concepts = [*_transitive_groups(pairs), *(tuple(dict.fromkeys(names)) for names in concepts)]
        self._numbers: dict[frozenset[str], tuple[int, ...]] = {}
        for number, names in enumerate(self._concepts):
            for words in {compared_words(name) for name in names}:
                self._numbers[words] = (*self._numbers.get(words, ()), number)

    def __len__(self) -> int:
        return len(self._concepts)

    def concepts_of(self, name: str) -> tuple[int, ...]:
        """The numbers of the concepts that this name means."""
        return self._numbers.get(compared_words(name), ()) if self._numbers else ()

    def names_of(self, name: str) -> list[str]:
        """All names of what this name means, itself first."""
        names = [other for number in self.concepts_of(name) for other in self._concepts[number]]
        return list(dict.fromkeys([name, *names]))

    def same(self, one: str, other: str) -> bool:
        """Whether two names mean the same: by their words, by a shared concept, or one by a name of the other's."""
        if same_name(one, other) or set(self.concepts_of(one)) & set(self.concepts_of(other)):
            return True
        for name, known in ((one, other), (other, one)):
            if not self.concepts_of(name) and any(same_name(name, synonym) for synonym in self.names_of(known)):
                return True
        return False


def _transitive_groups(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, ...]]:
    groups: dict[frozenset[str], list[str]] = {}
    for pair in pairs:
        names = [member for name in pair for member in groups.get(compared_words(name), [name])]
        merged = list(dict.fromkeys(names))
        groups |= {compared_words(member): merged for member in merged}
    return [tuple(group) for group in {id(group): group for group in groups.values()}.values()]


NO_SYNONYMS = Synonyms()


def same_disease(diagnosis: str, names: Sequence[str], synonyms: Synonyms = NO_SYNONYMS) -> bool:
    """Whether a diagnosis, under any of its names, is one of these, under any of theirs."""
    return any(synonyms.same(diagnosis, name) for name in names)


def read_synonyms(file: Path) -> list[tuple[str, str]]:
    """The rows of a table with the columns name and same_as."""
    return read_name_pairs(file, "same_as")


def read_name_pairs(file: Path, column: str) -> list[tuple[str, str]]:
    """The rows of a table with the columns `name` and `column`."""
    try:
        with file.open(encoding="utf-8-sig", newline="") as lines:
            rows = csv.DictReader(lines)
            if not {"name", column} <= set(rows.fieldnames or ()):
                raise BadInput(file, f"expected the columns name and {column}", line=1)
            return [_pair(row, column, file, rows.line_num) for row in rows]
    except FileNotFoundError:
        raise BadInput(file, "there is no such table of names") from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise BadInput(file, describe_unreadable(error)) from None


def _pair(row: Mapping[str, str | None], column: str, file: Path, line: int) -> tuple[str, str]:
    for field in ("name", column):
        if not content_words(row[field] or ""):
            raise BadInput(file, "is empty", line=line, field=field)
    return str(row["name"]).strip(), str(row[column]).strip()
