"""The index: tables of articles and vectors, built, updated and embedded."""
