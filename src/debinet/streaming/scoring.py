"""Pass 2: what covariances, the trust report and plots need of the rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from debinet.inference.leftover import dependence_sums
from debinet.protocols import FloatArray, IntArray
from debinet.streaming.grams import RowMap, fold_chunks
from debinet.streaming.hashing import Hashes, hash_rows
from debinet.streaming.layout import RowBlock


@dataclass(frozen=True)
class Scoring:
    """How rows are scored.

    Attributes
    ----------
    row_map : RowMap
    R_D : FloatArray of shape (K, s, q)
        Held-out residuals of the treatments, as maps of a row.
    e : FloatArray of shape (K, s)
        Residual of the regression.
    influence : FloatArray of shape (K, s, q), optional
        Influence on the coefficients, where the full procedure is linear in y.
    moved : FloatArray of shape (K, s, g q), optional
        Differences of the influence along the penalty, g factors after each other.
    noise : float, optional
        Standard deviation of the noise in the mixed model.
    bread : FloatArray of shape (q, q)
        Inverse of `R_D'W R_D`.
    least_squares : bool
        Whether the coefficients are those of the regression on residuals; `influence` if not.
    sampled : float
        Share of the rows that is kept for inspection.
    seed : int
        Decides which rows.
    """

    row_map: RowMap
    R_D: FloatArray
    e: FloatArray
    influence: FloatArray | None
    moved: FloatArray | None
    noise: float | None
    bread: FloatArray
    least_squares: bool
    sampled: float
    seed: int

    @property
    def maps(self) -> FloatArray:
        """`(R_D, e, influence, moved)` side by side; the last two may be missing."""
        parts = [self.R_D, self.e[:, :, None], self.influence, self.moved]
        return np.concatenate([part for part in parts if part is not None], axis=2)


@dataclass(frozen=True)
class Clusters:
    """Sums over clusters.

    Attributes
    ----------
    labels : uint64 array of shape (g,)
        In ascending order.
    sums : FloatArray of shape (g, c)
    """

    labels: Hashes
    sums: FloatArray

    def __add__(self, other: Clusters) -> Clusters:
        """Merge clusters of the same label."""
        both = np.concatenate([self.labels, other.labels])
        return cluster_sums(both, np.concatenate([self.sums, other.sums]))


def cluster_sums(labels: Hashes, values: FloatArray) -> Clusters:
    """Sum the rows of values (n, c) by label."""
    found, position = np.unique(labels, return_inverse=True)
    sums = np.zeros((found.size, values.shape[1]))
    np.add.at(sums, position, values)
    return Clusters(found, sums)


@dataclass(frozen=True)
class RowSample:
    """Some rows, for inspection.

    Attributes
    ----------
    number : IntArray of shape (r,)
        Row numbers.
    values : FloatArray of shape (r, q + 2)
        Residuals of the regression and of the treatments, and weights.
    """

    number: IntArray
    values: FloatArray


@dataclass(frozen=True)
class ScoreSums:
    """Sums over rows.

    Attributes
    ----------
    squares : float
        Weighted squared residuals.
    HC0, HC2, HC3, full : FloatArray of shape (q, q)
        Outer products of the rows' terms; the last is zero if there is no influence.
    moved : FloatArray of shape (g q,)
        Squared terms of the differences along the penalty.
    leverage : float
        The largest.
    weight : FloatArray of shape (q,)
        Squared weights of all rows behind each coefficient.
    top : FloatArray of shape (q,)
        The largest of them.
    top_row : IntArray of shape (q,)
    dependence : FloatArray of shape (5, f)
        Of f functions of Z: sums of them, of their squares, of their products with the residual,
        and, the same for all, of the residual and its square.
    treatment_dependence : FloatArray of shape (q, 5, f)
        The same for the residuals of the treatments.
    clusters : Clusters, optional
        Of the sandwich's terms, then the full's, then those of the differences.
    sample : RowSample
    """

    squares: float
    HC0: FloatArray
    HC2: FloatArray
    HC3: FloatArray
    full: FloatArray
    moved: FloatArray
    leverage: float
    weight: FloatArray
    top: FloatArray
    top_row: IntArray
    dependence: FloatArray
    treatment_dependence: FloatArray
    clusters: Clusters | None
    sample: RowSample

    def __add__(self, other: ScoreSums) -> ScoreSums:
        """Add up."""
        first = self.top >= other.top
        clusters = None
        if self.clusters is not None and other.clusters is not None:
            clusters = self.clusters + other.clusters
        return ScoreSums(
            self.squares + other.squares,
            self.HC0 + other.HC0,
            self.HC2 + other.HC2,
            self.HC3 + other.HC3,
            self.full + other.full,
            self.moved + other.moved,
            max(self.leverage, other.leverage),
            self.weight + other.weight,
            np.where(first, self.top, other.top),
            np.where(first, self.top_row, other.top_row),
            self.dependence + other.dependence,
            self.treatment_dependence + other.treatment_dependence,
            clusters,
            RowSample(
                np.concatenate([self.sample.number, other.sample.number]),
                np.concatenate([self.sample.values, other.sample.values]),
            ),
        )


def score_sums(block: RowBlock, scoring: Scoring) -> ScoreSums:
    """Return the sums of a block of rows."""
    total: ScoreSums | None = None
    maps = scoring.maps
    for k, rows in fold_chunks(block, len(maps)):
        part = _score(rows, scoring, maps[k])
        total = part if total is None else total + part
    return _score(block.of(slice(0, 0)), scoring, maps[0]) if total is None else total


def _score(rows: RowBlock, scoring: Scoring, row_map: FloatArray) -> ScoreSums:
    q = scoring.bread.shape[0]
    out = scoring.row_map(rows) @ row_map
    R_D, e = out[:, :q], out[:, q]
    if scoring.least_squares:
        weighted = R_D @ scoring.bread
        leverage = (weighted * R_D).sum(axis=1)
    else:
        weighted = out[:, q + 1 : 2 * q + 1]
        leverage = np.clip((weighted * R_D).sum(axis=1), 0.0, 1.0)
    sandwich = e[:, None] * weighted
    safe = np.maximum(1.0 - leverage, 1e-100)[:, None]  # the square of which is a number
    if scoring.influence is None or scoring.noise is None:
        full = np.zeros_like(sandwich)
    else:
        influence = out[:, q + 1 : 2 * q + 1]
        own = np.clip((R_D * influence).sum(axis=1), 0.0, 1.0)
        restored = np.copysign(np.sqrt(e**2 + scoring.noise**2 * own), e)
        full = influence * restored[:, None]
    moved = e[:, None] * out[:, 2 * q + 1 :]
    root = np.sqrt(rows.weight)
    Z = scoring.row_map.units.inputs.moments.standardize(rows.Z)
    behind = (root[:, None] * weighted) ** 2
    top = behind.argmax(axis=0) if len(behind) else np.zeros(q, dtype=np.int64)
    clusters = None
    if rows.labels is not None:
        clusters = cluster_sums(rows.labels, np.column_stack([sandwich, full, moved]))
    return ScoreSums(
        float(e @ e),
        sandwich.T @ sandwich,
        (sandwich / np.sqrt(safe)).T @ (sandwich / np.sqrt(safe)),
        (sandwich / safe).T @ (sandwich / safe),
        full.T @ full,
        (moved**2).sum(axis=0),
        float(leverage.max(initial=0.0)),
        behind.sum(axis=0),
        behind.max(axis=0, initial=0.0),
        rows.number[top] if len(behind) else np.zeros(q, dtype=np.int64),
        dependence_sums(Z, e, root),
        np.stack([dependence_sums(Z, column, root) for column in R_D.T]),
        clusters,
        _sample(rows, R_D, e, root, scoring),
    )


def _sample(
    rows: RowBlock, R_D: FloatArray, e: FloatArray, root: FloatArray, scoring: Scoring
) -> RowSample:
    chance = hash_rows(rows.number, scoring.seed).astype(np.float64) / 2.0**64
    kept = chance < scoring.sampled
    values = np.column_stack([e, R_D]) / root[:, None]
    values = np.column_stack([values, rows.weight])[kept]
    return RowSample(rows.number[kept], values)
