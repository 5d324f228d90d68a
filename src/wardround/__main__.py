"""`python -m wardround` is the command `wardround`."""

from wardround.cli.main import main

main()
