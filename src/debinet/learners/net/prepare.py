"""From options and data to what training needs: samples, a blueprint and a plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from debinet.learners.net.fitting import Blueprint
from debinet.learners.net.options import read_architecture, read_plan, read_scaling, read_share
from debinet.learners.net.outputs import zeros_and_ones
from debinet.learners.net.sample import Sample, make_sample
from debinet.learners.net.training import Plan
from debinet.protocols import FloatArray, IntArray


@dataclass(frozen=True)
class Prepared:
    """Everything that `fit_networks` takes.

    Attributes
    ----------
    samples : list of Sample
        One per network.
    blueprint : Blueprint
    plan : Plan
    """

    samples: list[Sample]
    blueprint: Blueprint
    plan: Plan


def prepare(
    net: Any,
    Z: FloatArray,
    M: FloatArray,
    rows: Sequence[IntArray],
    *,
    seeds: Sequence[int],
    weight: FloatArray,
    groups: IntArray | None = None,
) -> Prepared:
    """Check the options of `net`, and split and scale each of the `rows` of Z and M (n, m).

    `groups` are codes (n,) of rows that stopping must not split.
    """
    blueprint = Blueprint(read_architecture(net), net.module)
    plan, scaling = read_plan(net), read_scaling(net, zeros_and_ones(M[weight > 0]))
    share = read_share(net.validation_share)
    samples = [
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
    return Prepared(samples, blueprint, plan)
