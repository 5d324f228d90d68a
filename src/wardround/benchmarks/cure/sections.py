"""What CURE's studies draw in addition to their tables: one function for each, named like the study."""

from wardround.benchmarks.cure.figures.alignment import fig3
from wardround.benchmarks.cure.figures.error_causes import why
from wardround.benchmarks.cure.figures.faithfulness import faithfulness
from wardround.benchmarks.cure.figures.noise import noise

__all__ = ["faithfulness", "fig3", "noise", "why"]
