"""`transformers`: Hugging Face models in this process, in worker processes on its GPUs, or on a Ray cluster."""
