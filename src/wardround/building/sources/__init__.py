"""Where case sets are built from: one folder per source."""
