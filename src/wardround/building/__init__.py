"""Making and auditing case sets."""
