"""Five folds of a trained network as one program against one after the other.

    python benchmarks/net_folds.py

Part of `make bench`; needs torch.
"""

from __future__ import annotations

import json
from functools import partial
from time import perf_counter

import numpy as np

import debinet as dn

# rows, features, hidden units, rows of a batch (0 for all)
SIZES = [
    (1000, 10, 100, 100),
    (1000, 10, 1000, 100),
    (1000, 200, 1000, 100),
    (1000, 10, 1000, 0),
    (1000, 10, 5000, 100),
    (5000, 10, 10_000, 100),
    (5000, 10, 1000, 0),
]
EPOCHS, REPEATS = 5, 3


def seconds(work) -> float:
    start = perf_counter()
    work()
    return perf_counter() - start


def folds_together() -> dict[str, float]:
    """Return, for each size, how many times faster one program is."""
    from debinet.learners.net import fitting

    chosen = fitting._TOGETHER
    found = {}
    try:
        for n, p, width, batch in SIZES:
            rng = np.random.default_rng(0)
            Z, M = rng.normal(size=(n, p)), rng.normal(size=(n, 3))
            rows = [np.flatnonzero(np.arange(n) % 5 != k) for k in range(5)]
            net = dn.Net(width, batch_size=batch or None, epochs=EPOCHS, validation_share=None)
            took = {0: [], 2**62: []}
            for _ in range(REPEATS):
                for limit, times in took.items():
                    fitting._TOGETHER = limit
                    times.append(seconds(partial(net.fit_folds, Z, M, rows, range(5))))
            label = f"n = {n}, p = {p}, {width} units, batches of {batch or n}"
            found[label] = float(np.median(np.array(took[0]) / np.array(took[2**62])))
    finally:
        fitting._TOGETHER = chosen
    return found


if __name__ == "__main__":
    print(json.dumps(folds_together(), indent=2))
