"""Makes what tests share importable (the modules in this folder), and lists at the end what was not tried."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import HealthCheck, settings

# no test depends on how fast the machine is
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")

LONG_FILES = ("test_plugins.py", "test_packaging.py", "test_examples.py", "test_demo.py", "test_api.py")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long files first, so that the worker processes end together."""
    items.sort(key=lambda item: item.path.name not in LONG_FILES)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """One line per reason for which tests were skipped."""
    reasons: Counter[str] = Counter()
    for report in terminalreporter.stats.get("skipped", []):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        reasons[reason.removeprefix("Skipped: ")] += 1
    for reason, count in reasons.most_common():
        terminalreporter.write_line(f"not tried: {count} tests: {reason}")
