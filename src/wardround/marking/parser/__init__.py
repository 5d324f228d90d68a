"""Reading replies: the option chosen, the diagnoses listed, the confidence stated."""
