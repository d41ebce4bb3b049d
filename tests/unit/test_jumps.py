"""Thresholds as inputs of the network: found where the targets jump, and only there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import debinet as dn
from debinet.learners.inputs import column_moments
from debinet.learners.wide import network_inputs
from debinet.learners.wide.input_map import InputMap, NetworkInputs
from debinet.learners.wide.jump_search import add_jumps
from debinet.learners.wide.jumps import Jumps, add_jump, find_jump
from debinet.learners.wide.kernels import Architecture
from debinet.learners.wide.landmark_fit import SampledRows
from debinet.learners.wide.relevance import learn_relevance

SMOOTH = Architecture(activation="erf")


def test_columns_are_standardized_indicators():
    Z = np.random.default_rng(0).normal(size=(50, 3))
    jumps = add_jump(add_jump(None, 2, 0.1, Z), 0, -0.4, Z)
    np.testing.assert_array_equal(jumps.above(Z), np.column_stack([Z[:, 2] > 0.1, Z[:, 0] > -0.4]))
    np.testing.assert_allclose(jumps(Z).mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(jumps(Z).std(axis=0), 1.0)


def test_jumps_are_found_next_to_what_a_smooth_network_leaves_of_them():
    rng = np.random.default_rng(0)
    Z, noise = rng.normal(size=(500, 5)), rng.normal(size=(500, 2))
    near = np.abs(Z[:, 1] - 0.3)
    noise[:, 0] += 2.5 * np.sign(Z[:, 1] - 0.3) * np.exp(-10 * near)
    feature, threshold = find_jump(Z, noise, np.ones(500))
    assert feature == 1
    assert abs(threshold - 0.3) < 0.1


def test_a_jump_among_some_of_the_rows_is_found():
    rng = np.random.default_rng(2)
    Z, noise = rng.normal(size=(2000, 3)), rng.normal(size=(2000, 1))
    Z[:, 2] = rng.random(2000) < 0.2
    step = np.sign(Z[:, 0]) * np.exp(-8 * np.abs(Z[:, 0])) * Z[:, 2]
    feature, threshold = find_jump(Z, noise + 2.5 * step[:, None], np.ones(2000))
    assert feature == 0
    assert abs(threshold) < 0.05


def network(Z):
    moments = column_moments(Z, np.ones(len(Z)))
    return NetworkInputs(InputMap(moments, 0.7 * np.eye(Z.shape[1])), 1.0)


def test_thresholds_are_placed_by_all_rows_and_the_network_predicts_the_jump():
    rng = np.random.default_rng(3)
    Z = rng.normal(size=(9000, 3))
    f = np.sin(Z[:, 0]) + 1.5 * (Z[:, 1] > 0.25) * (1 + Z[:, 2] / 2)
    M = (f + rng.normal(size=9000))[:, None]
    every = SampledRows(Z, M / M.std(), np.ones(9000), SMOOTH)
    rows = every.sample()
    assert len(rows.Z) == 4000
    fit = add_jumps(rows, rows.fit(network(Z)), every)
    jumps = fit.network.map_.jumps
    assert jumps.features.tolist()[0] == 1
    assert abs(jumps.thresholds[0] - 0.25) < 0.005
    sides = np.array([[0.0, 0.24, 0.0], [0.0, 0.26, 0.0]])
    assert np.diff(fit.predict(sides)[:, 0])[0] * M.std() == pytest.approx(1.5, abs=0.3)


def test_smooth_functions_have_no_jumps():
    """About one of 30 has a jump that the likelihood keeps; of 40, more than 5 in one of 500."""
    kept = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        Z = rng.normal(size=(500, 5))
        Z[:, 4] = Z[:, 4] > 0
        f = (np.sin(Z[:, 0]) + Z[:, 1] ** 2 / 2)[:, None]
        M = f + rng.normal(size=(500, 2)) * (1 + Z[:, 4:] / 2)
        rows = SampledRows(Z, (M - M.mean(axis=0)) / M.std(axis=0), np.ones(500), SMOOTH)
        fit = rows.fit(network(Z))
        kept += add_jumps(rows, fit, rows) is not fit
    assert kept <= 5


def test_relevance_of_a_jump_is_that_of_its_feature():
    moments = column_moments(np.eye(2), np.ones(2))
    jumps = Jumps(np.array([1]), np.array([0.5]), np.array([0.5]))
    inputs = InputMap(moments, np.diag([0.5, 0.3, 0.4]), jumps=jumps)
    np.testing.assert_allclose(inputs.relevance, [0.5, 0.5])


def test_a_model_with_jumps_predicts_and_is_saved(tmp_path):
    data = dn.datasets.make_clock(1500, random_state=0)
    model = dn.PartiallyLinear(["d1"], random_state=0).fit(data.X, data.y)
    inputs = model._fitted.means[0].joint.fits[0].models[0]._predictor.parts[0].feature_map.inputs
    assert inputs.jumps is not None
    np.testing.assert_allclose(np.sort(inputs.jumps.thresholds)[[0, -1]], [8, 18], atol=0.2)
    model.save(tmp_path / "model.npz")
    twin = dn.load(tmp_path / "model.npz")
    np.testing.assert_allclose(twin.predict(data.X), model.predict(data.X), rtol=1e-12)
    assert twin.relevance_.equals(model.relevance_)


def with_a_small_jump(n):
    rng = np.random.default_rng(7)
    Z = rng.normal(size=(n, 3))
    f = np.sin(Z[:, 0]) + 0.23 * (Z[:, 1] > 0.25)
    return Z, (f + rng.normal(size=n))[:, None]


def learned(Z, M):
    (inputs,) = network_inputs.network_inputs(Z, M, np.ones(len(Z)), SMOOTH, "auto")
    return inputs.map_


def test_what_some_rows_cannot_show_is_looked_for_among_more(monkeypatch):
    Z, M = with_a_small_jump(40_000)
    jumps = learned(Z, M).jumps
    assert jumps.features.tolist() == [1]
    assert abs(jumps.thresholds[0] - 0.25) < 0.02
    monkeypatch.setattr(network_inputs, "_MANY_ROWS", 4000)
    assert learned(Z, M).jumps is None


def test_scales_that_more_rows_contradict_are_not_used(monkeypatch):
    """A search on 500 rows may lose a feature that all rows need."""
    Z, _ = with_a_small_jump(3000)
    rng = np.random.default_rng(7)
    M = (np.sin(2 * Z[:, [0]]) + 2 * (Z[:, [1]] > 0.25)) + rng.normal(size=(3000, 1))
    found = []

    def forgetful(inputs, **options):
        once = learn_relevance(inputs, **options)
        if found:
            once = replace(once, matrix=once.matrix * (np.arange(len(once.matrix)) > 0)[:, None])
        found.append(once)
        return once

    monkeypatch.setattr(network_inputs, "learn_relevance", forgetful)
    map_ = learned(Z, M)
    assert len(found) == 2
    assert map_.jumps is not None
    assert map_.relevance[0] > 0.1
