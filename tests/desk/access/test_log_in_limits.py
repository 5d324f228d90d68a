"""Guessed passwords: counted before they are hashed, and never at the cost of the person whose name was guessed."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from desk_site import PASSWORD

from wardround.core.errors import WardroundError
from wardround.desk.auth import accounts, log_in_limits
from wardround.desk.auth.log_in_limits import TooManyAttempts


def outcome(site, name: str, password: str, address: str) -> str:
    try:
        site.desk.accounts.log_in(name, password, address)
    except TooManyAttempts:
        return "limited"
    except WardroundError:
        return "wrong"
    return "right"


@pytest.fixture
def hashing(monkeypatch):
    """Counts passwords that are checked, and how many at once."""

    class Hashing:
        count = at_once = most = 0

    lock, check = threading.Lock(), accounts._is_password

    def counted(hashed: str, password: str) -> bool:
        with lock:
            Hashing.count += 1
            Hashing.at_once += 1
            Hashing.most = max(Hashing.most, Hashing.at_once)
        try:
            return check(hashed, password)
        finally:
            with lock:
                Hashing.at_once -= 1

    monkeypatch.setattr(accounts, "_is_password", counted)
    return Hashing


def test_of_many_guesses_at_once_only_the_allowed_ones_are_checked(site, task, hashing):
    with ThreadPoolExecutor(30) as pool:
        outcomes = list(pool.map(lambda n: outcome(site, "Sue", f"wrong password {n}", "10.0.0.9"), range(30)))
    assert "right" not in outcomes
    assert hashing.count <= log_in_limits.MAX_FAILED_BY_NAME_AND_ADDRESS
    assert hashing.most <= log_in_limits.MAX_HASHES


def test_a_stranger_cannot_lock_the_administrator_out(site, task):
    for _ in range(log_in_limits.MAX_FAILED_BY_NAME_AND_ADDRESS):
        assert outcome(site, "Ada", "wrong password", "10.0.0.66") == "wrong"
    assert outcome(site, "Ada", PASSWORD, "10.0.0.66") == "limited"
    assert outcome(site, "Ada", PASSWORD, "10.0.0.1") == "right"


def test_right_passwords_never_use_an_address_up(site, task, monkeypatch):
    monkeypatch.setattr(log_in_limits, "MAX_FAILED_BY_ADDRESS", 3)
    assert [outcome(site, "Sue", PASSWORD, "10.0.0.2") for _ in range(10)] == ["right"] * 10


def test_a_full_queue_is_refused_at_once(site, task):
    limits = site.desk.accounts._limits
    places = log_in_limits.MAX_HASHES + log_in_limits.MAX_WAITING
    assert all(limits._places.acquire(blocking=False) for _ in range(places))
    try:
        assert outcome(site, "Sue", PASSWORD, "10.0.0.3") == "limited"
    finally:
        limits._places.release(places)
    assert outcome(site, "Sue", PASSWORD, "10.0.0.3") == "right"
