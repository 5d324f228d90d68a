"""The human check: the items that a build leaves to people, their verdicts, and the reviewed case set."""
