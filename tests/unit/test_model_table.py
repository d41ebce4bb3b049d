"""`dn.table`: models side by side, in text and in files; names are data everywhere."""

import builtins
import re

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from sklearn.linear_model import LinearRegression

import debinet as dn
from debinet.exceptions import InputError, MissingDependencyError, OptionError

HOSTILE = '=cmd|"/c calc"!A1<script>$x_1$'


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(90, 4)), columns=[HOSTILE, "d2", "z1", "z2"])
    y = X[HOSTILE] + 0.2 * X["d2"] + rng.normal(size=90)
    return X, y.rename("wage")


@pytest.fixture(scope="module")
def models(data):
    X, y = data
    return [
        dn.PartiallyLinear(treatments, LinearRegression(), random_state=0).fit(X, y)
        for treatments in ([HOSTILE], [HOSTILE, "d2"])
    ]


def cells(table):
    return table.frame.to_numpy().tolist()


def test_coefficients_with_errors_below(models):
    table = dn.table(models, trust=False)
    one, two = (model.result_ for model in models)
    found = [[float(cell.strip("()") or "nan") for cell in row] for row in cells(table)[:4]]
    expected = [
        [one.coef[HOSTILE], two.coef[HOSTILE]],
        [one.se[HOSTILE], two.se[HOSTILE]],
        [np.nan, two.coef["d2"]],
        [np.nan, two.se["d2"]],
    ]
    # Three significant digits: at most half a unit of the last one.
    np.testing.assert_allclose(found, expected, rtol=5e-3)
    assert [cell.startswith("(") for cell in np.array(cells(table))[:4, 1]] == [False, True] * 2
    assert list(table.frame.columns) == ["(1)", "(2)"]
    assert list(table.frame.index) == [
        *(HOSTILE, "", "d2", ""),
        *("rows", "learner", "method", "covariance"),
    ]
    assert table.coefficients == 4
    assert cells(table)[4:] == [["90"] * 2, ["LinearRegression"] * 2, ["structured"] * 2,
                                ["HC3"] * 2]  # fmt: skip
    assert str(table) == table.to_text()
    assert table.notes == ("Standard errors in parentheses.",)


def test_results_and_mappings_and_single_models_are_the_same(models):
    table = dn.table(models, names=["a", "b"])
    assert cells(dn.table([m.result_ for m in models])) == cells(table)
    by_name = dn.table({"a": models[0], "b": models[1].result_})
    pd.testing.assert_frame_equal(by_name.frame, table.frame)
    assert cells(dn.table(models[0])) == cells(dn.table([models[0]]))
    assert "trust" in table.frame.index


@pytest.mark.parametrize(
    ("stars", "limits"), [(True, (0.1, 0.05, 0.01)), ((0.01, 0.2), (0.2, 0.01)), (False, ())]
)
def test_stars_are_for_p_values_below_the_limits(models, stars, limits):
    table = dn.table(models, stars=stars)
    for k, model in enumerate(models):
        for name, pvalue in model.result_.pvalue.items():
            shown = table.frame.iloc[:, k][name]
            assert shown.count("*") == sum(pvalue < limit for limit in limits)
    if limits:
        assert table.notes[-1].startswith(f"* p < {limits[0]:g}, ** p < {limits[1]:g}")


def test_intervals_digits_or_nothing_below(models):
    bounds = models[0].result_.confint(0.9).iloc[0]
    table = dn.table(models[:1], below="ci", level=0.9, digits=2)
    found = [float(part) for part in cells(table)[1][0].strip("[]").split(", ")]
    np.testing.assert_allclose(found, bounds, rtol=5e-2)
    assert table.notes == ("90 % intervals in brackets.",)
    alone = dn.table(models[:1], below="none")
    assert list(alone.frame.index)[:2] == [HOSTILE, "rows"]
    assert alone.notes == ()


