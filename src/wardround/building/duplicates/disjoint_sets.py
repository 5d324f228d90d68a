"""Which things are connected, directly or through others (union-find)."""

from collections.abc import Iterable


class DisjointSets:
    """The numbers from 0 to `count` - 1, joined into sets; the smallest of a set is its root."""

    def __init__(self, count: int) -> None:
        self._parents = list(range(count))

    def root(self, number: int) -> int:
        while self._parents[number] != number:
            self._parents[number] = self._parents[self._parents[number]]
            number = self._parents[number]
        return number

    def join(self, one: int, other: int) -> None:
        first, second = sorted((self.root(one), self.root(other)))
        self._parents[second] = first

    def are_joined(self, one: int, other: int) -> bool:
        return self.root(one) == self.root(other)


def components(names: Iterable[str], pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """For each name the smallest that it is connected with."""
    ordered = sorted(set(names))
    numbers = {name: number for number, name in enumerate(ordered)}
    sets = DisjointSets(len(ordered))
    for one, other in pairs:
        sets.join(numbers[one], numbers[other])
    return {name: ordered[sets.root(number)] for name, number in numbers.items()}
