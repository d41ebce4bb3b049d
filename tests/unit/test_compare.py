"""`dn.compare`: a table, a plot and tests of several models, with failures in their rows."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, Ridge

import debinet as dn
from debinet.exceptions import DebiNetError, InputError, MissingValueError, OptionError


class Failing(Ridge):
    def fit(self, *args, **kwargs):
        raise RuntimeError("no <b>luck</b>")


@pytest.fixture(scope="module")
def data():
    X, y, _ = dn.datasets.make_sparse_linear(n=150, p=6, random_state=0)
    return X.assign(firm=np.arange(150) // 5, w=np.linspace(1, 2, 150)), pd.Series(y, name="wage")


@pytest.fixture(scope="module")
def found(data):
    X, y = data
    models = {
        "linear": LinearRegression(),
        "by <name>": "lasso",
        "a method": "robinson",
        "failing": Failing(),
        "selected": dn.DebiNet(dn.Lasso(0.2), LinearRegression()),
        "all": dn.DebiasedLasso(penalty=0.1, nodewise="universal"),
        "own": dn.PartiallyLinear("d1", Ridge(), crossfit=3),
    }
    X = X.drop(columns=["firm", "w"])
    return dn.compare(models, X, y, treatments=["d1", "d2"], level=0.9, random_state=0)


def test_a_row_per_treatment_and_model(found, data):
    X, y = data
    frame = found.frame
    assert len(frame) == 14
    assert list(frame["treatment"]) == ["d1"] * 7 + ["d2"] * 7
    X = X.drop(columns=["firm", "w"])
    alone = dn.PartiallyLinear(["d1", "d2"], LinearRegression(), random_state=0).fit(X, y)
    rows = frame[frame["model"] == "linear"].set_index("treatment")
    columns = ["coef", "se", "lower", "upper"]
    np.testing.assert_array_equal(rows[columns], alone.result_.to_frame(0.9)[columns])
    assert set(rows["trust"]) == {alone.result_.trust().verdict}
    assert (frame["seconds"] >= 0).all()
    assert found["a method"].result_.provenance.method == "robinson"
    assert found["a method"].result_.provenance.learner == "WideNet"
    assert found["by <name>"].result_.provenance.learner == "LassoLearner"
    # The same folds for all, and models are not changed.
    assert found["own"].random_state == found["linear"].random_state == 0
    assert found["own"].result_.names == ("d1",)


def test_failures_are_rows_with_a_reason(found):
    failed = found.frame[found.frame["reason"] != ""].set_index(["model", "treatment"])
    assert set(failed.index) == {
        ("failing", "d1"),
        ("failing", "d2"),
        ("own", "d2"),
        *[k for k in failed.index if k[0] == "selected"],
    }
    assert failed.loc["failing", "reason"].str.contains("RuntimeError: no <b>luck</b>").all()
    assert set(failed.loc["failing", "trust"]) == {"failed"}
    assert failed[["coef", "se"]].isna().all(axis=None)
    assert "failing" not in found.models
    assert "Note: failing: LearnerError" in found.summary()


def test_what_is_not_selected_is_said(data):
    X, y = data
    models = [dn.DebiNet(dn.Lasso(100.0), "mean"), "lasso"]
    both = dn.compare(models, X, y, treatments=["d1"], random_state=0)
    row = both.frame.iloc[0]
    assert (row["model"], row["trust"], row["reason"]) == (
        "DebiNet",
        "not selected",
        "d1 was not selected",
    )


def test_agreement_is_of_those_that_have_an_estimate(found):
    assert list(found.agreement.index) == ["d1", "d2", "all"]
    assert found.agreement["pvalue"].between(0, 1).all()


def test_it_is_shown_in_every_format(found):
    text = str(found)
    assert text.startswith("Comparison of models of wage")
    for part in ("150", "90 %", "largest difference", "by <name>", "failed"):
        assert part in text
    page = found._repr_html_()
    assert "by &lt;name&gt;" in page
    assert "<b>" not in page
    assert page.count("<table") == 2
    assert r"by &lt;name&gt;" in found.to_markdown()
    assert r"by \textless{}name\textgreater{}" in found.to_latex("50 %")
    assert r"\caption{50 \%}" in found.to_latex("50 %")
    copy = found.to_frame()
    copy["coef"] = 0.0
    assert found.frame["coef"].abs().max() > 0
    assert repr(found) == "<ModelComparison: 7 models of wage, n=150>"


def test_the_plot_has_a_row_per_model_and_treatment(found):
    ax = found.plot()
    labels = [label.get_text() for label in ax.get_yticklabels()]
    names = list(dict.fromkeys(found.frame["model"]))
    assert labels == ["d1", *names, "d2", *names]
    drawn = sorted(line.get_xdata()[0] for line in ax.lines if line.get_marker() in {"o", "X"})
    np.testing.assert_allclose(drawn, sorted(found.frame["coef"].dropna()))
    assert [text.get_text() for text in ax.texts].count("failed") == 2
    own = ax.figure.subplots()
    assert found.plot(own) is own
    plt.close("all")


def test_groups_weights_and_controls_are_for_all_models(data):
    X, y = data
    models = ["lasso", dn.DebiNet(learner="lasso"), dn.DebiasedLasso()]
    both = dn.compare(
        models, X, y, treatments="d1", controls=["z1", "z2"], groups="firm", random_state=0
    )
    alone = dn.PartiallyLinear("d1", "lasso", random_state=0).fit(
        X, y, controls=["z1", "z2"], groups="firm"
    )
    assert both.frame["coef"][0] == alone.coef_[0]
    assert list(both["DebiNet"].feature_names_in_) == ["d1", "z1", "z2"]
    assert both["DebiNet"].result_.groups is not None
    assert "takes groups" in both.frame["reason"][2]


def test_without_treatments_all_coefficients_are_compared(data):
    X, y = data
    X = X.drop(columns=["firm", "w"])
    names = {"a": dn.DebiasedLasso(0.1, "universal"), "b": dn.DebiasedLasso(0.2, "universal")}
    both = dn.compare(names, X, y, random_state=0)
    assert list(dict.fromkeys(both.frame["treatment"])) == list(X.columns)
    own = dn.compare([dn.PartiallyLinear(["d2"], "mean"), "lasso"], X, y, random_state=0)
    assert set(own.frame["treatment"]) == {"d2"}


def test_several_splits_have_intervals_but_no_contributions(data):
    X, y = data
    models = {
        "splits": dn.DebiNet("lasso", "lasso", selection_share=(0.4, 3)),
        "lasso": "lasso",
        "linear": LinearRegression(),
    }
    found = dn.compare(models, X, y, treatments=["d1"], random_state=0)
    assert np.isnan(found.frame["se"][0])
    assert found.frame["coef"].notna().all()
    assert "splits" not in found.agreement.loc["d1", "between"]


def test_what_all_models_fail_with_is_raised(data):
    X, y = data
    with pytest.raises(MissingValueError):
        dn.compare(["lasso", "mean"], X.assign(z1=np.nan), y, treatments=["d1"])


@pytest.mark.parametrize(
    ("models", "arguments", "says"),
    [
        ({}, {"treatments": "d1"}, "at least one model"),
        ("lasso", {"treatments": "d1"}, "models by name"),
        (3, {"treatments": "d1"}, "models by name"),
        (["forrest"], {"treatments": "d1"}, "names of learners"),
        (["lasso"], {}, "treatments"),
        ([Ridge(), Ridge(2)], {"treatments": "d1"}, "names of their own"),
        (["lasso"], {"treatments": "d1", "level": 95}, "level"),
        ([dn.DebiasedLasso()], {"controls": ["z1"]}, "Name the treatments"),
    ],
)
def test_what_cannot_be_compared(models, arguments, says, data):
    with pytest.raises((OptionError, InputError), match=says):
        dn.compare(models, *data, **arguments)


def test_arrays(data):
    X, y = data
    found = dn.compare(["lasso", "mean"], X.to_numpy(), y, treatments=[0], random_state=0)
    assert set(found.frame["treatment"]) == {"x0"}
    assert isinstance(found.agreement, pd.DataFrame)
    with pytest.raises(DebiNetError):
        dn.compare(["lasso", "mean"], X.to_numpy(), y, treatments=["nothere"])
