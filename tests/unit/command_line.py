"""What the tests of the command line share."""

from __future__ import annotations

from click.testing import CliRunner

from debinet.cli.main import cli


def run(*arguments):
    """Run a command in this process and return what it left; errors are raised."""
    found = CliRunner().invoke(cli, [*map(str, arguments)], standalone_mode=False)
    if found.exception is not None:
        raise found.exception
    return found
