"""Asking by a provider's batches: at a lower price, in waves, safe against any interruption."""
