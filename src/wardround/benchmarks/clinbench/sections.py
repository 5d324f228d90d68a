"""What ClinBench's studies draw beyond their tables, one function for each, named as the study."""

from wardround.benchmarks.clinbench.drawn.cost import cost
from wardround.benchmarks.clinbench.drawn.errors import table9
from wardround.benchmarks.clinbench.drawn.leakage import table8
from wardround.benchmarks.clinbench.drawn.rare import table5
from wardround.benchmarks.clinbench.drawn.reliability import fig5
from wardround.benchmarks.clinbench.drawn.separation import fig1

__all__ = ["cost", "fig1", "fig5", "table5", "table8", "table9"]
