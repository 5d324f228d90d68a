"""An imitation of the Hugging Face Hub on loopback, for the real client: data sets, their trees and their files.

Routes and headers as huggingface_hub 2.4 uses them (read on 2026-11-18). What it does not know it answers with 404.
"""

from __future__ import annotations

import hashlib
import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit


@dataclass
class HubRepo:
    """A data set: its files by path at one commit, and how the server behaves."""

    files: dict[str, bytes]
    gated: bool = False  # files are given to a token only
    broken: str = ""  # the path of a file whose body ends too early

    @property
    def commit(self) -> str:
        hasher = hashlib.sha1()
        for path, content in sorted(self.files.items()):
            hasher.update(path.encode() + b"\0" + content)
        return hasher.hexdigest()


@dataclass
class HubImitation:
    """The server with its repositories by name; use it as a context."""

    repos: dict[str, HubRepo] = field(default_factory=dict)
    token: str = "hf_valid"
    requests: list[tuple[str, str]] = field(default_factory=list)

    def __enter__(self) -> HubImitation:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"


def _handler(hub: HubImitation) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._answer()

        def do_HEAD(self) -> None:
            self._answer()

        def log_message(self, *_: object) -> None:
            pass

        def _answer(self) -> None:
            path = unquote(urlsplit(self.path).path)
            hub.requests.append((self.command, path))
            parts = path.strip("/").split("/")
            if parts[:2] == ["api", "datasets"] and len(parts) >= 6 and parts[4] in ("revision", "tree"):
                self._describe("/".join(parts[2:4]), parts[4], parts[5])
            elif parts[0] == "datasets" and len(parts) >= 6 and parts[3] == "resolve":
                self._file("/".join(parts[1:3]), parts[4], "/".join(parts[5:]))
            else:
                self._send(404, b'{"error": "no such route"}')

        def _repo(self, name: str, revision: str) -> HubRepo | None:
            """The repository; None if an error was sent."""
            repo = hub.repos.get(name)
            if repo is None:  # the Hub does not tell a missing repository from a private one
                self._send(401, b'{"error": "Invalid username or password."}', {"X-Error-Code": "RepoNotFound"})
            elif revision not in ("main", repo.commit):
                self._send(404, b'{"error": "Invalid rev id"}', {"X-Error-Code": "RevisionNotFound"})
            else:
                return repo
            return None

        def _describe(self, name: str, what: str, revision: str) -> None:
            if (repo := self._repo(name, revision)) is None:
                return
            if what == "tree":
                entries = [
                    {"type": "file", "path": path, "size": len(content), "oid": hashlib.sha1(content).hexdigest()}
                    for path, content in repo.files.items()
                ]
                self._send(200, json.dumps(entries).encode())
                return
            siblings = [{"rfilename": path} for path in repo.files]
            self._send(200, json.dumps({"id": name, "sha": repo.commit, "siblings": siblings}).encode())

        def _file(self, name: str, revision: str, path: str) -> None:
            if (repo := self._repo(name, revision)) is None:
                return
            if repo.gated and self.headers.get("Authorization") != f"Bearer {hub.token}":
                status = 403 if self.headers.get("Authorization") else 401
                self._send(status, b'{"error": "restricted"}', {"X-Error-Code": "GatedRepo"})
                return
            if (content := repo.files.get(path)) is None:
                self._send(404, b'{"error": "Entry not found"}', {"X-Error-Code": "EntryNotFound"})
                return
            etag = f'"{hashlib.sha1(content).hexdigest()}"'
            headers = {"ETag": etag, "X-Repo-Commit": repo.commit, "Accept-Ranges": "bytes"}
            self._send(200, content, headers, is_broken=path == repo.broken)

        def _send(
            self, status: int, body: bytes, headers: dict[str, str] | None = None, *, is_broken: bool = False
        ) -> None:
            self.send_response(status)
            for key, value in (headers or {}).items():
                self.send_header(key, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command == "HEAD":
                return
            self.wfile.write(body[: len(body) // 2] if is_broken else body)
            if is_broken:
                self.wfile.flush()
                self.close_connection = True

    return Handler
