"""What X-PCR's studies draw in addition to their tables: one function for each, named like the study."""

from wardround.benchmarks.xpcr.figures.calibration import calibration
from wardround.benchmarks.xpcr.figures.consistency import consistency
from wardround.benchmarks.xpcr.figures.differential import differential
from wardround.benchmarks.xpcr.figures.modalities import ablation
from wardround.benchmarks.xpcr.figures.modality_counts import cross
from wardround.benchmarks.xpcr.figures.physicians import table2
from wardround.benchmarks.xpcr.figures.propagation import propagation
from wardround.benchmarks.xpcr.figures.statistics import statistics

__all__ = ["ablation", "calibration", "consistency", "cross", "differential", "propagation", "statistics", "table2"]
