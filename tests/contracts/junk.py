"""Random bad inputs for every public entry point: spoiled data and options of any kind."""

from __future__ import annotations

import datetime
import warnings
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning, DataConversionWarning, NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression

import debinet as dn
from debinet.data.archive import write_archive
from debinet.data.records import pack
from debinet.exceptions import DebiNetError

N = 24
# Files that are not there or may not be written are the operating system's errors.
ALLOWED = (DebiNetError, NotFittedError, FileNotFoundError, IsADirectoryError)

SCALARS = (
    None, True, False, 0, 1, -1, 2, 3, 0.5, 0.95, -0.5, 1.5, 95, 10**6, 10**30, 1e308, np.nan,
    np.inf, -np.inf, "", "auto", "loo", "wide", "mean", "d1", "nothere", "HC3", "cluster",
    "full", "cv", "²", b"HC3", 1j, np.float32(0.3), np.int8(3), np.array(0.9), pd.NA,
    datetime.date(2020, 1, 1), object, len, (), [], {}, set(), range(3), (5, 2), (0.4, 2), [1, "a"],
    [[1], [1, 2]], {"d1": 1}, ["d1"], ["d1", "d1"], slice(2), np.array([]), np.array(["a"]),
    LinearRegression(), LogisticRegression(), LinearRegression, np.random.default_rng(0), np.random,
    "y ~ d1 | z1", Path("no"),
)  # fmt: skip


def frame(rng: np.random.Generator, n: int = N) -> tuple[pd.DataFrame, np.ndarray]:
    X = pd.DataFrame(rng.normal(size=(n, 5)), columns=["d1", "d2", "z1", "z2", "z3"])
    return X, np.asarray(X["d1"] + np.sin(X["z1"]) + rng.normal(size=n))


