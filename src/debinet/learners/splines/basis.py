"""B-splines of every column, turned so that ridge regression penalizes their curvature."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.preprocessing import SplineTransformer

from debinet.learners.inputs import Moments, column_moments
from debinet.protocols import FloatArray

# Knots span this share of the rows: with an outlier, all others could lie between two knots. Beyond
# the knots curves are constant and only the line continues: extrapolating a steep curve gave single
# held-out rows errors of thirty standard deviations of the noise.
_INSIDE = (0.005, 0.995)


@dataclass(frozen=True)
class Curves:
    """Rows z as features: the curved part of each column's B-splines, then linear columns.

    Attributes
    ----------
    moments : Moments
        Of the columns of `Z`.
    knots : FloatArray of shape (knots, p)
        Of each column.
    degree : int
        Of the polynomials between them; k = knots + degree - 1 functions for each column.
    turn : FloatArray of shape (k, k - 2)
        `D'(DD')^-1`, D the second differences of spline coefficients. With coefficients `turn b`,
        `|b|^2` is the sum of their squared second differences, the penalty of P-splines; straight
        lines, which it does not penalize, are the linear columns.
    scale : FloatArray of shape (p,)
        Gives the curves of each column a total mean square of 1 / p.
    """

    moments: Moments
    knots: FloatArray
    degree: int
    turn: FloatArray
    scale: FloatArray

    @cached_property
    def splines(self) -> Any:
        """Scikit-learn's transformer with these knots, which do not depend on data."""
        splines = SplineTransformer(degree=self.degree, knots=self.knots, extrapolation="constant")
        return splines.fit(self.knots)

    @property
    def width(self) -> int:
        """Number of features before the linear ones."""
        return self.scale.size * int(self.turn.shape[1])

    @property
    def count(self) -> int:
        """Number of features."""
        return self.width + self.scale.size

    def __call__(self, Z: FloatArray) -> FloatArray:
        """Return the features (n, count) of rows (n, p)."""
        standard, p = self.moments.standardize(Z), self.scale.size
        features = np.empty((len(Z), self.count))
        curves = _curves(self.splines, self.turn, standard, p)
        features[:, : self.width] = (curves * self.scale[:, None]).reshape(len(Z), -1)
        features[:, self.width :] = standard / np.sqrt(p)
        return features


def count_splines(p: int, knots: int, degree: int) -> int:
    """Return the number of features of p columns, the linear ones included."""
    return p * (knots + degree - 2)


def place_splines(Z: FloatArray, weight: FloatArray, knots: int, degree: int) -> Curves:
    """Place so many knots, evenly spaced, in every column of rows (n, p) of positive weight."""
    moments = column_moments(Z, weight)
    standard = moments.standardize(Z)
    differences = np.diff(np.eye(knots + degree - 1), n=2, axis=0)
    turn = np.asarray(np.linalg.pinv(differences), np.float64)
    curves = Curves(moments, _place(standard, knots), degree, turn, np.ones(Z.shape[1]))
    return replace(curves, scale=_scale(curves.splines, turn, standard, weight))


def _scale(splines: Any, turn: FloatArray, standard: FloatArray, weight: FloatArray) -> FloatArray:
    """Return factors that give the curves of each column a total mean square of 1 / p."""
    p = standard.shape[1]
    curves, share = _curves(splines, turn, standard, p), weight / weight.sum()
    centred = curves - np.einsum("i,ijk->jk", share, curves)
    energy = np.einsum("i,ijk->j", share, centred**2)
    # A binary column has no curved part.
    two = np.array([np.unique(column).size <= 2 for column in standard.T])
    flat = two | (energy <= 1e-12 * np.einsum("i,ijk->j", share, curves**2))
    return np.where(flat, 0.0, 1.0 / np.sqrt(p * np.where(flat, 1.0, energy)))


def _curves(splines: Any, turn: FloatArray, standard: FloatArray, p: int) -> FloatArray:
    """Return the curved features (n, p, k - 2), without the straight line of each column."""
    basis = splines.transform(standard).reshape(len(standard), p, -1)
    return np.asarray(basis @ turn)


def _place(standard: FloatArray, knots: int) -> FloatArray:
    """Return knots (knots, p), evenly spaced over most of the rows, or all where most are equal."""
    low, high = np.quantile(standard, _INSIDE, axis=0)
    least, most = standard.min(axis=0), standard.max(axis=0)
    narrow = high - low <= 1e-6 * (most - least)
    low, high = np.where(narrow, least, low), np.where(narrow, most, high)
    high = np.where(high > low, high, low + 1.0)  # a constant column: any knots can be used
    return np.asarray(np.linspace(low, high, knots))
