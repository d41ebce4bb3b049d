"""Simulations described in TOML: what they become, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.multioutput import MultiOutputRegressor

import debinet as dn
from debinet.exceptions import FileFormatError, OptionError
from debinet.experiments.running import run_experiment
from debinet.experiments.simulation import simulation_table
from debinet.experiments.toml_plan import read_experiment

PLAN = """
name = "small"
runs = 2
[[designs]]
make = "sparse_linear"
n = 60
p = 5
effects = [1.0, 0.5]
[[designs]]
name = "waves"
make = "waves"
n = 60
new = 10
[[methods]]
name = "default"
[[methods]]
name = "forest"
learner = { MultiOutputRegressor = { estimator = { RandomForestRegressor = { n_estimators = 5 }}}}
crossfit = 2
designs = ["waves"]
[[methods]]
name = "in-sample"
crossfit = false
method = "robinson"
vcov = "iid"
level = 0.5
[[methods]]
name = "selected"
model = "DebiNet"
selector = { Lasso = { penalty = 0.1 } }
selection_share = 0.5
"""


def plan(tmp_path, text):
    path = tmp_path / "plan.toml"
    path.write_text(text)
    return read_experiment(path)


def test_what_a_file_says(tmp_path):
    found = plan(tmp_path, PLAN)
    assert (found.name, found.runs) == ("small", 2)
    first, second = found.designs
    assert first.name == "sparse_linear, n = 60, p = 5, effects = [1.0, 0.5]"
    assert first.options == {"n": 60, "new": 500, "p": 5, "effects": (1.0, 0.5)}
    assert second.name == "waves"
    default, forest, in_sample, selected = found.methods
    assert default.run.model.get_params() == dn.PartiallyLinear(()).get_params()
    learner = forest.run.model.learner
    assert isinstance(learner, MultiOutputRegressor)
    assert isinstance(learner.estimator, RandomForestRegressor)
    assert learner.estimator.n_estimators == 5
    assert forest.designs == ("waves",)
    assert in_sample.run.model.crossfit is None
    assert (in_sample.run.vcov, in_sample.run.level) == ("iid", 0.5)
    assert isinstance(selected.run.model, dn.DebiNet)
    assert isinstance(selected.run.model.selector, dn.Lasso)


def test_false_is_false_for_switches(tmp_path):
    text = replaced("penalty = 0.1", "penalty = 0.1, standardize = false")
    assert plan(tmp_path, text).methods[3].run.model.selector.standardize is False


def test_coverage_is_of_coefficients_whose_truth_is_known(tmp_path):
    text = PLAN.replace("runs = 2", "runs = 10").replace("n = 60", "n = 200")
    found = plan(tmp_path, text)
    assert found.methods[3].name == "selected"
    found = replace(found, methods=found.methods[3:])
    selected = run_experiment(found, tmp_path, progress=False).to_frame()
    assert len(selected) == 20
    assert (selected["coefficients"] <= 2).all()
    # 95 % of 20 runs of one or two; below 0.5 would be a miss of all controls
    assert selected["coverage"].mean() > 0.6


def test_it_runs_and_is_summed_up(tmp_path):
    results = run_experiment(plan(tmp_path, PLAN), tmp_path, progress=False)
    assert not results.failures
    text = simulation_table(results, tmp_path)
    assert (tmp_path / "small.csv").read_text().startswith("design,method,metric")
    assert "forest" in text
    frame = results.to_frame().set_index(["design", "method"])
    assert set(frame.loc["waves"].index) == {"default", "forest", "in-sample", "selected"}
    assert (frame["coefficients"].loc[["waves"]].drop("selected", level=1) == 1).all()
    half = frame.xs("in-sample", level=1)["width"].mean()
    assert half < frame.xs("default", level=1)["width"].mean()


def replaced(old, new):
    assert old in PLAN
    return PLAN.replace(old, new)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("name = ", "TOML"),
        ("runs = 2", r"\[\[designs\]\]"),
        (replaced("runs = 2", "runs = 0"), "runs to be"),
        (replaced("runs = 2", "runz = 2"), "runz"),
        (replaced('name = "small"', 'name = "../../etc/passwd"'), "can name a file"),
        (replaced('make = "waves"', 'make = "wavs"'), "Did you mean 'waves'"),
        (replaced("p = 5", "q = 5"), "options of make_sparse_linear"),
        (replaced("p = 5", "random_state = 5"), "random_state"),
        (replaced("n = 60\np", 'n = "x"\np'), "n to be a whole number"),
        (replaced("new = 10", "new = -10"), "new to be a whole number"),
        (replaced("p = 5", "p = 2000000000000"), "options that make_sparse_linear can use"),
        (replaced("level = 0.5", "level = 95"), "level to be a number between"),
        (replaced('designs = ["waves"]', "designs = 3"), "a list of names"),
        (replaced('designs = ["waves"]', "designs = []"), "designs that method"),
        (
            replaced(
                "{ Lasso = { penalty = 0.1 } }",
                "{ Pipeline = { steps = [['a', { Ridge = {} }]], memory = 'cache' } }",
            ),
            "memory",
        ),
        (replaced("crossfit = 2", "crosfit = 2"), "Did you mean crossfit"),
        (replaced("RandomForestRegressor", "RandomForestRegresor"), "Did you mean RandomForest"),
        (replaced("n_estimators = 5", "n_estimator = 5"), "Did you mean n_estimators"),
        (replaced("{ penalty = 0.1 }", "0.1"), "options of Lasso as a table"),
        (replaced('name = "default"', ""), "every method to have a name"),
        (replaced('name = "forest"', 'name = "default"'), "more than once"),
        (replaced('model = "DebiNet"', 'model = "os.system"'), "model to be one of"),
        (replaced("{ Lasso = { penalty = 0.1 } }", "{ Popen = { args = 'ls' } }"), "estimator of"),
        (
            replaced("{ estimator = { RandomForestRegressor = { n_estimators = 5 }}}", "{}"),
            "options that MultiOutputRegressor can use",
        ),
        (replaced('designs = ["waves"]', 'designs = ["wave"]'), "name designs of the experiment"),
    ],
)
def test_what_is_refused(tmp_path, text, match):
    with pytest.raises((OptionError, FileFormatError), match=match):
        plan(tmp_path, text)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(FileFormatError, match="TOML"):
        read_experiment(tmp_path / "nothing.toml")
