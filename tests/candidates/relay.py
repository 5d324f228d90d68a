"""A server on loopback that passes bytes on: a TLS front of an ExamServer, or a proxy (CONNECT and plain)."""

from __future__ import annotations

import asyncio
import ssl
import threading
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


class Relay:
    """Every connection goes to `upstream`, a port on loopback. With `refusal`, a proxy answers that status instead."""

    def __init__(
        self, upstream: int, *, tls: ssl.SSLContext | None = None, is_proxy: bool = False, refusal: str | None = None
    ) -> None:
        self.upstream, self.tls, self.is_proxy, self.refusal = upstream, tls, is_proxy, refusal
        self.heads: list[str] = []  # first request of each connection through a proxy
        self.connections = 0
        self.port = 0

    def __enter__(self) -> Relay:
        started = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve(started)), daemon=True)
        self._thread.start()
        assert started.wait(10)
        return self

    def __exit__(self, *exception: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    async def _serve(self, started: threading.Event) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        self._loop.set_exception_handler(lambda *_: None)  # clients that distrust us end the handshake
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0, ssl=self.tls)
        self.port = server.sockets[0].getsockname()[1]
        started.set()
        await self._stop.wait()
        server.close()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        with suppress(OSError, asyncio.IncompleteReadError):
            head = await reader.readuntil(b"\r\n\r\n") if self.is_proxy else b""
            if self.is_proxy:
                self.heads.append(head.decode())
            if self.refusal:
                writer.write(f"HTTP/1.1 {self.refusal}\r\nContent-Length: 0\r\n\r\n".encode())
            else:
                await self._tunnel(head, reader, writer)
        writer.close()

    async def _tunnel(self, head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        from_server, to_server = await asyncio.open_connection("127.0.0.1", self.upstream)
        if head.startswith(b"CONNECT "):
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        else:
            to_server.write(head)
        await asyncio.gather(_copy(reader, to_server), _copy(from_server, writer))


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    writer.close()


class Authority:
    """A certificate authority with a folder for what it issues."""

    def __init__(self, folder: Path, name: str = "authority") -> None:
        self.folder, self._key, self._name = folder, ec.generate_private_key(ec.SECP256R1()), name
        self._certificate = self._sign(name, self._key, is_authority=True)
        self.bundle = folder / f"{name}.pem"
        self.bundle.write_bytes(self._certificate.public_bytes(serialization.Encoding.PEM))

    def issue(self, name: str, *hosts: str, password: bytes | None = None) -> tuple[Path, Path]:
        """The files of a certificate for these hosts and of its key."""
        key = ec.generate_private_key(ec.SECP256R1())
        certificate_file, key_file = self.folder / f"{name}.crt", self.folder / f"{name}.key"
        certificate_file.write_bytes(self._sign(name, key, *hosts).public_bytes(serialization.Encoding.PEM))
        secrecy = serialization.BestAvailableEncryption(password) if password else serialization.NoEncryption()
        key_format = serialization.PrivateFormat.PKCS8
        key_file.write_bytes(key.private_bytes(serialization.Encoding.PEM, key_format, secrecy))
        return certificate_file, key_file

    def server_context(self, *hosts: str, wants_certificate: bool = False) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*self.issue("server", *hosts))
        if wants_certificate:
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_verify_locations(self.bundle)
        return context

    def _sign(
        self, name: str, key: ec.EllipticCurvePrivateKey, *hosts: str, is_authority: bool = False
    ) -> x509.Certificate:
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        issuer = subject if is_authority else self._certificate.subject
        builder = x509.CertificateBuilder(issuer, subject, key.public_key(), x509.random_serial_number())
        builder = builder.not_valid_before(datetime.now(UTC) - timedelta(days=1))
        builder = builder.not_valid_after(datetime.now(UTC) + timedelta(days=1))
        builder = builder.add_extension(x509.BasicConstraints(is_authority, None), critical=True)
        if hosts:
            names = [x509.IPAddress(ip_address(host)) if host[0].isdigit() else x509.DNSName(host) for host in hosts]
            builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
        return builder.sign(self._key, hashes.SHA256())
