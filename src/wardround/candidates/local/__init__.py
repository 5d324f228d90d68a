"""`local`: a GGUF model in this machine's memory."""
