"""Checks of wardround itself: planted truths that every measure must find, and interval coverage."""
