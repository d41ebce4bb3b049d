"""Equality of arrays, of records, of results and of fitted models.

A tolerance is in units of the largest entry; zero means bit by bit.
"""

from __future__ import annotations

from dataclasses import fields

import numpy as np


def assert_close(found, expected, tolerance=0.0):
    """Compare arrays; values that are not finite must be the same."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    largest = np.max(np.abs(expected), initial=0.0, where=np.isfinite(expected))
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * largest)


def same_record(one, other):
    """Whether all fields of two dataclasses are equal."""
    pairs = [(getattr(one, field.name), getattr(other, field.name)) for field in fields(one)]
    return all(np.array_equal(a, b) for a, b in pairs)


def assert_same_result(found, expected, tolerance=0.0, kinds=()):
    """Compare coefficients and covariances, those of other kinds too, in any order of names."""
    names = list(expected.coef.index)
    assert sorted(found.coef.index) == sorted(names)
    order = [list(found.coef.index).index(name) for name in names]
    assert_close(found.estimate[order], expected.estimate, tolerance)
    pairs = [(found, expected), *((found.with_vcov(k), expected.with_vcov(k)) for k in kinds)]
    for one, other in pairs:
        # As correlations, so that units do not matter.
        scale = np.sqrt(np.outer(np.diag(other.covariance), np.diag(other.covariance)))
        covariance = one.covariance[np.ix_(order, order)]
        assert_close(covariance / scale, other.covariance / scale, tolerance)
        assert one.df == other.df


def assert_same_fit(found, expected, rows, tolerance=0.0, kinds=()):
    """Compare results, and predictions of some rows.

    A penalty minimizes a criterion, so rounding leaves only half of its digits.
    Coefficients do not depend on it to first order, predictions do: to 1e-8 at best.
    """
    assert_same_result(found.result_, expected.result_, tolerance, kinds)
    predicted = max(tolerance, 1e-8) if tolerance else 0.0
    assert_close(found.predict(rows), expected.predict(rows), predicted)
    assert hasattr(found, "nuisance") == hasattr(expected, "nuisance")
    if hasattr(found, "nuisance"):
        assert_close(found.nuisance(rows), expected.nuisance(rows), predicted)
    if tolerance == 0:
        assert found.result_.summary() == expected.result_.summary()
        assert str(found.result_.trust()) == str(expected.result_.trust())
