"""Work on several threads, with one thread for every call of numpy's BLAS."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from functools import partial

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController

import debinet as dn
from debinet.learners import threads
from debinet.learners.threads import SINGLE_THREADS, SingleThreads, run_together
from debinet.learners.wide import WideNet, view
from debinet.models import estimate


def numpy_threads():
    libraries = ThreadpoolController().info()
    return [one["num_threads"] for one in libraries if "numpy.libs" in one["filepath"]]


def test_tasks_run_in_order_and_with_one_thread_each():
    before = numpy_threads()
    found = run_together([partial(lambda k: (k, numpy_threads()), k) for k in range(3)])
    assert [k for k, _ in found] == [0, 1, 2]
    assert all(count == 1 for _, counts in found for count in counts)
    assert numpy_threads() == before


def test_an_error_in_a_task_is_raised_and_the_limit_lifted():
    before = numpy_threads()
    with pytest.raises(ZeroDivisionError):
        run_together([lambda: 1 // 0, lambda: 1])
    assert numpy_threads() == before


def test_the_limit_ends_with_the_last_who_needs_it():
    before, limit = numpy_threads(), SingleThreads()
    with limit as first:
        with limit as second:
            assert second == first
        assert all(count == 1 for count in numpy_threads())
    assert numpy_threads() == before


def test_several_threads_may_run_tasks_at_once():
    before = numpy_threads()
    with ThreadPoolExecutor(4) as pool:
        work = [lambda k=k: k for k in range(3)]
        assert list(pool.map(lambda _: run_together(work), range(20))) == [[0, 1, 2]] * 20
    assert numpy_threads() == before


@pytest.mark.parametrize("count", [1, 2])
def test_spectra_do_not_depend_on_the_number_of_threads(count, monkeypatch):
    """They are those of one decomposition after the other, up to rounding."""
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(250, 8))
    # one output for each skip weight
    M = np.column_stack([Z.sum(axis=1), np.abs(Z[:, 0])]) + 0.1 * rng.normal(size=(250, 2))
    monkeypatch.setattr(threads, "SINGLE_THREADS", nullcontext(count))
    net = WideNet(relevance="equal")
    together = net.prepare(Z, M).spectra
    monkeypatch.setattr(view, "_TINY", 250)
    for one, other in zip(together, net.prepare(Z, M).spectra, strict=True):
        np.testing.assert_allclose(one.w, other.w, rtol=1e-10, atol=1e-12)
        left, right = (np.abs(s.project(M).T) for s in (one, other))
        np.testing.assert_allclose(left, right, atol=1e-8)
        assert one.skip == other.skip


def test_small_fits_use_one_thread(monkeypatch):
    """Not those of more rows, nor of learners that are refitted."""
    seen, real = [], estimate.partial_out

    def watched(*arguments, **options):
        seen.append(SINGLE_THREADS._inside > 0)
        return real(*arguments, **options)

    monkeypatch.setattr(estimate, "partial_out", watched)
    X, y, _ = dn.datasets.make_sparse_linear(150, random_state=0)
    for learner in ("wide", "linear"):
        dn.PartiallyLinear([0], learner, random_state=0).fit(X.to_numpy(), y)
    monkeypatch.setattr(threads, "FEW_ROWS", 100)
    dn.PartiallyLinear([0], random_state=0).fit(X.to_numpy(), y)
    assert seen == [True, False, False]
    assert SINGLE_THREADS._inside == 0
