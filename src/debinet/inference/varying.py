"""Effects that vary with controls, by least squares of residuals: no learner is fitted again.

If h(Z) are functions of the controls, the residual of `h(Z) D` given Z is `h(Z) R_D`. So the
coefficients c of `y = (h(Z) D) c + f(Z) + e` are those of `R_y` on `h(Z) R_D`. `R_y` is the
residual of y or, for methods that learn g from `y - D b`, `e + R_D b`, whose mean given D and Z is
R_D times the effect, however it varies.

A mixed model's estimate b of one effect for all differs from that of the regression of `R_y` on
`R_D`: it has less bias. The difference is added to all effects, so that their averages agree with b
(docs/decisions/0031).
"""

from __future__ import annotations

import numpy as np

from debinet.data.checks import dependent_columns
from debinet.exceptions import CollinearError, OptionError, TooFewRowsError
from debinet.inference.effect_basis import Columns, EffectBasis, make_basis
from debinet.inference.infer import infer
from debinet.inference.regression import ResidualRegression, regress
from debinet.inference.result import Inference
from debinet.inference.varying_effects import Effects
from debinet.protocols import FloatArray


def estimate_effects(
    result: Inference, values: Columns, *, bins: object = None, df: object = None, note: str = ""
) -> Effects:
    """Regress residuals on products of functions of the columns and residuals.

    Parameters
    ----------
    result : Inference
        Of a partially linear model.
    values : mapping from str to array of shape (n,)
        Functions of its controls by name, numbers or text, in its rows.
    bins, df
        As in `choose_column`.
    note : str
        What a reader of the effects must know.
    """
    fits = [one.all_rows("effects that vary") for one in result.regressions]
    _require_plain(fits[0])
    basis = make_basis(values, fits[0].w, bins, df)
    H = basis.evaluate(values)
    names = effect_names(result.names, basis.labels)
    solved = [_vary(fit, H, basis, names) for fit in fits]
    effects = infer(
        solved,
        names,
        result.vcov_type,
        result.provenance,
        notes=(*result.notes, *([note] if note else [])),
        groups=result.groups,
    )
    return Effects(effects, basis, result.names)


def effect_names(treatments: tuple[str, ...], labels: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of the coefficients, those of one treatment after those of another."""
    if len(treatments) == 1:
        return labels
    return tuple(f"{treatment}: {label}" for treatment in treatments for label in labels)


def _vary(
    fit: ResidualRegression, H: FloatArray, basis: EffectBasis, names: tuple[str, ...]
) -> ResidualRegression:
    """Solve for the coefficients of the products; see the top of this file."""
    W = np.asarray((fit.R_D[:, :, None] * H[:, None, :]).reshape(len(H), -1))
    _require_identified(W, fit, names)
    coef = regress(fit.R_y, W, fit.weights)
    if fit.influence is None:
        return ResidualRegression(fit.R_y, W, coef, fit.weights)
    # Every function of the treatment's own effect gets what the constant effect differs by.
    each = np.kron(np.eye(fit.coef.size), basis.constant)
    shift = fit.coef - regress(fit.R_y, fit.R_D, fit.weights)
    own = fit.influence - _dual(fit.R_D, fit.w)
    return ResidualRegression(
        fit.R_y,
        W,
        coef + shift @ each,
        fit.weights,
        influence=_dual(W, fit.w) + own @ each,
        least_squares=fit.least_squares,
        noise=fit.noise,
        bias=None if fit.bias is None else each.T @ fit.bias @ each,
    )


def _dual(R: FloatArray, w: FloatArray) -> FloatArray:
    """Return `W R (R'W R)^-1`: the coefficients of the regression are its transpose times R_y."""
    weighted = w[:, None] * R
    return np.asarray(np.linalg.solve(R.T @ weighted, weighted.T).T)


def _require_identified(W: FloatArray, fit: ResidualRegression, names: tuple[str, ...]) -> None:
    if fit.n <= len(names):
        raise TooFewRowsError(
            f"more rows than the {len(names)} effects",
            f"{fit.n}",
            "Use fewer groups, or a curve with df=3.",
        )
    scaled = np.sqrt(fit.w / fit.w.mean())[:, None] * W
    lengths = np.sqrt((scaled**2).mean(axis=0))
    # A group's column is short because its rows are few; what counts is its own size.
    least = 1e-7 * np.sqrt((fit.R_D**2).mean(axis=0)).min()
    none = [names[k] for k in np.flatnonzero(lengths <= least)]
    dependent = none or [names[k] for k in dependent_columns(scaled / lengths)]
    if dependent:
        raise CollinearError(
            "treatments that vary given the controls in every group, and functions of the controls "
            "that are not determined by each other",
            f"no variation of its own for {', '.join(map(repr, dependent[:3]))}",
            "Merge groups, use a smaller df, or fewer columns in by.",
        )


def _require_plain(fit: ResidualRegression) -> None:
    """Require a last stage whose residuals have not been given another meaning."""
    after = {
        "a correction for measurement error": fit.error is not None,
        "Huber's M-estimator": fit.clip is not None,
        "a desparsified Lasso": fit.has_own_noise,
    }
    for what, done in after.items():
        if done:
            raise OptionError(
                "the result of a partially linear model, for effects that vary",
                f"one after {what}" if "Lasso" not in what else f"that of {what}",
                "Take the effects of the model's own result_.",
            )
