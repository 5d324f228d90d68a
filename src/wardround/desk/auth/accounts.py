"""Accounts: people with roles, invitations, passwords and sessions."""

import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from hashlib import sha256
from sqlite3 import IntegrityError, Row

from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError

from wardround.core.errors import WardroundError
from wardround.desk.auth.log_in_limits import LogInLimits
from wardround.desk.records import from_row
from wardround.desk.store import DeskStore, now

STUDENT, ADMINISTRATOR = "student", "administrator"
PHYSICIANS = ("resident", "attending", "specialist", "radiologist")
ROLES = (STUDENT, *PHYSICIANS, ADMINISTRATOR)

INVITATION_DAYS, SESSION_HOURS = 14, 12
MIN_PASSWORD, MAX_PASSWORD, MAX_NAME, MAX_LOGIN = 10, 200, 60, 200


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


class Accounts:
    """The people of a desk, how they are invited and how they log in."""

    def __init__(self, store: DeskStore) -> None:
        self._store = store
        self._limits = LogInLimits(store)

    def list_people(self) -> list[Person]:
        return [from_row(Person, row) for row in self._store.rows("SELECT * FROM people WHERE active ORDER BY name")]

    def has_administrator(self) -> bool:
        return bool(self._store.value("SELECT 1 FROM people WHERE role = ? AND active", ADMINISTRATOR))

    def invite(
        self,
        role: str,
        by: Person | None = None,
        person: int | None = None,
        *,
        name: str = "",
        specialty: str = "",
        login: str = "",
    ) -> str:
        """A token that works once: for a new person (of this name), or for `person`, who needs a new password."""
        if role not in ROLES:
            raise WardroundError(f"there is no role {role!r}; there are {', '.join(ROLES)}")
        token = secrets.token_urlsafe(24)
        with self._store.transaction():
            if by is None:  # the link that the command line prints: an older one is void
                self._store.write("UPDATE invitations SET used = ? WHERE made_by IS NULL AND used IS NULL", now())
            self._store.write(
                "INSERT INTO invitations (token, role, person, name, specialty, login, made_by, made, until)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                *(_hash_token(token), role, person, name, specialty, login),
                *(by and by.id, now(), _time_from_now(days=INVITATION_DAYS)),
            )
            self._store.log_action(by.id if by else None, "invite", role=role, whom=person, name=name)
        return token

    def find_invitation(self, token: str) -> Row | None:
        """The invitation of a token; None if it is unknown, used or too old."""
        return self._store.row(
            "SELECT i.*, coalesce(p.name, i.name) AS whom FROM invitations i LEFT JOIN people p ON p.id = i.person"
            " WHERE token = ? AND used IS NULL AND until > ?",
            *(_hash_token(token), now()),
        )

    def open_invitations(self) -> list[Row]:
        """Invitations that are neither used nor too old, the newest first."""
        return self._store.rows(
            "SELECT i.rowid AS id, i.role, i.name, i.made, i.until, p.name AS whom, m.name AS made_by"
            " FROM invitations i LEFT JOIN people p ON p.id = i.person LEFT JOIN people m ON m.id = i.made_by"
            " WHERE used IS NULL AND until > ? ORDER BY i.made DESC, i.rowid DESC",
            now(),
        )

    def withdraw(self, invitation: int, by: Person) -> None:
        """Makes an unused invitation void."""
        with self._store.transaction():
            self._store.write("UPDATE invitations SET used = ? WHERE rowid = ? AND used IS NULL", now(), invitation)
            self._store.log_action(by.id, "withdraw invitation", invitation=invitation)

    def join(self, token: str, name: str, password: str, specialty: str = "") -> Person:
        """Creates the account of an invitation, or sets the new password."""
        name, specialty = " ".join(name.split()), " ".join(specialty.split())[:MAX_NAME]
        invitation = self.find_invitation(token)
        if invitation is None:
            raise WardroundError("this link was used already, or is too old: ask for a new one")
        name = invitation["name"] or name
        if invitation["person"] is None and not 0 < len(name) <= MAX_NAME:
            raise WardroundError(f"a name has 1 to {MAX_NAME} characters")
        if not name.isprintable() or not specialty.isprintable():
            raise WardroundError("a name has letters, digits and signs only")
        if not MIN_PASSWORD <= len(password) <= MAX_PASSWORD:
            raise WardroundError(f"a password has at least {MIN_PASSWORD} characters")
        with self._limits.hashing():
            password_hash = _hasher().hash(password)
        with self._store.transaction():
            if self.find_invitation(token) is None:
                raise WardroundError("this link was used already, or is too old: ask for a new one")
            self._store.write("UPDATE invitations SET used = ? WHERE token = ?", now(), _hash_token(token))
            if (person := invitation["person"]) is not None:
                self._store.write("UPDATE people SET password = ? WHERE id = ?", password_hash, person)
                self._store.write("UPDATE sessions SET ended = ? WHERE person = ? AND ended IS NULL", now(), person)
            else:
                person = self._add(name, invitation["role"], password_hash, specialty, invitation["login"])
            self._store.log_action(person, "join", role=invitation["role"])
        return self.by_id(person)

    def _add(self, name: str, role: str, password: str | None, specialty: str, login: str = "") -> int:
        try:
            return self._store.write(
                "INSERT INTO people (name, role, specialty, password, login, made) VALUES (?, ?, ?, ?, ?, ?)",
                *(name, role, specialty, password, login, now()),
            )
        except IntegrityError:
            raise WardroundError(f"the name {name!r} is taken: choose another") from None

    def by_id(self, id: int) -> Person:
        row = self._store.row("SELECT * FROM people WHERE id = ?", id)
        if row is None:
            raise WardroundError("there is no such person")
        return from_row(Person, row)

    def invited_names(self) -> list[str]:
        """Everybody who was ever here, and everybody who is invited by name."""
        people = [row["name"] for row in self._store.rows("SELECT name FROM people")]
        return people + [row["name"] for row in self.open_invitations() if row["name"]]

    def change(self, id: int, role: str, specialty: str, by: Person) -> None:
        """Gives a person another role and specialty; what they did before keeps the level at which they did it."""
        if role not in ROLES:
            raise WardroundError(f"there is no role {role!r}; there are {', '.join(ROLES)}")
        before = self.by_id(id)
        if id == by.id and role != before.role:
            raise WardroundError("you cannot change your own role: another administrator can")
        with self._store.transaction():
            self._store.write("UPDATE people SET role = ?, specialty = ? WHERE id = ?", role, specialty[:MAX_NAME], id)
            self._store.log_action(
                by.id, "change person", whom=id, role=[before.role, role], specialty=[before.specialty, specialty]
            )

    def remove(self, id: int, by: Person) -> None:
        """Removes a person's access and their open invitations; their verdicts stay."""
        if id == by.id:
            raise WardroundError("you cannot remove yourself")
        with self._store.transaction():
            self._store.write("UPDATE people SET active = 0 WHERE id = ?", id)
            self._store.write("UPDATE sessions SET ended = ? WHERE person = ? AND ended IS NULL", now(), id)
            self._store.write(
                "UPDATE invitations SET used = ? WHERE used IS NULL AND (made_by = ? OR person = ?)", now(), id, id
            )
            self._store.log_action(by.id, "remove person", whom=id)

    def log_in(self, name: str, password: str, address: str) -> Person:
        """The person, if the password is right. It takes as long whether the name exists or not."""
        name = " ".join(name.split())[:MAX_NAME]
        self._limits.count(name, address)
        row = self._store.row("SELECT * FROM people WHERE name = ? AND active", name)
        password_hash = row["password"] if row else None
        with self._limits.hashing():
            is_right = _is_password(password_hash or _unmatched_hash(), password[:MAX_PASSWORD]) and password_hash
        with self._store.transaction():
            if row is None or not is_right:
                self._store.log_action(row["id"] if row else None, "log-in failed", name=name)
            else:
                self._limits.forgive(name, address)
                self._store.log_action(row["id"], "log in")
        if row is None or not is_right:
            raise WardroundError("name or password is wrong")
        return from_row(Person, row)

    def log_in_by_provider(self, login: str) -> Person:
        """The person with this log-in at the provider, or who is invited by name with it; nobody else."""
        with self._store.transaction():
            rows = self._store.rows("SELECT * FROM people WHERE login = ? COLLATE NOCASE AND active", login)
            if not rows:
                invitation = self._store.row(
                    "SELECT rowid AS id, * FROM invitations WHERE login = ? COLLATE NOCASE AND name != ''"
                    " AND person IS NULL AND used IS NULL AND until > ?",
                    *(login, now()),
                )
                if invitation is not None:
                    id = self._add(invitation["name"], invitation["role"], None, invitation["specialty"], login)
                    self._store.write("UPDATE invitations SET used = ? WHERE rowid = ?", now(), invitation["id"])
                    self._store.log_action(id, "join", role=invitation["role"], login=login)
                    rows = self._store.rows("SELECT * FROM people WHERE id = ?", id)
            self._store.log_action(rows[0]["id"] if len(rows) == 1 else None, "log in by provider", login=login)
        if len(rows) != 1:
            raise WardroundError("the desk does not know you: ask your administrator to enter your log-in")
        return from_row(Person, rows[0])

    def login_of(self, id: int) -> str:
        """A person's log-in at the provider; empty if there is none."""
        return str(self._store.value("SELECT login FROM people WHERE id = ?", id) or "")

    def set_login(self, id: int, login: str, by: Person) -> None:
        """Enters a person's log-in at the provider; one log-in is one person's."""
        login = login.strip()[:MAX_LOGIN]
        with self._store.transaction():
            is_used = "SELECT 1 FROM people WHERE login = ? COLLATE NOCASE AND id != ? AND active"
            if login and self._store.value(is_used, login, id):
                raise WardroundError(f"the log-in {login!r} is another person's")
            self._store.write("UPDATE people SET login = ? WHERE id = ?", login, id)
            self._store.log_action(by.id, "set login", whom=id, login=login)

    def open_session(self, person: Person) -> str:
        """A new session id, never the one of the visitor's cookie."""
        id = secrets.token_urlsafe(32)
        with self._store.transaction():
            self._store.write(
                "INSERT INTO sessions (id, person, made, until) VALUES (?, ?, ?, ?)",
                *(_hash_token(id), person.id, now(), _time_from_now(hours=SESSION_HOURS)),
            )
        return id

    def person_of_session(self, id: str) -> Person | None:
        row = self._store.row(
            "SELECT p.* FROM sessions s JOIN people p ON p.id = s.person"
            " WHERE s.id = ? AND s.ended IS NULL AND s.until > ? AND p.active",
            *(_hash_token(id), now()),
        )
        return None if row is None else from_row(Person, row)

    def close_session(self, id: str, person: Person) -> None:
        with self._store.transaction():
            self._store.write("UPDATE sessions SET ended = ? WHERE id = ?", now(), _hash_token(id))
            self._store.log_action(person.id, "log out")


def _hash_token(token: str) -> bytes:
    return sha256(token.encode()).digest()


def _time_from_now(**span: float) -> str:
    return (datetime.now(UTC) + timedelta(**span)).strftime("%Y-%m-%dT%H:%M:%S.000Z")


@cache
def _hasher() -> PasswordHasher:
    return PasswordHasher()


@cache
def _unmatched_hash() -> str:
    """A hash that no password matches, so that unknown names take as long as known ones."""
    return _hasher().hash(secrets.token_urlsafe(32))


def _is_password(hashed: str, password: str) -> bool:
    try:
        return _hasher().verify(hashed, password)
    except (Argon2Error, InvalidHashError):
        return False
