"""PubMed and what is told like it: files of articles read into records that replace and delete each other."""

from wardround.literature.ingest.current_records import current
from wardround.literature.ingest.ingest import ingest
from wardround.literature.ingest.ledger import Entry, entries
from wardround.literature.ingest.record import Record, sections
from wardround.literature.ingest.sources import read

__all__ = ["Entry", "Record", "current", "entries", "ingest", "read", "sections"]
