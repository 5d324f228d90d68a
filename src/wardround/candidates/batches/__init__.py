"""Provider batches: many requests handed over at once, answered within a day at a lower price."""
