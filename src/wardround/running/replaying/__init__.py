"""Replaying stored answers without running protocols."""
