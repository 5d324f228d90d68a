"""MkDocs hook: links fit the site.

Links to folders and out of docs/ become code text, because the site does not hold their targets. `--strict` then still
checks every other link. A target that the repository does not hold is left as it is, and the build fails.
A link that shows the name of a page's file shows its title.
"""

import posixpath
import re
from pathlib import Path
from typing import Any

FENCED = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
TITLE = re.compile(r"^# (.+)$", re.MULTILINE)
LINK = re.compile(r"(?<!!)\[([^\]\n]+)\]\(([^)\s]+)\)")


def on_page_markdown(markdown: str, page: Any, config: Any, **_: Any) -> str:
    """Called by MkDocs for each page."""
    docs = Path(config["docs_dir"])
    return fit_links(markdown, page.file.src_uri, docs)


def fit_links(markdown: str, page: str, docs: Path) -> str:
    """The page with `[text](../src/file)` as "text (`src/file`)" and `[runs.md](runs.md)` under the title of that page.

    Fenced blocks stay as they are.
    """

    def fit(link: re.Match[str]) -> str:
        text, address = link.groups()
        path = outside_path(address, page, docs)
        if path is not None:
            return f"`{path}`" if text.strip("`") in (path, address) else f"{text} (`{path}`)"
        target = docs / posixpath.dirname(page) / address.partition("#")[0]
        if text.endswith(".md") and target.is_file() and (title := TITLE.search(target.read_text(encoding="utf-8"))):
            return f"[{title[1]}]({address})"
        return link[0]

    parts, end = [], 0
    for block in FENCED.finditer(markdown):
        parts += [LINK.sub(fit, markdown[end : block.start()]), block[0]]
        end = block.end()
    return "".join([*parts, LINK.sub(fit, markdown[end:])])


def outside_path(address: str, page: str, docs: Path) -> str | None:
    """The path in the repository of what a page's link names, if it exists there and the site does not hold it."""
    if "://" in address or address.startswith(("#", "mailto:")):
        return None
    place = posixpath.normpath(posixpath.join(docs.name, posixpath.dirname(page), address.partition("#")[0]))
    target = docs.parent / place
    is_on_site = place.startswith(f"{docs.name}/") and target.suffix not in (".py", ".toml") and not target.is_dir()
    return place if target.exists() and not is_on_site else None
