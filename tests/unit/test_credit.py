"""The study of Table 5: the prepared data, the perturbation, and the effect of the attack."""

import numpy as np
import pandas as pd
import pytest

from closeness import same_record
from debinet.exceptions import SelectorError
from debinet.experiments.paper import credit
from debinet.experiments.paper.credit import ROWS, Target, attack, largest_coefficient, perturb
from debinet.experiments.paper.credit_data import OUTCOME, UNDOCUMENTED, impute, prepare

REPAYMENTS = ["PAY_0", "PAY_2", "PAY_3", "PAY_4", "PAY_5", "PAY_6"]


def made_up(n=1000, effect=2.0):
    """Return a table of clients in which only the first repayment status decides."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"ID": np.arange(n), "LIMIT_BAL": rng.normal(size=n)})
    table["SEX"] = rng.integers(1, 3, size=n)
    table["EDUCATION"] = rng.choice([0, 1, 2, 3, 4, 5, 6], size=n)
    table["MARRIAGE"] = rng.choice([0, 1, 2, 3], size=n)
    for name in REPAYMENTS:
        table[name] = rng.integers(-1, 3, size=n)
    chance = 1 / (1 + np.exp(-effect * (table["PAY_0"] - 1)))
    return table.assign(**{OUTCOME: (rng.uniform(size=n) < chance).astype(int)})


def features(table):
    return table.drop(columns=["ID", OUTCOME])


@pytest.fixture(scope="module")
def table():
    return made_up()


@pytest.fixture(scope="module")
def victim(table):
    return credit.make_victim(table, 0)


def test_imputation_fills_undocumented_codes_and_changes_nothing_else(table):
    before = features(table)
    kept = before.copy()
    after = impute(before, np.arange(len(table)) < 800)
    pd.testing.assert_frame_equal(before, kept)
    missing = pd.DataFrame({name: before[name].isin(UNDOCUMENTED.get(name, ())) for name in before})
    assert missing.to_numpy().any()
    pd.testing.assert_frame_equal(after.mask(missing), before.mask(missing))
    assert after["MARRIAGE"].isin([1, 2, 3]).all()
    assert after["EDUCATION"].isin([1, 2, 3, 4]).all()


def test_imputation_finds_a_code_that_other_columns_determine(table):
    truth = features(table).assign(MARRIAGE=table["SEX"])
    hidden = truth.copy()
    hidden.loc[::7, "MARRIAGE"] = 0
    filled = impute(hidden, np.ones(len(table), dtype=bool))
    pd.testing.assert_series_equal(filled["MARRIAGE"], truth["MARRIAGE"])


def test_training_rows_are_standardized(table):
    data = prepare(table, 0, payments="one-hot")
    assert data.X_train.shape == (800, len(data.names))
    assert data.X_valid.shape == (200, len(data.names))
    # Rounding of sums of 800 numbers of size 1.
    np.testing.assert_allclose(data.X_train.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(data.X_train.std(axis=0), 1, atol=1e-12)


@pytest.mark.parametrize("payments", ["numbers", "one-hot"])
def test_validation_rows_do_not_help_with_training_rows(table, payments):
    whole = prepare(table, 0, payments=payments)
    # Row numbers as a feature keep their order when scaled: they tell which rows are validated.
    numbered = prepare(table.assign(LIMIT_BAL=range(len(table))), 0, payments=payments)
    column = numbered.names.index("LIMIT_BAL")
    scaled = np.r_[numbered.X_train[:, column], numbered.X_valid[:, column]]
    valid = np.argsort(np.argsort(scaled))[len(numbered.X_train) :]
    spoiled = table.copy()
    spoiled.loc[valid, "LIMIT_BAL"] = 1e6
    spoiled.loc[valid, REPAYMENTS] = 8
    spoiled.loc[valid, ["EDUCATION", "MARRIAGE"]] = 3
    other = prepare(spoiled, 0, payments=payments)
    assert other.names == whole.names
    np.testing.assert_array_equal(other.X_train, whole.X_train)
    assert not np.array_equal(other.X_valid, whole.X_valid)


def test_outcome_and_id_are_no_features(table):
    names = prepare(table, 0).names
    assert "ID" not in names
    assert OUTCOME not in names
    assert set(REPAYMENTS) < set(names)


def test_one_level_of_every_categorical_column_is_its_reference(table):
    data = prepare(table, 0, payments="one-hot")
    assert [name.split("=")[0] for name in data.references] == [
        "SEX",
        "EDUCATION",
        "MARRIAGE",
        *REPAYMENTS,
    ]
    assert set(data.references) < set(data.names)
    independent = [data.names.index(name) for name in data.names if name not in data.references]
    assert np.linalg.matrix_rank(data.X_train) == len(independent)
    assert np.linalg.matrix_rank(data.X_train[:, independent]) == len(independent)


@pytest.mark.parametrize("aim", ["label", "all"])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_perturbation_changes_one_column_within_its_range(victim, aim, sign):
    data = victim.data
    j = data.names.index("PAY_2")
    before = data.X_valid.copy()
    after = perturb(data, Target("PAY_2", sign), aim=aim)
    np.testing.assert_array_equal(data.X_valid, before)
    np.testing.assert_array_equal(np.delete(after, j, axis=1), np.delete(before, j, axis=1))
    ends = {data.X_train[:, j].min(), data.X_train[:, j].max()}
    assert set(after[:, j]) == (ends if aim == "label" else {max(ends, key=lambda end: sign * end)})


def test_perturbation_by_label_pushes_towards_the_wrong_answer(victim):
    data = victim.data
    j = data.names.index("PAY_0")
    for sign in (1.0, -1.0):
        moved = sign * perturb(data, Target("PAY_0", sign))[:, j]
        assert moved[data.y_valid == 0].min() > moved[data.y_valid == 1].max()


@pytest.mark.parametrize("method", ["minimum_norm", "ols_references", "lasso", "elastic_net"])
def test_planted_column_is_attacked_and_auc_is_ruined(victim, method):
    before, after = credit.baseline(victim, 0), attack(victim, 0, method=method)
    assert before["auc"] > 0.8
    # The only column that matters says the opposite of the truth in every row.
    assert after["auc"] < 0.2
    assert after["loss"] > before["loss"]
    assert after["first_repayment"] == 1


def test_same_value_for_everybody_cannot_reverse_the_order(victim):
    after = attack(victim, 0, method="ols_references", aim="all")
    assert after["auc"] > 0.3
    share = victim.data.y_valid.mean()
    assert after["accuracy"] == pytest.approx(share, abs=0.1)


def test_copies_among_rare_levels_are_left_to_one_of_them():
    table = made_up()
    rare = np.arange(len(table)) % 50 == 0
    table.loc[rare, ["PAY_0", "PAY_2"]] = 8, 7
    data = prepare(table, 0, payments="one-hot")
    kept = credit._independent(data).columns
    assert "PAY_0=8" in kept
    assert "PAY_2=7" not in kept
    assert largest_coefficient(data, "lasso", 0).column.startswith("PAY_0=")


def test_nothing_selected_is_said():
    with pytest.raises(SelectorError, match="at least one column"):
        largest_coefficient(prepare(made_up(400, effect=0.0), 0), "lasso", 0)


def test_same_seed_same_everything(table, victim):
    again = credit.make_victim(table, 0)
    assert same_record(again.data, victim.data)
    cheap = [name for name in ROWS if "DebiNet" not in name]
    for name in [*cheap, "DebiNet attack (Lasso)"]:
        assert ROWS[name](again, 0) == ROWS[name](victim, 0)
    assert not same_record(prepare(table, 1), victim.data)


def test_real_clients(data_folder):
    table = pd.read_parquet(data_folder / "credit_default" / "credit_default.parquet")
    data = prepare(table, 0, payments="one-hot")
    assert (len(data.X_train), len(data.X_valid)) == (24_000, 6_000)
    levels = {name for name in data.names if name.startswith(("EDUCATION", "MARRIAGE"))}
    assert levels == {f"EDUCATION={k}" for k in range(1, 5)} | {f"MARRIAGE={k}" for k in (1, 2, 3)}
    # 22.1 % of the clients default; the split keeps the share.
    assert data.y_valid.mean() == pytest.approx(0.2212, abs=1e-3)
    assert np.linalg.matrix_rank(data.X_train) < len(data.names)
