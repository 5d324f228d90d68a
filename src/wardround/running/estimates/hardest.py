"""HardestUnits: the units most likely to fail among those that lack answers, for a check before the run."""

from collections.abc import Callable, Sequence

from wardround.core.ask import Ask
from wardround.running.estimates.ask_size import AskSize, image_sizes
from wardround.running.sentinel import spread

UnitPlace = tuple[int, int]  # number of the case, number of the unit among those of the case
MAX_ORDINARY = 24
LONGEST_TEXT = "the longest text"
EXTREMES = ("the most images", "the largest image", "the smallest image", LONGEST_TEXT)


class HardestUnits:
    """Keeps one unit for each extreme, the largest unit of each condition, and some ordinary ones, evenly spread."""

    def __init__(self) -> None:
        self._extremes: dict[str, tuple[float, UnitPlace]] = {}
        self._by_condition: dict[int, tuple[float, UnitPlace]] = {}
        self._conditions: dict[UnitPlace, int] = {}
        self._ordinary: list[UnitPlace] = []
        self._units = 0
        self._every = 1
        self.shows_images = False
        self.has_system_text = False

    def consider(
        self, place: UnitPlace, condition: int, asks: Sequence[Ask], measure: Callable[[Ask], AskSize]
    ) -> None:
        """Compares one unit with those kept so far; of equal ones the first is kept."""
        self._spread(place)
        for ask in asks:
            self.has_system_text |= any(message.role == "system" for message in ask.messages)
            size = measure(ask)
            self._compare(LONGEST_TEXT, size.text, place, condition)
            if sizes := image_sizes(ask):
                self.shows_images = True
                pixels = [width * height for width, height in sizes]
                for extreme, value in zip(EXTREMES, (len(pixels), max(pixels), -min(pixels)), strict=False):
                    self._compare(extreme, value, place, condition)
            if condition not in self._by_condition or size.tokens > self._by_condition[condition][0]:
                self._by_condition[condition] = (size.tokens, place)

    def _compare(self, extreme: str, value: float, place: UnitPlace, condition: int) -> None:
        if extreme not in self._extremes or value > self._extremes[extreme][0]:
            self._extremes[extreme] = (value, place)
            self._conditions[place] = condition

    @property
    def most_images(self) -> int:
        """In one Ask."""
        return int(self._extremes.get(EXTREMES[0], (0,))[0])

    def _spread(self, place: UnitPlace) -> None:
        if self._units % self._every == 0:
            self._ordinary.append(place)
        self._units += 1
        if len(self._ordinary) > MAX_ORDINARY:
            self._ordinary, self._every = self._ordinary[::2], 2 * self._every

    def choose(self, count: int) -> list[UnitPlace]:
        """So many units, in order: the extremes, one of each condition that is not among them, then ordinary ones."""
        chosen = list(dict.fromkeys(self._extremes[name][1] for name in EXTREMES if name in self._extremes))
        covered = {self._conditions[place] for place in chosen}
        others = [place for condition, (_, place) in self._by_condition.items() if condition not in covered]
        ordinary = [self._ordinary[number] for number in sorted(spread(len(self._ordinary), count))]
        return sorted(list(dict.fromkeys([*chosen, *others, *ordinary]))[:count])