def spoil_cells(X: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    column = X.columns[rng.integers(X.shape[1])]
    values: list[Any] = X[column].tolist()
    cells = [np.nan, np.inf, None, "text", 1e200, 1e-200, 1e16, 2**70, b"x", 1j, [], pd.NA, True]
    cells += [datetime.datetime(2020, 1, 1), pd.NaT, np.float128(1), {}, "1,5", ""]
    kind = cells[rng.integers(len(cells))]
    for i in rng.permutation(len(X))[: rng.choice([1, 3, len(X)])]:
        values[i] = kind
    return X.assign(**{column: pd.Series(values, dtype=object, index=X.index)})


def replace_column(X: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    column, n = X.columns[rng.integers(X.shape[1])], len(X)
    values = [
        np.zeros(n), np.full(n, 7.0), np.arange(n), X.iloc[:, -1].to_numpy(), np.ones(n, bool),
        rng.integers(0, 2, n), rng.choice(["a", "b", "c"], n), [f"id{i}" for i in range(n)],
        pd.Categorical(rng.choice(["a", "b"], n)), pd.date_range("2020", periods=n),
        pd.array(rng.integers(0, 3, n), dtype="Int64"), pd.array([None] * n, dtype="Float64"),
        1e8 * rng.normal(size=n), 1e-12 * rng.normal(size=n), 1 + 1e-14 * rng.normal(size=n),
        rng.integers(0, 255, n).astype(np.uint8), np.float16(rng.normal(size=n)),
        pd.period_range("2020", periods=n, freq="D"), rng.standard_cauchy(n) ** 9,
    ]  # fmt: skip
    return X.assign(**{column: values[rng.integers(len(values))]})


# Other shapes of a data frame: some have no place, and some are as good as the frame.
SHAPES = (
    lambda X: X.to_numpy(), lambda X: X.to_numpy().T, lambda X: X.to_numpy()[:, 0],
    lambda X: X.to_numpy()[:0], lambda X: X.to_numpy()[:1], lambda X: X.to_numpy()[:3],
    lambda X: X.to_numpy()[:, :0], lambda X: X.to_numpy()[:, :1], lambda X: X.to_numpy().tolist(),
    lambda X: X.to_numpy()[None], lambda X: X.to_numpy(object), lambda X: X.to_numpy(str),
    lambda X: X.to_numpy(np.float32), lambda X: X.to_numpy() + 0j,
    lambda X: np.matrix(X.to_numpy()),
    lambda X: sparse.csr_matrix(X.to_numpy(float)), pl.from_pandas,
    lambda X: pl.from_pandas(X).lazy(),
    lambda X: X.iloc[:, 0], lambda X: X.iloc[:0], lambda X: X[[]], lambda X: X.iloc[::-1],
    lambda X: X[X.columns[::-1]], lambda X: pd.concat([X, X.iloc[:, 0]], axis=1),
    lambda X: X.rename(columns={"d1": "z1"}), lambda X: X.set_axis(range(5), axis=1),
    lambda X: X.set_axis([(1, c) for c in X], axis=1), lambda X: X.to_dict("list"),
    lambda X: X.to_dict("records"), lambda X: "X", lambda X: None,
    lambda X: np.ma.masked_array(X.to_numpy(), X.to_numpy() > 2), lambda X: X.to_records(),
    lambda X: iter(X.to_numpy()), lambda X: X.set_axis(["", " ", "\n", "<b>", "$"], axis=1),
    lambda X: np.asfortranarray(X.to_numpy()), lambda X: X.astype("string"),
    lambda X: X.astype("category"),
    lambda X: memoryview(X.to_numpy()), lambda X: X.astype(pd.SparseDtype("float")),
)  # fmt: skip


def shape_otherwise(X: pd.DataFrame, rng: np.random.Generator) -> Any:
    try:
        return SHAPES[rng.integers(len(SHAPES))](X)
    except Exception:
        return X


def some_table(rng: np.random.Generator) -> Any:
    X, _ = frame(rng, int(rng.choice([1, 2, 4, 6, N, N, N])))
    for _ in range(rng.integers(3)):
        X = [spoil_cells, replace_column][rng.integers(2)](X, rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of numpy and pandas, when the junk is made
        return shape_otherwise(X, rng) if rng.random() < 0.3 else X


def some_vector(rng: np.random.Generator, n: int) -> Any:
    values = rng.normal(size=n)
    vectors = [
        values, values, values.tolist(), pd.Series(values), pl.Series(values), values[:-1],
        values[:, None], values[None], np.zeros(n), rng.integers(0, 2, n), values * np.nan,
        values * 1e200, values * 1e-200, values + 1e12, values.astype(str), values.astype(object),
        rng.choice(["a", "b"], n), values + 0j, np.arange(n), np.abs(values), -np.abs(values),
        pd.Series(values, index=range(1, n + 1)),
        pd.Series(rng.choice(["a", "b"], n)).astype("category"),
        np.r_[np.inf, values[1:]], [None] * n, np.repeat(1, n), np.column_stack([values, values]),
        np.arange(n) // 2, [[i, i // 2] for i in range(n)], rng.random(n) < 0.5,
    ]  # fmt: skip
    return vectors[rng.integers(len(vectors))] if rng.random() < 0.8 else some_scalar(rng)


def some_scalar(rng: np.random.Generator) -> Any:
    return SCALARS[rng.integers(len(SCALARS))]


def spoiled(rng: np.random.Generator, **options: Any) -> dict[str, Any]:
    """Return options of which one or two, at random, are junk."""
    for name in rng.choice(list(options), rng.choice([0, 0, 1, 1, 2])):
        options[name] = some_scalar(rng)
    return options


def data(rng: np.random.Generator) -> tuple[Any, Any]:
    """Return a table and an outcome; more often than not one of them is as it should be."""
    X, y = frame(rng)
    X = some_table(rng) if rng.random() < 0.5 else X
    n = X.shape[0] if getattr(X, "shape", ()) else N
    if rng.random() < 0.4:
        return X, some_vector(rng, n)
    return X, np.resize(y, n) + 0.1 * np.arange(n)


LEARNER_NAMES = ("mean", "linear", "wide", "lasso", "spline")


@dataclass(frozen=True)
class Call:
    """What is called.

    Attributes
    ----------
    run : callable
        Without arguments.
    inputs : tuple
        What must not be changed.
    """

    run: Any
    inputs: tuple[Any, ...]


def partially_linear(rng: np.random.Generator) -> Call:
    X, y = data(rng)
    learner = LEARNER_NAMES[rng.integers(len(LEARNER_NAMES))]
    options = spoiled(
        rng, treatments=["d1"], learner=learner, crossfit=3, method="auto", n_jobs=None,
        random_state=0, verbose=False,
    )  # fmt: skip
    further = {
        name: some_vector(rng, N) for name in ("groups", "sample_weight") if rng.random() < 0.2
    }
    level = some_scalar(rng) if rng.random() < 0.5 else 0.8

    def run() -> Any:
        model = dn.PartiallyLinear(**options).fit(X, y, **further)
        return model, model.predict(X), model.nuisance(X), model.predict(X, interval=level)

    return Call(run, (X, y, options, further))


def debinet(rng: np.random.Generator) -> Call:
    X, y = data(rng)
    options = spoiled(
        rng, selector=dn.Lasso(penalty=0.1), learner="mean", selection_share=0.5, crossfit="auto",
        method="auto", random_state=0, verbose=False,
    )  # fmt: skip

    def run() -> Any:
        model = dn.DebiNet(**options).fit(X, y)
        return model, model.predict(X), model.get_support(), model.predict(X, interval=0.5)

    return Call(run, (X, y, options))


def debiased_lasso(rng: np.random.Generator) -> Call:
    X, y = data(rng)
    options = spoiled(
        rng, penalty="scaled", nodewise=0.3, projection="exact", noise="scaled", random_state=0
    )

    def run() -> Any:
        model = dn.DebiasedLasso(n_jobs=1, **options).fit(X, y)
        return model, model.predict(X)

    return Call(run, (X, y, options))


def formula(rng: np.random.Generator) -> Call:
    X, y = frame(rng)
    for _ in range(rng.integers(3)):
        X = [spoil_cells, replace_column][rng.integers(2)](X, rng)
    X = X.assign(y=y)
    parts = [
        "y", "~", "|", "+", "d1", "d2", "z1", "z2", "*", ":", "^2", "**2", "C(z1)", "log(d1)", ".",
        "-1", "(", ")", "I(z1**2)", "bs(z2, df=4)", "poly(z1, 2)", "nothere", "`z1`", "0", "²",
    ]  # fmt: skip
    text = "y ~ d1 | z1 + z2"
    words = text.split()
    for _ in range(rng.integers(4)):
        words[rng.integers(len(words))] = str(rng.choice(parts))
    text = " ".join(words) if rng.random() < 0.9 else some_scalar(rng)
    options = spoiled(rng, learner="mean", groups=None, sample_weight=None, method="auto")

    def run() -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # of log(d1), which has no place in X
            fit = dn.plm(text, X, **options)
        return fit, fit.predict(X), fit.nuisance(X)

    return Call(run, (X, options))


def learners(rng: np.random.Generator) -> Call:
    X, y = data(rng)
    makers = [
        (dn.WideNet, {"depth": 1, "filter": "ridge", "skip": "auto", "tune": "reml"}),
        (dn.TangentNet, {"width": 5, "skip": 0.0, "random_state": 0}),
        (dn.LassoLearner, {"folds": 3}),
        (dn.SplineSmoother, {}),
        (dn.NadarayaWatson, {"bandwidth": 1.0, "kernel": "gaussian"}),
        (dn.LocalLinear, {"bandwidth": 1.0, "kernel": "gaussian"}),
        (dn.MeanLearner, {}),
        (dn.Columns, {"outcome": "mean", "treatments": "mean"}),
    ]
    kind, options = makers[rng.integers(len(makers))]
    options = spoiled(rng, **options) if options else {}
    numbers = X if kind is not dn.MeanLearner else frame(rng)[0]

    def run() -> Any:
        learner = kind(**options).fit(numbers, y)
        return learner.predict(numbers)

    return Call(run, (X, y, options))


def stacks(rng: np.random.Generator) -> Call:
    X, y = frame(rng)
    given = ["mean", "linear"] if rng.random() < 0.5 else [some_scalar(rng), "mean"]
    if rng.random() < 0.3:
        given = some_scalar(rng)

    def run() -> Any:
        model = dn.PartiallyLinear(["d1"], dn.stack(given), random_state=0).fit(X, y)
        return model, model.predict(X)

    return Call(run, (X, y))


def selectors(rng: np.random.Generator) -> Call:
    X, y = data(rng)
    makers = [
        (dn.Lasso, {"penalty": 0.1}),
        (dn.AdaptiveLasso, {"penalty": 0.1}),
        (dn.ElasticNet, {"penalty": 0.1}),
        (dn.GroupLasso, {"groups": [0, 0, 1, 1, 2], "penalty": 0.1}),
        (dn.SparseGroupLasso, {"groups": [0, 0, 1, 1, 2], "penalty": 0.1}),
        (dn.Slope, {}),
        (dn.ForwardBackward, {}),
    ]
    kind, options = makers[rng.integers(len(makers))]
    options = spoiled(rng, **options) if options else {}
    return Call(lambda: np.asarray(kind(**options).fit(X, y).get_support(), float), (X, y, options))


@cache
def fitted_result() -> Any:
    X, y = frame(np.random.default_rng(0), 40)
    return dn.PartiallyLinear(["d1", "d2"], "mean", method="robinson").fit(X, y).result_


def results(rng: np.random.Generator) -> Call:
    result, junk = fitted_result(), some_scalar(rng)
    vector = some_vector(rng, 40)
    calls = [
        lambda: result.confint(junk),
        lambda: result.confint(0.9, joint=junk),
        lambda: result.conf_int(junk),
        lambda: result.with_vcov(junk).to_frame(),
        lambda: result.with_vcov("cluster", groups=vector).to_frame(),
        lambda: result.with_vcov(junk, groups=vector).to_frame(),
        lambda: result.wald_test(junk).pvalue,
        lambda: result.wald_test(vector, junk).pvalue,
        lambda: result.wald_test(np.eye(2), junk).pvalue,
        lambda: result.adjust(junk),
        lambda: result.correct_measurement_error(junk).to_frame(),
        lambda: result.huber(junk).to_frame(),
        lambda: result.breakdown_norm(junk),
        lambda: result.confint(0.95, honest=junk),
        lambda: result.to_frame(junk),
        lambda: result.summary(junk),
        lambda: result.to_latex(junk),
        lambda: result.to_html(junk),
    ]
    return Call(calls[rng.integers(len(calls))], (vector, result.estimate))


def designs(rng: np.random.Generator) -> Call:
    names = [name for name in dn.datasets.__all__ if name.startswith("make_")]
    make = getattr(dn.datasets, str(rng.choice(names)))
    return Call(lambda: np.asarray(make(n=50, random_state=some_scalar(rng))[1], float), ())


SAVED: dict[str, tuple[dict[str, Any], dict[str, Any], pd.DataFrame]] = {}


def save_models() -> None:
    X, y = frame(np.random.default_rng(0), 40)
    X["region"] = np.resize(["n", "s", "w"], 40)
    numbers = X.drop(columns="region")
    fits = {
        "mean": (dn.PartiallyLinear(["d1"], "mean").fit(X, y), X),
        "wide": (dn.PartiallyLinear(["d1"], random_state=0).fit(X, y), X),
        "folds": (dn.PartiallyLinear(["d1"], "lasso", random_state=0).fit(X, y), X),
        "array": (dn.PartiallyLinear([0], "spline").fit(numbers.to_numpy(), y), numbers.to_numpy()),
        "debinet": (dn.DebiNet(dn.Lasso(penalty=0.2), random_state=0).fit(X, y), X),
        "lasso": (dn.DebiasedLasso(random_state=0).fit(numbers, y), numbers),
        "plm": (dn.plm("y ~ d1 | bs(z1, df=4) + region", X.assign(y=y), "mean"), X),
    }
    for name, (model, rows) in fits.items():
        SAVED[name] = (*pack(model), rows[:3] if isinstance(rows, np.ndarray) else rows.head(3))


def edited(tree: Any, rng: np.random.Generator) -> Any:
    """Return plain JSON with one part, at random, left out or replaced."""
    if isinstance(tree, (dict, list)) and tree and rng.random() < 0.93:
        copied = tree.copy()
        key = (
            list(tree)[rng.integers(len(tree))]
            if isinstance(tree, dict)
            else rng.integers(len(tree))
        )
        if rng.random() < 0.05:
            del copied[key]
        else:
            copied[key] = edited(tree[key], rng)
        return copied
    others = [
        None,
        True,
        0,
        1,
        -1,
        7,
        10**9,
        "text",
        "",
        [],
        {},
        {"float": "nan"},
        {"float": "-0x1p+1"},
    ]
    others += [
        {"array": "array0"},
        {"record": 0},
        {"tuple": []},
        {"list": [1]},
        {"texts": "array1"},
    ]
    return others[rng.integers(len(others))]


def damaged(value: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    changed = [
        value[:-1], value[:0], value[None], value.astype(str),
        -value if value.dtype.kind in "fi" else value,
        value * np.nan if value.dtype.kind == "f" else value, np.zeros_like(value),
        np.full_like(value, 99) if value.dtype.kind in "if" else value, value.astype(np.float32)
        if value.dtype.kind in "fib" else value, value.T,
    ]  # fmt: skip
    return changed[rng.integers(len(changed))]


def files(rng: np.random.Generator) -> Call:
    if not SAVED:
        save_models()
    header, arrays, rows = SAVED[str(rng.choice(list(SAVED)))]
    if rng.random() < 0.6:
        part = str(rng.choice(list(header)))
        header = {**header, part: edited(header[part], rng)}
    else:
        name = str(rng.choice(list(arrays)))
        arrays = {**arrays, name: damaged(arrays[name], rng)}

    def run() -> Any:
        with TemporaryDirectory() as folder:
            write_archive(Path(folder) / "model.npz", header, arrays)
            model = dn.load(Path(folder) / "model.npz")
        result = getattr(model, "result_", model)
        texts = (result.summary(), repr(model), str(result.trust()), result.to_html())
        predicted = () if model is result else (model.predict(rows),)
        return (*texts, *predicted, result.to_frame())

    return Call(run, ())


def streams(rng: np.random.Generator) -> Call:
    X, y = frame(rng)
    X = some_table(rng) if rng.random() < 0.5 else X
    table = X.assign(y=y[: len(X)] if len(X) <= N else 0.0) if isinstance(X, pd.DataFrame) else X
    options = spoiled(rng, outcome="y", controls=None, groups=None, sample_weight=None)

    def run() -> Any:
        model = dn.PartiallyLinear(["d1"], dn.TangentNet(width=5), crossfit=2, random_state=0)
        return model.fit_stream(table, **options)

    return Call(run, (table, options))


ENTRIES = {
    "PartiallyLinear": partially_linear,
    "DebiNet": debinet,
    "DebiasedLasso": debiased_lasso,
    "plm": formula,
    "learners": learners,
    "stack": stacks,
    "selectors": selectors,
    "Inference": results,
    "datasets": designs,
    "load": files,
    "fit_stream": streams,
}


def problem_of(name: str, seed: int, *, strict: bool = False) -> str | None:
    """Make the call of a seed; return what is wrong with how it ended, if anything is.

    If `strict`, errors of the library are wrong, too.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what makes the junk
        call = ENTRIES[name](np.random.default_rng(seed))
    before = [_copied(one) for one in call.inputs]
    found = None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for harmless in (ConvergenceWarning, DataConversionWarning, FutureWarning):
                warnings.simplefilter("ignore", harmless)
            found = _not_valid(call.run())
    except ALLOWED as error:
        text = str(error)
        if strict or not text or "\x1b" in text:
            found = f"an error that says {text!r}"
    except Exception as error:
        found = f"{type(error).__name__}: {str(error)[:200]}"
    changed = [k for k, one in enumerate(call.inputs) if not _same(one, before[k])]
    return found or (f"input {changed} changed" if changed else None)


def _not_valid(result: Any) -> str | None:
    if isinstance(result, tuple):
        return next((text for one in result if (text := _not_valid(one))), None)
    if isinstance(result, str):
        return None if result else "an empty text"
    if hasattr(result, "result_"):
        result = result.result_.to_frame()
    values = np.asarray(result, dtype=float)
    return (
        None if np.isfinite(values).all() else f"{np.sum(~np.isfinite(values))} values not finite"
    )


def _same(one: Any, other: Any) -> bool:
    """Whether nothing has changed, in values and types; what has no values is not compared."""
    if isinstance(one, dict):
        return list(one) == list(other) and all(_same(one[k], other[k]) for k in one)
    if isinstance(one, pd.DataFrame | pd.Series):
        types = one.dtypes if isinstance(one, pd.Series) else list(one.dtypes)
        of_other = other.dtypes if isinstance(one, pd.Series) else list(other.dtypes)
        return one.equals(other) and one.index.equals(other.index) and types == of_other
    if isinstance(one, np.ndarray) and one.dtype != object:
        return (
            one.dtype == other.dtype
            and one.shape == other.shape
            and one.tobytes() == other.tobytes()
        )
    return not isinstance(one, np.ndarray | list | tuple) or repr(one) == repr(other)


def _copied(value: Any) -> Any:
    try:
        return deepcopy(value)
    except Exception:
        return value
