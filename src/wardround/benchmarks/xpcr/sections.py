"""What X-PCR's studies draw beyond their tables, one function for each, named as the study."""

from wardround.benchmarks.xpcr.drawn.calibration import calibration
from wardround.benchmarks.xpcr.drawn.consistency import consistency
from wardround.benchmarks.xpcr.drawn.modalities import ablation, cross
from wardround.benchmarks.xpcr.drawn.physicians import table2
from wardround.benchmarks.xpcr.drawn.propagation import propagation

__all__ = ["ablation", "calibration", "consistency", "cross", "propagation", "table2"]
