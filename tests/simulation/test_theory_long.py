"""Theorem 1 on the paper's designs over seeds, activations, layers and widths."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import debinet as dn
from debinet.theory import (
    check_convergence,
    convergence_rate,
    draw_network,
    finite_kernel,
    kernel_distance,
    limiting_kernel,
    linearized_errors,
    normalize_rows,
    tangent_kernel,
)

torch = pytest.importorskip("torch")


def table1(n: int, seed: int) -> tuple[np.ndarray, pd.DataFrame]:
    """M = [y, D] of Table 1, standardized, and Z on the unit sphere."""
    X, y, _ = dn.datasets.make_table1(n, random_state=seed)
    M = pd.DataFrame({"y": y, "d1": X["d1"]})
    return normalize_rows(X.filter(like="z")), (M - M.mean()) / M.std(ddof=0)


@pytest.mark.sim
@pytest.mark.parametrize("seed", range(5))
def test_theorem_1_holds_over_data_and_weights(seed, capsys):
    Z, M = table1(100, seed)
    run = check_convergence(Z, M, random_state=seed)
    with capsys.disabled():
        print(f"\n{run.summary()}")
    assert run.holds.all()
    assert np.all(run.slopes <= -run.rate.lambda_0)
    assert run.movement < run.movement_bound
    assert run.trace["least_eigenvalue"].min() > run.rate.lambda_0 / 2


@pytest.mark.sim
@pytest.mark.parametrize("activation", ["leaky_relu", "erf", "tanh"])
def test_theorem_1_holds_for_other_activations(activation, capsys):
    Z, M = table1(100, 0)
    rate = convergence_rate(Z, activation)
    run = check_convergence(Z, M, activation=activation, step=0.5 / rate.lambda_max)
    with capsys.disabled():
        print(f"\n{run.summary()}")
    assert run.holds.all()


@pytest.mark.sim
def test_both_layers_as_in_the_papers_figure(capsys):
    """The paper trains both layers at learning rate 0.01 in its Figure 2."""
    Z, M = table1(100, 0)
    run = check_convergence(Z, M, train="all", step=0.01)
    with capsys.disabled():
        print(f"\n{run.summary()}")
    assert run.holds.all()
    assert np.all(run.slopes <= -run.rate.lambda_0)


@pytest.mark.sim
def test_width_mends_what_fails(capsys):
    """Two near rows with unrelated targets: the bound fails at width 20,000, not at 200,000."""
    rng = np.random.default_rng(0)
    Z, M = normalize_rows(rng.normal(size=(10, 4))), rng.normal(size=(10, 2))
    step = 0.2 / convergence_rate(Z).lambda_max
    holds = {}
    for width in (2_000, 20_000, 200_000):
        run = check_convergence(Z, M, width=width, step=step)
        holds[width] = run.holds_together
        with capsys.disabled():
            least = run.trace["least_eigenvalue"].min() / run.rate.lambda_0
            print(f"\nwidth {width}: holds {run.holds}, least eigenvalue {least:.2f} lambda_0")
    assert holds == {2_000: False, 20_000: False, 200_000: True}


@pytest.mark.sim
def test_kernel_of_width_100_000_by_autodiff():
    """All 100 rows: the Jacobian would be 1.6 GB."""
    Z, _ = table1(100, 0)
    network = draw_network(10, 2, 100_000)
    A = torch.as_tensor(network.A)

    def function(W, rows):
        return torch.relu(rows @ W) @ A / network.width**0.5

    blocks = tangent_kernel(function, network.W, Z)
    np.testing.assert_allclose(blocks, finite_kernel(network, Z), rtol=0, atol=1e-10)


@pytest.mark.sim
def test_distance_from_the_limit_falls_with_the_root_of_the_width(capsys):
    Z, _ = table1(100, 0)
    H = limiting_kernel(Z)
    widths = (1_000, 10_000, 100_000)
    whole = [
        np.mean(
            [
                kernel_distance(finite_kernel(draw_network(10, 2, m, random_state=r), Z), H).whole
                for r in range(10)
            ]
        )
        for m in widths
    ]
    with capsys.disabled():
        print(f"\ndistance by width: {dict(zip(widths, np.round(whole, 4), strict=True))}")
    # over 10 draws each mean is known to about 5 %, so the exponent to 0.02
    slope = np.polyfit(np.log(widths), np.log(whole), 1)[0]
    assert slope == pytest.approx(-0.5, abs=0.06)


@pytest.mark.sim
def test_a_wide_network_follows_its_linearization_for_the_whole_run(capsys):
    Z, M = table1(50, 0)
    run = check_convergence(Z, M, width=50_000)
    network = draw_network(10, 2, 50_000)
    line = linearized_errors(finite_kernel(network, Z), M, network.predict(Z), run.times)
    away = np.abs(np.log(run.errors / line)).max()
    with capsys.disabled():
        print(f"\nlargest log ratio to the linearization: {away:.3f}")
    # of a fall by more than four powers of ten
    assert away < 0.5


@pytest.mark.sim
def test_the_page_prints_what_it_says():
    page = (Path(__file__).parents[2] / "docs" / "theory.md").read_text()
    code, output = re.search(r"```python\n(.*?)```\n\n```text\n(.*?)```", page, re.DOTALL).groups()
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code, {})
    assert printed.getvalue().split() == output.split()
