"""The records that all rooms share, hashing, errors, files, text, random streams, and the examiner's interface."""
