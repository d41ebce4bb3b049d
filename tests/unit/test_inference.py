"""The result object: joint bands, adjustments, tables, files."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.linear_model import LinearRegression

import debinet as dn
from debinet.data.archive import write_archive
from debinet.data.records import pack
from debinet.exceptions import CovarianceError, FileFormatError, InputError, OptionError
from debinet.inference import simultaneous
from debinet.inference.covariance import median_covariance
from debinet.inference.infer import infer
from debinet.inference.methods import pooled
from debinet.inference.provenance import Provenance
from debinet.inference.regression import ResidualRegression


def make_result(n=200, q=4, names=None, seed=0, **options):
    rng = np.random.default_rng(seed)
    R_D = rng.normal(size=(n, q)) @ (np.eye(q) + 0.5)
    R_y = R_D @ np.linspace(0, 0.3, q) + rng.normal(size=n)
    names = names or [f"d{j}" for j in range(q)]
    provenance = Provenance("Test", options.pop("outcome", "y"))
    return infer([pooled(R_y, R_D)], names, options.pop("vcov", "HC3"), provenance, **options)


def test_scores_average_to_zero():
    result = make_result()
    assert result.scores.shape == (1, 200, 4)
    np.testing.assert_allclose(result.scores.mean(axis=1), 0, atol=1e-12)


def test_nothing_in_a_result_can_be_changed():
    result = make_result()
    with pytest.raises(AttributeError):
        result.df = 3
    with pytest.raises(ValueError, match="read-only"):
        result.regressions[0].R_D[0, 0] = 99.0
    coef, vcov = result.coef, result.vcov
    coef.iloc[0] = vcov.iloc[0, 0] = 99.0
    assert result.coef.iloc[0] != 99.0
    assert result.vcov.iloc[0, 0] != 99.0


def test_joint_band_equals_brute_force_multipliers():
    """The band drawn from the covariance against multipliers on the rows.

    20,000 draws each: the critical values differ by their Monte Carlo error, about 0.01 each.
    """
    result = make_result(q=5, vcov="HC0")
    ours = simultaneous.critical_value(result.covariance, 1e6, 0.95, 0)
    solved = result.regressions[0]
    influence = solved.scores @ solved.bread
    multipliers = np.random.default_rng(1).normal(size=(20_000, 200))
    t = np.abs(multipliers @ influence) / result.se.to_numpy()
    assert ours == pytest.approx(np.quantile(t.max(axis=1), 0.95), abs=0.05)


def test_joint_band_of_independent_coefficients_is_known():
    """For q independent coefficients the critical value solves (2 Phi(c) - 1)^q = level."""
    exact = stats.norm.ppf((1 + 0.9 ** (1 / 30)) / 2)
    ours = simultaneous.critical_value(np.eye(30), 1e8, 0.9, 0)
    assert ours == pytest.approx(exact, abs=0.03)  # 3 Monte Carlo errors


def test_joint_interval_of_one_coefficient_is_its_own():
    result = make_result(q=1)
    pd.testing.assert_frame_equal(result.confint(joint=True), result.confint())


def test_joint_intervals_are_wider_and_repeatable():
    result = make_result()
    joint = result.confint(joint=True)
    assert (joint["lower"] < result.confint()["lower"]).all()
    pd.testing.assert_frame_equal(joint, result.confint(joint=True))


def test_romano_wolf_lies_between_single_and_holm():
    result = make_result(q=6)
    adjusted = result.adjust("romano-wolf")
    assert (adjusted >= result.pvalue - 0.01).all()
    assert (adjusted <= result.adjust("holm") + 0.01).all()
    order = result.pvalue.sort_values().index
    assert adjusted[order].is_monotonic_increasing


def test_romano_wolf_of_one_hypothesis_is_its_pvalue():
    result = make_result(q=1, seed=3)
    assert result.adjust("romano-wolf").iloc[0] == pytest.approx(result.pvalue.iloc[0], abs=0.01)


def test_repetitions_are_aggregated_by_the_median():
    coefs = [np.array([1.0, 5.0]), np.array([2.0, 5.5]), np.array([9.0, 6.0])]
    covariances = [np.diag([1.0, 2.0]), np.diag([2.0, 2.0]), np.diag([1.0, 2.0])]
    covariance = median_covariance(coefs, covariances)
    # median of 1 + 1, 2 + 0, 1 + 49 and of 2 + 0.25, 2 + 0, 2 + 0.25
    np.testing.assert_allclose(np.diag(covariance), [2.0, 2.25])
    assert np.linalg.eigvalsh(covariance).min() > 0


def test_summary_names_everything():
    text = make_result(notes=("a warning",), outcome="wage").summary()
    for part in ("wage", "rows", "200", "HC3", "d3", "95 %", "Note: a warning."):
        assert part in text


HOSTILE = ["<script>alert(1)</script>", "a|b", r"\input{x}", "x_1 & 50% $y$", "new\nline", "`*_"]


def test_names_are_escaped_in_every_format():
    result = make_result(q=6, names=HOSTILE)
    html, markdown, latex = result.to_html(), result.to_markdown(), result.to_latex(caption="50%")
    assert "<script>" not in html + markdown
    assert "&lt;script&gt;" in html
    assert all(line.count(" | ") == 6 for line in markdown.splitlines())
    assert "a\\|b" in markdown
    assert r"\textbackslash{}input\{x\}" in latex
    assert r"x\_1 \& 50\% \$y\$" in latex
    assert r"\caption{50\%}" in latex
    assert len(result.summary().splitlines()) == len(make_result(q=6).summary().splitlines())
    assert "<script>" not in result._repr_html_()


def test_signs_in_cells_are_escaped_too():
    result = make_result(q=1, names=["d"], seed=0).with_vcov("iid")
    strong = infer([pooled(5 * result.regressions[0].R_D[:, 0] + 0.1 * result.regressions[0].R_y,
                           result.regressions[0].R_D)], ["d"], "iid")  # fmt: skip
    assert "<0.001" in strong.summary()
    assert "&lt;0.001" in strong.to_html()
    assert "<0.001" not in strong.to_html()
    assert r"\textless{}0.001" in strong.to_latex()


def test_forest_plot_draws_every_coefficient_and_the_truth():
    result = make_result(names=["a", "b", "$c", "<d>"])
    ax = result.plot(joint=True, truth={"a": 0.0, "b": 0.1, "$c": 0.2, "<d>": 0.3})
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "b", r"\$c", "<d>"]
    ax.figure.canvas.draw()
    own = ax.figure.subplots()
    assert result.plot(ax=own) is own
    import matplotlib.pyplot as plt

    plt.close("all")


def test_maketables_shows_a_result():
    import maketables

    result = make_result(outcome="wage")
    table = maketables.ETable([result], model_stats=["N", "se_type"])
    shown = str(table.df)
    for part in ("wage", "d0", "d3", "200", "HC3", f"{result.se['d3']:.3f}"):
        assert part in shown


def test_save_and_load_give_the_same_result(tmp_path, small):
    X, y = small
    model = dn.PartiallyLinear(["d1", "d2"], LinearRegression(), crossfit=(3, 2), random_state=1)
    result = model.fit(X, y, groups=np.arange(60) // 3, sample_weight=np.arange(60)).result_
    result.save(tmp_path / "result.npz")
    loaded = dn.load(tmp_path / "result.npz")
    assert loaded.summary() == result.summary()
    pd.testing.assert_frame_equal(loaded.vcov, result.vcov)
    np.testing.assert_array_equal(loaded.scores, result.scores)
    again = loaded.with_vcov("HC1")
    pd.testing.assert_frame_equal(again.vcov, result.with_vcov("HC1").vcov)
    assert [path.name for path in tmp_path.iterdir()] == ["result.npz"]


def test_files_that_are_not_ours_are_refused(tmp_path):
    path = tmp_path / "result.npz"
    make_result().save(path)
    whole = path.read_bytes()
    pickled = tmp_path / "pickled.npz"
    np.savez(pickled, allow_pickle=True, header=np.array([{"a": 1}], dtype=object))
    other = tmp_path / "other.npz"
    np.savez(other, header=np.frombuffer(b'{"format": "something"}', dtype=np.uint8))
    for name, content in {
        "empty": b"",
        "text": b"hello",
        "half": whole[: len(whole) // 2],
    }.items():
        (tmp_path / name).write_bytes(content)
    for name in ("empty", "text", "half", "pickled.npz", "other.npz"):
        with pytest.raises(FileFormatError):
            dn.load(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        dn.load(tmp_path / "missing")


def test_a_failed_save_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "result.npz"
    make_result(seed=1).save(path)
    before = path.read_bytes()

    def fail(*_args, **_options):
        raise OSError("disk full")

    monkeypatch.setattr(np, "savez_compressed", fail)
    with pytest.raises(OSError, match="disk full"):
        make_result(seed=2).save(path)
    assert path.read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("level", [0, 1, -0.5, 95, float("nan")])
def test_levels_that_are_none_are_refused(level):
    with pytest.raises(OptionError, match=r"level=0\.95"):
        make_result().confint(level)


def test_unknown_options_are_refused():
    result = make_result()
    with pytest.raises(OptionError, match="HC3"):
        result.with_vcov("HC9")
    with pytest.raises(CovarianceError, match="groups"):
        result.with_vcov("cluster")
    with pytest.raises(CovarianceError, match="linear in y"):
        result.with_vcov("full")
    with pytest.raises(OptionError, match="holm"):
        result.adjust("bonferroni")
    with pytest.raises(OptionError, match="spelling"):
        result.wald_test("d9")
    with pytest.raises(InputError, match="4 columns"):
        result.wald_test(np.eye(3))
    with pytest.raises(InputError, match="rank 1"):
        result.wald_test(np.ones((2, 4)))


def test_hypotheses_by_name_array_and_frame_agree():
    result = make_result()
    by_name = result.wald_test(["d1", "d2"])
    R = np.zeros((2, 4))
    R[0, 1] = R[1, 2] = 1
    frame = pd.DataFrame({"d1": [1, 0], "d2": [0, 1]})
    assert by_name == result.wald_test(R) == result.wald_test(frame)
    assert result.wald_test(R, 0.1) == result.wald_test(R, [0.1, 0.1])


def test_a_row_that_determines_a_coefficient_alone_is_named():
    R_D = np.zeros((20, 2))
    R_D[:, 0] = np.random.default_rng(0).normal(size=20)
    R_D[7] = [0.0, 1.0]
    R_y = np.random.default_rng(1).normal(size=20)
    with pytest.raises(CovarianceError, match="row 7"):
        infer([pooled(R_y, R_D)], ["a", "b"], "HC3")
    assert infer([pooled(R_y, R_D)], ["a", "b"], "HC1").n == 20


def test_rows_of_weight_zero_do_not_count():
    rng = np.random.default_rng(0)
    R_D, R_y = rng.normal(size=(50, 2)), rng.normal(size=50)
    weights = np.ones(50)
    weights[40:] = 0
    whole = infer([pooled(R_y, R_D, weights)], ["a", "b"], "HC1")
    part = infer([pooled(R_y[:40], R_D[:40])], ["a", "b"], "HC1")
    assert whole.n == 40
    np.testing.assert_allclose(whole.vcov, part.vcov)
    assert whole.df == part.df


def test_leverage_is_the_diagonal_of_the_hat_matrix():
    rng = np.random.default_rng(0)
    R_D, weights = rng.normal(size=(30, 3)), rng.uniform(1, 2, 30)
    fit = ResidualRegression(rng.normal(size=30), R_D, np.zeros(3), weights)
    root = np.sqrt(weights)[:, None] * R_D
    hat = root @ np.linalg.inv(root.T @ root) @ root.T
    np.testing.assert_allclose(fit.leverage, np.diag(hat))


def test_tests_that_the_covariance_cannot_decide_are_refused():
    """More hypotheses than clusters less one: the covariance has no inverse."""
    result = make_result(q=4)
    few = result.with_vcov("cluster", groups=np.arange(200) % 3)
    with pytest.raises(CovarianceError, match="clusters"):
        few.wald_test()
    assert 0 <= few.wald_test("d1").pvalue <= 1
    # Covariances of two-way clusters need not be definite; where they are not, nothing is tested.
    definite = []
    for seed in range(10):
        groups = np.random.default_rng(seed).integers(0, 25, size=(200, 2))
        two_way = result.with_vcov("cluster", groups=groups)
        definite.append(np.linalg.eigvalsh(two_way.covariance)[0] > 0)
        if definite[-1]:
            assert two_way.wald_test().statistic > 0
        else:
            with pytest.raises(CovarianceError, match="clusters"):
                two_way.wald_test()
    assert 0 < sum(definite) < 10


def test_hypotheses_with_labels_are_aligned():
    result = make_result()
    by_array = result.wald_test(np.array([[0.0, -1.0, 2.0, 0.0]]))
    assert result.wald_test(pd.Series({"d2": 2.0, "d1": -1.0})) == by_array
    assert result.wald_test({"d2": 2.0, "d1": -1.0}) == by_array


@pytest.mark.parametrize("R", [[["a", "b"]], [[1, 2], [3]], object(), [["d1", 1.0]]])
def test_hypotheses_that_are_none(R):
    with pytest.raises(InputError):
        make_result().wald_test(R)


def test_options_of_the_wrong_type():
    result = make_result()
    for call in (
        lambda: result.confint("a"),
        lambda: result.adjust(["holm"]),
        lambda: result.with_vcov(["HC3"]),
        lambda: result.with_vcov("HC1", groups=np.arange(200)),
        lambda: result.wald_test(r="a"),
    ):
        with pytest.raises(InputError):
            call()


def test_arrays_and_provenance_of_a_result_are_read_only():
    result = make_result()
    for array in (result.estimate, result.covariance):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 99.0
    with pytest.raises(AttributeError):
        result.provenance.method = "robinson"
    with pytest.raises(AttributeError):
        result.seed = 1
    assert result == result  # noqa: PLR0124
    assert len({result}) == 1


def test_clusters_named_after_the_fit_are_noted():
    assert "after the fit" in make_result().with_vcov("cluster", np.arange(200) % 9).summary()


def test_damaged_files_are_refused_however_they_are_damaged(tmp_path):
    """Two hundred random damages: each is read as it was or refused, never anything else."""
    path = tmp_path / "result.npz"
    make_result(n=30, q=2).save(path)
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    refused = 0
    for _ in range(200):
        broken = bytearray(whole)
        for position in rng.integers(0, len(whole), 3):
            broken[position] = rng.integers(256)
        path.write_bytes(bytes(broken))
        try:
            dn.load(path)
        except FileFormatError:
            refused += 1
    assert refused > 100


@pytest.mark.parametrize(
    ("record", "field", "value"),
    [
        ("result", "covariance", np.full((2, 2), np.nan)),
        ("result", "covariance", -np.eye(2)),
        ("result", "covariance", np.eye(3)),
        ("result", "estimate", np.ones(3)),
        ("result", "estimate", np.array([1, 2])),
        ("result", "groups", -np.ones((30, 1), dtype=np.int64)),
        ("result", "groups", np.ones((29, 1), dtype=np.int64)),
        ("result", "names", "ab"),
        ("result", "df", -1.0),
        ("result", "provenance", "Test"),
        ("result", "regressions", ()),
        ("regression", "weights", np.ones(5)),
        ("regression", "weights", -np.ones(30)),
        ("regression", "R_D", np.ones((29, 2))),
        ("regression", "R_y", np.full(30, np.inf)),
        ("regression", "coef", np.ones(3)),
        ("regression", "least_squares", np.ones(4, dtype=bool)),
        ("provenance", "seed", -1),
        ("provenance", "selection", "the Lasso"),
    ],
)
def test_files_whose_parts_do_not_fit_are_refused(tmp_path, record, field, value):
    header, arrays = pack(make_result(n=30, q=2))
    (edited,) = (one for one in header["records"] if one["class"] == record)
    if isinstance(value, np.ndarray):
        edited["parts"][field] = {"array": "changed"}
        arrays["changed"] = value
    else:
        edited["parts"][field] = pack(value)[0]["root"]
    write_archive(tmp_path / "result.npz", header, arrays)
    with pytest.raises(FileFormatError, match=r"unexpected|IndexError"):
        dn.load(tmp_path / "result.npz")


def test_names_of_statsmodels():
    result = make_result()
    for ours, theirs in (("coef", "params"), ("se", "bse"), ("statistic", "tvalues")):
        pd.testing.assert_series_equal(getattr(result, theirs), getattr(result, ours))
    pd.testing.assert_series_equal(result.pvalues, result.pvalue)
    pd.testing.assert_frame_equal(result.conf_int(0.1), result.confint(0.9))
    assert result.nobs == result.n


def test_saving_names_the_users_path(tmp_path):
    for path in (tmp_path, tmp_path / "missing" / "r.npz"):
        with pytest.raises(OSError, match="folder that exists"):
            make_result().save(path)


def test_dollars_in_the_outcome_can_be_drawn():
    import matplotlib.pyplot as plt

    ax = make_result(outcome="$_$").plot()
    ax.figure.canvas.draw()
    plt.close("all")
