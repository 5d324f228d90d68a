"""What a run found, as a page that a clinician can read."""

from wardround.reporting.case_pages import AskView, CaseView, PromptPart, TrialView
from wardround.reporting.compare import compare
from wardround.reporting.page import report
from wardround.reporting.run_files import RunFiles, read_run
from wardround.reporting.sections.section import Section

__all__ = ["AskView", "CaseView", "PromptPart", "RunFiles", "Section", "TrialView", "compare", "read_run", "report"]
