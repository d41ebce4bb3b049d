"""Progress: shown for long work only, the same results with it and without."""

import threading
import time
from functools import partial

import numpy as np
import pytest
from command_line import run
from joblib import parallel_config
from sklearn.base import clone
from sklearn.linear_model import LinearRegression

import debinet as dn
from closeness import assert_close
from debinet._random import named_generator
from debinet.data.dataset import Dataset
from debinet.data.folds import k_folds, no_folds
from debinet.exceptions import LearnerError, OptionError
from debinet.inference.methods import METHODS, MODELS
from debinet.learners.crossfitting import make_cross_fitter
from debinet.learners.lasso import LassoLearner
from debinet.learners.mean import MeanLearner
from debinet.learners.progress import WATCHER, Pace, Progress, in_words
from debinet.models.estimate import estimate
from debinet.models.estimation import Options
from debinet.models.partialling import count_fits, partial_out

AT_ONCE = partial(Progress, delay=0.0)


class Slow(LinearRegression):
    def fit(self, X, y, sample_weight=None):
        time.sleep(0.04)
        return super().fit(X, y, sample_weight)


class Failing(LinearRegression):
    def fit(self, X, y, sample_weight=None):
        raise ValueError("no")


def fit(small, learner, progress, crossfit=5, n_jobs=None):
    data = Dataset.from_any(*small, ["d1"])
    return estimate(data, Options(learner, "auto", crossfit, n_jobs, 0, progress)).result


def watchers():
    return [thread for thread in threading.enumerate() if thread.name == WATCHER]


# --- the estimate of the time left ---


def test_the_time_left_is_that_of_the_units_so_far():
    pace = Pace("Forest", "fit", 30, 0, 0)
    assert pace.text(3.0) == "Forest: 0 of 30 fits, 3 s so far"
    pace = pace.advanced(6, 12.0, typical=True)
    assert pace.expected(12.0) == 60.0
    assert pace.text(12.0) == "Forest: 6 of 30 fits, about 48 s left"
    assert pace.text(13.0) == "Forest: 6 of 30 fits, about 47 s left"


def test_a_unit_that_takes_long_slows_the_pace():
    pace = Pace("Forest", "fit", 4, 0, 0).advanced(1, 2.0, typical=True)
    assert pace.expected(3.0) == 8.0
    assert pace.expected(10.0) == 20.0  # as if the second ended now, 5 s each


def test_units_that_are_not_typical_do_not_count_for_the_pace():
    pace = Pace("net", "repetition", 11, 0, 0).advanced(1, 10.0, typical=False)
    assert pace.text(10.0) == "net: 1 of 11 repetitions, 10 s so far"
    assert pace.advanced(1, 11.0, typical=True).expected(11.0) == 20.0
    resumed = Pace("grams", "row", 4_000, 3_000, 3_000).advanced(500, 7.0, typical=True)
    assert resumed.text(7.0) == "grams: 3,500 of 4,000 rows, about 7 s left"


def test_one_unit_is_not_counted():
    assert Pace("Lasso selects", "selection", 1, 0, 0).text(6.2) == "Lasso selects, 6 s so far"


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.4, "0 s"), (99, "99 s"), (150, "2 min"), (9_000, "2.5 h")]
)
def test_lengths_of_time(seconds, words):
    assert in_words(seconds) == words


# --- when it is shown ---


def test_work_is_shown_as_soon_as_it_is_expected_to_be_long(capsys):
    with Progress(True, delay=2.5).count("work", 1_000, "unit") as counter:
        start = time.monotonic()
        while time.monotonic() - start < 0.55:  # a fifth of the delay must pass
            time.sleep(0.01)
            counter.advance()
        shown = capsys.readouterr().err
        assert time.monotonic() - start < 2.5
    assert "of 1,000 units, about" in shown


def test_one_long_unit_is_shown_while_it_runs(capsys):
    with Progress(True, delay=0.05).count("work", 1, "unit"):
        for _ in range(200):
            time.sleep(0.01)
            shown = capsys.readouterr().err
            if shown:
                break
    assert " s so far" in shown


def test_quick_work_and_silent_work_show_nothing(capsys):
    for progress in (Progress(True), Progress(False, delay=0.0)):
        with progress.count("work", 100, "unit") as counter:
            for _ in range(100):
                counter.advance()
    assert capsys.readouterr().err == ""


def test_what_was_shown_is_removed(capsys):
    with Progress(True, delay=0.0).count("work", 2, "unit"):
        pass
    assert capsys.readouterr().err.endswith("\r")
    assert not watchers()


# --- fits ---


@pytest.mark.parametrize("verbose", [True, False])
def test_quick_fits_show_nothing(small, capsys, verbose):
    X, y = small
    options = {"learner": LinearRegression(), "random_state": 0, "verbose": verbose}
    dn.PartiallyLinear(["d1"], crossfit=(3, 4), **options).fit(X, y)
    dn.PartiallyLinear(["d1"], "wide", crossfit=(3, 4), verbose=verbose).fit(X, y)
    dn.DebiNet(dn.Lasso(penalty=0.1), selection_share=(0.4, 3), **options).fit(X, y)
    dn.plm("y ~ d1 | z1 + z2", X.assign(y=y), **options)
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "")


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_slow_fits_show_how_far_they_are(small, capsys, n_jobs):
    # 30 fits of 0.04 s take longer than the delay, even two at a time.
    shown = fit(small, Slow(), Progress(True, delay=0.5), (5, 2), n_jobs)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "Slow: " in captured.err
    assert "of 30 fits, about" in captured.err  # three regressions, five folds, twice
    silent = fit(small, Slow(), Progress(False, delay=0.0), (5, 2))
    assert capsys.readouterr().err == ""
    np.testing.assert_array_equal(shown.estimate, silent.estimate)
    np.testing.assert_array_equal(shown.covariance, silent.covariance)


