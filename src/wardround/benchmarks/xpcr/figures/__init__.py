"""What X-PCR's studies draw beyond their tables."""
