"""What is not defined for results with instruments is refused."""

from __future__ import annotations

from debinet.exceptions import OptionError
from debinet.inference.provenance import Provenance


def require_no_instruments(provenance: Provenance, what: str) -> None:
    """Require a result without instruments for `what`."""
    if provenance.instrumented is not None:
        raise OptionError(
            f"a result without instruments for {what}",
            f"instruments {', '.join(provenance.instrumented.instruments)}",
            "Fit without instruments to use it; result.iv has what is known of these.",
        )
