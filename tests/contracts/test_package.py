"""The package as a whole: the time of its import, and its public names."""

import subprocess
import sys
from pathlib import Path
from statistics import median
from time import perf_counter

import pytest

import debinet as dn

ROOT = Path(__file__).parents[2]


def run(code):
    return subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=ROOT
    ).stdout


def test_import_takes_less_than_half_a_second():
    """Median of five warm runs, less the bare interpreter; `make bench` prints the number."""

    def seconds(code):
        start = perf_counter()
        run(code)
        return perf_counter() - start

    run("import debinet")
    cost = median(seconds("import debinet") - seconds("pass") for _ in range(5))
    assert cost < 0.5


LIGHT = """
import sys
import numpy as np
import debinet as dn
import debinet.models.debiased_lasso

X, y, _ = dn.datasets.make_sparse_linear(n=50, p=3, random_state=0)
dn.PartiallyLinear(["d1"], "mean").fit(X, y).result_.summary()
Z = dn.theory.normalize_rows(np.eye(5, 4) + 1)
dn.theory.check_convergence(Z, np.ones(5), width=500).summary()
heavy = ("torch", "dask", "matplotlib", "numba", "tqdm")
print([name for name in heavy if name in sys.modules])
"""


def test_importing_and_fitting_load_nothing_heavy():
    """torch, dask, matplotlib, numba and tqdm are imported where they are used."""
    assert run(LIGHT).strip() == "[]"


def test_every_public_name_can_be_reached_and_is_documented():
    for name in dn.__all__:
        thing = getattr(dn, name)
        assert thing.__doc__, name
    assert set(dn.__all__) <= set(dir(dn))
    with pytest.raises(AttributeError, match="nothing"):
        dn.nothing  # noqa: B018


def test_files_and_functions_stay_readable():
    """Files under 350 lines, function bodies under 60: larger ones should be split."""
    import ast

    for path in (ROOT / "src" / "debinet").rglob("*.py"):
        text = path.read_text()
        assert text.count("\n") <= 350, path
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef):
                body = node.body[1:] if ast.get_docstring(node) else node.body
                lines = body[-1].end_lineno - body[0].lineno + 1 if body else 0
                assert lines <= 60, f"{path.name}: {node.name} has {lines} lines"
