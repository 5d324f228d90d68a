"""PubMed and what is told like it: files of articles read into records that replace and delete each other."""

from wardround.literature.ingesting import ingest
from wardround.literature.ledger import Entry, entries
from wardround.literature.record import Record, sections
from wardround.literature.replacing import current
from wardround.literature.sources import read

__all__ = ["Entry", "Record", "current", "entries", "ingest", "read", "sections"]
