"""What X-PCR's studies draw in addition to their tables: one function for each, named like the study."""

from wardround.benchmarks.xpcr.figures.calibration import calibration
from wardround.benchmarks.xpcr.figures.consistency import consistency
from wardround.benchmarks.xpcr.figures.modalities import ablation
from wardround.benchmarks.xpcr.figures.modality_counts import cross
from wardround.benchmarks.xpcr.figures.physicians import table2
from wardround.benchmarks.xpcr.figures.propagation import propagation

__all__ = ["ablation", "calibration", "consistency", "cross", "propagation", "table2"]
