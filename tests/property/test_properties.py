"""What must hold for all data, searched by hypothesis.

Comparisons between two fits allow 1e-6 relative to the size of the coefficients: reordering and
rescaling change the order of summation and the conditioning of least squares, nothing else.
"""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeRegressor

import debinet as dn
from closeness import assert_same_result
from debinet._random import named_generator
from debinet.data.crossfit import make_folds
from debinet.exceptions import DebiNetError
from debinet.inference.infer import infer
from debinet.inference.methods import pooled
from debinet.inference.provenance import Provenance

seeds = st.integers(0, 2**32 - 1)
scales = st.floats(1e-3, 1e3).map(lambda v: float(np.float32(v)))


def make_data(seed, n=18, p=3):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, p))
    D = Z[:, :2] + rng.normal(size=(n, 2))
    y = D @ rng.normal(size=2) + np.sin(Z).sum(axis=1) + rng.normal(size=n)
    names = ["d1", "d2", *[f"z{j}" for j in range(p)]]
    return pd.DataFrame(np.hstack([D, Z]), columns=names), y


def fit(X, y, crossfit="loo", **options):
    model = dn.PartiallyLinear(["d1", "d2"], LinearRegression(), crossfit=crossfit, **options)
    return model.fit(X, y).result_


@given(seed=seeds, crossfit=st.sampled_from([None, "loo"]))
def test_the_order_of_rows_does_not_matter(seed, crossfit):
    X, y = make_data(seed)
    order = np.random.default_rng(seed).permutation(len(y))
    assert_same_result(fit(X.iloc[order], y[order], crossfit), fit(X, y, crossfit), 1e-6)


@given(seed=seeds, crossfit=st.sampled_from([None, "loo"]))
def test_the_order_of_columns_does_not_matter(seed, crossfit):
    X, y = make_data(seed)
    order = np.random.default_rng(seed).permutation(X.columns)
    assert_same_result(fit(X[order], y, crossfit), fit(X, y, crossfit), 1e-6)


