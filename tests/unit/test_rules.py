"""Rules and products beside the network: what they are, when they are added, fits with them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeRegressor

import debinet as dn
from debinet.learners.inputs import column_moments
from debinet.learners.wide import rule_search
from debinet.learners.wide.input_map import InputMap, NetworkInputs
from debinet.learners.wide.kernels import Architecture
from debinet.learners.wide.landmark_fit import SampledRows
from debinet.learners.wide.missed_feature import missed_feature
from debinet.learners.wide.products import add_pair
from debinet.learners.wide.relevance import learn_relevance
from debinet.learners.wide.rule_search import FEWEST_ROWS, add_rules
from debinet.learners.wide.rules import Rules, _leaves, grow_rules, join_rules

SMOOTH = Architecture(activation="erf")


def boxes():
    low = np.array([[0.0, -np.inf], [-np.inf, -1.0]])
    high = np.array([[np.inf, 0.5], [0.0, 1.0]])
    return Rules(np.array([[0, 1], [0, 2]]), low, high, np.array([0.3, 0.3]), weight=2.0)


def test_columns_are_one_in_the_box():
    Z = np.array([[1.0, 0.0, 0.0], [1.0, 0.6, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 2.0]])
    assert boxes()(Z).tolist() == [[1, 0], [0, 0], [0, 1], [0, 0]]
    np.testing.assert_allclose(boxes().weighted(8.0)(Z), 2.0 * boxes()(Z))


def test_variance_is_counted_for_every_feature_of_a_box():
    np.testing.assert_allclose(boxes().variance(4), [0.42, 0.21, 0.21, 0.0])


def test_joined_rules_have_the_columns_of_both():
    one = Rules(np.array([[3]]), np.array([[0.0]]), np.array([[np.inf]]), np.array([0.5]), 3.0)
    Z = np.random.default_rng(0).normal(size=(50, 4))
    joined = join_rules(boxes(), one)
    parts = np.column_stack([boxes()(Z) > 0, one(Z) > 0])
    np.testing.assert_array_equal(joined(Z) > 0, parts)
    assert joined.weight == 3.0
    assert join_rules(None, one) is one


def test_leaves_are_those_of_the_tree():
    rng = np.random.default_rng(1)
    Z = rng.normal(size=(300, 5))
    y = (Z[:, 1] > 0.3) * (Z[:, 4] < 0) + 0.1 * rng.normal(size=300)
    tree = DecisionTreeRegressor(max_leaf_nodes=6, random_state=0).fit(Z, y)
    rules, new = _leaves(tree.tree_, Z), rng.normal(size=(200, 5))
    inside = rules(new) > 0
    assert (inside.sum(axis=1) == 1).all()
    np.testing.assert_allclose(rules.share, (rules(Z) > 0).mean(axis=0))
    leaf = tree.apply(new)
    same = leaf[:, None] == leaf
    np.testing.assert_array_equal(inside.astype(int) @ inside.T.astype(int) > 0, same)


def test_a_step_is_found_and_noise_is_not():
    rng = np.random.default_rng(2)
    Z, weight = rng.normal(size=(2000, 5)), rng.uniform(0.5, 2.0, 2000)
    noise = rng.normal(size=(2000, 2))
    step = noise + 1.0 * np.column_stack([Z[:, 2] > 0.5, np.zeros(2000)])
    found = grow_rules(Z, step, weight, np.random.default_rng(0))
    assert found is not None
    sides = np.concatenate([found.low[found.features == 2], found.high[found.features == 2]])
    assert np.abs(sides - 0.5).min() < 0.02
    # a tree of noise gains 6 by chance in about one of 10,000 tries, and there are 3 for each draw
    draws = [rng.normal(size=(2000, 2)) for _ in range(20)]
    assert all(grow_rules(Z, one, weight, np.random.default_rng(0)) is None for one in draws)


def test_products_are_those_of_their_pairs():
    Z = np.random.default_rng(0).normal(size=(20, 3))
    products = add_pair(add_pair(None, (0, 2)), (1, 1)).weighted(8.0)
    expected = 2.0 * np.column_stack([Z[:, 0] * Z[:, 2], Z[:, 1] ** 2])
    np.testing.assert_allclose(products(Z), expected)
    np.testing.assert_allclose(products.variance(4), [4.0, 4.0, 4.0, 0.0])
    assert (0, 2) in products
    assert (2, 0) not in products


def network(Z, scale=0.5):
    moments = column_moments(Z, np.ones(len(Z)))
    return NetworkInputs(InputMap(moments, scale * np.eye(Z.shape[1])), 1.0)


def with_rules(Z, M, plain):
    rows = SampledRows(Z, M, np.ones(len(Z)), SMOOTH).sample()
    return add_rules(rows, rows.fit(plain))


def test_rules_are_added_where_the_network_misses_steps_only():
    rng = np.random.default_rng(4)
    Z = rng.normal(size=(1500, 3))
    plain = network(Z)
    for f, rules in (((Z[:, 0] > 0) + (Z[:, 1] > 1), True), (np.sin(Z[:, 0]) + Z[:, 1], False)):
        M = (f + 0.3 * rng.normal(size=1500))[:, None]
        M = (M - M.mean()) / M.std()
        found = with_rules(Z, M, plain)
        assert (found.map_.rules is not None) == rules
        assert rules or found is plain


def test_a_product_that_the_network_misses_is_added(monkeypatch):
    monkeypatch.setattr(rule_search, "grow_rules", lambda *_: None)
    rng = np.random.default_rng(6)
    Z = np.column_stack([rng.random((1500, 2)) < 0.5, rng.normal(size=(1500, 6))]).astype(float)
    f = Z[:, 0] * Z[:, 1] + np.sin(Z[:, 2])
    M = (f + 0.5 * rng.normal(size=1500))[:, None]
    M = (M - M.mean()) / M.std()
    plain = network(Z, 0.5)
    weak = replace(plain, map_=replace(plain.map_, matrix=np.diag([0.01, 0.01, *[0.5] * 6])))
    found = with_rules(Z, M, weak).map_
    assert found.products is not None
    assert found.products.pairs[0].tolist() == [0, 1]
    np.testing.assert_allclose(found.interactions(Z), found.encode(Z)[:, found.width + 1 :])


def test_few_rows_get_no_rules():
    Z = np.random.default_rng(5).normal(size=(FEWEST_ROWS - 1, 2))
    M = (Z[:, :1] > 0) * 2.0 - 1
    plain = network(Z)
    assert with_rules(Z, M, plain) is plain


@pytest.fixture(scope="module")
def steps():
    return dn.datasets.make_steps(n=2000, random_state=0)


def test_fit_with_rules_predicts_and_is_saved(steps, tmp_path):
    model = dn.PartiallyLinear(["d1"], random_state=0).fit(steps.X, steps.y)
    model.save(tmp_path / "model.zip")
    twin = dn.load(tmp_path / "model.zip")
    np.testing.assert_allclose(twin.predict(steps.X), model.predict(steps.X), rtol=1e-12)
    # f jumps by 1.5 at z2 = 0.5 where z3 < 0: most of that within a twentieth
    row = steps.X.iloc[[0, 0]].assign(z2=[0.48, 0.53], z3=-1.0)
    assert np.diff(model.nuisance(row))[0] > 1.0


def test_landmarks_with_rules_equal_the_exact_network(steps):
    X, y = steps.X.iloc[:900], steps.y.iloc[:900]
    exact = dn.PartiallyLinear(["d1"], dn.WideNet(activation="erf")).fit(X, y)
    other = dn.PartiallyLinear(["d1"], dn.TangentNet(width=900, random_state=0)).fit(X, y)
    assert abs(exact.coef_[0] - other.coef_[0]) < 0.01 * exact.result_.se["d1"]


def test_a_treatment_that_hardly_ever_varies():
    """Half of the rows that rules are grown on may have no treated row."""
    rng = np.random.default_rng(7)
    Z = rng.normal(size=(600, 3))
    X = pd.DataFrame(Z, columns=["z1", "z2", "z3"]).assign(d=0.0)
    X.loc[[5, 400], "d"] = 1.0
    y = (Z[:, 0] > 0) + X["d"] + 0.5 * rng.normal(size=600)
    result = dn.PartiallyLinear(["d"], random_state=0).fit(X, y).result_
    assert abs(result.coef["d"] - 1) < 4 * result.se["d"]
    assert grow_rules(Z, np.ones((600, 2)), np.ones(600), rng) is None


def test_a_season_that_only_many_rows_show_is_found():
    rng = np.random.default_rng(8)
    Z = rng.uniform(-1.7, 1.7, size=(3000, 3))
    M = (np.sin(9 * Z[:, 1]) + 2.0 * rng.normal(size=3000))[:, None]
    for targets, expected in ((M / M.std(), 1), (rng.normal(size=(3000, 1)), None)):
        rows = SampledRows(Z, targets, np.ones(3000), SMOOTH).sample()
        residual = rows.fit(network(Z, 0.3)).held_out(rows)
        assert missed_feature(rows.Z, residual, rows.root) == expected


def test_a_search_can_start_with_a_rough_feature():
    rng = np.random.default_rng(9)
    Z = rng.uniform(-1.7, 1.7, size=(500, 3))
    M = (np.sin(9 * Z[:, 1]) + 0.9 * rng.normal(size=500))[:, None]
    found = learn_relevance(Z, M / M.std(), np.ones(500), SMOOTH, rough=1).matrix
    assert np.linalg.norm(found, axis=1).argmax() == 1
