"""Formulas."""

import time

import numpy as np
import pandas as pd
import polars as pl
import pytest
import statsmodels.formula.api as smf
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score

import debinet as dn
from debinet.exceptions import (
    ColumnTypeError,
    FormulaError,
    InputError,
    MissingValueError,
    UnknownColumnError,
)


@pytest.fixture
def frame(small):
    X, y = small
    return X.assign(
        wage=np.exp(y / 3), region=np.resize(["n", "s", "w"], 60), firm=np.arange(60) // 4
    )


def plm(formula, frame, **options):
    return dn.plm(formula, frame, LinearRegression(), crossfit=None, **options)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("np.log(wage) ~ d1 + d2 | z1 + C(region)", "np.log(wage) ~ d1 + d2 + z1 + C(region)"),
        ("wage ~ d1 * d2 | z1 + z2", "wage ~ d1 * d2 + z1 + z2"),
        ("wage ~ C(region) | z1 + z2", "wage ~ C(region) + z1 + z2"),
        ("wage ~ d1 | bs(z1, df=4) + region", "wage ~ d1 + bs(z1, df=4) + region"),
    ],
)
def test_formulas_equal_least_squares_of_statsmodels(frame, ours, theirs):
    fit = plm(ours, frame)
    reference = smf.ols(theirs, frame).fit()
    names = [name for name in reference.params.index if name in fit.result_.names]
    assert len(names) == len(fit.result_.names)
    np.testing.assert_allclose(
        fit.result_.coef[names], reference.params[names], rtol=1e-9, atol=1e-12
    )


def test_a_dot_stands_for_all_other_columns(frame):
    dotted = plm("wage ~ d1 + d2 | .", frame)
    spelled = plm("wage ~ d1 + d2 | z1 + z2 + z3 + region + firm", frame)
    np.testing.assert_allclose(dotted.result_.coef, spelled.result_.coef)


def test_prediction_needs_no_outcome_and_remembers_categories(frame):
    fit = plm("wage ~ d1 | center(z1) + C(region)", frame)
    everything = fit.predict(frame)
    part = frame.drop(columns="wage").iloc[:4]
    np.testing.assert_allclose(fit.predict(part), everything[:4])
    np.testing.assert_allclose(
        fit.nuisance(part) + fit.result_.coef["d1"] * part["d1"], everything[:4]
    )


def test_polars_groups_and_weights_by_name(frame):
    fit = plm("wage ~ d1 | z1", pl.from_pandas(frame), groups="firm", sample_weight="firm")
    same = plm("wage ~ d1 | z1", frame, groups=frame["firm"], sample_weight=frame["firm"])
    pd.testing.assert_frame_equal(fit.result_.vcov, same.result_.vcov)
    assert fit.result_.vcov_type == "cluster"
    assert " of 'firm'" in fit.summary()
    two = dn.plm(
        "wage ~ d1 | z1",
        frame,
        LinearRegression(),
        groups=["firm", "region"],
        crossfit=2,
        random_state=0,
    )
    assert two.result_.df == 2


def test_the_summary_shows_the_formula(frame):
    fit = plm("wage ~ d1 | z1", frame)
    for text in (str(fit), fit.summary(), fit.result_.summary()):
        assert "formula        wage ~ d1 | z1" in text


def test_what_it_returns_is_a_fitted_model_with_everything_on_it(frame, tmp_path):
    fit = plm("wage ~ d1 + C(region) | z1 + log(firm + 1)", frame)
    assert type(fit) is dn.PartiallyLinear
    assert fit.trust().verdict == fit.result_.trust().verdict
    fit.report(tmp_path / "fit.html")
    assert "wage ~ d1 + C(region)" in (tmp_path / "fit.html").read_text()
    assert "<table" in fit._repr_html_()
    np.testing.assert_array_equal(fit.coef_, fit.result_.coef)
    assert fit.score(frame, frame["wage"]) == r2_score(frame["wage"], fit.predict(frame))
    fit.save(tmp_path / "fit.npz")
    twin = dn.load(tmp_path / "fit.npz")
    assert twin.formula_.formula == fit.formula_.formula
    np.testing.assert_array_equal(twin.predict(frame), fit.predict(frame))
    # Fitted again, it is a model of the columns that it is given then.
    columns = fit.formula_.read(frame)
    again = fit.fit(columns, frame["wage"])
    assert again.formula_ is None
    np.testing.assert_allclose(again.predict(columns), twin.predict(frame))


