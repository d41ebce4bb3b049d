"""Checks for authors of learners and selectors.

Each check is a function named after what must hold; `check_learner` and `check_selector` run them
and raise an AssertionError that says which one failed and why.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from debinet.data.folds import k_folds, leave_one_out
from debinet.learners.adapter import fit_learner, seeded, takes_many_outputs
from debinet.learners.crossfitting import has_closed_form
from debinet.learners.named import resolve_learner
from debinet.models.partially_linear import PartiallyLinear
from debinet.protocols import FloatArray, Selector

__all__ = ["check_learner", "check_selector"]

_N, _P = 120, 4


def check_learner(learner: Any) -> list[str]:
    """Check that `learner` can serve as a learner of `PartiallyLinear`.

    Parameters
    ----------
    learner : learner
        An unfitted instance, or a name.

    Returns
    -------
    list of str
        Names of the checks that passed.

    Raises
    ------
    AssertionError
        Saying which check failed.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> len(check_learner(Ridge()))
    7
    """
    subject = resolve_learner(learner).learner
    checks = [
        fit_returns_the_learner,
        predictions_have_the_shape_of_the_targets,
        inputs_are_left_alone,
        constructor_parameters_are_left_alone,
        same_seed_same_predictions,
        heldout_predictions_are_honest,
        works_in_a_partially_linear_model,
    ]
    return [_run(check, subject) for check in checks]


def check_selector(selector: Any) -> list[str]:
    """Check that `selector` can select the treatments.

    Parameters
    ----------
    selector : selector
        An unfitted instance with `fit(X, y)` and `get_support()`.

    Returns
    -------
    list of str
        Names of the checks that passed.

    Raises
    ------
    AssertionError
        Saying which check failed.

    Examples
    --------
    >>> from sklearn.feature_selection import SelectKBest, f_regression
    >>> len(check_selector(SelectKBest(f_regression, k=2)))
    5
    """
    checks = [
        has_fit_and_get_support,
        support_is_a_mask_of_the_columns,
        strong_feature_is_selected,
        selector_inputs_are_left_alone,
        same_data_same_selection,
    ]
    return [_run(check, selector) for check in checks]


def fit_returns_the_learner(learner: Any) -> None:
    Z, M = _regression_data()
    model = seeded(learner, 0)
    target = M if takes_many_outputs(learner) else M[:, 0]
    assert model.fit(Z, target) is model, "fit must return self"


def predictions_have_the_shape_of_the_targets(learner: Any) -> None:
    Z, M = _regression_data()
    for m in (1, M.shape[1]):
        predictions = fit_learner(learner, Z, M[:, :m], seed=0).predict(Z[:7])
        assert predictions.shape == (7, m), f"predict gave {predictions.shape} for 7 rows"


def inputs_are_left_alone(learner: Any) -> None:
    Z, M = _regression_data()
    M = M if takes_many_outputs(learner) else M[:, 0]
    Z_before, M_before = Z.copy(), M.copy()
    seeded(learner, 0).fit(Z, M).predict(Z)
    assert np.array_equal(Z, Z_before), "fit or predict changed Z in place"
    assert np.array_equal(M, M_before), "fit or predict changed M in place"


def constructor_parameters_are_left_alone(learner: Any) -> None:
    if not hasattr(learner, "get_params"):
        return
    Z, M = _regression_data()
    model = seeded(learner, 0)
    before = repr(sorted(model.get_params(deep=False).items(), key=str))
    model.fit(Z, M if takes_many_outputs(learner) else M[:, 0])
    after = repr(sorted(model.get_params(deep=False).items(), key=str))
    assert before == after, "fit changed constructor parameters"


def same_seed_same_predictions(learner: Any) -> None:
    Z, M = _regression_data()
    first, second = (fit_learner(learner, Z, M, seed=3).predict(Z) for _ in range(2))
    assert np.array_equal(first, second), (
        "two fits with the same seed differ: give the learner a random_state parameter"
    )


def heldout_predictions_are_honest(learner: Any) -> None:
    """Held-out rows of pure noise, of variance 1, cannot be predicted.

    The mean of 240 squared standard normals has standard deviation 0.09, so 0.7 is far below what
    an honest learner can reach.
    """
    if not has_closed_form(learner):
        return
    rng = np.random.default_rng(1)
    Z, M = rng.normal(size=(_N, _P)), rng.normal(size=(_N, 2))
    for folds in (leave_one_out(_N), k_folds(_N, 5, rng)):
        held = seeded(learner, 0).prepare(Z, M).hold_out(M, folds)
        predictions = np.asarray(held.predictions)
        assert predictions.shape == M.shape, f"hold_out gave shape {predictions.shape}"
        error = float(((M - predictions) ** 2).mean())
        assert error > 0.7, f"held-out error {error:.2f} on pure noise: rows are not held out"
        shapes = {np.asarray(model.predict(Z[:3])).shape for model in held.models}
        assert shapes == {(3, 2)}, "hold_out must return fitted models"


def works_in_a_partially_linear_model(learner: Any) -> None:
    Z, M = _regression_data()
    X = np.column_stack([M[:, 1], Z])
    model = PartiallyLinear([0], learner, random_state=0).fit(X, M[:, 0])
    assert np.isfinite(model.result_.estimate).all(), "coefficients are not finite"
    assert model.predict(X[:5]).shape == (5,), "predict failed"


def has_fit_and_get_support(selector: Any) -> None:
    assert isinstance(selector, Selector), "a selector has fit(X, y) and get_support()"


def support_is_a_mask_of_the_columns(selector: Any) -> None:
    X, y = _selection_data()
    support = np.asarray(seeded(selector, 0).fit(X, y).get_support())
    assert support.dtype == bool, f"get_support gave dtype {support.dtype}, a bool mask is expected"
    assert support.shape == (X.shape[1],), f"get_support gave shape {support.shape}"


def strong_feature_is_selected(selector: Any) -> None:
    for strong in (0, 5):
        X, y = _selection_data(strong)
        support = np.asarray(seeded(selector, 0).fit(X, y).get_support())
        assert support[strong], "a column that explains 96 % of the variance was not selected"


def selector_inputs_are_left_alone(selector: Any) -> None:
    X, y = _selection_data()
    X_before, y_before = X.copy(), y.copy()
    seeded(selector, 0).fit(X, y)
    assert np.array_equal(X, X_before), "fit changed X in place"
    assert np.array_equal(y, y_before), "fit changed y in place"


def same_data_same_selection(selector: Any) -> None:
    X, y = _selection_data()
    first, second = (np.asarray(seeded(selector, 0).fit(X, y).get_support()) for _ in range(2))
    assert np.array_equal(first, second), (
        "two fits with the same seed select differently: give the selector a random_state"
    )


def _run(check: Callable[[Any], None], subject: Any) -> str:
    name = check.__name__.replace("_", " ")
    try:
        check(subject)
    except Exception as error:
        raise AssertionError(f"{name}: {type(error).__name__}: {error}") from error
    return name


def _regression_data() -> tuple[FloatArray, FloatArray]:
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(_N, _P))
    M = np.column_stack([Z[:, 0] + Z[:, 1] ** 2, 100 * np.sin(Z[:, 2])]) + rng.normal(size=(_N, 2))
    return Z, M


def _selection_data(strong: int = 0) -> tuple[FloatArray, FloatArray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(_N, 8))
    return X, 5 * X[:, strong] + rng.normal(size=_N)
