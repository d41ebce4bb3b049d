"""The command `debinet`."""
