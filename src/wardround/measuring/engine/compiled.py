"""Whether this process uses the loops that numba compiles, or NumPy alone: the numbers are the same."""

MANY_MARKS = 400_000  # with fewer, NumPy alone takes less time than numba, which takes 0.5 s to load
_uses_loops = False


def use_loops() -> None:
    """From now on this process uses compiled loops."""
    global _uses_loops
    _uses_loops = True


def uses_loops() -> bool:
    return _uses_loops
