"""Commands on the answer store: its answers, and the provider batches that it records."""
