"""Ophthalmic: images with labels, lesions and grades become X-PCR chains."""
