"""Which network `"wide"` stands for, by rows and controls."""

import numpy as np
import pytest

from debinet.learners import budget
from debinet.learners.budget import landmarks_within, seconds_exact, solves_exactly
from debinet.learners.named import resolve_learner, resolve_wide

ROWS = np.unique(np.logspace(1, 7, 200).astype(int))


def test_exact_solutions_end_once():
    exact = np.array([solves_exactly(n) for n in range(10, 6000, 10)])
    assert exact[0]
    assert not exact[-1]
    assert np.count_nonzero(np.diff(exact)) == 1
    assert 1000 < 10 * exact.sum() < 2000
    assert np.all(np.diff([seconds_exact(n) for n in ROWS]) > 0)


def test_landmarks_stay_within_their_limits():
    widths = np.array([landmarks_within(n) for n in ROWS])
    assert widths.min() >= 300
    assert widths.max() <= 2000


@pytest.mark.parametrize("n", [100, 1_500, 10_000, 1_000_000])
def test_more_time_buys_more_landmarks(monkeypatch, n):
    found = []
    for factor in (0.1, 0.5, 1, 2, 10, 1e6):
        with monkeypatch.context() as patch:
            patch.setattr(budget, "_SECONDS", factor * budget._SECONDS)
            patch.setattr(budget, "_SECONDS_PER_ROW", factor * budget._SECONDS_PER_ROW)
            found.append(landmarks_within(n))
    assert found == sorted(found)
    assert found[-1] == 2000


EXPECTED = [
    # rows, controls: class, features, activation
    (99, 5, "WideNet", None, "relu"),
    (100, 5, "WideNet", None, "erf"),
    (100, 33, "WideNet", None, "erf"),
    (100, 34, "WideNet", None, "relu"),
    (1000, 1, "WideNet", None, "relu"),
    (1000, 2, "WideNet", None, "erf"),
    (1000, 100, "WideNet", None, "erf"),
    (1000, 101, "WideNet", None, "relu"),
    (2000, 5, "TangentNet", "landmarks", "erf"),
    (2000, 101, "WideNet", None, "relu"),
    (5000, 1, "WideNet", None, "relu"),
    (5001, 1, "TangentNet", "units", "erf"),
    (100_000, 50, "TangentNet", "landmarks", "erf"),
    (100_000, 500, "TangentNet", "units", "erf"),
]


@pytest.mark.parametrize(("n", "p", "kind", "features", "activation"), EXPECTED)
def test_what_wide_stands_for(n, p, kind, features, activation):
    found = resolve_learner("wide", n, p)
    assert type(found.learner).__name__ == kind
    assert getattr(found.learner, "features", None) == features
    assert found.learner.activation == activation
    assert found.learner.is_smooth == (activation == "erf" and features != "units")
    if features == "landmarks":
        assert found.learner.width == landmarks_within(n)
        assert str(landmarks_within(n)) in found.note
    if features == "units":
        assert found.learner.width == min(round(10 * n**0.5), 2000)
    assert (found.note == "") == (kind == "WideNet" and (activation == "erf" or p == 1))


@pytest.mark.parametrize(("n", "p"), [(50, 3), (500, 3), (500, 1), (50_000, 3), (50_000, 300)])
def test_streams_never_solve_exactly(n, p):
    assert type(resolve_wide(n, p, exact=False).learner).__name__ == "TangentNet"
