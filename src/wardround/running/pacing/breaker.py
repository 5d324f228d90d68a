"""Breaker: stops a candidate whose server refuses everything, with the reason, before it costs hours or money."""

from collections import Counter

from wardround.candidates.candidate import CandidateUnavailable, Fault

MAX_REFUSED_IN_A_ROW = 5  # different Asks


class Breaker:
    """Counts faults that waiting does not mend, and refused Asks, since the last answer."""

    def __init__(self) -> None:
        self._faults: Counter[str] = Counter()
        self._refused: dict[bool, set[bytes]] = {False: set(), True: set()}  # by whether the Ask shows images
        self.has_answered = {False: False, True: False}  # likewise

    def answered(self, *, with_images: bool) -> None:
        self.has_answered[with_images] = True
        self._faults.clear()
        self._refused[with_images].clear()

    def faulted(self, fault: Fault) -> None:
        if fault.stops_after is not None:
            self._faults[fault.kind] += 1
            if self._faults[fault.kind] >= fault.stops_after:
                raise CandidateUnavailable(f"{self._faults[fault.kind]} times in a row: {fault}")

    def refused(self, ask: bytes, message: str, *, with_images: bool) -> None:
        """An Ask was refused. A refusal of every Ask says something of the candidate, not of the questions."""
        refused = self._refused[with_images]
        refused.add(ask)
        if len(refused) >= MAX_REFUSED_IN_A_ROW:
            subject = "questions with images" if with_images else "questions"
            raise CandidateUnavailable(f"{len(refused)} {subject} in a row were refused: {message}")
