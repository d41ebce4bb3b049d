"""Hypotheses as text give the Wald tests of statsmodels; anything else is refused."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st

import debinet as dn
from debinet.exceptions import DebiNetError, OptionError
from debinet.inference.constraints import read_constraints

NAMES = ("age", "bmi", "bp", "s.5")


@pytest.fixture(scope="module")
def both():
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.normal(size=(80, 4)), columns=list(NAMES))
    y = X @ [0.1, 1.0, 0.8, 0.0] + rng.normal(size=80)
    ours = dn.PartiallyLinear(list(NAMES), "mean", crossfit=None).fit(X, y).result_
    # With the mean as learner, this is least squares with a constant.
    theirs = sm.OLS(y, sm.add_constant(X.rename(columns={"s.5": "s5"}))).fit(
        cov_type="HC3", use_t=True
    )
    return ours, theirs


@pytest.mark.parametrize(
    "text",
    [
        "bmi = bp",
        "bmi - bp = 0",
        "bmi = bp, age = 0",
        "bmi - 2 * bp = 1",
        "bmi + bp = 1.5",
        "(bmi + bp) / 2 = 0.9",
        "-bmi = -1e0",
        "bmi = 1",
        "s.5",
        "2 * s.5 - age = -0.5, bmi = 1",
    ],
)
def test_equations_equal_those_of_statsmodels(both, text):
    ours, theirs = both
    reference = theirs.f_test(text.replace("s.5", "s5"))
    found = ours.wald_test(text)
    # Both solve the same small system: only rounding may differ.
    assert found.statistic == pytest.approx(float(reference.fvalue), rel=1e-9)
    assert found.pvalue == pytest.approx(float(reference.pvalue), rel=1e-7)
    assert (found.df_num, found.df_denom) == (int(reference.df_num), reference.df_denom)


def test_lists_and_chains_and_right_hand_sides(both):
    ours, _ = both
    together = ours.wald_test("bmi = bp, age = 0")
    assert ours.wald_test(["bmi = bp", "age = 0"]) == together
    assert ours.wald_test(["bmi == bp", "age"]) == together
    assert ours.wald_test("bmi = bp = age") == ours.wald_test("bmi = bp, bp = age")
    assert ours.wald_test("bmi", 1.0) == ours.wald_test("bmi = 1")
    assert ours.wald_test(pd.Index(["bmi", "bp"])) == ours.wald_test("bmi, bp")
    with pytest.raises(OptionError, match="Leave r out"):
        ours.wald_test("bmi = 1", 2.0)


STRANGE = ["a", "a.b", "a b", "C(g)[T.s]", "bs(x, df=4)[1]", "x:z", "d-1", "d", "été", "a = 1", "2"]


@pytest.mark.parametrize("name", STRANGE)
def test_names_with_any_signs(name):
    own = np.eye(len(STRANGE))[STRANGE.index(name)]
    plain = name if name != "2" else "`2`"  # a number is a number
    for text in (name, f"3 * {plain} = 6", f"3*`{name}` = 6"):
        read = read_constraints([text], STRANGE)
        scale = 1 if text == name else 3
        np.testing.assert_array_equal(read.R, [scale * own])
        np.testing.assert_array_equal(read.r, [0 if text == name else 6])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("bmii = 0", "Did you mean 'bmi'"),
        ("bmi = bmi", "cancels"),
        ("bmi * bp = 1", "product"),
        ("bmi / bp = 1", "division"),
        ("bmi / 0 = 1", "division"),
        ("bmi =", "missing at the end"),
        ("(bmi = 1", "'=' where it has no meaning"),
        ("bmi bp", "'bp' where"),
        ("", "missing"),
        ("__import__('os')", "names among"),
        ("-" * 1000 + "bmi", "within each other"),
        ("(" * 1000 + "bmi", "within each other"),
    ],
)
def test_what_is_not_an_equation(both, text, says):
    with pytest.raises(OptionError, match=says):
        both[0].wald_test(text)


@given(st.text(alphabet="abmip s.5=+-*/(),`0123e[]", max_size=30))
def test_any_text_is_read_or_refused(text):
    try:
        read = read_constraints([text], NAMES)
    except DebiNetError:
        return
    assert read.R.shape == (read.r.size, 4)


@pytest.mark.parametrize("kind", ["iid", "hc0", "Hc1", "HC2", "hc3", "FULL", "Cluster"])
def test_covariances_in_any_case(kind):
    X, y, _ = dn.datasets.make_sparse_linear(n=120, p=4, random_state=0)
    fitted = dn.PartiallyLinear(["d1"], random_state=0).fit(X, y, groups=np.arange(120) // 4)
    names = {name.lower(): name for name in ("iid", "HC0", "HC1", "HC2", "HC3", "full", "cluster")}
    same = fitted.result_.with_vcov(names[kind.lower()])
    found = fitted.result_.with_vcov(kind)
    assert found.vcov_type == same.vcov_type
    pd.testing.assert_frame_equal(found.vcov, same.vcov)


def test_residuals_are_those_of_least_squares():
    rng = np.random.default_rng(4)
    X = pd.DataFrame(rng.normal(size=(50, 3)), columns=["d", "z1", "z2"])
    y = X.sum(axis=1) + rng.normal(size=50)
    from sklearn.linear_model import LinearRegression

    fit = dn.PartiallyLinear(["d"], LinearRegression(), crossfit=None).fit(X, y)
    ols = sm.OLS(y, sm.add_constant(X)).fit()
    # The same projection computed in two steps: rounding only.
    np.testing.assert_allclose(fit.result_.resid, ols.resid, atol=1e-12)
    np.testing.assert_allclose(fit.result_.resid, y - fit.predict(X), atol=1e-12)
