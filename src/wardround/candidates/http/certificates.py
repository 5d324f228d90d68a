"""The TLS settings of a candidate: which authorities it trusts, and the certificate that it shows."""

import os
import ssl
from pathlib import Path

from wardround.candidates.candidate import settings_error
from wardround.core.study import CandidateSettings

BUNDLE_VARIABLES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE")


def make_tls_context(settings: CandidateSettings, *, with_environment: bool) -> ssl.SSLContext | None:
    """The context for a candidate's own certificates, or those of the environment; None for the system's."""
    bundle, origin = settings.ca_bundle, "ca_bundle"
    if bundle is None and with_environment:
        origin = next((name for name in BUNDLE_VARIABLES if os.environ.get(name)), "")
        bundle = os.environ.get(origin)
    if settings.client_key and not settings.client_cert:
        raise settings_error(settings, "client_key needs client_cert")
    if bundle is None and settings.client_cert is None:
        return None
    context = _trusting(settings, origin, bundle)
    if bundle is not None:  # a hospital's own authority often lacks extensions that Python 3.13 demands
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    if settings.client_cert is not None:
        _show_certificate(settings, context, settings.client_cert)
    context.set_alpn_protocols(["http/1.1"])
    return context


def _trusting(settings: CandidateSettings, origin: str, bundle: str | None) -> ssl.SSLContext:
    if bundle is None:
        return ssl.create_default_context()
    path = _existing(settings, origin, bundle)
    try:
        if path.is_dir():
            return ssl.create_default_context(capath=path)
        context = ssl.create_default_context(cafile=path)
        if context.cert_store_stats()["x509"]:
            return context
    except (OSError, ValueError):  # an SSLError is an OSError
        pass
    raise settings_error(settings, f"{origin}: {bundle} contains no certificates that can be read; expected PEM")


def _show_certificate(settings: CandidateSettings, context: ssl.SSLContext, file: str) -> None:
    certificate = _existing(settings, "client_cert", file)
    key = _existing(settings, "client_key", settings.client_key) if settings.client_key else None
    try:
        context.load_cert_chain(certificate, key, password=_refuse_password)
    except PasswordNeeded:
        problem = f"the key in {key or certificate} has a password; store it without one"
        raise settings_error(settings, problem) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", None) or error.args[-1]
        what = f"client_cert {file} and client_key {settings.client_key}" if key else f"client_cert {file}"
        raise settings_error(settings, f"{what} cannot be used: {reason}") from None


class PasswordNeeded(Exception):
    """OpenSSL would ask for a password on the terminal."""


def _refuse_password() -> str:
    raise PasswordNeeded


def _existing(settings: CandidateSettings, origin: str, file: str) -> Path:
    path = Path(file)
    if not path.exists():
        raise settings_error(settings, f"{origin}: there is no file {file}")
    return path
