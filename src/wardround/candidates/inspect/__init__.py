"""`inspect`: models behind the providers of Inspect AI."""
