"""MedQ-Deg: what its studies draw beyond tables."""