@pytest.mark.parametrize(
    "formula",
    [
        "wage ~ d1",
        "wage ~ d1 | z1 | z2",
        "~ d1 | z1",
        "wage ~~ d1",
        "",
        "1 +",
    ],
)
def test_formulas_that_cannot_be_read(frame, formula):
    with pytest.raises(FormulaError, match=r"wage ~ educ|one outcome"):
        plm(formula, frame)


@pytest.mark.parametrize(
    ("formula", "found", "hint"),
    [
        ("wage ~ d1 | z1 + reigon", "'reigon'", "Did you mean 'region'?"),
        ("wage ~ d1 | C(reigon)", "'reigon'", "Did you mean 'region'?"),
        ("wagee ~ d1 | z1", "'wagee'", "Did you mean 'wage'?"),
        ("log(wag) ~ d1 | z1", "'wag'", "Did you mean 'wage'?"),
        ("wage ~ d1 | z1:reigon", "'reigon'", "Did you mean 'region'?"),
        ("wage ~ d1 | nothere", "'nothere'", "The columns are"),
        ("wage ~ d1 | lgo(z1)", "'lgo'", "Did you mean 'log'?"),
        ("wage ~ d1 | firm(z1)", "'firm', which is a column", "Rename"),
    ],
)
def test_typos_suggest_the_nearest_name(frame, formula, found, hint):
    with pytest.raises((UnknownColumnError, FormulaError)) as caught:
        plm(formula, frame)
    assert found in str(caught.value)
    assert hint in str(caught.value)


@pytest.mark.parametrize("power", ["z1^2", "z1**2", "(z1)^3", "z1:z2 + z3^2", "`z.1`^2"])
def test_a_power_of_one_term_is_not_dropped(frame, power):
    with pytest.raises(FormulaError, match=r"I\(.*\*\*[23]\).*poly"):
        plm(f"wage ~ d1 | {power}", frame.assign(**{"z.1": frame["z1"]}))
    with pytest.raises(FormulaError, match="which is d1 itself"):
        plm("wage ~ d1^2 | z1", frame)


def test_a_power_of_a_sum_stands_for_interactions(frame):
    fit = plm("wage ~ d1 | (z1 + z2 + z3)^2", frame)
    assert fit.n_features_in_ == 1 + 6


def test_powers_and_roots_equal_columns_made_by_hand(frame):
    frame = frame.assign(z4=np.abs(frame["z1"]), size=np.arange(60) * 10**5)
    fit = plm("wage ~ d1 | I(z1**2) + sqrt(z4) + I(z2 * z3) + I(size**4)", frame)
    by_hand = frame.assign(
        a=frame["z1"] ** 2,
        b=np.sqrt(frame["z4"]),
        c=frame["z2"] * frame["z3"],
        d=frame["size"].astype(float) ** 4,  # of whole numbers, it would overflow
    )
    same = plm("wage ~ d1 | a + b + c + d", by_hand)
    np.testing.assert_allclose(fit.result_.coef, same.result_.coef, rtol=1e-8)
    np.testing.assert_allclose(fit.predict(frame), same.predict(by_hand), rtol=1e-8)


def test_a_hat_inside_of_a_function_is_refused(frame):
    with pytest.raises(FormulaError, match=r"I\(x\*\*2\)"):
        plm("wage ~ d1 | I(z1^2)", frame)


@pytest.mark.parametrize(
    ("formula", "both"),
    [
        ("wage ~ d1 + d2 | d1 + z1", "'d1' on both"),
        ("wage ~ C(region) | z1 + C(region)", r"'C\(region\)' on both"),
        ("wage ~ d1:d2 | d2:d1 + z1", "on both"),
        ("wage ~ d1 + wage | z1", "'wage' on the right"),
        ("wage ~ d1 | z1 + wage", "'wage' on the right"),
    ],
)
def test_a_term_on_two_sides_is_refused(frame, formula, both):
    with pytest.raises(FormulaError, match=both):
        plm(formula, frame)


