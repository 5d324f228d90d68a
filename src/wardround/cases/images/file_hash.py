"""FileHash: the hash of a file, and what tells that the file was not changed since."""

import os
from typing import NamedTuple


class FileHash(NamedTuple):
    """The SHA-256 of a file that had this size and this modification time."""

    size: int
    changed: int  # nanoseconds
    sha256: str

    def is_of(self, status: os.stat_result) -> bool:
        """Whether a file is as it was when it was hashed."""
        return (self.size, self.changed) == (status.st_size, status.st_mtime_ns)
