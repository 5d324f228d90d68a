"""Eurorad: saved case pages become CURE cases."""
