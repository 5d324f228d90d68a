"""What all benchmarks share: named studies, running them, their tables and the published figures."""
