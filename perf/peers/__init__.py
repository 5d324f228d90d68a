"""Those that make the same calls. Each is a program of its own: `python -m perf.peers.NAME FOLDER URL CALLS`."""
