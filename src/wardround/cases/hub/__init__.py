"""Case sets by their names on the Hugging Face Hub; only `download.py` imports `huggingface_hub`."""
