"""ClinBench: authentic journal cases, rare ones included, in text and with images."""
