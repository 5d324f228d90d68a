"""What MedQ-Deg's studies draw beyond their tables, one function for each, named as the study."""

from wardround.benchmarks.medq_deg.drawn.dose import dose_response
from wardround.benchmarks.medq_deg.drawn.examples import fig9
from wardround.benchmarks.medq_deg.drawn.feature_map import fig5a
from wardround.benchmarks.medq_deg.drawn.overconfidence import fig4
from wardround.benchmarks.medq_deg.drawn.ranks import fig5b

__all__ = ["dose_response", "fig4", "fig5a", "fig5b", "fig9"]