def test_repetitions_of_a_closed_form_are_counted(small, capsys):
    fit(small, dn.WideNet(), AT_ONCE(True), (5, 3))
    assert "WideNet: 0 of 3 repetitions" in capsys.readouterr().err


def test_processes_change_nothing(small, capsys):
    expected = fit(small, LinearRegression(), Progress())
    with parallel_config(backend="loky", n_jobs=2):
        found = fit(small, LinearRegression(), AT_ONCE(True))
    assert "of 15 fits" in capsys.readouterr().err
    # Other processes may use other threads of BLAS, so other rounding.
    assert_close(found.estimate, expected.estimate, 1e-12)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_splits_are_counted(small, capsys, monkeypatch, n_jobs):
    X, y = small
    model = dn.DebiNet(
        dn.Lasso(penalty=0.1),
        LinearRegression(),
        selection_share=(0.4, 3),
        n_jobs=n_jobs,
        random_state=0,
    )
    silent = clone(model).fit(X, y)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("debinet.models.debinet.Progress", AT_ONCE)
    shown = model.set_params(verbose=True).fit(X, y)
    told = capsys.readouterr().err
    assert "DebiNet: 0 of 3 splits" in told
    assert "fits" not in told
    np.testing.assert_array_equal(shown.coef_, silent.coef_)
    assert_close(shown.splits_.coef, silent.splits_.coef, 1e-12)


def test_one_split_shows_the_selection_and_the_fits(small, capsys, monkeypatch):
    monkeypatch.setattr("debinet.models.debinet.Progress", AT_ONCE)
    dn.DebiNet(dn.Lasso(penalty=0.8), Slow(), random_state=0, verbose=True).fit(*small)
    told = capsys.readouterr().err
    assert "Lasso selects, " in told
    assert "Slow: 0 of 15 fits" in told


LEARNERS = {
    "refits": LinearRegression(),
    "folds at once": LassoLearner(),
    "stack": dn.stack([LinearRegression(), MeanLearner(), LassoLearner()]),
    "closed form": MeanLearner(),
}


@pytest.mark.parametrize("method", [name for name in METHODS if name not in MODELS])
@pytest.mark.parametrize("learner", LEARNERS)
def test_as_many_fits_are_done_as_were_announced(small, learner, method):
    data, folds = Dataset.from_any(*small, ["d1"]), k_folds(60, 4, named_generator(0, "folds"))
    total = count_fits(LEARNERS[learner], [folds], method)
    counter = Progress().count("fits", total, "fit")
    options = {"seed": 0, "name": "joint", "counter": counter}
    fitter = make_cross_fitter(LEARNERS[learner], data.Z, data.M, folds, **options)
    partial_out(fitter, data, method)
    assert counter.pace.done == total
    assert (total == 0) == (learner == "closed form")


def test_in_sample_fits_are_counted(small):
    assert count_fits(LinearRegression(), [no_folds(60)], "robinson") == 1


def test_an_error_ends_what_is_shown(small, capsys):
    with pytest.raises(LearnerError, match="Failing"):
        fit(small, Failing(), AT_ONCE(True), n_jobs=2)
    assert capsys.readouterr().err.endswith("\r")
    assert not watchers()


# --- the parameter ---


@pytest.mark.parametrize("model", [dn.PartiallyLinear(["d1"]), dn.DebiNet()])
def test_verbose_is_a_switch(small, model):
    assert model.get_params()["verbose"] is False
    assert clone(model.set_params(verbose=True)).verbose is True
    with pytest.raises(OptionError, match="verbose"):
        clone(model).set_params(verbose="yes").fit(*small)


def test_a_saved_model_keeps_it(small, tmp_path):
    model = dn.PartiallyLinear(["d1"], LinearRegression(), random_state=0, verbose=True).fit(*small)
    model.save(tmp_path / "model.npz")
    assert dn.load(tmp_path / "model.npz").verbose is True


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        (("--outcome", "y", "--treatments", "d1"), "of 15 fits"),
        (("--formula", "y ~ d1 | z1 + z2"), "of 15 fits"),
        (("--outcome", "y", "--select", "lasso"), "Lasso selects"),
    ],
)
def test_the_command_line_shows_it_in_terminals(small, tmp_path, monkeypatch, columns, told):
    X, y = small
    X.assign(y=y).to_csv(tmp_path / "data.csv", index=False)
    for module in ("partially_linear", "debinet"):
        monkeypatch.setattr(f"debinet.models.{module}.Progress", AT_ONCE)
    command = ("fit", tmp_path / "data.csv", *columns, "--learner", "linear", "--force")
    assert run(*command).stderr == ""
    monkeypatch.setattr("debinet.cli.fit._is_terminal", lambda: True)
    assert told in run(*command, "--save", tmp_path / "model.npz").stderr
    saved = dn.load(tmp_path / "model.npz")
    # The file is the same whether someone watched or not.
    assert getattr(saved, "model", saved).verbose is False
    assert run(*command, "--quiet").stderr == ""
