"""Reads files of articles into records: PubMed XML, JSONL and CSV, with a ledger of the files read."""
