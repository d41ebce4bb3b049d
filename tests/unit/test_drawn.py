"""The sample of rows that the first pass draws."""

from functools import reduce
from operator import add

import numpy as np
import pytest

from debinet.data.schema import Schema
from debinet.data.tables import Table
from debinet.exceptions import DuplicateColumnError
from debinet.streaming.drawn import first_pass, require_distinct
from debinet.streaming.hashing import hash_rows
from debinet.streaming.layout import RawRows

N = 500
NAMES = ("d", "z", "region")
SCHEMA = Schema(NAMES, (0,), {2: ("a", "b", "c")})


@pytest.fixture(scope="module")
def everything():
    rng = np.random.default_rng(0)
    values = np.column_stack([rng.normal(size=(N, 2)), np.zeros(N)])
    text = {2: rng.choice(["a", "b", "c"], N).astype(object)}
    y, weight = rng.normal(size=N), rng.uniform(0.5, 2, N)
    return values, text, y, weight


def block(everything, rows):
    values, text, y, weight = everything
    table = Table(NAMES, values[rows], {j: column[rows] for j, column in text.items()})
    return RawRows(table, y[rows], weight[rows], np.zeros(len(rows), int), rows, None)


def drawn(everything, parts, most=80, seed=3):
    passes = [first_pass(block(everything, rows), most, seed) for rows in parts]
    return reduce(add, passes).drawn


WAYS = {
    "one by one": np.arange(N)[:, None],
    "unequal": np.split(np.arange(N), [1, 7, 300, 310]),
    "backwards": np.array_split(np.arange(N)[::-1], 7),
    "mixed": np.array_split(np.random.default_rng(1).permutation(N), 5),
    "with nothing": [np.arange(0), np.arange(N), np.arange(0)],
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("most", [80, N, 2000])
def test_how_rows_are_split_does_not_matter(everything, way, most):
    whole, split = (drawn(everything, parts, most) for parts in ([np.arange(N)], WAYS[way]))
    np.testing.assert_array_equal(split.number, whole.number)
    np.testing.assert_array_equal(split.hashes, whole.hashes)
    np.testing.assert_array_equal(split.values, whole.values)
    assert split.text == whole.text
    for one, other in zip(split.read(SCHEMA), whole.read(SCHEMA), strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_order_of_adding_does_not_matter(everything):
    a, b, c = (
        first_pass(block(everything, rows), 80, 3) for rows in np.array_split(np.arange(N), 3)
    )
    for one in ((a + b) + c, a + (b + c), (c + a) + b):
        np.testing.assert_array_equal(one.drawn.number, (a + b + c).drawn.number)


def test_rows_are_those_of_the_smallest_hashes(everything):
    found = drawn(everything, [np.arange(N)])
    hashes = hash_rows(np.arange(N), 3)
    np.testing.assert_array_equal(found.number, np.argsort(hashes)[:80])
    other = drawn(everything, [np.arange(N)], seed=4)
    # 80 of 500 twice: 13 in common on average, with a standard deviation of 3
    assert len(np.intersect1d(found.number, other.number)) < 30


@pytest.mark.parametrize("most", [80, 2000])
def test_they_are_read_in_the_order_of_the_data(everything, most):
    values, text, y, weight = everything
    found = drawn(everything, WAYS["mixed"], most)
    rows = np.sort(found.number)
    assert rows.size == min(most, N)
    Z, M, w = found.read(SCHEMA)
    np.testing.assert_array_equal(M, np.column_stack([y, values[:, 0]])[rows])
    np.testing.assert_array_equal(w, weight[rows])
    np.testing.assert_array_equal(Z[:, 0], values[rows, 1])
    for j, (_, level) in enumerate(SCHEMA.control_columns[1:], 1):
        np.testing.assert_array_equal(Z[:, j], text[2][rows] == level)


def test_equal_columns_are_refused(everything):
    X = everything[0][:, :2]
    require_distinct(X, ("a", "b"))
    with pytest.raises(DuplicateColumnError, match="'a' and 'c'"):
        require_distinct(np.column_stack([X, 5 - 2 * X[:, 0]]), ("a", "b", "c"))
