"""Folders that Hugging Face's `datasets` loads: Parquet files, a card, and Croissant metadata."""
