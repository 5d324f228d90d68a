"""The answer store: its tables, the leases of Asks under way, and its upkeep."""

from wardround.running.store.answers import AnswerKey, AnswerStore, Call, Spending, StoredAnswer, StoredBody

__all__ = ["AnswerKey", "AnswerStore", "Call", "Spending", "StoredAnswer", "StoredBody"]
