"""From marks to figures with intervals: items, cluster sums, slices, bootstrap, and the tables that are written."""
