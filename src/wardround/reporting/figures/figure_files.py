"""A chart written as SVG and PNG. Altair is loaded only by what draws one: it takes as long to load as a small run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from wardround.core.errors import WardroundError

if TYPE_CHECKING:
    import altair as alt

    Chart = alt.Chart | alt.LayerChart | alt.ConcatChart | alt.HConcatChart | alt.FacetChart

Mark = Literal["line", "stacked", "dots", "heatmap", "panels", "heatmaps", "candidates", "radar"]
NEEDED = 'figures as SVG and PNG need vl-convert: pip install "wardround[figures]"'
SCALE = 2  # pixels of the PNG per point


def write_figure(chart: Chart, folder: Path, stem: str = "figure") -> list[Path]:
    """Writes the figure as SVG and as PNG."""
    try:
        import vl_convert
    except ImportError:
        raise WardroundError(NEEDED) from None
    spec = chart.to_json()
    files = [folder / f"{stem}.svg", folder / f"{stem}.png"]
    files[0].write_text(vl_convert.vegalite_to_svg(spec), encoding="utf-8")
    files[1].write_bytes(vl_convert.vegalite_to_png(spec, scale=SCALE))
    return files
