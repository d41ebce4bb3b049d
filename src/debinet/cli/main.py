"""The command group; errors are shown in one line, with exit code 2 and no traceback."""

from __future__ import annotations

import sys

import click

from debinet import __version__
from debinet.cli.dashboard import dashboard_command
from debinet.cli.demo import demo_command
from debinet.cli.example import example_command
from debinet.cli.experiments import reproduce_command, simulate_command
from debinet.cli.fit import fit_command
from debinet.cli.saved import predict_command, trust_command
from debinet.cli.sensitivity import sensitivity_command
from debinet.exceptions import DebiNetError

_INTERRUPTED = 130


@click.group(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 done, 1 done but some cells failed, 2 cannot be done as asked, "
    "130 interrupted.",
)
@click.version_option(__version__, prog_name="debinet")
def cli() -> None:
    """Coefficients that can be defended, from models good enough to predict."""


cli.add_command(demo_command)
cli.add_command(example_command)
cli.add_command(fit_command)
cli.add_command(predict_command)
cli.add_command(trust_command)
cli.add_command(sensitivity_command)
cli.add_command(reproduce_command)
cli.add_command(simulate_command)
cli.add_command(dashboard_command)


def main() -> None:
    """Run the command line."""
    try:
        code = cli.main(prog_name="debinet", standalone_mode=False)
    except (DebiNetError, OSError) as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(2)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except (click.Abort, KeyboardInterrupt):
        click.echo(
            "Interrupted. No incomplete file is left. If results or a checkpoint are kept, run the "
            "same command again to resume.",
            err=True,
        )
        sys.exit(_INTERRUPTED)
    sys.exit(code if isinstance(code, int) else 0)
