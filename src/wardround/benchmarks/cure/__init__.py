"""CURE: diagnosis from history and images, and with literature that is given, found or searched for."""
