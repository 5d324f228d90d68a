"""What an exception of Inspect AI's providers means: each has the classes of its own SDK."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NoReturn

from wardround.candidates.candidate import Fault, RateLimited, Request, RequestRejected, Unsupported
from wardround.candidates.http.errors import STOPS_AFTER, ServerError, parse_error
from wardround.candidates.http.server import REQUEST_IDS


def raise_for(error: Exception, api: Any, request: Request, one_line: Callable[[str], str]) -> NoReturn:
    """Raises what the exception means. One with an HTTP status means what it does at any other server."""
    if (server_error := _server_error(error)) is not None:
        _raise_for_status(replace(server_error, message=one_line(server_error.message)), request)
    name, message = type(error).__name__, one_line(f"{type(error).__name__}: {error}")
    if api.is_auth_failure(error):
        raise Fault(message, kind="HTTP 401", stops_after=STOPS_AFTER["key"])
    if "Timeout" in name:
        raise Fault(message, kind="no reply in time")
    if "Connect" in name or isinstance(error, OSError):
        raise Fault(message, kind="unreachable", unreachable=True)
    if "JSONDecode" in name or "ResponseValidation" in name:
        raise Fault(message, kind="not JSON")
    if not (decision := api.should_retry(error)):
        raise RequestRejected(message)
    retry_after = getattr(decision, "retry_after", None)
    if getattr(decision, "kind", "") == "rate_limit":
        raise RateLimited(message, kind="rate limit", retry_after=retry_after)
    raise Fault(message, kind=name, retry_after=retry_after)


def _raise_for_status(error: ServerError, request: Request) -> NoReturn:
    error.raise_unless_specific()
    if request.ask.sampling.reasoning is not None and error.names_reasoning:
        switch = "on" if request.ask.sampling.reasoning else "off"
        raise Unsupported(f"the server does not take reasoning = {switch}: {error.text}")
    error.raise_for_question(with_images=bool(request.images))


def _server_error(error: Exception) -> ServerError | None:
    """The HTTP error in an exception: its reply if the SDK keeps it, else status and message."""
    response = getattr(error, "response", None)
    status = next(
        (
            value
            for value in (
                getattr(error, "status_code", None),
                getattr(response, "status_code", None),
                getattr(error, "code", None),
            )
            if isinstance(value, int) and 400 <= value < 600
        ),
        None,
    )
    if status is None:
        return None
    content = getattr(response, "content", None)
    if not isinstance(content, bytes):
        return ServerError(status, str(error))
    headers = getattr(response, "headers", {})
    parsed = parse_error(status, headers, content)
    request_id = next((headers[name] for name in REQUEST_IDS if headers.get(name)), None)
    return replace(parsed, message=f"{parsed.message} (request {request_id})") if request_id else parsed
