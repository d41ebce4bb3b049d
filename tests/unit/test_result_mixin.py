"""What every model offers of its result."""

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression

import debinet as dn
from debinet.exceptions import CovarianceError

MODELS = {
    "PartiallyLinear": lambda: dn.PartiallyLinear(["a"], "mean", random_state=0),
    "DebiNet": lambda: dn.DebiNet(dn.Lasso(0.2), "mean", random_state=0),
    "DebiasedLasso": lambda: dn.DebiasedLasso(penalty=0.1, nodewise="universal", random_state=0),
}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(80, 4)), columns=["a", "b", "<script>", "d"])
    return X, pd.Series(X["a"] + rng.normal(size=80), name="y")


@pytest.mark.parametrize("name", MODELS)
def test_models_show_their_results(name, data, tmp_path):
    model = MODELS[name]().fit(*data)
    assert model.summary(0.9) == model.result_.summary(0.9)
    assert str(model.trust()) == str(model.result_.trust())
    model.report(tmp_path / "model.html", source="somewhere.csv")
    model.result_.report(tmp_path / "result.html", source="somewhere.csv")
    page = (tmp_path / "model.html").read_text()
    assert page == (tmp_path / "result.html").read_text()
    assert "somewhere.csv" in page
    shown = model._repr_mimebundle_()
    assert shown["text/html"] == model._repr_html_() == model.result_.to_html()
    assert "<script>" not in shown["text/html"]
    assert shown["text/plain"] == repr(model)
    assert str(model) == model.summary()
    with config_context(display="text"):
        assert model._repr_mimebundle_() == {"text/plain": repr(model)}


@pytest.mark.parametrize("name", MODELS)
def test_before_the_fit_there_is_nothing_to_show(name, tmp_path):
    model = MODELS[name]()
    for ask in (model.summary, model.trust, lambda: model.report(tmp_path / "x.html")):
        with pytest.raises(NotFittedError, match=f"Expected a fitted {name}"):
            ask()
    assert list(tmp_path.iterdir()) == []
    assert "Not fitted" in model._repr_html_()
    assert str(model) == repr(model)


@pytest.mark.parametrize("method", ["structured", "robinson", "iv-type"])
def test_residuals_are_what_the_fit_leaves(method, data):
    X, y = data
    options = {"method": method, "random_state": 0}
    one = dn.PartiallyLinear(["a"], LinearRegression(), crossfit=4, **options).fit(X, y).result_
    np.testing.assert_array_equal(one.resid, one.regressions[0].residuals)
    many = dn.PartiallyLinear(["a"], LinearRegression(), crossfit=(4, 3), **options).fit(X, y)
    each = []
    for repetition in many.result_.regressions:
        effects = repetition.R_D if method != "iv-type" else repetition.regressors
        own = repetition.R_y + (effects - repetition.R_D) @ repetition.coef
        each.append(own - effects @ many.coef_)
    np.testing.assert_allclose(many.result_.resid, np.mean(each, axis=0), atol=1e-12)


def test_residuals_of_the_desparsified_lasso_are_those_of_its_predictions(data):
    X, y = data
    model = MODELS["DebiasedLasso"]().fit(X, y)
    np.testing.assert_allclose(model.result_.resid, y - model.predict(X), atol=1e-10)


def test_streamed_rows_leave_no_residuals(data):
    X, y = data
    frame = X.assign(y=y)
    model = dn.PartiallyLinear(["a"], dn.TangentNet(width=8), random_state=0)
    result = model.fit_stream(frame, "y").result_
    with pytest.raises(CovarianceError, match=r"for the residuals.*not kept"):
        _ = result.resid
