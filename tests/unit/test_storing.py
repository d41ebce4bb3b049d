"""Models in files: what is read predicts what was written, and untrusted files do no harm."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LassoCV, LogisticRegression
from sklearn.model_selection import KFold

import debinet as dn
from closeness import assert_same_fit, assert_same_result
from debinet.data.archive import write_archive
from debinet.data.records import pack
from debinet.data.registry import CLASSES, find_class
from debinet.exceptions import FileFormatError, StorageError

N = 90


@pytest.fixture(scope="module")
def data():
    X, y, _ = dn.datasets.make_sparse_linear(N, 5, random_state=0)
    rng = np.random.default_rng(0)
    X = X.assign(region=rng.choice(["north", "south", "west"], N), member=rng.integers(0, 2, N))
    return X, pd.Series(y, name="lwage")


LEARNERS = {
    "wide": lambda: "wide",
    "mean": lambda: "mean",
    "tangent": lambda: dn.TangentNet(width=30),
    "splines": dn.SplineSmoother,
    "averages": dn.NadarayaWatson,
    "lines": dn.LocalLinear,
    "stack": lambda: dn.stack(["wide", LassoCV(cv=3)]),
    "columns": lambda: dn.Columns("wide", LogisticRegression()),
    "lasso": lambda: LassoCV(cv=3),
    "lasso learner": dn.LassoLearner,
}


def written(model, path, **options):
    model.save(path)
    return dn.load(path, **options)


@pytest.mark.parametrize("name", LEARNERS)
def test_partially_linear_with_every_learner(name, data, tmp_path):
    X, y = data
    method = "dml2" if name == "columns" else "structured"
    model = dn.PartiallyLinear(["member"], LEARNERS[name](), method=method, random_state=0)
    model.fit(X, y)
    twin = written(model, tmp_path / "model.npz")
    assert_same_fit(twin, model, X.iloc[:20])
    assert repr(twin) == repr(model)
    # What was read can be fitted again, to the same result.
    assert twin.fit(X, y).result_.coef.equals(model.result_.coef)


def test_partially_linear_with_a_network(data, tmp_path):
    pytest.importorskip("torch")
    X, y = data
    model = dn.PartiallyLinear(["d1"], dn.Net(hidden=(8,), epochs=2), crossfit=2, random_state=0)
    model.fit(X, y)
    assert_same_fit(written(model, tmp_path / "model.npz"), model, X)
    net = dn.Net(hidden=(8,), epochs=2, random_state=0).fit(X[["z1", "z2"]], y)
    net.save(tmp_path / "net.npz")
    twin = dn.load(tmp_path / "net.npz")
    np.testing.assert_array_equal(twin.predict(X[["z1", "z2"]]), net.predict(X[["z1", "z2"]]))


def test_a_module_cannot_be_written(data, tmp_path):
    torch = pytest.importorskip("torch")
    X, y = data
    net = dn.Net(module=lambda p, m: torch.nn.Linear(p, m), epochs=1)
    model = dn.PartiallyLinear(["d1"], net, crossfit=2, random_state=0).fit(X, y)
    with pytest.raises(StorageError, match=r"result_.save"):
        model.save(tmp_path / "model.npz")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "selector",
    [
        "lasso",
        dn.AdaptiveLasso(),
        dn.ElasticNet(),
        dn.GroupLasso([0, 0, 1, 1, 2, 2, 3, 3]),
        dn.SparseGroupLasso([0, 0, 1, 1, 2, 2, 3, 3]),
        dn.Slope(),
        dn.ForwardBackward(),
        dn.Lasso(penalty=1e6),  # selects nothing
    ],
    ids=lambda s: s if isinstance(s, str) else type(s).__name__,
)
def test_debinet_with_every_selector(selector, data, tmp_path):
    X, y = data
    X = X.drop(columns="region")
    model = dn.DebiNet(selector, random_state=0).fit(X, y)
    twin = written(model, tmp_path / "model.npz")
    assert_same_fit(twin, model, X)
    np.testing.assert_array_equal(twin.get_support(), model.get_support())
    np.testing.assert_array_equal(twin.estimation_rows_, model.estimation_rows_)
    assert repr(twin) == repr(model)


def test_debinet_with_several_splits(data, tmp_path):
    X, y = data
    model = dn.DebiNet(selection_share=(0.4, 3), random_state=0).fit(X, y)
    twin = written(model, tmp_path / "model.npz")
    assert twin.summary() == model.summary()
    assert_same_result(twin.result_.first, model.result_.first)
    np.testing.assert_array_equal(twin.predict(X), model.predict(X))
    pd.testing.assert_frame_equal(twin.splits_.to_frame(), model.splits_.to_frame())


def test_debiased_lasso(data, tmp_path):
    X, y = data
    X = X.drop(columns="region")
    model = dn.DebiasedLasso(random_state=0).fit(X, y)
    twin = written(model, tmp_path / "model.npz")
    assert_same_fit(twin, model, X)
    one, other = (m.bootstrap(20).confint() for m in (model, twin))
    pd.testing.assert_frame_equal(one, other)


@pytest.mark.parametrize(
    "controls", [".", "bs(z1, df=4) + C(region) + z2:z3", "poly(z1, 2) + region"]
)
def test_formula(controls, data, tmp_path):
    X, y = data
    frame = X.assign(lwage=y, weight=1.0 + np.arange(N) % 2)
    frame["region"] = pd.Categorical(frame["region"], ["west", "north", "south"])
    fit = dn.plm(f"lwage ~ d1 + d2 | {controls}", frame, sample_weight="weight", random_state=0)
    twin = written(fit, tmp_path / "fit.npz")
    assert_same_fit(twin, fit, frame)
    assert twin.summary() == fit.summary()


def test_a_formula_that_runs_code_cannot_be_written(data, tmp_path):
    X, y = data
    fit = dn.plm("lwage ~ d1 | z1.clip(0) + z2", X.assign(lwage=y), random_state=0)
    with pytest.raises(StorageError, match="Compute the column first"):
        fit.save(tmp_path / "fit.npz")


def test_generators_are_written_as_the_seed_that_repeats_the_fit(data, tmp_path):
    X, y = data
    options = {"crossfit": KFold(3, shuffle=True, random_state=1)}
    model = dn.PartiallyLinear(["d1"], random_state=np.random.default_rng(3), **options).fit(X, y)
    twin = written(model, tmp_path / "model.npz", trusted=True)
    assert twin.random_state == model.result_.seed
    assert twin.crossfit.n_splits == 3
    assert twin.fit(X, y).result_.coef.equals(model.result_.coef)


def test_a_model_of_an_array(data, tmp_path):
    X, y = data
    values = X.drop(columns="region").to_numpy()
    model = dn.PartiallyLinear(range(2), random_state=0).fit(values, y)
    assert_same_fit(written(model, tmp_path / "model.npz"), model, values)


def test_trees_must_be_trusted(data, tmp_path):
    X, y = data
    forest = RandomForestRegressor(3, random_state=0)
    model = dn.PartiallyLinear(["d1"], forest, crossfit=2, random_state=0).fit(X, y)
    model.save(tmp_path / "model.npz")
    with pytest.raises(FileFormatError, match=r"Tree.*trusted=True"):
        dn.load(tmp_path / "model.npz")
    assert_same_fit(dn.load(tmp_path / "model.npz", trusted=True), model, X)


class Loud:
    """A learner that a file cannot hold."""

    def fit(self, Z, M, sample_weight=None):
        self.mean, self.hook = np.mean(M, axis=0), (x for x in [1])
        return self

    def predict(self, Z):
        return np.tile(self.mean, (len(Z), 1))


def test_what_cannot_be_written_leaves_no_file(data, tmp_path):
    X, y = data
    model = dn.PartiallyLinear(["d1"], Loud(), crossfit=2, random_state=0).fit(X, y)
    (tmp_path / "model.npz").write_text("the old one")
    with pytest.raises(StorageError, match=r"result_.save"):
        model.save(tmp_path / "model.npz")
    assert (tmp_path / "model.npz").read_text() == "the old one"
    assert len(list(tmp_path.iterdir())) == 1


# --- untrusted files ---


@pytest.fixture(scope="module")
def parts(data):
    X, y = data
    return pack(dn.PartiallyLinear(["d1"], random_state=0).fit(X, y))


def edited(header, where, value):
    """Return the header with another value at a path of keys of the last record, the model."""
    copied = json.loads(json.dumps(header))
    part = copied["records"][copied["root"]["record"]]
    for key in where[:-1]:
        part = part[key]
    part[where[-1]] = value
    return copied


STATE = ("parts", "state", "map")
HOSTILE = {
    "another class": (("class",), "os"),
    "a class of another place": (("class",), "models.storing:load"),
    "a learner in the place of a model": (("class",), "WideNet"),
    "no parts": (("parts",), {}),
    "an unknown parameter": (("parts", "parameters", "map"), [["evil", 1]]),
    "a method": ((*STATE, 0), ["predict", "text"]),
    "a dunder": ((*STATE, 0), ["__class__", "text"]),
    "no result": (STATE, []),
    "an unknown kind": ((*STATE, 0), ["coef_", {"python": "1"}]),
    "an array that is not there": ((*STATE, 0), ["coef_", {"array": "nothing"}]),
    "a record that is not there": ((*STATE, 0), ["coef_", {"record": 999}]),
    "a record that holds itself": ((*STATE, 0), ["coef_", {"record": -1}]),
    "two kinds": ((*STATE, 0), ["coef_", {"list": [], "tuple": []}]),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_are_refused(name, parts, tmp_path):
    header, arrays = parts
    write_archive(tmp_path / "bad.npz", edited(header, *HOSTILE[name]), arrays)
    with pytest.raises(FileFormatError):
        dn.load(tmp_path / "bad.npz")


def test_arrays_of_other_shapes_are_refused(parts, tmp_path):
    header, arrays = parts
    refused = 0
    for name, array in arrays.items():
        if array.ndim != 2:
            continue
        changed = {**arrays, name: array[:, :0]}
        write_archive(tmp_path / "bad.npz", header, changed)
        try:
            model = dn.load(tmp_path / "bad.npz")
        except FileFormatError:
            refused += 1
        else:  # an array that is only shown, such as the stopping path
            assert np.isfinite(model.result_.estimate).all()
    assert refused >= 4


@pytest.mark.parametrize("cut", [0, 10, 200, -40])
def test_damaged_files(cut, data, tmp_path):
    X, y = data
    dn.PartiallyLinear(["d1"], "mean").fit(X, y).save(tmp_path / "model.npz")
    content = (tmp_path / "model.npz").read_bytes()
    (tmp_path / "model.npz").write_bytes(content[:cut])
    with pytest.raises(FileFormatError, match="Check the path"):
        dn.load(tmp_path / "model.npz")


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(FileNotFoundError):
        dn.load(tmp_path / "nothing.npz")


@pytest.mark.parametrize("name", CLASSES)
def test_every_class_that_files_may_name_exists(name):
    if name.startswith("network"):
        pytest.importorskip("torch")
    assert find_class(name).__name__ == CLASSES[name].partition(":")[2]


def test_hostile_formula_in_a_file(data, tmp_path):
    X, y = data
    fit = dn.plm("lwage ~ d1 | z1 + z2", X.assign(lwage=y), "mean", random_state=0)
    header, arrays = pack(fit)
    mark = tmp_path / "ran"
    hostile = f"lwage ~ d1 | z1 + __import__('pathlib').Path('{mark}').touch()"
    record = next(r for r in header["records"] if r["class"] == "formula")
    record["parts"]["formula"] = hostile
    write_archive(tmp_path / "bad.npz", header, arrays)
    with pytest.raises(FileFormatError, match=r"pathlib|functions"):
        dn.load(tmp_path / "bad.npz")
    assert not mark.exists()


def test_a_formula_of_another_model_in_a_file(data, tmp_path):
    X, y = data
    fit = dn.plm("lwage ~ d1 | z1 + z2", X.assign(lwage=y), "mean", random_state=0)
    for text in ("lwage ~ d1 | z1", "lwage ~ z2 | d1 + z1"):
        header, arrays = pack(fit)
        record = next(r for r in header["records"] if r["class"] == "formula")
        record["parts"]["formula"] = text
        write_archive(tmp_path / "bad.npz", header, arrays)
        with pytest.raises(FileFormatError, match="formula"):
            dn.load(tmp_path / "bad.npz")


# --- files of released versions ---

RELEASED = Path(__file__).parents[1] / "released"


@pytest.mark.parametrize(
    "path", sorted(RELEASED.glob("*/*.npz")), ids=lambda path: f"{path.parent.name}/{path.stem}"
)
def test_files_of_every_released_version_can_be_read(path):
    if path.stem == "net":
        pytest.importorskip("torch")
    expected = json.loads((path.parent / "expected.json").read_text())
    rows = pd.read_csv(path.parent / "rows.csv")
    found = dn.load(path)
    known = expected[path.stem]
    result = getattr(found, "result_", found)
    if "coef" in known:
        np.testing.assert_allclose(result.coef, known["coef"], rtol=1e-10)
        np.testing.assert_allclose(result.se, known["se"], rtol=1e-10)
        assert result.trust().verdict == known["trust"]
    if "predictions" in known:
        columns = known["columns"]
        np.testing.assert_allclose(found.predict(rows[columns]), known["predictions"], rtol=1e-7)


def test_every_released_version_has_files():
    versions = {path.parent.name for path in RELEASED.glob("*/*.npz")}
    assert dn.__version__ in versions, "Run tests/released/write.py for this version."
