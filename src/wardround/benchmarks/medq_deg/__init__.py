"""MedQ-Deg: accuracy and confidence as image quality falls."""
