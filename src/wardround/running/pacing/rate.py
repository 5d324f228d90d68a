"""CallRate: when the next call may be sent, from what the server says of its limits and from what it refused."""

import asyncio

from wardround.candidates.candidate import RateLimited, ServerLimits

FIRST_PAUSE = 0.5
MAX_PAUSE = 16.0
MIN_WAIT = 1e-6  # what is left of a pause by rounding
NORMAL_SHARE = 0.03  # of refusals
MIN_CALLS = 12  # in a cycle
MARGIN = 1.05
FASTER = 1.25
MIN_CLEAN = 16
MAX_CLEAN = 512
MUCH_SLOWER = 3.0


class CallRate:
    """A gate that all calls of a candidate pass. It is open until the server first refuses a call for its rate.

    A refusal closes it for as long as the server says, or for a while that doubles. From the end of one such pause to
    that of another is a cycle: what was accepted in it is what the server takes in that time, and calls are spaced
    accordingly. After enough answers without a refusal they come closer again. If much slower calls are refused as
    often, their rate is not the reason, and they are no longer spaced.
    """

    def __init__(self) -> None:
        self.interval = 0.0  # seconds between two calls
        self._next = 0.0  # when the next call may be sent
        self._opens = 0.0  # the end of the last pause
        self._paused_at = 0.0
        self._pause = FIRST_PAUSE
        self._is_refusing = False  # since the last refusal nothing was accepted
        self._cycle_began: float | None = None
        self._accepted = self._refused = 0  # in this cycle
        self._clean = 0  # answers since the last refusal, or since calls came closer
        self._needed = MIN_CLEAN
        self._is_trial = False  # calls came closer, and were not refused since
        self._normal = NORMAL_SHARE  # of refusals, which do not depend on the rate
        self._reference: tuple[float, float] | None = None  # an interval, and the share that was refused at it
        self._in_flight = 0
        self._left: int | None = None  # requests that the server still takes, as it says
        self._reset = 0.0  # when it takes more

    def reserve(self) -> float:
        """Takes the next place in the row of calls and returns 0; or returns the seconds until there is one."""
        now = asyncio.get_running_loop().time()
        opens = max(self._next, self._opens)
        if self._left is not None and self._left <= 0:
            opens = max(opens, self._reset)
        if opens - now > MIN_WAIT:
            return opens - now
        if self._left is not None:
            self._left = self._left - 1 if now < self._reset else None
        self._in_flight += 1
        self._next = now + self.interval
        return 0.0

    def ended(self) -> None:
        """A call that had a place is over, however it went."""
        self._in_flight -= 1

    def answered(self, limits: ServerLimits | None = None, tokens: int = 0) -> None:
        now = asyncio.get_running_loop().time()
        if self._cycle_began is None:
            self._cycle_began = now
        if self._is_refusing:
            self._is_refusing = False
            if self._accepted + self._refused >= MIN_CALLS:
                self._end_cycle(now)
        self._accepted += 1
        self._pause = FIRST_PAUSE
        self._note_limits(limits, tokens, now)
        self._clean += 1
        if self.interval and self._clean >= self._needed:
            self._clean, self._is_trial = 0, True
            self.interval /= FASTER

    def refused(self, fault: RateLimited, sent: float) -> None:
        """A call that was sent at this time was refused for its rate."""
        now = asyncio.get_running_loop().time()
        self._refused += 1
        self._note_limits(fault.limits, 0, now)
        if sent < self._paused_at:  # under way with others, and refused with them
            return
        if self._is_trial:  # it was too fast: back, and the next trial comes later
            self.interval *= FASTER
            self._needed, self._is_trial = min(2 * self._needed, MAX_CLEAN), False
        self._is_refusing, self._clean, self._paused_at = True, 0, now
        self._opens = max(self._opens, now + (fault.retry_after or self._pause))
        self._pause = min(2 * self._pause, MAX_PAUSE)

    def _end_cycle(self, now: float) -> None:
        """The first answer after a refusal. Calls were too fast if more were refused than is normal."""
        assert self._cycle_began is not None
        share = self._refused / (self._accepted + self._refused)
        if share > 1.5 * self._normal and self._accepted:
            if self._is_in_vain(share):
                self._normal, self.interval, self._reference = share, 0.0, None
            else:
                self.interval = max(self.interval, MARGIN * (now - self._cycle_began) / self._accepted)
                self._needed = min(max(self._needed, self._accepted), MAX_CLEAN)
        self._cycle_began, self._accepted, self._refused = now, 0, 0

    def _is_in_vain(self, share: float) -> bool:
        """Whether this share was refused although calls were much slower than at the reference, which it may become."""
        if not self.interval or (self._reference and self.interval < MUCH_SLOWER * self._reference[0]):
            return False
        is_in_vain = self._reference is not None and share > 0.5 * self._reference[1]
        self._reference = (self.interval, share)
        return is_in_vain

    def _note_limits(self, limits: ServerLimits | None, tokens: int, now: float) -> None:
        """What the server says it still takes; calls under way may not be counted in it yet."""
        if limits is None:
            return
        if limits.requests is not None:
            left = limits.requests - self._in_flight
            is_newer = self._left is None or now >= self._reset  # else it may be a late reply
            self._left = left if is_newer else min(left, self._left or 0)
            self._reset = now + limits.requests_reset
        if limits.tokens is not None and limits.tokens < tokens:
            self._opens = max(self._opens, now + limits.tokens_reset)
