"""The building pipeline: named steps over records, with an account of what each rejected."""
