"""Sockets of servers, bound before their address is shown, so that the first request succeeds."""

import socket

from wardround.core.errors import WardroundError

LOOPBACK = ("127.0.0.1", "localhost", "::1")


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the host."""
    return host in LOOPBACK


def open_socket(host: str, port: int) -> socket.socket:
    """A socket that listens; port 0 takes a free one."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        server_socket = socket.socket(family, kind, protocol)
        server_socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server_socket.bind(address)
        server_socket.listen(128)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise WardroundError(f"{host}:{port}: cannot listen there: {reason}") from None
    return server_socket


def socket_url(host: str, server_socket: socket.socket) -> str:
    """The address for a browser."""
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{server_socket.getsockname()[1]}"
