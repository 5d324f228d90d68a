"""When a call may be made: how many at once, how fast, and when to stop."""