@pytest.mark.parametrize(
    "controls",
    [
        "bs(z1, df=99999999)",
        "poly(z1, 999999)",
        "poly(z1, degree=100 * 100)",
        "cr(z1, df=61)",
        "+".join(f"I(z1*{k})" for k in range(20_000)),
        "(z1 + z2 + z3 + d2)^99",
        "hashed(region, levels=10**9)",
    ],
)
def test_formulas_that_would_fill_the_memory_are_refused_at_once(frame, controls):
    start = time.monotonic()
    with pytest.raises(FormulaError, match=r"at most|powers"):
        plm(f"wage ~ d1 | {controls}", frame)
    assert time.monotonic() - start < 2  # they took minutes


def test_errors_have_no_escape_codes(frame):
    for formula in ("wage ~ d1 | z1 z2", "wage ~ d1 | (z1", "wage ~ d1 | (z1 + z2)^2.5"):
        with pytest.raises(FormulaError) as caught:
            plm(formula, frame)
        assert str(caught.value).isprintable()


def test_backticked_names_with_dots_are_used_and_checked(frame):
    frame = frame.rename(columns={"z1": "z.1", "z2": "z 2"})
    fit = plm("wage ~ d1 | `z.1` + log(`z 2`**2)", frame)
    assert list(fit.formula_.design.source.columns) == ["d1", "z.1", "z 2", "wage"]
    with pytest.raises(FormulaError, match=r"without 'z\.1'"):
        fit.predict(frame[["d1", "z 2"]])
    frame.loc[3, "z.1"] = np.nan
    with pytest.raises(MissingValueError, match=r"z\.1"):
        plm("wage ~ d1 | `z.1`", frame)


@pytest.mark.parametrize("formula", [3, None, b"y ~ x | z"])
def test_what_is_no_formula(frame, formula):
    with pytest.raises(FormulaError):
        plm(formula, frame)


def test_missing_values_are_an_error_even_in_categories(frame):
    for column, value in (("region", None), ("z1", np.nan)):
        broken = frame.copy()
        broken.loc[2, column] = value
        with pytest.raises(MissingValueError, match=column):
            plm("wage ~ d1 | z1 + C(region)", broken)


def test_other_errors(frame):
    with pytest.raises(FormulaError, match="data frame"):
        plm("y ~ d | z", np.ones((3, 3)))
    with pytest.raises(UnknownColumnError, match="'nofirm'"):
        plm("wage ~ d1 | z1", frame, groups="nofirm")
    with pytest.raises(InputError):
        plm("wage ~ 1 | z1", frame)
    with pytest.raises((FormulaError, ColumnTypeError)):
        plm("region ~ d1 | z1", frame)
    fit = plm("wage ~ d1 | C(region)", frame)
    with pytest.raises(FormulaError):
        fit.predict(frame[["d1"]])


def test_a_dot_leaves_out_what_is_used_elsewhere(frame):
    frame = frame.assign(d3=np.abs(frame["d1"]) + 1)
    dotted = plm("wage ~ log(d3) | .", frame.drop(columns="region"), groups="firm")
    spelled = plm("wage ~ log(d3) | d1 + d2 + z1 + z2 + z3", frame, groups="firm")
    np.testing.assert_allclose(dotted.result_.coef, spelled.result_.coef)
    regions = plm("wage ~ C(region) | .", frame)
    assert len(regions.result_.names) == 2


def test_new_data_with_missing_or_unknown_categories_are_refused(frame):
    fit = plm("wage ~ d1 | C(region)", frame)
    with pytest.raises(FormulaError, match="categories"):
        fit.predict(frame.assign(region="nowhere"))
    broken = frame.copy()
    broken.loc[2, "region"] = None
    with pytest.raises(MissingValueError):
        fit.predict(broken)


def test_labels_of_groups_are_not_taken_for_names(frame):
    labels = [f"g{i % 6}" for i in range(60)]
    assert plm("wage ~ d1 | z1", frame, groups=labels).result_.df == 5


def test_repeated_columns(frame):
    from debinet.exceptions import DuplicateColumnError

    with pytest.raises(DuplicateColumnError):
        plm("wage ~ d1 | z1", pd.concat([frame, frame[["z1"]]], axis=1))
