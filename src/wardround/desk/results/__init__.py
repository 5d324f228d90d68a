"""What the work at the desk amounts to: agreement, decisions, thresholds, exam results, exports."""
