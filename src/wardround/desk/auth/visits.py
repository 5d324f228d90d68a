"""Visits: the signed cookie of a browser, and the token that every form carries back."""

from __future__ import annotations

import hmac
import os
import secrets
from hashlib import sha256
from pathlib import Path

from itsdangerous import BadSignature, Signer

FILE = "desk.secret"
LONGEST = 200


class Visits:
    """Signs visit ids, and knows the form token of each."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        self._signer = Signer(secret, salt="visit", digest_method=sha256)
        self.cookie = f"desk-{sha256(secret).hexdigest()[:8]}"  # two desks on one machine share its cookies

    @classmethod
    def kept_in(cls, root: Path) -> Visits:
        """With the key of this desk, made at its first start and readable by its owner only."""
        file = root / FILE
        if not file.exists():
            draft = file.with_name(f".{FILE}.{os.getpid()}")
            with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as opened:
                opened.write(secrets.token_bytes(32))
            draft.replace(file)
        return cls(file.read_bytes())

    def new(self) -> str:
        """The id of somebody who has not logged in."""
        return "visitor-" + secrets.token_urlsafe(24)

    def signed(self, id: str) -> str:
        return self._signer.sign(id).decode()

    def read(self, cookie: str | None) -> str | None:
        """The id in a cookie that we signed."""
        if not cookie or len(cookie) > LONGEST:
            return None
        try:
            return self._signer.unsign(cookie).decode()
        except (BadSignature, UnicodeDecodeError):
            return None

    def token(self, id: str) -> str:
        """What a form of this visit has to carry."""
        return hmac.new(self._secret, b"form:" + id.encode(), sha256).hexdigest()

    def is_token(self, id: str, token: str) -> bool:
        return hmac.compare_digest(self.token(id).encode(), token.encode(errors="replace"))
