"""From the file of the 401(k) data to a report, as a user runs it, against DoubleML.

    python benchmarks/file_to_report.py

Both are processes of their own: start-up and imports are included. Ours is the command `debinet
fit` with the default learner, which ends with a page of HTML; theirs reads the same file, fits the
partially linear regression with five folds and prints the coefficient. Needs the `bench` extra, and
the data (`dn.datasets.fetch_401k`). Seconds are wall-clock time; processor time is given too, as it
depends less on other work of the machine.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

import debinet as dn

REPEATS = 3
OUTCOME, TREATMENT = "net_tfa", "e401"
CONTROLS = ["age", "inc", "fsize", "educ", "marr", "twoearn", "db", "pira", "hown"]
FORESTS: dict[str, dict[str, int]] = {
    "forest": {},  # the defaults of scikit-learn: trees grown to leaves of one row
    "shallow": {"max_depth": 7, "max_features": 3, "min_samples_leaf": 3},
}
TREES = 500
THREADS = ("1", "2")


def fit_doubleml(path: Path, forest: str, threads: int) -> None:
    """Do what a user of DoubleML would: read, fit, print."""
    import doubleml
    import numpy as np
    import pandas as pd
    from sklearn.ensemble import RandomForestRegressor

    data = doubleml.DoubleMLData(pd.read_csv(path), OUTCOME, TREATMENT, CONTROLS)
    trees = RandomForestRegressor(TREES, n_jobs=threads, random_state=0, **FORESTS[forest])
    np.random.seed(0)  # noqa: NPY002 - DoubleML draws its folds from the global state
    model = doubleml.DoubleMLPLR(data, trees, trees, n_folds=5).fit()
    print(json.dumps({"coef": float(model.coef[0]), "se": float(model.se[0])}))


def run(arguments: list[str], threads: str) -> tuple[float, float, str]:
    """Return wall-clock and processor seconds of a process, and what it printed."""
    environment = {**os.environ, "OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads}
    start, before = perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", *arguments],
        check=True,
        capture_output=True,
        text=True,
        env=environment,
    )
    took, after = perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    work = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return took, work, done.stdout


def commands(path: Path, page: Path, threads: str) -> dict[str, list[str]]:
    ours = ["-m", "debinet", "fit", str(path), "--outcome", OUTCOME, "--treatments", TREATMENT]
    ours += ["--controls", ",".join(CONTROLS), "--report", str(page), "--force", "--json"]
    theirs = {
        name: [__file__, "--doubleml", name, "--file", str(path), "--threads", threads]
        for name in FORESTS
    }
    return {"ours": ours, **theirs}


def file_to_report(repeats: int = REPEATS) -> dict[str, float]:
    """Alternate the commands; report medians of seconds, and of ratios within a repeat."""
    found: dict[str, list[float]] = {}
    last: dict[str, str] = {}
    with TemporaryDirectory() as folder:
        path, page = Path(folder) / "401k.csv", Path(folder) / "report.html"
        dn.datasets.fetch_401k().to_csv(path, index=False)
        run(commands(path, page, "1")["ours"], "1")  # so that the file is in the disk cache
        for threads in THREADS:
            for _ in range(repeats):
                took = {}
                for name, arguments in commands(path, page, threads).items():
                    took[name], work, last[name] = run(arguments, threads)
                    found.setdefault(f"{name}_{threads}_threads_seconds", []).append(took[name])
                    found.setdefault(f"{name}_{threads}_threads_processor", []).append(work)
                print(threads, "threads:", took, file=sys.stderr, flush=True)
                for name in FORESTS:
                    ratio = took[name] / took["ours"]
                    found.setdefault(f"{name}_{threads}_threads_ratio", []).append(ratio)
        size = page.stat().st_size
    spread = {f"least_{name}": min(v) for name, v in found.items() if name.endswith("ratio")}
    coefs = {f"{name}_coef": json.loads(last[name])["coef"] for name in FORESTS}
    return {name: median(v) for name, v in found.items()} | spread | coefs | {"page_bytes": size}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--doubleml", choices=list(FORESTS), help="fit once, in this process")
    parser.add_argument("--file", type=Path)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    if options.doubleml is not None:
        fit_doubleml(options.file, options.doubleml, options.threads)
    else:
        print(json.dumps(file_to_report(), indent=2))
