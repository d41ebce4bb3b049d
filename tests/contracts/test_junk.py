"""Bad input gives a valid result or one of the library's errors, and is not changed."""

import pytest
from junk import ENTRIES, problem_of

# 2,000 in all, in about 15 seconds; of each, as many again under the marker `sim`.
QUICK, ALL = 200, 2_000
_SLOW = {"fit_stream": 100, "stack": 100}


@pytest.mark.parametrize("name", ENTRIES)
def test_bad_input_is_refused_or_estimated(name):
    problems = {seed: problem_of(name, seed) for seed in range(_SLOW.get(name, QUICK))}
    assert not {seed: text for seed, text in problems.items() if text}


@pytest.mark.parametrize("name", ENTRIES)
def test_some_of_it_is_good_enough(name):
    """Otherwise only the first line of every function would be tested."""
    assert any(problem_of(name, seed, strict=True) is None for seed in range(40))


@pytest.mark.sim
@pytest.mark.parametrize("name", ENTRIES)
def test_bad_input_is_refused_or_estimated_2000_times(name):
    problems = {seed: problem_of(name, seed) for seed in range(ALL)}
    assert not {seed: text for seed, text in problems.items() if text}
