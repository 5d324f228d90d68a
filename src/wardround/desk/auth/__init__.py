"""Who may do what at the desk: people, log-ins, sessions, and the guard before every request."""