@given(
    seed=seeds,
    scale_y=scales,
    scale_d=scales,
    shift=st.floats(-100, 100),
    method=st.sampled_from(["structured", "robinson", "dml1", "dml2"]),
)
def test_scaling_and_shifting_act_as_theory_says(seed, scale_y, scale_d, shift, method):
    X, y = make_data(seed)
    options = {"crossfit": 4, "method": method, "random_state": 0}
    plain = fit(X, y, **options)
    moved = fit(X.assign(d1=scale_d * X["d1"] + shift), scale_y * y - shift, **options)
    factor = np.array([scale_y / scale_d, scale_y])
    np.testing.assert_allclose(moved.estimate / factor, plain.estimate, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(moved.se / factor, plain.se, rtol=1e-6)
    np.testing.assert_allclose(moved.statistic, plain.statistic, rtol=1e-5, atol=1e-6)


@given(seed=seeds, power_y=st.integers(-20, 20), power_d=st.integers(-20, 20))
def test_scaling_acts_the_same_on_learners_of_all_outputs_at_once(seed, power_y, power_d):
    """Trees grown for y and D together; powers of two change no bit of standardized outputs."""
    X, y = make_data(seed)
    tree = DecisionTreeRegressor(max_depth=3, random_state=0)
    model = dn.PartiallyLinear(["d1", "d2"], tree, crossfit=3, method="robinson", random_state=0)
    plain = model.fit(X, y).coef_
    moved = model.fit(X.assign(d1=2.0**power_d * X["d1"]), 2.0**power_y * y).coef_
    factor = 2.0**power_y / np.array([2.0**power_d, 1.0])
    np.testing.assert_allclose(moved / factor, plain, rtol=1e-8)


@given(
    n=st.integers(2, 60),
    k=st.integers(2, 8),
    repeats=st.integers(1, 3),
    ways=st.integers(0, 2),
    seed=seeds,
)
def test_folds_partition_the_rows_and_never_split_a_group(n, k, repeats, ways, seed):
    rng = np.random.default_rng(seed)
    groups = rng.integers(0, max(2, n // 3), size=(n, ways)) if ways else None
    if groups is not None:
        groups = np.column_stack([np.unique(g, return_inverse=True)[1] for g in groups.T])
    try:
        made = make_folds((k, repeats), n, named_generator(seed, "folds"), groups=groups)
    except DebiNetError:
        return
    assert len(made) == repeats
    for folds in made:
        rows = np.concatenate([block.test for block in folds])
        assert np.array_equal(np.sort(rows), np.arange(n))
        for block in folds:
            train = block.train(n)
            assert not np.isin(block.test, train).any()
            if groups is not None:
                for column in groups.T:
                    assert not np.isin(column[block.test], column[train]).any()


@given(
    seed=seeds,
    method=st.sampled_from(["structured", "robinson", "dml2", "iv-type"]),
    crossfit=st.sampled_from(["loo", 3, (3, 2)]),
    weighted=st.booleans(),
)
def test_scores_average_to_zero(seed, method, crossfit, weighted):
    X, y = make_data(seed)
    weights = np.random.default_rng(seed).uniform(0.1, 5, len(y)) if weighted else None
    model = dn.PartiallyLinear(
        ["d1", "d2"], LinearRegression(), crossfit=crossfit, method=method, random_state=0
    )
    scores = model.fit(X, y, sample_weight=weights).result_.scores
    size = np.abs(scores).max()
    np.testing.assert_allclose(scores.mean(axis=1), 0, atol=1e-12 * (1 + size))


texts = st.text(max_size=20)


@given(
    seed=seeds,
    names=st.lists(texts, min_size=2, max_size=2),
    outcome=texts,
    notes=st.lists(texts, max_size=2),
    learner=st.none() | texts,
    kind=st.sampled_from(["iid", "HC0", "HC3", "cluster"]),
)
def test_save_and_load_is_the_identity(
    tmp_path_factory, seed, names, outcome, notes, learner, kind
):
    rng = np.random.default_rng(seed)
    regressions = [pooled(rng.normal(size=20), rng.normal(size=(20, 2))) for _ in range(2)]
    groups = np.arange(20)[:, None] % 7
    provenance = Provenance("Test", outcome, learner=learner, seed=seed)
    result = infer(regressions, names, kind, provenance, notes=notes, groups=groups)
    path = tmp_path_factory.mktemp("saved") / "result"
    result.save(path)
    loaded = dn.load(path)
    for field in ("names", "vcov_type", "df", "provenance", "notes", "seed", "n"):
        assert getattr(loaded, field) == getattr(result, field)
    for field in ("estimate", "covariance", "scores", "groups"):
        np.testing.assert_array_equal(getattr(loaded, field), getattr(result, field))
    assert loaded.summary(joint=True) == result.summary(joint=True)


cells = st.one_of(
    st.floats(allow_nan=True, allow_infinity=True),
    st.integers(-3, 3),
    st.booleans(),
    st.none(),
    st.text(max_size=3),
    st.sampled_from([1j, (1, 2), b"a", pd.Timestamp("2020-01-01")]),
)
columns = st.one_of(
    st.lists(cells, min_size=8, max_size=8),
    st.lists(st.floats(-1e300, 1e300), min_size=8, max_size=8),
    st.lists(st.sampled_from(["a", "b", "c"]), min_size=8, max_size=8),
    st.lists(st.integers(-2, 2), min_size=8, max_size=8),
    st.just([1.0] * 8),
)
junk_frames = st.dictionaries(st.sampled_from(["d1", "d2", "z1", "z2", "ü", ""]), columns).map(
    pd.DataFrame
)
junk_arrays = st.one_of(
    hnp.arrays(
        st.sampled_from([np.float64, np.int64, np.bool_, np.complex128, "U3", "M8[D]"]),
        hnp.array_shapes(min_dims=0, max_dims=3, max_side=8),
    ),
    st.lists(cells, max_size=8),
    st.none(),
    st.text(max_size=5),
)
# What makes a fit possible, and what may take the place of any part of it.
SOUND = {
    "X": st.builds(lambda s: make_data(s, n=8, p=2)[0], seeds),
    "y": st.builds(lambda s: np.random.default_rng(s).normal(size=8), seeds),
    "treatments": st.sampled_from(["d1", ["d1"], ["d1", "d2"], 0, [0, 1]]),
    "crossfit": st.sampled_from(["auto", "loo", 2, None, (2, 2)]),
    "groups": st.sampled_from([None, [0, 1, 2, 3, 0, 1, 2, 3]]),
    "weights": st.one_of(st.none(), st.lists(st.floats(0.5, 2), min_size=8, max_size=8)),
    "method": st.sampled_from(["structured", "robinson", "dml1", "dml2", "iv-type"]),
}
JUNK = {
    "X": st.one_of(junk_frames, junk_arrays),
    "y": st.one_of(columns, junk_arrays),
    "treatments": st.one_of(st.lists(cells, max_size=2), cells),
    "crossfit": st.sampled_from([9, "x"]),
    "groups": st.one_of(st.lists(st.integers(0, 3), min_size=8, max_size=8), junk_arrays),
    "weights": st.one_of(st.lists(st.floats(0, 2), min_size=8, max_size=8), junk_arrays),
    "method": st.just("gls"),
}
spoiled = st.sets(st.sampled_from(sorted(JUNK)), max_size=3).flatmap(
    lambda names: st.fixed_dictionaries(
        {name: JUNK[name] if name in names else SOUND[name] for name in SOUND}
    )
)


@settings(max_examples=150)
@given(
    given=spoiled,
    learner=st.sampled_from([LinearRegression(), DecisionTreeRegressor(), "mean", "wide"]),
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
def test_junk_gives_a_valid_result_or_one_of_our_errors(given, learner):
    X, y, treatments, crossfit, groups, weights, method = (given[name] for name in SOUND)
    model = dn.PartiallyLinear(
        treatments, learner, crossfit=crossfit, method=method, random_state=0
    )
    try:
        model.fit(X, y, groups=groups, sample_weight=weights)
    except DebiNetError:
        return
    result = model.result_
    assert np.isfinite(result.estimate).all()
    assert (result.se >= 0).all()
    assert np.isfinite(model.predict(X)).all()


numbers = st.floats(-3, 3)
RESULT = infer(
    [pooled(*(np.random.default_rng(0).normal(size=shape) for shape in ((20,), (20, 2))))],
    ["a", "b"],
    "HC3",
)


@settings(max_examples=150)
@given(
    R=st.one_of(
        hnp.arrays(np.float64, st.tuples(st.integers(1, 3), st.just(2)), elements=numbers),
        st.sampled_from(["a", ["b", "a"], ["a", "c"]]),
        junk_arrays,
        st.lists(junk_arrays, max_size=2),
    ),
    r=st.one_of(
        st.none(), hnp.arrays(np.float64, st.integers(1, 2), elements=numbers), junk_arrays
    ),
)
def test_junk_hypotheses_give_a_test_or_one_of_our_errors(R, r):
    try:
        test = RESULT.wald_test(R, r)
    except DebiNetError:
        return
    assert 0 <= test.pvalue <= 1


FRAME = make_data(0)[0].assign(y=make_data(0)[1])


@settings(max_examples=150)
@given(
    formula=st.one_of(
        st.text(max_size=12),
        st.text(alphabet="yd12z0 ~|+*:.()-^C", max_size=14),
        st.builds(
            "{} ~ {} | {}".format,
            st.sampled_from(["y", "log(d1)", "d1"]),
            st.sampled_from(["d1", "d1 + d2", "d1:z0", "d3", "."]),
            st.sampled_from(["z0", ".", "0", "z0*z1 + z2", "C(z0)", "y"]),
        ),
    )
)
@pytest.mark.filterwarnings("ignore")
def test_junk_formulas_give_a_fit_or_one_of_our_errors(formula):
    try:
        fit = dn.plm(formula, FRAME, LinearRegression(), crossfit=None)
    except DebiNetError:
        return
    assert np.isfinite(fit.result_.estimate).all()


@given(seed=seeds, level=st.floats(0.5, 0.999))
def test_intervals_widen_with_the_level_and_hold_the_estimate(seed, level):
    result = fit(*make_data(seed), crossfit=3, random_state=0)
    inner, outer = result.confint(level / 2), result.confint(level)
    assert (outer["lower"] <= inner["lower"]).all()
    assert (inner["upper"] <= outer["upper"]).all()
    assert ((inner["lower"] < result.coef) & (result.coef < inner["upper"])).all()


@given(pvalues=hnp.arrays(np.float64, st.integers(1, 20), elements=st.floats(0, 1)))
def test_adjusted_pvalues_are_larger_and_keep_the_order(pvalues):
    from debinet.inference.simultaneous import benjamini_hochberg, holm

    for adjust in (holm, benjamini_hochberg):
        adjusted = adjust(pvalues)
        assert (adjusted >= pvalues * (1 - 1e-12)).all()  # p * m / m rounds
        assert (adjusted <= 1).all()
        order = np.argsort(pvalues)
        assert (np.diff(adjusted[order]) >= 0).all()
