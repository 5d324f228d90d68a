"""Figures of people, with intervals over people and cases, and models compared with them."""
