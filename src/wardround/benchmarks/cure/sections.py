"""What CURE's studies draw beyond their tables, one function for each, named as the study."""

from wardround.benchmarks.cure.figures.alignment import fig3
from wardround.benchmarks.cure.figures.faithfulness import faithfulness
from wardround.benchmarks.cure.figures.noise import noise
from wardround.benchmarks.cure.figures.why import why

__all__ = ["faithfulness", "fig3", "noise", "why"]
