"""Thesaurus: which heading a term means, which headings are narrower, and which headings a query names."""

import re
from collections import defaultdict
from collections.abc import Iterable

from rapidfuzz import process

from wardround.core.errors import WardroundError
from wardround.literature.mesh.descriptors import Descriptor

WORD = re.compile(r"[^\W_]+")
MIN_TERM_LENGTH = 3  # characters of a term that is looked for in a query: shorter ones mean too many things

Words = tuple[str, ...]


class Thesaurus:
    """Headings by their terms and by their places in the tree."""

    def __init__(self, descriptors: Iterable[Descriptor]) -> None:
        self._heading_by_term: dict[str, str] = {}
        self._heading_by_words: dict[Words, str] = {}
        self._tree_numbers: dict[str, list[str]] = {}
        headings_by_tree: dict[str, list[str]] = defaultdict(list)
        for descriptor in descriptors:
            self._tree_numbers[descriptor.heading] = descriptor.tree_numbers
            for number in descriptor.tree_numbers:
                parts = number.split(".")
                for length in range(1, len(parts) + 1):
                    headings_by_tree[".".join(parts[:length])].append(descriptor.heading)
            for term in descriptor.terms:
                self._heading_by_term.setdefault(term.casefold(), descriptor.heading)
                if len(term) >= MIN_TERM_LENGTH:
                    self._heading_by_words.setdefault(_words(_natural_order(term)), descriptor.heading)
        for heading in self._tree_numbers:  # a heading is itself, whatever other terms say
            self._heading_by_term[heading.casefold()] = heading
        self._headings_by_tree = dict(headings_by_tree)
        self._longest = max(map(len, self._heading_by_words), default=0)

    def resolve(self, term: str) -> str:
        """The heading that a heading or entry term means."""
        heading = self._heading_by_term.get(" ".join(term.split()).casefold())
        if heading is None:
            near = process.extractOne(term.casefold(), self._heading_by_term.keys(), score_cutoff=80)
            hint = f"; did you mean {self._heading_by_term[near[0]]!r}?" if near else ""
            raise WardroundError(f"{term!r} is not a MeSH heading or entry term{hint}")
        return heading

    def explode(self, term: str) -> tuple[str, ...]:
        """The heading of a term and all narrower headings, sorted."""
        heading = self.resolve(term)
        narrower = (
            narrower for number in self._tree_numbers[heading] for narrower in self._headings_by_tree.get(number, ())
        )
        return tuple(sorted({heading, *narrower}))

    def headings_in(self, text: str) -> list[str]:
        """The headings whose terms a text contains, in its order; of overlapping terms the longest."""
        words = _words(text)
        headings: dict[str, None] = {}
        start = 0
        while start < len(words):
            for length in range(min(self._longest, len(words) - start), 0, -1):
                heading = self._heading_by_words.get(words[start : start + length])
                if heading is not None:
                    headings[heading] = None
                    start += length - 1
                    break
            start += 1
        return list(headings)

    def expand(self, query: str) -> str:
        """The query, followed by the headings of its terms that it does not contain itself."""
        text = f" {' '.join(_words(query))} "
        added = [
            heading
            for heading in map(_natural_order, self.headings_in(query))
            if f" {' '.join(_words(heading))} " not in text
        ]
        return "\n".join([query, *added])


def _words(text: str) -> Words:
    return tuple(WORD.findall(text.casefold()))


def _natural_order(term: str) -> str:
    """A term as texts write it: "Diabetes Mellitus, Type 2" stays, "Infarction, Myocardial" is turned around."""
    head, comma, rest = term.partition(", ")
    is_inverted = comma and "," not in rest and not any(character.isdigit() for character in rest)
    return f"{rest} {head}" if is_inverted else term
