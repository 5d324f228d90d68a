"""The word index: an exact BM25 over parts that are added without changing earlier ones."""
