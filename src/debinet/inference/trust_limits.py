"""All thresholds of the trust report, in one place, so that simulations can set them."""

from __future__ import annotations

from dataclasses import dataclass

Pair = tuple[float, float]


@dataclass(frozen=True)
class TrustLimits:
    """From where on a number is called "look", and from where on "do not trust".

    Every pair has the two in this order, and numbers at a limit are still within it.

    Attributes
    ----------
    shrinkage : pair
        By how much residuals of rows that the learner was trained on are smaller, as a share.
    worse_than_mean : pair
        Negative held-out R2.
    interpolated : pair
        In-sample R2 of a treatment above the first number and held-out R2 below the second one is
        "look".
    variance_left : pair
        Share of a treatment's variance that is left given the controls; smaller is worse.
    inflation : pair
        Variance inflation among the residuals of the treatments.
    leftover_pvalue : float
        p-value of the left-over dependence, below which it is "look".
    leftover_correlation : float
        Its correlation, above which it is then "do not trust".
    confounding_treatment : float
        Dependence of a treatment's residual on a function, in standard errors, from where on the
        function may be left in both residuals.
    confounding_pvalue : float
        p-value of the dependence of the outcome's residual on such a function, below which it
        counts.
    confounding_size : pair
        The bias that it implies, in standard errors.
    rough_pvalue : float
        p-value of the bias by a function of a control, below which it counts.
    rough_size : pair
        That bias, in standard errors.
    bias_z : pair
        Difference along the penalty, in its own standard errors, for one coefficient; with more
        of them the same chance is shared.
    bias_size : pair
        The same difference in standard errors of the coefficient. Both must be exceeded.
    agreement_heldout : pair
        Difference of in-sample and held-out coefficients in standard errors, if the result uses
        held-out residuals.
    agreement_in_sample : pair
        p-values of the same difference, if it uses in-sample residuals; smaller is worse.
    agreement_shrunk : float
        In-sample residuals of a treatment that are smaller than this share of held-out ones cannot
        be compared with them.
    splits : pair
        Standard deviation over repetitions in standard errors.
    leverage : pair
        Share of a row in the weight behind a coefficient.
    residual_share : pair
        Share of a row in the sum of squared residuals.
    variance_share : pair
        Share of a row in the estimated variance of a coefficient.
    few_rows : float
        With n rows, both shares may be as large as this number over n.
    extreme_share : pair
        Share of rows whose predicted probability of a 0/1 treatment is beyond 0.01 or 0.99.
    effective_rows : pair
        Number of rows that the coefficient of a 0/1 treatment rests on; smaller is worse.
    crowding : pair
        Coefficients per row.
    weak_instruments : pair
        First-stage F relative to its critical value; smaller is worse.
    longer_set : pair
        Length of the Anderson-Rubin set relative to that of the interval.
    overidentification : pair
        p-value of the test that all instruments say the same; smaller is worse.
    lasso_bias : pair
        Estimated bias of the desparsified Lasso's nonzero coefficients, in standard errors.
    lasso_size : pair
        Nonzero coefficients of the Lasso per row.
    lasso_left : pair
        Share of a column's variance that its nodewise regression leaves; smaller is worse.
    lasso_noise : pair
        By which factor two estimates of the noise differ.
    """

    shrinkage: Pair = (0.15, 0.25)
    worse_than_mean: Pair = (0.05, 1.0)
    interpolated: Pair = (0.9, 0.5)
    variance_left: Pair = (0.05, 0.005)
    inflation: Pair = (10.0, 1000.0)
    leftover_pvalue: float = 0.01
    leftover_correlation: float = 0.3
    confounding_treatment: float = 2.5
    confounding_pvalue: float = 0.05
    confounding_size: Pair = (0.5, 1.5)
    rough_pvalue: float = 0.01
    rough_size: Pair = (0.6, 1.5)
    bias_z: Pair = (1.65, 4.0)
    bias_size: Pair = (0.5, 1.0)
    agreement_heldout: Pair = (2.0, float("inf"))
    agreement_in_sample: Pair = (0.01, 0.0001)
    agreement_shrunk: float = 0.5
    splits: Pair = (0.5, 1.0)
    leverage: Pair = (0.2, 0.5)
    residual_share: Pair = (0.3, 0.6)
    variance_share: Pair = (0.4, 0.7)
    few_rows: float = 35.0
    extreme_share: Pair = (0.9, float("inf"))
    effective_rows: Pair = (30.0, 10.0)
    crowding: Pair = (0.25, 0.4)
    weak_instruments: Pair = (1.0, 0.4)
    longer_set: Pair = (1.5, 3.0)
    overidentification: Pair = (0.05, 0.001)
    lasso_bias: Pair = (0.6, 1.5)
    lasso_size: Pair = (0.25, 0.5)
    lasso_left: Pair = (0.05, 0.005)
    lasso_noise: Pair = (1.25, float("inf"))


LIMITS = TrustLimits()
