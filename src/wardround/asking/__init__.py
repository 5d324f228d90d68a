"""From conditions to messages: prompts, options, evidence, controls, and the protocols that ask."""
