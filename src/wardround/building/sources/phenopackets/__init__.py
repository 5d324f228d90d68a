"""Phenopackets: GA4GH phenopackets become rare-disease cases."""
