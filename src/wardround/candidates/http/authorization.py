"""How requests are authorised beyond a fixed key: short-lived tokens and signatures, made for each request."""

import asyncio
import shutil
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Protocol

from wardround.candidates.candidate import CandidateUnavailable, settings_error
from wardround.candidates.http.secrets import Secrets
from wardround.core.study import CandidateSettings

GOOGLE_SCOPE = "https://www.googleapis.com/auth/cloud-platform"
COMMAND_SECONDS = 60.0


class Authorization(Protocol):
    async def headers(self, url: str, body: Sequence[bytes]) -> dict[str, str]:
        """The headers that authorise one POST of JSON."""
        ...

    def renew(self, headers: dict[str, str]) -> bool:
        """Whether other headers than these, which the server refused, can be made."""
        ...


class BearerToken(ABC):
    """A token that is used until the server refuses it."""

    def __init__(self) -> None:
        self._token: str | None = None
        self._failure: CandidateUnavailable | None = None
        self._lock = asyncio.Lock()

    @abstractmethod
    async def fetch(self) -> str:
        """A new token, or CandidateUnavailable with the reason."""

    async def headers(self, url: str, body: Sequence[bytes]) -> dict[str, str]:
        async with self._lock:
            if self._failure is not None:
                raise self._failure  # whoever waited for the same token does not wait once more
            if self._token is None:
                try:
                    self._token = await self.fetch()
                except CandidateUnavailable as failure:
                    self._failure = failure
                    raise
        return {"Authorization": f"Bearer {self._token}"}

    def renew(self, headers: dict[str, str]) -> bool:
        if headers == {"Authorization": f"Bearer {self._token}"}:  # else another request has renewed it
            self._token = None
        return True


class CommandToken(BearerToken):
    """A token that a command of the user prints, such as `gcloud auth print-access-token`."""

    def __init__(self, command: list[str], secrets: Secrets) -> None:
        super().__init__()
        self._command, self._secrets = command, secrets

    async def fetch(self) -> str:
        program = self._command[0]
        if shutil.which(program) is None:
            raise CandidateUnavailable(f"token_command: {program!r} does not exist")
        process = await asyncio.create_subprocess_exec(
            *self._command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            async with asyncio.timeout(COMMAND_SECONDS):
                output, errors = await process.communicate()
        except TimeoutError:
            process.kill()
            await process.wait()
            raise CandidateUnavailable(f"token_command: {program!r} printed nothing in {COMMAND_SECONDS:g} s") from None
        token = output.decode("utf-8", "replace").strip()
        if process.returncode or not token or not token.isprintable():
            last_line = (errors.decode("utf-8", "replace").strip().splitlines() or ["it printed no token"])[-1]
            raise CandidateUnavailable(
                f"token_command: {program!r} gave no token: {self._secrets.redact(last_line)[:200]}"
            )
        self._secrets.add(token)
        return token


class GoogleToken(BearerToken):
    """A token of the credentials that google-auth finds on this machine."""

    def __init__(self, settings: CandidateSettings, secrets: Secrets) -> None:
        super().__init__()
        try:
            import google.auth
            import google.auth.transport.requests as transport
        except ImportError:
            advice = 'install google-auth and requests, or set token_command = ["gcloud", "auth", "print-access-token"]'
            raise settings_error(settings, f"{settings.provider} needs a token: {advice}") from None
        self._google, self._transport, self._secrets = google.auth, transport, secrets
        self._credentials: Any = None

    async def fetch(self) -> str:
        try:
            return await asyncio.to_thread(self._refresh)
        except self._google.exceptions.GoogleAuthError as error:
            raise CandidateUnavailable(f"google-auth: {self._secrets.redact(str(error))[:200]}") from None

    def _refresh(self) -> str:
        if self._credentials is None:
            self._credentials, _ = self._google.default(scopes=[GOOGLE_SCOPE])
        self._credentials.refresh(self._transport.Request())
        token = str(self._credentials.token)
        self._secrets.add(token)
        return token


class AwsSignature:
    """Signature Version 4 of Amazon, by botocore with the credentials that it finds on this machine."""

    def __init__(self, settings: CandidateSettings, region: str, service: str) -> None:
        try:
            from botocore.auth import SigV4Auth
            from botocore.awsrequest import AWSRequest
            from botocore.session import Session
        except ImportError:
            raise settings_error(
                settings,
                f"{settings.provider} needs botocore: pip install botocore, or name a Bedrock key in api_key_env",
            ) from None
        self._sign, self._request, self._region, self._service = SigV4Auth, AWSRequest, region, service
        self._credentials = Session().get_credentials()
        if self._credentials is None:
            raise settings_error(settings, "botocore finds no credentials (AWS_ACCESS_KEY_ID, a profile or a role)")

    async def headers(self, url: str, body: Sequence[bytes]) -> dict[str, str]:
        request = self._request("POST", url, data=b"".join(body), headers={"Content-Type": "application/json"})
        credentials = await asyncio.to_thread(self._credentials.get_frozen_credentials)
        self._sign(credentials, self._service, self._region).add_auth(request)
        return dict(request.headers.items())

    def renew(self, headers: dict[str, str]) -> bool:
        return False  # each request has its own
