"""Pages and tables as notebooks show them."""

from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

HEIGHT = 800


@dataclass(frozen=True)
class Page:
    """An HTML page of wardround: shown whole inside a notebook, a path elsewhere."""

    path: Path

    def __str__(self) -> str:
        return str(self.path)

    def _repr_html_(self) -> str:
        """A frame of its own, so that the page's style does not touch the notebook's."""
        frame = Markup('<iframe srcdoc="{}" style="width: 100%; height: {}px; border: 1px solid #ccc"></iframe>')
        return frame.format(self.path.read_text(encoding="utf-8"), HEIGHT)
