"""`debinet predict`: predictions from saved models, and what is refused."""

from __future__ import annotations

from io import StringIO

import numpy as np
import pandas as pd
import pytest
from command_line import run

import debinet as dn
from debinet.exceptions import (
    FileFormatError,
    InputError,
    MissingValueError,
    OptionError,
    UnknownColumnError,
)


def table(*arguments):
    return pd.read_csv(StringIO(run("predict", *arguments).output))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with data and models, and the data."""
    path = tmp_path_factory.mktemp("predict")
    X, y, _ = dn.datasets.make_sparse_linear(100, 3, random_state=0)
    rng = np.random.default_rng(0)
    frame = X.assign(lwage=y, id=range(100), region=rng.choice(["north", "south"], 100))
    frame.to_csv(path / "wages.csv", index=False)
    columns = ("--outcome", "lwage", "--treatments", "d1", "--controls", "z1,z2,region")
    run("fit", path / "wages.csv", *columns, "--save", path / "named.npz", "--quiet")
    formula = ("--formula", "lwage ~ d1 | bs(z1, df=4) + region")
    run("fit", path / "wages.csv", *formula, "--save", path / "formula.npz", "--quiet")
    selected = ("--outcome", "lwage", "--select", "lasso", "--controls", "d1,d2,z1,z2")
    run("fit", path / "wages.csv", *selected, "--save", path / "selected.npz", "--quiet")
    return path, frame


@pytest.mark.parametrize("model", ["named", "formula", "selected"])
def test_the_same_as_in_python(model, folder):
    path, frame = folder
    fitted = dn.load(path / f"{model}.npz")
    rows = frame if model == "formula" else frame[list(fitted.feature_names_in_)]
    found = table(path / f"{model}.npz", path / "wages.csv", "--keep", "id,region", "--nuisance")
    assert list(found.columns) == ["id", "region", "prediction", "nuisance"]
    np.testing.assert_allclose(found["prediction"], fitted.predict(rows), rtol=1e-9)
    np.testing.assert_allclose(found["nuisance"], fitted.nuisance(rows), rtol=1e-9)


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "feather"])
def test_outputs(ending, folder, tmp_path):
    path, _ = folder
    out = tmp_path / f"out.{ending}"
    run("predict", path / "named.npz", path / "wages.csv", "--out", out)
    readers = {"parquet": pd.read_parquet, "feather": pd.read_feather}
    read = readers.get(ending, lambda file: pd.read_csv(file, sep=None, engine="python"))
    assert len(read(out)) == 100
    with pytest.raises(OptionError, match="--force"):
        run("predict", path / "named.npz", path / "wages.csv", "--out", out)
    run("predict", path / "named.npz", path / "wages.csv", "--out", out, "--force")


def test_missing_values_are_left_empty_only_if_asked_for(folder, tmp_path):
    path, frame = folder
    frame.assign(z1=frame["z1"].where(frame["id"] > 2)).to_csv(tmp_path / "new.csv", index=False)
    with pytest.raises(MissingValueError, match="--allow-missing"):
        run("predict", path / "named.npz", tmp_path / "new.csv")
    found = table(path / "named.npz", tmp_path / "new.csv", "--allow-missing")["prediction"]
    assert found.isna().sum() == 3
    whole = table(path / "named.npz", path / "wages.csv")["prediction"]
    np.testing.assert_allclose(found[3:], whole[3:], rtol=1e-12)
    frame.assign(z1=np.nan).to_csv(tmp_path / "none.csv", index=False)
    none = table(path / "named.npz", tmp_path / "none.csv", "--allow-missing")["prediction"]
    assert none.isna().all()


def test_a_row_of_an_unknown_category_is_refused(folder, tmp_path):
    path, frame = folder
    frame.assign(region="east").to_csv(tmp_path / "new.csv", index=False)
    for model in ("named", "formula"):
        with pytest.raises(InputError, match="categor"):
            run("predict", path / f"{model}.npz", tmp_path / "new.csv")


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        (lambda f: f.rename(columns={"z1": "z11"}), UnknownColumnError, "Did you mean 'z11'"),
        (lambda f: f.assign(z1="text"), InputError, "z1"),
    ],
)
def test_other_columns_are_refused(change, error, text, folder, tmp_path):
    path, frame = folder
    change(frame).to_csv(tmp_path / "new.csv", index=False)
    with pytest.raises(error, match=text):
        run("predict", path / "named.npz", tmp_path / "new.csv")


def test_what_is_no_model_is_refused(folder, tmp_path):
    path, frame = folder
    dn.load(path / "named.npz").result_.save(tmp_path / "result.npz")
    with pytest.raises(FileFormatError, match="a model, which can predict"):
        run("predict", tmp_path / "result.npz", path / "wages.csv")
    with pytest.raises(FileFormatError, match="`save` methods"):
        run("predict", path / "wages.csv", path / "wages.csv")
    values = frame[["d1", "z1", "z2"]].to_numpy()
    dn.PartiallyLinear([0], "mean").fit(values, frame["lwage"]).save(tmp_path / "array.npz")
    with pytest.raises(FileFormatError, match="named columns"):
        run("predict", tmp_path / "array.npz", path / "wages.csv")
    lasso = dn.DebiasedLasso(random_state=0).fit(frame[["d1", "z1", "z2"]], frame["lwage"])
    lasso.save(tmp_path / "lasso.npz")
    assert len(table(tmp_path / "lasso.npz", path / "wages.csv")) == 100
    with pytest.raises(OptionError, match="--nuisance"):
        run("predict", tmp_path / "lasso.npz", path / "wages.csv", "--nuisance")


def test_the_covariance_asked_for_is_saved(folder, tmp_path):
    path, _ = folder
    columns = ("--outcome", "lwage", "--treatments", "d1", "--controls", "z1,z2")
    for options in (columns, ("--formula", "lwage ~ d1 | z1 + z2")):
        out = tmp_path / "model.npz"
        run("fit", path / "wages.csv", *options, "--vcov", "HC1", "--save", out, "--force")
        assert dn.load(out).result_.vcov_type == "HC1"


def test_formulas_drop_rows_for_their_own_columns_only(folder, tmp_path):
    _, frame = folder
    frame.assign(
        z3=frame["z3"].where(frame["id"] > 5), z1=frame["z1"].where(frame["id"] != 50)
    ).to_csv(tmp_path / "gaps.csv", index=False)
    formula = ("--formula", "lwage ~ d1 | bs(z1, df=4) + region", "--drop-missing")
    found = run("fit", tmp_path / "gaps.csv", *formula).output
    assert "\n1 rows with missing values were left out" in found
