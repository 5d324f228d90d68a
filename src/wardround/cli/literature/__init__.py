"""`wardround literature`: one file per subcommand."""
