"""Folds: every row once, no group split, whatever the source."""

import numpy as np
import pytest
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneOut,
    RepeatedKFold,
    ShuffleSplit,
    TimeSeriesSplit,
)

from debinet._random import named_generator
from debinet.data.crossfit import make_folds
from debinet.exceptions import FoldError, OptionError, TooFewRowsError


def folds_of(crossfit, n=30, groups=None, **options):
    if groups is not None:
        groups = np.asarray(groups).reshape(n, -1)
    return make_folds(crossfit, n, named_generator(0, "folds"), groups=groups, **options)


def assert_partition(folds):
    rows = np.concatenate([block.test for block in folds])
    np.testing.assert_array_equal(np.sort(rows), np.arange(folds.n))


@pytest.mark.parametrize(
    ("crossfit", "repetitions", "blocks"),
    [
        (None, 1, 1),
        ("loo", 1, 30),
        ("auto", 1, 5),
        (4, 1, 4),
        ((3, 2), 2, 3),
        (KFold(6), 1, 6),
        (LeaveOneOut(), 1, 30),
        (RepeatedKFold(n_splits=5, n_repeats=3, random_state=0), 3, 5),
        ([(np.arange(15), np.arange(15, 30)), (np.arange(15, 30), np.arange(15))], 1, 2),
    ],
)
def test_every_source_gives_partitions(crossfit, repetitions, blocks):
    made = folds_of(crossfit)
    assert len(made) == repetitions
    for folds in made:
        assert len(folds) == blocks
        assert_partition(folds)
        assert folds.in_sample == (crossfit is None)
        assert folds.complementary == (crossfit is not None)


def test_auto_is_leave_one_out_for_closed_forms():
    assert folds_of("auto", closed_form=True)[0].singletons
    assert not folds_of("auto", closed_form=False)[0].singletons


def test_training_rows_are_the_others():
    for block in folds_of(4)[0]:
        both = np.concatenate([block.test, block.train(30)])
        np.testing.assert_array_equal(np.sort(both), np.arange(30))


def test_repetitions_differ_and_seeds_decide():
    first, second = folds_of((3, 2))
    assert not np.array_equal(first.codes(), second.codes())
    again, _ = folds_of((3, 2))
    np.testing.assert_array_equal(first.codes(), again.codes())


@pytest.mark.parametrize("crossfit", [5, "loo", "auto", (3, 2), GroupKFold(4)])
def test_groups_are_never_split(crossfit):
    groups = np.arange(30) // 3
    for folds in folds_of(crossfit, groups=groups):
        assert_partition(folds)
        for block in folds:
            assert not np.isin(groups[block.test], groups[block.train(30)]).any()


@pytest.mark.parametrize("crossfit", [3, "loo", "auto"])
def test_two_way_groups_share_nothing_with_their_training_rows(crossfit):
    groups = np.column_stack([np.arange(30) // 5, np.arange(30) % 5])
    (folds,) = folds_of(crossfit, groups=groups, closed_form=True)
    assert_partition(folds)
    assert not folds.complementary
    assert not folds.in_sample
    for block in folds:
        train = block.train(30)
        assert train.size
        for way in range(2):
            assert not np.isin(groups[block.test, way], groups[train, way]).any()


def test_blocks_are_of_nearly_equal_size():
    sizes = [block.test.size for block in folds_of(4, n=30)[0]]
    assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize(
    ("crossfit", "error"),
    [
        (31, TooFewRowsError),
        (1, OptionError),
        (0, OptionError),
        (True, OptionError),
        ("five", OptionError),
        (2.5, OptionError),
        ((5, 0), OptionError),
        (ShuffleSplit(3, random_state=0), FoldError),
        (TimeSeriesSplit(3), FoldError),
        (KFold(40), FoldError),
        (GroupKFold(3), FoldError),
        ([(np.arange(30), np.arange(30))], FoldError),
        ([(np.arange(15), [30])], FoldError),
        ([(np.arange(15), "ab")], FoldError),
        ([([], np.arange(30))], FoldError),
        ([], FoldError),
        ([3], OptionError),
    ],
)
def test_what_cannot_be_folds_is_refused(crossfit, error):
    with pytest.raises(error):
        folds_of(crossfit)


def test_too_few_groups_and_straddling_splitters_are_refused():
    groups = np.arange(30) % 3
    with pytest.raises(FoldError, match="at least 5 groups"):
        folds_of(5, groups=groups)
    with pytest.raises(FoldError, match="never split a group"):
        folds_of(KFold(3, shuffle=True, random_state=0), groups=groups)
    assert len(folds_of("auto", groups=groups)[0]) == 3


def test_two_way_groups_that_cover_everything_are_refused():
    groups = np.column_stack([np.arange(30) % 2, np.zeros(30, dtype=int)])
    groups[0, 1] = 1
    with pytest.raises(FoldError, match="left to train on"):
        folds_of("loo", groups=groups)
