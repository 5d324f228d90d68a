"""Provider batches: many requests submitted at once, answered within a day at a lower price."""
