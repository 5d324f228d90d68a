"""A server, an authority for certificates, and no proxies of the machine's own."""

from __future__ import annotations

import pytest
from exam_server import ExamServer

PROXY_VARIABLES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")
NETWORK_VARIABLES = (*PROXY_VARIABLES, *map(str.upper, PROXY_VARIABLES), "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE")


@pytest.fixture(autouse=True)
def _no_network_variables(monkeypatch):
    for name in NETWORK_VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def server():
    with ExamServer() as server:
        yield server


@pytest.fixture
def authority(tmp_path):
    pytest.importorskip("cryptography")
    from relay import Authority

    return Authority(tmp_path)
