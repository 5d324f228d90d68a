"""Case sets and named studies as tasks of Inspect AI: our prompts, conditions, parser and measures; its engine."""
