"""What MedQ-Deg's studies draw in addition to their tables: one function for each, named like the study."""

from wardround.benchmarks.medq_deg.figures.cliffs import table6
from wardround.benchmarks.medq_deg.figures.dose import dose_response
from wardround.benchmarks.medq_deg.figures.examples import fig9
from wardround.benchmarks.medq_deg.figures.feature_map import fig5a
from wardround.benchmarks.medq_deg.figures.overconfidence import fig4
from wardround.benchmarks.medq_deg.figures.pairs import fig1
from wardround.benchmarks.medq_deg.figures.ranks import fig5b
from wardround.benchmarks.medq_deg.figures.set_comparison import table1

__all__ = ["dose_response", "fig1", "fig4", "fig5a", "fig5b", "fig9", "table1", "table6"]
