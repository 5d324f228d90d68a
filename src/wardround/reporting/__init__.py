"""What a run found, as a page that a clinician can read."""

from wardround.reporting.cases import AskView, CaseView, Part, TrialView
from wardround.reporting.compare import compare
from wardround.reporting.page import report
from wardround.reporting.run import RunFolder, read_run
from wardround.reporting.section import Section

__all__ = ["AskView", "CaseView", "Part", "RunFolder", "Section", "TrialView", "compare", "read_run", "report"]
