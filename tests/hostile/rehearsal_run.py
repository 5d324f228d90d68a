"""The command `wardround` with short waits: `rehearsal_run.py COMMAND...`."""

from pydoc import locate

from short_waits import shorten

from wardround.cli.main import main


def set_attribute(path: str, value: float) -> None:
    module, _, name = path.rpartition(".")
    setattr(locate(module), name, value)


if __name__ == "__main__":
    shorten(set_attribute)
    main()
