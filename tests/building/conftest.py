"""Makes the helpers of this folder importable in tests/building/sources."""
