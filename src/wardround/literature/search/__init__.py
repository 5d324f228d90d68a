"""Searching an index: filters, hits, fusion and reranking."""
