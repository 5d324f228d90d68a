"""PMC: articles become ClinBench cases."""
