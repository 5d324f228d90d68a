"""X-PCR: six dependent stages across imaging modalities."""
