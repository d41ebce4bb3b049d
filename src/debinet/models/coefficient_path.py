"""Coefficients along the training of a network: how much they depend on when it is stopped."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from debinet._random import named_seed, root_seed
from debinet.data.dataset import Dataset
from debinet.exceptions import OptionError
from debinet.inference.infer import infer
from debinet.inference.methods import pooled
from debinet.learners.crossfitting import fold_seeds
from debinet.learners.net.net import Net
from debinet.learners.torch_extra import require_torch
from debinet.models.estimate import draw_folds
from debinet.models.partially_linear import PartiallyLinear


def coefficient_path(
    model: PartiallyLinear, X: Any, y: Any, *, groups: Any = None, level: float = 0.95
) -> pd.DataFrame:
    """Estimate the coefficients after every epoch of the network's training.

    Residuals are regressed on residuals (`method="robinson"`, the paper's) at every epoch, whatever
    `model.method` is, and no output is stopped early: with `crossfit=None` this shows the estimate
    that the paper's procedure would have given, had it been stopped there.

    Parameters
    ----------
    model : PartiallyLinear
        Unfitted or fitted, with a `Net` as its learner. It is not changed.
    X, y, groups
        As in `PartiallyLinear.fit`.
    level : float
        Confidence level of the intervals (HC3).

    Returns
    -------
    DataFrame
        One row per epoch and coefficient: epoch, term, coef, lower, upper, and `left`, the share
        of the treatment's variance that its residuals have.
    """
    net = model.learner
    if not isinstance(net, Net):
        raise OptionError(
            "a model whose learner is a Net, which has epochs",
            f"learner={net!r}",
            "Use PartiallyLinear(treatments, learner=Net()).",
        )
    require_torch()
    from debinet.learners.net.trace import trace_predictions

    data = Dataset.from_any(X, y, model.treatments, ref=model.ref, groups=groups)
    options = model._options()
    repetitions = draw_folds(data, options, closed_form=False)
    if len(repetitions) > 1:
        raise OptionError(
            "one partition into folds, for one path",
            f"crossfit={model.crossfit!r}, which repeats it",
            "Use crossfit=5 or crossfit=None.",
        )
    folds = repetitions[0]
    # The networks of `fit`: the first repetition's, for all columns together.
    seeds = fold_seeds(named_seed(named_seed(options.seed, 0), "joint"), len(folds))
    if net.random_state is not None:
        seeds = [root_seed(net.random_state)] * len(folds)
    predictions = trace_predictions(
        net,
        data.Z,
        data.M,
        folds,
        seeds=seeds,
        weight=np.ones(data.n),
        groups=None if data.groups is None else data.groups[:, 0],
    )
    return pd.concat(
        [
            _estimate(data, fitted, level).assign(epoch=epoch)
            for epoch, fitted in enumerate(predictions, start=1)
        ],
        ignore_index=True,
    )[["epoch", "term", "coef", "lower", "upper", "left"]]


def _estimate(data: Dataset, fitted: Any, level: float) -> pd.DataFrame:
    residuals = data.M - fitted
    names = data.schema.treatment_names
    result = infer([pooled(residuals[:, 0], residuals[:, 1:])], names, "HC3")
    interval = result.confint(level)
    return pd.DataFrame(
        {
            "term": list(names),
            "coef": result.estimate,
            "lower": interval["lower"].to_numpy(),
            "upper": interval["upper"].to_numpy(),
            "left": residuals[:, 1:].var(axis=0) / data.D.var(axis=0),
        }
    )
