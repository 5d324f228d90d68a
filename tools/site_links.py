"""MkDocs hook: links to folders and out of docs/ become code text, because the site does not hold their targets.

`--strict` then still checks every other link. A target that the repository does not hold is left as it is,
and the build fails.
"""

import posixpath
import re
from pathlib import Path
from typing import Any

FENCED = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?<!!)\[([^\]\n]+)\]\(([^)\s]+)\)")


def on_page_markdown(markdown: str, page: Any, config: Any, **_: Any) -> str:
    """Called by MkDocs for each page."""
    docs = Path(config["docs_dir"])
    return turn_outside_links_into_code(markdown, page.file.src_uri, docs)


def turn_outside_links_into_code(markdown: str, page: str, docs: Path) -> str:
    """The page with `[text](../src/file)` as "text (`src/file`)"; fenced blocks stay as they are."""

    def to_code(link: re.Match[str]) -> str:
        text, address = link.groups()
        path = outside_path(address, page, docs)
        if path is None:
            return link[0]
        return f"`{path}`" if text.strip("`") in (path, address) else f"{text} (`{path}`)"

    parts, end = [], 0
    for block in FENCED.finditer(markdown):
        parts += [LINK.sub(to_code, markdown[end : block.start()]), block[0]]
        end = block.end()
    return "".join([*parts, LINK.sub(to_code, markdown[end:])])


def outside_path(address: str, page: str, docs: Path) -> str | None:
    """The path in the repository of what a page's link names, if it exists there and the site does not hold it."""
    if "://" in address or address.startswith(("#", "mailto:")):
        return None
    place = posixpath.normpath(posixpath.join(docs.name, posixpath.dirname(page), address.partition("#")[0]))
    target = docs.parent / place
    is_on_site = place.startswith(f"{docs.name}/") and target.suffix not in (".py", ".toml") and not target.is_dir()
    return place if target.exists() and not is_on_site else None
