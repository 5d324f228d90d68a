"""What CURE's studies draw in addition to their tables: one function for each, named like the study."""

from wardround.benchmarks.cure.figures.alignment import fig3
from wardround.benchmarks.cure.figures.cells import cells
from wardround.benchmarks.cure.figures.error_causes import why
from wardround.benchmarks.cure.figures.faithfulness import faithfulness
from wardround.benchmarks.cure.figures.noise import noise
from wardround.benchmarks.cure.figures.outcomes import fig2

__all__ = ["cells", "faithfulness", "fig2", "fig3", "noise", "why"]
