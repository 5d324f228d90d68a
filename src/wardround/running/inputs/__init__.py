"""What a run was made from: its hashes, where it is now, what changed since, and its copy in a packed run."""
