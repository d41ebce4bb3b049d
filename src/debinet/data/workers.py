"""The number of workers for a value of `n_jobs`."""

from __future__ import annotations

from joblib import effective_n_jobs

from debinet.data.options import is_whole
from debinet.exceptions import OptionError


def count_workers(n_jobs: int | None) -> int:
    """Return the number of workers for a value of `n_jobs`, as in joblib and scikit-learn.

    None is 1 unless a `joblib.parallel_config` says otherwise, -1 is all cores that this process
    may use, -2 all but one.
    """
    if n_jobs is not None and (not is_whole(n_jobs) or n_jobs == 0):
        raise OptionError(
            "n_jobs to be None or an integer other than 0", repr(n_jobs), "Use n_jobs=-1 for all."
        )
    return int(effective_n_jobs(n_jobs))
