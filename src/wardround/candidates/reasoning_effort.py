"""How much a model of OpenAI's is asked to reason: the efforts that stand for reasoning on and for off."""

from wardround.candidates.http.errors import ServerError

# in the order in which they are tried; `minimal` is the least that models take which always reason a little
EFFORTS = {True: ("medium", "high"), False: ("none", "minimal")}


class ReasoningEffort:
    """The effort that a server takes for reasoning on and for off."""

    def __init__(self) -> None:
        self._refused: set[str] = set()

    def choose(self, is_on: bool) -> str:
        """The first effort that was not refused; the first of all if every one was."""
        efforts = EFFORTS[is_on]
        return next((effort for effort in efforts if effort not in self._refused), efforts[0])

    def replace_refused(self, error: ServerError, field: str, effort: object) -> str | None:
        """The effort to try next, if the error says that the server does not take this one; None if there is none."""
        ladder = next((efforts for efforts in EFFORTS.values() if effort in efforts), ())
        if not ladder or not error.does_not_take(field):
            return None
        self._refused.add(str(effort))
        return next((other for other in ladder if other not in self._refused), None)
