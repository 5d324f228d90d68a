"""The case explorer: a local web app over run folders and the answer store, and the same as static files."""
