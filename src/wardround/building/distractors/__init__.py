"""Options of choice questions: where distractors come from and how they are balanced."""
