"""Predictions with intervals: what the fits without each row, or each fold, say of new rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from debinet.data.free_memory import row_chunks
from debinet.data.options import share
from debinet.exceptions import OptionError
from debinet.inference.conformal import Calibration, LeftOut, leave_out, require_rows_for
from debinet.inference.regression import ResidualRegression
from debinet.inference.without_instruments import require_no_instruments
from debinet.models.estimation import ConditionalMeans, Fitted
from debinet.protocols import FloatArray, IntArray, RowWeighingLearner


def interval_frame(X: object, prediction: FloatArray, bounds: FloatArray) -> pd.DataFrame:
    """Return columns prediction, lower and upper, a row per row of X and with its index."""
    index = X.index if isinstance(X, pd.DataFrame) else None
    columns = np.column_stack([prediction, bounds])
    return pd.DataFrame(columns, index=index, columns=["prediction", "lower", "upper"])


def predict_interval(fitted: Fitted, D: FloatArray, Z: FloatArray, level: float) -> FloatArray:
    """Return the ends (r, 2) of prediction intervals for rows (r, q), (r, p).

    Jackknife+ where the learner tells how rows weigh in its predictions, CV+ where it was fitted
    without each fold, and otherwise the jackknife. Repetitions of cross-fitting count together.
    """
    level = share("interval", level)
    require_no_instruments(fitted.result.provenance, "prediction intervals")
    parts = _without_each_block(fitted)
    n = parts[0].regression.n
    require_rows_for(level, n)
    size = np.concatenate([np.abs(part.left.residuals) for part in parts])
    mass = np.concatenate([part.regression.w for part in parts]) / len(parts)
    first = np.cumsum([0, *(part.blocks for part in parts[:-1])])
    codes = np.concatenate(
        [k + part.codes for k, part in zip(first, parts, strict=True)], dtype=np.int64
    )
    out = np.empty((len(D), 2))
    for rows in row_chunks(len(D), sum(part.blocks for part in parts)):
        centre = np.hstack([part.centre(D[rows], Z[rows]) for part in parts])
        calibration = Calibration(centre, codes, size, mass, n)
        out[rows] = np.column_stack(calibration.bounds(level))
    return out


def mean_interval(fit: ResidualRegression, rows: int, mean: float, level: float) -> FloatArray:
    """Return the ends (rows, 2) of intervals around the mean of the outcome, by jackknife+."""
    level = share("interval", level)
    require_rows_for(level, fit.n)
    left = leave_out(fit, np.arange(fit.w.size))
    centre = mean + left.shift.sum(axis=1)[None]
    found = Calibration(centre, left.codes, np.abs(left.residuals), fit.w, fit.n).bounds(level)
    return np.tile(np.column_stack(found), (rows, 1))


@dataclass(frozen=True)
class _WithoutBlocks:
    """One repetition of cross-fitting, and what it is without each block of rows.

    Attributes
    ----------
    regression : ResidualRegression
    means : ConditionalMeans
    left : LeftOut
    coef : FloatArray of shape (q,)
        The coefficients of predictions.
    moves : callable, optional
        From new rows Z (r, p) to what the blocks add to predictions (r, blocks), beside their part
        in the coefficients.
    """

    regression: ResidualRegression
    means: ConditionalMeans
    left: LeftOut
    coef: FloatArray
    moves: Callable[[FloatArray], FloatArray] | None

    @property
    def by_fold(self) -> bool:
        """Whether every block has models that were fitted without it."""
        return len(self.means.joint.fits) > 1

    @property
    def alike(self) -> bool:
        """Whether new rows are predicted by one fit, as those without a block are not known."""
        return not self.by_fold and self.moves is None and not self.regression.intercept

    @property
    def codes(self) -> IntArray:
        """The column of `centre` that belongs to every row, (n,)."""
        return np.zeros_like(self.left.codes) if self.alike else self.left.codes

    @property
    def blocks(self) -> int:
        """Number of columns of `centre`."""
        return 1 if self.alike else len(self.left.shift)

    def centre(self, D: FloatArray, Z: FloatArray) -> FloatArray:
        """Return predictions (r, blocks) of new rows, without each block where that is known."""
        if self.by_fold:
            columns = []
            for k, shift in enumerate(self.left.shift):
                m_y, m_D = self.means.of_fold(k)(Z)
                columns.append(m_y + (D - m_D) @ (self.regression.coef + shift))
            return np.column_stack(columns)
        m_y, m_D = self.means(Z)
        centre = (m_y + (D - m_D) @ self.coef)[:, None]
        if self.alike:
            return centre
        moving = D - m_D
        if self.regression.intercept:
            moving = np.column_stack([np.ones(len(D)), moving])
        centre = centre + moving @ self.left.shift.T
        return centre if self.moves is None else centre - self.moves(Z)


def _without_each_block(fitted: Fitted) -> list[_WithoutBlocks]:
    folds = fitted.folds
    if folds is None:
        raise OptionError(
            "a model that keeps which rows were held out together, for prediction intervals",
            "one without that: residuals are in sample (crossfit=None), the rows were streamed, or "
            "an earlier version wrote the file",
            "Fit it again, in memory and with crossfit='auto' or a number of folds.",
        )
    parts = []
    for regression, means, codes in zip(
        fitted.result.regressions, fitted.means, folds, strict=True
    ):
        fit = regression.all_rows("prediction intervals")
        left = leave_out(fit, codes)
        moves = None if fit.intercept or len(means.joint.fits) > 1 else _moves(fit, means, codes)
        parts.append(_WithoutBlocks(fit, means, left, fitted.result.estimate, moves))
    return parts


def _moves(
    fit: ResidualRegression, means: ConditionalMeans, codes: IntArray
) -> Callable[[FloatArray], FloatArray] | None:
    """Return the function that says what each block adds to the learner's predictions of new rows.

    Predictions are `g(Z) + E(D|Z)'(pilot - coef) + D coef`, or `E(y|Z) - E(D|Z)'coef + D coef`.
    Every function in them is a sum of its targets with the weights of the learner, and without a
    block it is less by these weights times the residuals from the fits without the block.
    """
    joint, used = means.joint.fits[0].models[0], fit.w > 0
    if means.g is not None and means.pilot is not None:
        outputs = [(means.g.fits[0].models[0], 0, fit.R_y - fit.R_D @ means.pilot)]
        factor = means.pilot - fit.coef
    else:
        outputs, factor = [(joint, 0, fit.R_y)], -fit.coef
    outputs += [(joint, 1 + j, factor[j] * fit.R_D[:, j]) for j in np.flatnonzero(factor).tolist()]
    found = []
    for learner, output, residuals in outputs:
        if not isinstance(learner, RowWeighingLearner):
            return None
        weights = learner.row_weights(output, fit.w[used])
        if weights is None:
            return None
        found.append((weights, residuals[used]))
    blocks, of_row = int(codes.max()) + 1, codes[used]

    def moves(Z: FloatArray) -> FloatArray:
        each = np.sum([weights(Z) * residuals for weights, residuals in found], axis=0)
        total = np.zeros((len(Z), blocks))
        if blocks == codes.size:
            total[:, of_row] = each
        else:
            np.add.at(total.T, of_row, each.T)
        return total

    return moves
