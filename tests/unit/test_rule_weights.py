"""Rules of several weights beside one network, against networks that are decomposed with them."""

from __future__ import annotations

import numpy as np
import pytest

from debinet.learners.inputs import column_moments
from debinet.learners.wide.input_map import InputMap, NetworkInputs
from debinet.learners.wide.kernels import Architecture
from debinet.learners.wide.landmark_fit import SampledRows
from debinet.learners.wide.rule_search import _weighted
from debinet.learners.wide.rule_weights import errors_with_rules
from debinet.learners.wide.rules import grow_rules

WEIGHTS = (0.01, 0.1, 1.0, 10.0, 100.0)


@pytest.mark.parametrize("n", [150, 400])  # fewer rows than features, and more
@pytest.mark.parametrize("noise", [0.5, 0.0])
def test_as_if_each_weight_were_decomposed(n, noise):
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(2 * n, 3))
    M = np.column_stack([Z[:, 0] > 0, np.sin(Z[:, 1]) + (Z[:, 0] > 0.5)]) - 0.5
    M = M + noise * rng.normal(size=M.shape)
    weight = rng.uniform(0.5, 2.0, 2 * n)
    every = SampledRows(Z, M, np.sqrt(weight), Architecture(activation="erf"))
    rows, others = (every.of(np.arange(k, 2 * n, 2)) for k in (0, 1))
    network = NetworkInputs(InputMap(column_moments(rows.Z, rows.weight)), 0.5)
    rules = grow_rules(rows.Z, rows.M, rows.weight, rng)
    plain, ruled = errors_with_rules(rows.fit(network), rules, WEIGHTS, rows, others)

    def errors(fit):
        return np.average((others.M - fit.predict(others.Z)) ** 2, axis=0, weights=others.weight)

    np.testing.assert_allclose(plain, errors(rows.fit(network)), rtol=1e-12)
    # penalties are the vertices of parabolas, which agree to about the square root of rounding
    for found, fit in zip(ruled, rows.fit_all(_weighted(network, rules)), strict=True):
        np.testing.assert_allclose(found, errors(fit), rtol=1e-4)
