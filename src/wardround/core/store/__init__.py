"""Where answer stores are."""
