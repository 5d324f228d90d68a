"""ClinBench: authentic journal cases, rare ones included, told in text and with images."""
