"""Controls, groups and weights by the names of columns."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import cross_val_score

import debinet as dn
from debinet.exceptions import InputError, LengthError, OptionError, UnknownColumnError


@pytest.fixture
def frame(small):
    X, _ = small
    return X.assign(firm=np.arange(60) // 4, year=np.arange(60) % 5, w=np.linspace(0.5, 2, 60))


@pytest.fixture
def y(small):
    return small[1]


def model(treatments=("d1",), **options):
    return dn.PartiallyLinear(list(treatments), LinearRegression(), random_state=0, **options)


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.from_pandas, pa.Table.from_pandas])
def test_named_columns_are_groups_and_weights_and_not_controls(frame, y, kind):
    named = model().fit(kind(frame), y, groups="firm", sample_weight="w", controls=["z1", "z2"])
    plain = model().fit(
        frame[["d1", "z1", "z2"]], y, groups=frame["firm"], sample_weight=frame["w"]
    )
    pd.testing.assert_frame_equal(named.result_.to_frame(), plain.result_.to_frame())
    assert list(named.feature_names_in_) == ["d1", "z1", "z2"]
    assert named.n_features_in_ == 3
    assert "15 of 'firm'" in named.summary()
    # New data may have the other columns or not, in any order if they have names.
    expected = plain.predict(frame[["d1", "z1", "z2"]])
    np.testing.assert_array_equal(named.predict(kind(frame)), expected)
    np.testing.assert_array_equal(named.predict(frame[["z2", "d1", "z1"]]), expected)
    np.testing.assert_array_equal(named.nuisance(frame), plain.nuisance(frame[["d1", "z1", "z2"]]))
    with pytest.raises(InputError, match="columns of fit"):
        named.predict(frame[["d1", "z1"]])


def test_without_controls_all_other_columns_are(frame, y):
    named = model().fit(frame, y, groups=["firm", "year"], sample_weight="w")
    assert list(named.feature_names_in_) == ["d1", "d2", "z1", "z2", "z3"]
    assert named.result_.groups.shape == (60, 2)
    # A column may be clusters and a control, if it is asked for.
    both = model().fit(frame, y, groups="year", controls=["z1", "year"])
    assert list(both.feature_names_in_) == ["d1", "z1", "year"]


def test_treatments_by_position_are_those_of_the_given_columns(frame, y):
    moved = frame[["firm", "w", "d1", "d2", "z1"]]
    found = model([2]).fit(moved, y, groups="firm", sample_weight="w")
    assert found.result_.names == ("d1",)
    numbered = moved.set_axis([10, 11, 12, 13, 14], axis=1)
    by_label = model([12]).fit(numbered, y, controls=[13, 14])
    assert by_label.result_.names == ("12",)
    np.testing.assert_allclose(by_label.predict(numbered)[:3], by_label.predict(numbered[:3]))


def test_saved_models_remember_their_columns(frame, y, tmp_path):
    named = model().fit(frame, y, groups="firm", controls="z1")
    named.save(tmp_path / "model.npz")
    twin = dn.load(tmp_path / "model.npz")
    np.testing.assert_array_equal(twin.predict(frame), named.predict(frame))


def test_a_later_fit_forgets_the_columns(frame, y):
    again = model().fit(frame, y, groups="firm").fit(frame, y)
    assert again.n_features_in_ == 8


def test_names_in_cross_validation(frame, y):
    scores = cross_val_score(
        model(), frame, y, cv=3, params={"groups": "firm", "controls": ["z1", "z2", "z3"]}
    )
    assert scores.shape == (3,)


def test_debinet_offers_no_controls_to_the_selector(frame, y):
    selector = dn.Lasso(0.01)
    frame = frame.drop(columns="w")
    free = dn.DebiNet(selector, "mean", random_state=0).fit(frame.drop(columns="firm"), y)
    assert free.get_support()[2]
    kept = dn.DebiNet(selector, LinearRegression(), random_state=0).fit(
        frame, y, controls=["z1", "z2"], groups="firm"
    )
    support = dict(zip(kept.feature_names_in_, kept.get_support(), strict=True))
    assert set(support) == {"d1", "d2", "z1", "z2", "z3", "year"}
    assert not support["z1"]
    assert not support["z2"]
    assert support["d1"]
    assert "of 4 features" in kept.summary()
    assert "of 'firm'" in kept.summary()
    np.testing.assert_array_equal(
        kept.predict(frame), kept.predict(frame[list(kept.feature_names_in_)])
    )


@pytest.mark.parametrize("kind", [dn.PartiallyLinear(["d1"], "mean"), dn.DebiNet("lasso", "mean")])
@pytest.mark.parametrize(
    "arguments",
    [{"groups": "fimr"}, {"sample_weight": "weight"}, {"controls": ["z9"]}, {"controls": "z9"}],
)
def test_unknown_names_are_refused(kind, arguments, frame, y):
    with pytest.raises(UnknownColumnError, match=r"controls.* that"):
        kind.fit(frame, y, **arguments)


def test_lists_of_labels_are_no_names(frame, y):
    labels = [f"g{i % 6}" for i in range(60)]
    assert model().fit(frame, y, groups=labels).result_.df == 5
    with pytest.raises(LengthError, match="groups"):
        model().fit(frame, y, groups=labels[:-1])


def test_what_cannot_be_looked_up(frame, y):
    with pytest.raises(OptionError, match="data frame"):
        model([0]).fit(frame.to_numpy(), y, groups="firm")
    with pytest.raises(OptionError, match="not treatments"):
        model().fit(frame, y, controls=["d1", "z1"])
    with pytest.raises(OptionError, match="list of column names"):
        model().fit(frame, y, controls=3)
