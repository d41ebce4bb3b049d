"""Streamed fits: time per row, memory, the rate of the accumulation, and Dask workers.

    python benchmarks/streaming.py --rows 1000000 10000000 --folder data

Files are generated once, 200 bytes a row, and kept in the folder. Every fit runs in a process of
its own, so that its peak memory is its own.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np

CONTROLS, TREATMENTS, WIDTH, FOLDS = 20, 3, 500, 5
GROUP = 250_000  # rows of a row group
ROWS = (1_000_000,)


def generate(rows: int, folder: Path) -> Path:
    """Write a table of `rows` rows, 1,000,000 in each file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    target = folder / f"rows-{rows}"
    if target.exists():
        return target
    draft = folder / f"rows-{rows}.draft"
    draft.mkdir(parents=True, exist_ok=True)
    names = [*(f"z{j}" for j in range(CONTROLS)), *(f"d{j}" for j in range(TREATMENTS)), "y"]
    for start in range(0, rows, 1_000_000):
        with pq.ParquetWriter(
            draft / f"part-{start // 1_000_000}.parquet",
            pa.schema([(name, pa.float64()) for name in names]),
            compression="none",
            use_dictionary=False,
        ) as writer:
            for group in range(start, min(start + 1_000_000, rows), GROUP):
                n = min(GROUP, rows - group)
                table = pa.table(list(make_rows(n, group).T), names=names)
                writer.write_table(table, row_group_size=GROUP)
    draft.rename(target)
    return target


def make_rows(n: int, seed: int) -> np.ndarray:
    """Return controls, treatments and an outcome (n, 24) that depend on each other."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, CONTROLS))
    D = np.column_stack([np.sin(Z[:, 0]), np.abs(Z[:, 1]), Z[:, 2] * Z[:, 3]])
    D += rng.normal(size=D.shape)
    y = D @ [1.0, -0.5, 0.25] + np.abs(Z[:, 4]) + np.sin(Z[:, 0]) + rng.normal(size=n)
    return np.column_stack([Z, D, y])


def fit(folder: Path, **options: object) -> dict[str, float]:
    """Fit, and return seconds, coefficients and the peak of resident memory."""
    import debinet as dn

    names = [f"d{j}" for j in range(TREATMENTS)]
    model = dn.PartiallyLinear(
        names,
        dn.TangentNet(width=WIDTH, random_state=0),
        crossfit=FOLDS,
        n_jobs=-1,
        random_state=0,
    )
    start = perf_counter()
    model.fit_stream(str(folder / "*.parquet"), "y", **options)
    seconds = perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    coef = {name: float(value) for name, value in model.result_.coef.items()}
    return {"seconds": seconds, "gigabytes": peak, **coef}


def apart(code: str) -> dict[str, float]:
    """Run `code`, an expression of this module, in a process of its own."""
    program = f"import json, streaming; from pathlib import Path; print(json.dumps({code}))"
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


def rates(folder: Path, repeats: int = 5) -> dict[str, float]:
    """Compare the pass of Gram matrices, on one core and from the file, with dgemm."""
    from threadpoolctl import threadpool_limits

    from debinet.data.sources import open_source
    from debinet.learners.inputs import Moments
    from debinet.learners.tangent.features import HiddenUnits, draw_directions
    from debinet.streaming.fit import _grams_of
    from debinet.streaming.grams import RowMap
    from debinet.streaming.layout import Layout
    from debinet.streaming.moments import column_sums, read_schema
    from debinet.streaming.running import Job, run_pieces

    features = (*(f"d{j}" for j in range(TREATMENTS)), *(f"z{j}" for j in range(CONTROLS)))
    layout = Layout("y", features, TREATMENTS, None, None, FOLDS, 0)
    units = HiddenUnits(
        Moments(np.zeros(CONTROLS), np.ones(CONTROLS)), draw_directions(0, CONTROLS, WIDTH)
    )
    row_map = RowMap(units, Moments(np.zeros(TREATMENTS + 1), np.ones(TREATMENTS + 1)))
    A = np.random.default_rng(0).normal(size=(2000, 2000))
    found: dict[str, list[float]] = {"gemm": [], "pass": []}
    with open_source(str(folder / "*.parquet")) as source, threadpool_limits(1):
        job = Job(source.pieces[:1], layout)
        schema = read_schema(run_pieces(job, column_sums), layout)
        n = source.pieces[0].rows
        for _ in range(repeats):
            start = perf_counter()
            A @ A
            found["gemm"].append(2 * len(A) ** 3 / (perf_counter() - start) / 1e9)
            start = perf_counter()
            run_pieces(job, lambda rows: _grams_of(rows, schema, row_map, FOLDS))
            # syrk: half of the products of a symmetric matrix
            found["pass"].append(n * row_map.size**2 / (perf_counter() - start) / 1e9)
    gemm, taken = (median(found[name]) for name in ("gemm", "pass"))
    return {"dgemm_gflops": gemm, "accumulation_gflops": taken, "share": taken / gemm}


def dask_seconds(folder: Path, workers: int) -> dict[str, float]:
    """Fit on a local cluster of single-threaded processes."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        Client(cluster) as client,
    ):
        client.run(_warm)
        return fit(folder, client=client)


def _warm() -> None:
    import debinet.models.streamed  # noqa: F401 - imports are not measured


def streaming(
    rows: tuple[int, ...] = ROWS, folder: Path | None = None, repeats: int = 3
) -> dict[str, float]:
    """Return all figures."""
    with TemporaryDirectory() as temporary:
        data = Path(temporary) if folder is None else folder.resolve()
        found: dict[str, float] = {}
        for n in rows:
            path = generate(n, data)
            one = apart(f"streaming.fit(Path({str(path)!r}))")
            found[f"seconds_{n}"] = one["seconds"]
            found[f"microseconds_per_row_{n}"] = 1e6 * one["seconds"] / n
            found[f"peak_gigabytes_{n}"] = one["gigabytes"]
        first = generate(rows[0], data)
        found |= apart(f"streaming.rates(Path({str(first)!r}))")
        ratios = []
        for _ in range(repeats):
            one, two = (
                apart(f"streaming.dask_seconds(Path({str(first)!r}), {workers})")["seconds"]
                for workers in (1, 2)
            )
            ratios.append(one / two)
        found["dask_two_over_one"] = median(ratios)
        return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=list(ROWS))
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    figures = streaming(tuple(arguments.rows), arguments.folder, arguments.repeats)
    print(json.dumps(figures, indent=2))
