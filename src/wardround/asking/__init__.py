"""Conditions become messages: prompts, options, controls and the protocols that ask."""
