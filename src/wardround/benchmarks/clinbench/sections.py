"""What ClinBench's studies draw in addition to their tables: one function for each, named like the study."""

from wardround.benchmarks.clinbench.figures.composition import fig6, table1, table2, table7
from wardround.benchmarks.clinbench.figures.cost import cost
from wardround.benchmarks.clinbench.figures.errors import table9
from wardround.benchmarks.clinbench.figures.leakage import table8
from wardround.benchmarks.clinbench.figures.rare import table5
from wardround.benchmarks.clinbench.figures.reliability import fig5
from wardround.benchmarks.clinbench.figures.separation import fig1

fig5_switch = fig5

__all__ = [
    "cost",
    "fig1",
    "fig5",
    "fig5_switch",
    "fig6",
    "table1",
    "table2",
    "table5",
    "table7",
    "table8",
    "table9",
]
