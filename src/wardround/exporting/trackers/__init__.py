"""Runs for trackers of experiments: MLflow and Weights & Biases."""
