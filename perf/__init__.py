"""Speed and memory, each printed as a ratio against a peer measured in the same run."""
