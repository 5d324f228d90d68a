"""Reads an article from the list of blocks that MinerU makes of a PDF (`*_content_list.json`).

The blocks are in reading order: `text` (a heading has a `text_level`), `list`, `image` with its caption, and others
that are not running text. The layout is that of MinerU's documentation, output_files, looked up on 2026-11-16; images
lie in the folder `images` beside the file. A panel without a caption of its own has no number and is left out.
"""

import json
import re
from pathlib import Path
from typing import Any

from wardround.building.sources.pmc.article import PmcArticle
from wardround.building.sources.pmc.plain_text import parse_text, read_utf8
from wardround.core.safe_xml import UnusableFile

SUFFIX = "_content_list.json"
CAPTIONS = ("image_caption", "img_caption")  # the second name is that of MinerU before 2.5
_NUMBERED = re.compile(r"\s*fig(?:ure)?s?\.?\s*\d+", re.IGNORECASE)


def read_content_list(file: Path) -> PmcArticle:
    """The article of a list of blocks. What stands before the first heading, the title, is left out."""
    try:
        blocks = json.loads(read_utf8(file))
    except (ValueError, RecursionError) as error:
        raise UnusableFile(f"is not JSON: {error}") from None
    if not isinstance(blocks, list) or not all(isinstance(block, dict) for block in blocks):
        raise UnusableFile("is not a list of blocks as MinerU writes it")
    title = next((place for place, block in enumerate(blocks) if _level(block)), 0)
    return parse_text("\n\n".join(filter(None, map(_as_markdown, blocks[title:]))), file)


def _as_markdown(block: dict[str, Any]) -> str:
    match block.get("type"):
        case "text":
            text = " ".join(str(block.get("text", "")).split())
            return f"{'#' * _level(block)} {text}".strip()
        case "list":
            return "\n\n".join(str(item) for item in block.get("list_items") or [])
        case "image" | "chart":
            captions: Any = next((block[name] for name in CAPTIONS if block.get(name)), [])
            caption = " ".join(captions if isinstance(captions, list) else [str(captions)])
            alternative = " ".join(caption.replace("[", "(").replace("]", ")").split())
            path = block.get("img_path")
            return f"![{alternative}]({path})" if path and _NUMBERED.match(caption) else ""
        case _:
            return ""


def _level(block: dict[str, Any]) -> int:
    """The level of a heading; 0 for other blocks."""
    level = block.get("text_level")
    return min(level, 6) if block.get("type") == "text" and isinstance(level, int) and level > 0 else 0
