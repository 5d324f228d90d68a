"""feed.xml: the changes of a site as RSS 2.0. Its links are absolute if the address of the site is known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from email.utils import format_datetime
from typing import Any
from urllib.parse import urljoin
from xml.etree.ElementTree import Element, SubElement, indent, register_namespace, tostring

from wardround.reporting.templating import CONTROLS

MAX_ITEMS = 50  # our choice
ATOM = "http://www.w3.org/2005/Atom"
Record = dict[str, Any]


def render_feed(
    title: str, builds: Sequence[Record], url: str | None, describe: Callable[[Record], tuple[str, str]]
) -> bytes:
    """The latest events of the history; `describe` gives the title and the text of one."""
    register_namespace("atom", ATOM)
    root = Element("rss", {"version": "2.0"})
    channel = SubElement(root, "channel")
    _add(channel, "title", title)
    _add(channel, "link", _address(url, "index.html"))
    _add(channel, "description", f"New, changed and removed runs of {title}.")
    _add(channel, "language", "en")
    if builds:
        _add(channel, "lastBuildDate", _date(builds[0]["built"]))
    if url is not None:
        link = {"href": _address(url, "feed.xml"), "rel": "self", "type": "application/rss+xml"}
        SubElement(channel, f"{{{ATOM}}}link", link)
    events = [(build, event) for build in builds for event in build["events"]]
    for build, event in events[:MAX_ITEMS]:
        item = SubElement(channel, "item")
        heading, text = describe(event)
        _add(item, "title", heading)
        _add(item, "link", _address(url, f"changes.html#build-{build['number']}"))
        _add(item, "description", text)
        SubElement(item, "guid", {"isPermaLink": "false"}).text = event["guid"]
        _add(item, "pubDate", _date(build["built"]))
    indent(root)
    xml: str = tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{xml}\n'.encode()


def _add(parent: Element, name: str, text: str) -> None:
    SubElement(parent, name).text = CONTROLS.sub("\ufffd", text)


def _address(url: str | None, page: str) -> str:
    return page if url is None else urljoin(url.rstrip("/") + "/", page)


def _date(built: str) -> str:
    return format_datetime(datetime.fromisoformat(built), usegmt=True)
