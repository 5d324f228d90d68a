"""MedQ-Deg from a pool of clean questions: without duplicates, with degradations and skills assigned."""
