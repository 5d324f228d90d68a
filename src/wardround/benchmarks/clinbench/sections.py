"""What ClinBench's studies draw beyond their tables, one function for each, named as the study."""

from wardround.benchmarks.clinbench.drawn.errors import table9
from wardround.benchmarks.clinbench.drawn.leakage import table8

__all__ = ["table8", "table9"]
