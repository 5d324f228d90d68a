"""Bootstrap over clusters: weights, products, percentile intervals, and what need not be resampled twice."""
