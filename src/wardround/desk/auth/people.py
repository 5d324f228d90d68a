"""People: roles, invitations, passwords, log-ins."""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from hashlib import sha256
from sqlite3 import IntegrityError, Row

from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError

from wardround.core.errors import WardroundError
from wardround.desk.store import Store, now

STUDENT, ADMINISTRATOR = "student", "administrator"
PHYSICIANS = ("resident", "attending", "specialist", "radiologist")
ROLES = (STUDENT, *PHYSICIANS, ADMINISTRATOR)

INVITATION_DAYS, SESSION_HOURS = 14, 12
SHORTEST_PASSWORD, LONGEST_PASSWORD, LONGEST_NAME = 10, 200, 60
TRIES, TRIES_FROM_ONE_PLACE, WITHIN = 5, 40, 900  # failed log-ins by name, by address, in so many seconds


class TooManyTries(WardroundError):
    """Somebody guesses passwords."""


@dataclass(frozen=True)
class Person:
    id: int
    name: str
    role: str
    specialty: str

    @property
    def is_administrator(self) -> bool:
        return self.role == ADMINISTRATOR

    @property
    def is_physician(self) -> bool:
        return self.role in PHYSICIANS


def person_of(row: Row) -> Person:
    return Person(row["id"], row["name"], row["role"], row["specialty"])


