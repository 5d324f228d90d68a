"""A benchmark is a folder of TOML; this file only makes the folder a package that an entry point can name."""
