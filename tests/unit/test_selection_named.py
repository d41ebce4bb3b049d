"""Selectors by name, and the groups of 0-1 columns that those of groups look for."""

import numpy as np
import pandas as pd
import pytest

import debinet as dn
from debinet.exceptions import InputError, OptionError
from debinet.selection.categories import category_groups
from debinet.selection.named import NAMED, resolve_selector
from debinet.selection.problem import read_problem


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(400, 3)), columns=["x_1", "x_2", "x_3"])
    for name, levels in (("region", 4), ("shift", 3)):
        codes = pd.Series(rng.integers(0, levels, 400).astype(str), name=name)
        frame = frame.join(pd.get_dummies(codes, prefix=name, drop_first=True).astype(float))
    frame["flag_a"] = rng.integers(0, 2, 400)
    frame["flag_b"] = rng.integers(0, 2, 400)
    y = 2 * frame["region_2"] + frame["x_1"] + 0.5 * rng.normal(size=400)
    return frame, y


@pytest.mark.parametrize("name", NAMED)
def test_names_in_any_spelling(name):
    found = resolve_selector(name)
    kind = "".join(part.title() for part in name.split("-"))
    assert type(found) is getattr(dn, kind)
    for spelling in (name.replace("-", "_"), name.upper(), name.replace("-", "_").title()):
        assert repr(resolve_selector(spelling)) == repr(found)


@pytest.mark.parametrize("name", ["ridge", "grouplasso", ""])
def test_other_names_are_refused(name):
    with pytest.raises(OptionError, match="group-lasso"):
        resolve_selector(name)


def test_groups_are_the_columns_of_a_category(data):
    frame, y = data
    for standardize in (True, False):
        labels = pd.Series(category_groups(read_problem(frame, y, standardize)), frame.columns)
        by_group = labels.groupby(labels).groups
        together = sorted(sorted(part) for part in by_group.values() if len(part) > 1)
        # x_1, ... are no indicators, and rows may have both flags.
        assert together == [["region_1", "region_2", "region_3"], ["shift_1", "shift_2"]]


@pytest.mark.parametrize(
    "names", [["g=a", "g=b"], ["g[T.a]", "g[T.b]"], ["g.a", "g.b"], ["a_long_g_x", "a_long_g_y"]]
)
def test_names_of_other_packages(names):
    codes = np.arange(60) % 3
    frame = pd.DataFrame(np.stack([codes == 0, codes == 1], axis=1).astype(float), columns=names)
    frame["z"] = np.linspace(0, 1, 60) ** 2
    first, second, third = category_groups(read_problem(frame, np.arange(60.0)))
    assert first == second != third


def test_the_group_lasso_by_name_is_that_of_the_groups(data):
    frame, y = data
    groups = ["x1", "x2", "x3", *["region"] * 3, *["shift"] * 2, "a", "b"]
    by_name = dn.DebiNet("group-lasso", "mean", random_state=0).fit(frame, y)
    given = dn.DebiNet(dn.GroupLasso(groups), "mean", random_state=0).fit(frame, y)
    np.testing.assert_array_equal(by_name.get_support(), given.get_support())
    assert by_name.result_.coef.equals(given.result_.coef)
    chosen = set(by_name.result_.names)
    assert {"region_1", "region_2", "region_3"} <= chosen
    sparse = dn.SparseGroupLasso("categories", 0.1).fit(frame, y)
    same = dn.SparseGroupLasso(groups, 0.1).fit(frame, y)
    np.testing.assert_array_equal(sparse.coef_, same.coef_)


def test_a_category_that_is_rare_in_the_rows_of_selection(data):
    frame, y = data
    rare = frame.assign(shift_3=np.r_[1.0, np.zeros(399)], shift_1=0.0 + (frame["shift_1"] > 0))
    rare.loc[0, ["shift_1", "shift_2"]] = 0.0
    model = dn.DebiNet("group-lasso", "mean", random_state=0)
    # The row is in one of the two parts only: the column is left out there, and its group is not.
    assert "left out there: 'shift_3'" in model.fit(rare, y).summary()


def test_without_categories_there_are_no_groups(data):
    frame, y = data
    with pytest.raises(OptionError, match="Pass the groups"):
        dn.DebiNet("group-lasso", random_state=0).fit(frame[["x_1", "x_2", "flag_a"]], y)
    with pytest.raises(InputError, match="categories"):
        dn.GroupLasso("groups", 0.1).fit(frame, y)
