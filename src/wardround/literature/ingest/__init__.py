"""Files of articles become records: PubMed XML, JSONL and CSV, with a ledger of what was read."""
