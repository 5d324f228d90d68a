"""Makes the helpers of this folder importable in its sub-folders."""
