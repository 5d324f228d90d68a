"""PubMed, or articles in its form: ingest, index, search, evaluation and servers over one index."""
