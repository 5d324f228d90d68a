"""The records of wardround's own measures, by subject."""
