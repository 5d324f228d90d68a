"""Near-duplicate texts, images and cases."""