class People:
    """Who may come in, and how."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def all(self) -> list[Person]:
        return [person_of(row) for row in self._store.rows("SELECT * FROM people WHERE active ORDER BY name")]

    def has_administrator(self) -> bool:
        return bool(self._store.value("SELECT 1 FROM people WHERE role = ? AND active", ADMINISTRATOR))

    def invite(self, role: str, by: Person | None = None, person: int | None = None) -> str:
        """A token that lets somebody in once: a new person, or one who is here and needs a new password."""
        if role not in ROLES:
            raise WardroundError(f"there is no role {role!r}; there are {', '.join(ROLES)}")
        token = secrets.token_urlsafe(24)
        with self._store.saving():
            if by is None:  # the link that the command line prints: an older one is void
                self._store.write("UPDATE invitations SET used = ? WHERE made_by IS NULL AND used IS NULL", now())
            self._store.write(
                "INSERT INTO invitations (token, role, person, made_by, made, until) VALUES (?, ?, ?, ?, ?, ?)",
                *(_hashed(token), role, person, by and by.id, now(), _later(days=INVITATION_DAYS)),
            )
            self._store.record(by.id if by else None, "invite", role=role, whom=person)
        return token

    def invitation(self, token: str) -> Row | None:
        """What a token is good for; nothing if it is unknown, used or too old."""
        return self._store.row(
            "SELECT i.*, p.name FROM invitations i LEFT JOIN people p ON p.id = i.person"
            " WHERE token = ? AND used IS NULL AND until > ?",
            *(_hashed(token), now()),
        )

    def invitations(self) -> list[Row]:
        """Links that nobody has used yet and that still work, the newest first."""
        return self._store.rows(
            "SELECT i.rowid AS id, i.role, i.made, i.until, p.name AS whom, m.name AS made_by FROM invitations i"
            " LEFT JOIN people p ON p.id = i.person LEFT JOIN people m ON m.id = i.made_by"
            " WHERE used IS NULL AND until > ? ORDER BY i.made DESC, i.rowid DESC",
            now(),
        )

    def withdraw(self, invitation: int, by: Person) -> None:
        """A link that nobody has used works no more."""
        with self._store.saving():
            self._store.write("UPDATE invitations SET used = ? WHERE rowid = ? AND used IS NULL", now(), invitation)
            self._store.record(by.id, "withdraw invitation", invitation=invitation)

    def join(self, token: str, name: str, password: str, specialty: str = "") -> Person:
        """Takes an invitation up."""
        name, specialty = " ".join(name.split()), " ".join(specialty.split())[:LONGEST_NAME]
        invited = self.invitation(token)
        if invited is None:
            raise WardroundError("this link was used already, or is too old: ask for a new one")
        if invited["person"] is None and not 0 < len(name) <= LONGEST_NAME:
            raise WardroundError(f"a name has 1 to {LONGEST_NAME} characters")
        if not name.isprintable() or not specialty.isprintable():
            raise WardroundError("a name has letters, digits and signs only")
        if not SHORTEST_PASSWORD <= len(password) <= LONGEST_PASSWORD:
            raise WardroundError(f"a password has at least {SHORTEST_PASSWORD} characters")
        hashed = _hasher().hash(password)
        with self._store.saving():
            if self.invitation(token) is None:
                raise WardroundError("this link was used already, or is too old: ask for a new one")
            self._store.write("UPDATE invitations SET used = ? WHERE token = ?", now(), _hashed(token))
            if (person := invited["person"]) is not None:
                self._store.write("UPDATE people SET password = ? WHERE id = ?", hashed, person)
                self._store.write("UPDATE sessions SET ended = ? WHERE person = ? AND ended IS NULL", now(), person)
            else:
                person = self._add(name, invited["role"], hashed, specialty)
            self._store.record(person, "join", role=invited["role"])
        return self.by_id(person)

    def _add(self, name: str, role: str, password: str | None, specialty: str) -> int:
        try:
            return self._store.write(
                "INSERT INTO people (name, role, specialty, password, made) VALUES (?, ?, ?, ?, ?)",
                *(name, role, specialty, password, now()),
            )
        except IntegrityError:
            raise WardroundError(f"the name {name!r} is taken: choose another") from None

    def by_id(self, id: int) -> Person:
        row = self._store.row("SELECT * FROM people WHERE id = ?", id)
        if row is None:
            raise WardroundError("there is no such person")
        return person_of(row)

    def leave(self, id: int, by: Person) -> None:
        """Somebody may not come in any more, nor may who has a link of theirs; what they did stays."""
        if id == by.id:
            raise WardroundError("you cannot remove yourself")
        with self._store.saving():
            self._store.write("UPDATE people SET active = 0 WHERE id = ?", id)
            self._store.write("UPDATE sessions SET ended = ? WHERE person = ? AND ended IS NULL", now(), id)
            self._store.write(
                "UPDATE invitations SET used = ? WHERE used IS NULL AND (made_by = ? OR person = ?)", now(), id, id
            )
            self._store.record(by.id, "remove person", whom=id)

    def log_in(self, name: str, password: str, address: str) -> Person:
        """The person, if the password is right. The same time passes whether the name exists or not."""
        name = " ".join(name.split())[:LONGEST_NAME]
        by_name, by_place = f"name:{name.casefold()}", f"from:{address}"
        tries = "SELECT count(*) FROM attempts WHERE who = ? AND time > ?"
        since = time.time() - WITHIN
        if (
            self._store.value(tries, by_name, since) >= TRIES
            or self._store.value(tries, by_place, since) >= TRIES_FROM_ONE_PLACE
        ):
            raise TooManyTries(f"too many tries: wait {WITHIN // 60} minutes")
        row = self._store.row("SELECT * FROM people WHERE name = ? AND active", name)
        right = _fits(row["password"] if row and row["password"] else _nobody(), password[:LONGEST_PASSWORD])
        with self._store.saving():
            if row is None or not row["password"] or not right:
                moment = time.time()
                self._store.write("DELETE FROM attempts WHERE time < ?", since)
                self._store.write("INSERT INTO attempts VALUES (?, ?), (?, ?)", by_name, moment, by_place, moment)
                self._store.record(row["id"] if row else None, "log-in failed", name=name)
            else:
                self._store.write("DELETE FROM attempts WHERE who = ?", by_name)
                self._store.record(row["id"], "log in")
        if row is None or not row["password"] or not right:
            raise WardroundError("name or password is wrong")
        return person_of(row)

    def open_session(self, person: Person) -> str:
        """A new session id, never one that a visitor brought along."""
        id = secrets.token_urlsafe(32)
        with self._store.saving():
            self._store.write(
                "INSERT INTO sessions (id, person, made, until) VALUES (?, ?, ?, ?)",
                *(_hashed(id), person.id, now(), _later(hours=SESSION_HOURS)),
            )
        return id

    def of_session(self, id: str) -> Person | None:
        row = self._store.row(
            "SELECT p.* FROM sessions s JOIN people p ON p.id = s.person"
            " WHERE s.id = ? AND s.ended IS NULL AND s.until > ? AND p.active",
            *(_hashed(id), now()),
        )
        return None if row is None else person_of(row)

    def close_session(self, id: str, person: Person) -> None:
        with self._store.saving():
            self._store.write("UPDATE sessions SET ended = ? WHERE id = ?", now(), _hashed(id))
            self._store.record(person.id, "log out")


def _hashed(token: str) -> bytes:
    return sha256(token.encode()).digest()


def _later(**span: float) -> str:
    return (datetime.now(UTC) + timedelta(**span)).strftime("%Y-%m-%dT%H:%M:%S.000Z")


@cache
def _hasher() -> PasswordHasher:
    return PasswordHasher()


@cache
def _nobody() -> str:
    """A hash that no password fits, so that unknown names take as long as known ones."""
    return _hasher().hash(secrets.token_urlsafe(32))


def _fits(hashed: str, password: str) -> bool:
    try:
        return _hasher().verify(hashed, password)
    except (Argon2Error, InvalidHashError):
        return False
