"""The training samples of the networks of a fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from debinet.learners.net.options import read_scaling, read_share
from debinet.learners.net.outputs import zeros_and_ones
from debinet.learners.net.sample import TrainingSample, make_sample
from debinet.protocols import FloatArray, IntArray


def make_samples(
    net: Any,
    Z: FloatArray,
    M: FloatArray,
    rows: Sequence[IntArray],
    *,
    seeds: Sequence[int],
    weight: FloatArray,
    groups: IntArray | None = None,
) -> list[TrainingSample]:
    """Split and scale each of the `rows` of Z and M (n, m), as the options of `net` say.

    `groups` are codes (n,) of rows that are held out together.
    """
    scaling = read_scaling(net, zeros_and_ones(M[weight > 0]))
    share = read_share(net.validation_share)
    return [
        make_sample(
            Z[part],
            M[part],
            weight[part],
            scaling,
            held_share=share,
            seed=seed,
            groups=None if groups is None else groups[part],
        )
        for part, seed in zip(rows, seeds, strict=True)
    ]
