"""CURE: diagnosis from history and images, and with literature that is cited, retrieved or searched for by an agent."""
