"""A study is run: plan, schedule, answer store, replay and budget."""
