"""The four published benchmarks: a folder each, with its protocol, its named studies and the paper's own figures."""
