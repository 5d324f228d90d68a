"""Visits: the signed cookie of a browser, and the CSRF token of its forms."""

from __future__ import annotations

import hmac
import secrets
from hashlib import sha256
from pathlib import Path

from itsdangerous import BadSignature, Signer

from wardround.core.files import replacement

FILE = "desk.secret"
MAX_COOKIE = 200


class Visits:
    """Signs visit ids, and derives the form token of each."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        self._signer = Signer(secret, salt="visit", digest_method=sha256)
        self.cookie = f"desk-{sha256(secret).hexdigest()[:8]}"  # two desks on one machine share its cookies

    @classmethod
    def load(cls, root: Path) -> Visits:
        """With the key of this desk, made at its first start and readable by its owner only."""
        file = root / FILE
        if not file.exists():
            with replacement(file, private=True) as draft:
                draft.write_bytes(secrets.token_bytes(32))
        return cls(file.read_bytes())

    def new_visitor(self) -> str:
        """The id of somebody who has not logged in."""
        return "visitor-" + secrets.token_urlsafe(24)

    def sign(self, id: str) -> str:
        return self._signer.sign(id).decode()

    def verify(self, cookie: str | None) -> str | None:
        """The id in a cookie, if we signed it."""
        if not cookie or len(cookie) > MAX_COOKIE:
            return None
        try:
            return self._signer.unsign(cookie).decode()
        except (BadSignature, UnicodeDecodeError):
            return None

    def form_token(self, id: str) -> str:
        """The CSRF token of this visit's forms."""
        return hmac.new(self._secret, b"form:" + id.encode(), sha256).hexdigest()

    def is_form_token(self, id: str, token: str) -> bool:
        return hmac.compare_digest(self.form_token(id).encode(), token.encode(errors="replace"))
