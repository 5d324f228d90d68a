"""X-PCR: its folders and rows, with the map of field names."""
