"""The wide network with a logistic link: probabilities of 0/1 outcomes given features."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from debinet._random import RandomState, named_seed, root_seed
from debinet.data.options import whole_number
from debinet.exceptions import LearnerError
from debinet.learners.inputs import read_weight
from debinet.learners.logistic import LogisticFit, fit_logistic
from debinet.learners.tangent import TangentNet
from debinet.protocols import FloatArray

# Directions whose share of the kernel's largest eigenvalue is less cannot be learned.
_LEAST = 1e-7


class LogisticNet(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Probabilities `P(a = 1 | Z) = 1 / (1 + exp(-f(Z)))`, f a wide network.

    f is penalized logistic regression on the landmark features of `TangentNet`, whose relevance of
    the controls it learns; the penalty maximizes the Laplace approximation of the likelihood. More
    than two classes have a network each, whose probabilities are scaled to sum to one.

    Parameters
    ----------
    width : int
        Most landmarks.
    random_state : int, generator or None
        From which landmarks are drawn.

    Attributes
    ----------
    classes_ : array of shape (k,)
    heldout_ : FloatArray of shape (n, k)
        Probabilities of the rows of fit, each by a fit without it: the last quadratic
        approximation of the likelihood solved without the row.

    Examples
    --------
    >>> import numpy as np
    >>> from debinet.learners.logistic_net import LogisticNet
    >>> rng = np.random.default_rng(0)
    >>> Z = rng.normal(size=(500, 2))
    >>> a = rng.uniform(size=500) < 1 / (1 + np.exp(-2 * np.sin(2 * Z[:, 0])))
    >>> net = LogisticNet(random_state=0).fit(Z, a)
    >>> net.predict_proba([[0.8, 0.0], [-0.8, 0.0]])[:, 1].round(1)
    array([0.8, 0.2])
    """

    def __init__(self, *, width: int = 300, random_state: RandomState = None) -> None:
        self.width = width
        self.random_state = random_state

    def fit(self, Z: Any, a: Any, sample_weight: Any = None) -> Self:
        """Learn the probability of every class.

        Parameters
        ----------
        Z : array of shape (n, p)
        a : array of shape (n,)
            Classes.
        sample_weight : array of shape (n,), optional
            Not negative.
        """
        Z, a = validate_data(self, Z, a, dtype=np.float64)
        w = read_weight(sample_weight, len(Z))
        classes = np.unique(a)
        if np.unique(a[w > 0]).size < max(2, classes.size):
            raise LearnerError(
                "at least two classes, each with rows of positive weight",
                f"{classes.size} class(es)",
                "Check the treatment, or use fewer folds.",
            )
        width, seed = whole_number("width", self.width, 1), root_seed(self.random_state)
        arms = classes[1:] if classes.size == 2 else classes
        nets = [_learn(Z, (a == arm).astype(np.float64), w, width, seed) for arm in arms]
        self.classes_, self._nets = classes, nets
        self.heldout_ = _normalized([net.fit.heldout for net in nets])
        return self

    def predict_proba(self, Z: Any) -> FloatArray:
        """Return the probabilities (r, k) of the classes in rows (r, p)."""
        check_is_fitted(self, "_nets")
        Z = validate_data(self, Z, dtype=np.float64, reset=False)
        return _normalized([net.predict(Z) for net in self._nets])

    def predict(self, Z: Any) -> Any:
        """Return the most probable class of each row."""
        return self.classes_[self.predict_proba(Z).argmax(axis=1)]


class _Net:
    """One network: features of rows, turned, and the regression on them."""

    def __init__(self, features: Any, centre: FloatArray, turn: FloatArray, fit: LogisticFit):
        self.features, self.centre, self.turn, self.fit = features, centre, turn, fit

    def predict(self, Z: FloatArray) -> FloatArray:
        """Return linear predictors (r,)."""
        X = (self.features(Z) - self.centre) @ self.turn
        return np.asarray(X @ self.fit.coef + self.fit.intercept)


def _learn(Z: FloatArray, a: FloatArray, w: FloatArray, width: int, seed: int) -> _Net:
    """Learn one network: of the skip weights, the one with the greatest likelihood."""
    used = w > 0
    learner = TangentNet(width=width, random_state=named_seed(seed, "landmarks"))
    features, skips = learner.feature_map(Z[used], a[used, None], w[used])
    Phi = features(Z)
    centre = np.asarray(w @ Phi / w.sum())
    found = []
    for skip in skips:
        scale = np.ones(Phi.shape[1])
        scale[features.width :] = np.sqrt(skip)
        _, s, Vt = np.linalg.svd(np.sqrt(w)[:, None] * (Phi - centre) * scale, full_matrices=False)
        turn = scale[:, None] * Vt[s**2 > _LEAST * s[0] ** 2].T
        found.append(_Net(features, centre, turn, fit_logistic((Phi - centre) @ turn, a, w)))
    return min(found, key=lambda net: net.fit.criterion)


def _normalized(etas: list[FloatArray]) -> FloatArray:
    """Return probabilities (n, k) of k classes; of two, those of the second are modelled."""
    each = np.column_stack([expit(eta) for eta in etas])
    if each.shape[1] == 1:
        return np.hstack([1.0 - each, each])
    return np.asarray(each / each.sum(axis=1, keepdims=True))
