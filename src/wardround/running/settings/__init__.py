"""Whether settings took effect: probe questions, the verdicts on their replies, and what a run's own answers show."""
