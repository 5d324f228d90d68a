"""What CURE's studies draw beyond their tables, one function for each, named as the study."""

from wardround.benchmarks.cure.drawn.alignment import fig3
from wardround.benchmarks.cure.drawn.faithfulness import faithfulness
from wardround.benchmarks.cure.drawn.noise import noise
from wardround.benchmarks.cure.drawn.why import why

__all__ = ["faithfulness", "fig3", "noise", "why"]
