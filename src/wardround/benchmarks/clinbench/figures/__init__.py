"""What ClinBench's studies draw, one file for each."""
