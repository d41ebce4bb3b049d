"""Shared by the tests of the command line."""

from __future__ import annotations

import contextlib
import io
import json
import sys
from subprocess import CompletedProcess
from unittest.mock import patch

import pytest
from click.testing import CliRunner

from closeness import assert_close
from debinet.cli.main import cli, main


def run(*arguments):
    """Run a command in this process and return its result; errors are raised."""
    found = CliRunner().invoke(cli, [*map(str, arguments)], standalone_mode=False)
    if found.exception is not None:
        raise found.exception
    return found


def debinet(*arguments):
    """Call the entry point in this process and return its exit code and all that it printed.

    What would be a traceback in a terminal is raised here.
    """
    command = ["debinet", *map(str, arguments)]
    with (
        patch.object(sys, "argv", command),
        contextlib.redirect_stdout(io.StringIO()) as output,
        contextlib.redirect_stderr(io.StringIO()) as errors,
        pytest.raises(SystemExit) as ended,
    ):
        main()
    return CompletedProcess(command, ended.value.code, output.getvalue(), errors.getvalue())


def assert_printed(found, result, tolerance):
    """Compare what `--json` printed with a result."""
    rows = json.loads(found.output)["coefficients"]
    assert [row["term"] for row in rows] == list(result.coef.index)
    assert_close([row["coef"] for row in rows], result.coef, tolerance)
    assert_close([row["se"] for row in rows], result.se, tolerance)
