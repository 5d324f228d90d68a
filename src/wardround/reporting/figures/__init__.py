"""Figures: SVG for the page, and Altair charts of a paper's table."""