def test_other_results_beside_ours(data, models):
    X, y = data
    ols = sm.OLS(y.rename("log wage"), sm.add_constant(X)).fit(cov_type="HC1")
    splits = dn.DebiNet("lasso", "mean", selection_share=(0.4, 3), random_state=0).fit(X, y)
    lasso = dn.DebiasedLasso(random_state=0).fit(X, y)
    table = dn.table([ols, models[0], splits, lasso], stars=True, digits=4)
    assert table.frame.iloc[:, 0]["z1"].rstrip("*")[:4] == f"{ols.params['z1']:.4f}"[:4]
    assert table.frame.loc["outcome"].to_list() == ["log wage", "wage", "wage", "wage"]
    assert table.frame.loc["covariance"].to_list() == ["HC1", "HC3", "", "iid"]
    # The aggregate of several splits has no standard errors.
    row = list(table.frame.index).index(splits.result_.names[0])
    assert cells(table)[row][2]
    assert cells(table)[row + 1][2] == ""


def test_names_are_escaped(models):
    table = dn.table({HOSTILE: models[0]})
    for text in (table.to_html("a <caption>"), table._repr_html_(), table.to_markdown()):
        assert "<script>" not in text
        assert "<caption>," not in text
    latex = table.to_latex("5 % & more")
    assert r"\$x\_1\$" in latex
    assert r"\caption{5 \% \& more}" in latex
    assert latex.count(r"\midrule") == 2
    assert "sortable" not in table.to_html()


ENDINGS = ["txt", "md", "tex", "html", "csv", "docx", "xlsx"]


@pytest.mark.parametrize("ending", ENDINGS)
def test_files_hold_all_cells(models, ending, tmp_path):
    table = dn.table({"first": models[0], HOSTILE: models[1]}, stars=True)
    path = tmp_path / f"table.{ending}"
    table.save(path)
    table.save(path, caption="Wages")  # replaced
    if ending == "xlsx":
        openpyxl = pytest.importorskip("openpyxl")
        sheet = openpyxl.load_workbook(path).active
        found = [[cell.value for cell in row] for row in sheet.iter_rows()]
        assert found[0] == [None, "first", HOSTILE]
        # Text, though it looks like a formula ("f").
        assert "f" not in {cell.data_type for row in sheet.iter_rows() for cell in row}
        assert found[1][0] == HOSTILE
    elif ending == "docx":
        docx = pytest.importorskip("docx")
        rows = docx.Document(str(path)).tables[0].rows
        assert rows[1].cells[0].text == HOSTILE
        assert [cell.text for cell in rows[0].cells][1:] == ["first", HOSTILE]
        assert "Wages" in "".join(p.text for p in docx.Document(str(path)).paragraphs)
    else:
        text = path.read_text()
        plain = re.sub(r"\\([()*_.])", r"\1", text)
        for cell in table.frame["first"]:
            assert cell in plain
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_csv_has_no_formulas(models, tmp_path):
    dn.table(models).save(tmp_path / "table.csv")
    frame = pd.read_csv(tmp_path / "table.csv", index_col=0)
    assert frame.index[0] == f"'{HOSTILE}"


def test_packages_that_are_missing_are_named(models, tmp_path, monkeypatch):
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name.partition(".")[0] in {"maketables", "openpyxl"}:
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    for ending in ("docx", "xlsx"):
        with pytest.raises(MissingDependencyError, match=r"debinet\[tables\]"):
            dn.table(models).save(tmp_path / f"t.{ending}")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"models": []}, InputError),
        ({"models": ["wide"]}, InputError),
        ({"models": [dn.PartiallyLinear(["d"])]}, InputError),
        ({"names": ["one"]}, OptionError),
        ({"names": "ab"}, OptionError),
        ({"stars": "yes"}, OptionError),
        ({"stars": 0.05}, OptionError),
        ({"stars": (5,)}, OptionError),
        ({"digits": 0}, OptionError),
        ({"below": "t"}, OptionError),
        ({"level": 95}, OptionError),
    ],
)
def test_what_cannot_be_shown(models, arguments, error):
    with pytest.raises(error):
        dn.table(**{"models": models, **arguments})


def test_unknown_endings(models, tmp_path):
    with pytest.raises(OptionError, match=r"\.docx"):
        dn.table(models).save(tmp_path / "table.pdf")
