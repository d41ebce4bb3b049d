"""Reading what the `save` methods wrote: `dn.load`."""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np
import pandas as pd

from debinet.data.archive import read_archive
from debinet.data.arrays import require
from debinet.data.records import Unpacker, unpack
from debinet.data.schema import Schema
from debinet.inference.perfect_fit import NOTE
from debinet.inference.result import Inference
from debinet.inference.split_result import SplitInference

LOADED = (
    "Inference",
    "SplitInference",
    "Effects",
    "IndividualEffects",
    "AverageEffects",
    "PartiallyLinear",
    "DebiNet",
    "DebiasedLasso",
    "Net",
)


def load(path: str | PathLike[str], *, trusted: bool = False) -> Any:
    """Read a model, a result or a network that one of the `save` methods wrote.

    Files of every released version can be read. There is no pickle in them: an untrusted file
    cannot run code.

    Parameters
    ----------
    path : str or path
    trusted : bool
        Whether the file is yours, or from someone you trust. Needed for models whose learners are
        trees or forests of scikit-learn, or from other packages: reading those from a file that
        was made to do harm is not safe.

    Returns
    -------
    PartiallyLinear, DebiNet, DebiasedLasso, Inference, SplitInference or Net

    Raises
    ------
    FileFormatError
        If the file is damaged, not written by this library, or needs `trusted=True`.

    Examples
    --------
    >>> import debinet as dn
    >>> X, y, _ = dn.datasets.make_sparse_linear(n=200, random_state=0)
    >>> model = dn.PartiallyLinear(["d1"], random_state=0).fit(X, y)
    >>> model.save("wages.npz")  # doctest: +SKIP
    >>> dn.load("wages.npz").predict(X)  # doctest: +SKIP
    """

    def rebuild(header: dict[str, Any], arrays: Any) -> Any:
        found = unpack(header, arrays, trusted)
        require(type(found).__name__ in LOADED, "content")
        _require_consistent(found)
        return found

    found = read_archive(path, rebuild)
    if type(found).__name__ == "Net":
        from debinet.learners.net.modules import attach_module

        attach_module(found, None)
    return found


def load_any_result(path: str | PathLike[str]) -> Inference | SplitInference:
    """Read a result, or the result of a model without its learner."""

    def rebuild(header: dict[str, Any], arrays: Any) -> Inference | SplitInference:
        unpacker = Unpacker(header["records"], arrays)
        root = header["root"]
        record = unpacker.records[root["record"]]
        if record["class"] == "plm":
            record = unpacker.records[record["parts"]["model"]["record"]]
        if record["class"] not in {"result", "split result"}:
            root = dict(record["parts"]["state"]["map"])["result_"]
        result: Inference | SplitInference = unpacker.unpack(root)
        require(isinstance(result, (Inference, SplitInference)), "result")
        return result

    return read_archive(path, rebuild)


def _require_consistent(model: Any) -> None:
    """Require that the parts fit together, so that predictions and tables do not fail later."""
    kind = type(model).__name__
    if kind == "DebiNet":
        found, schema = model._estimated, model._candidates.schema
        require(
            found.selected.shape == found.kept.shape == model._candidates.source.shape, "columns"
        )
        _require_result(model.result_)
        _require_predictions(model, _two_rows(model, schema))
    elif kind == "PartiallyLinear":
        schema = model._fitted.schema
        require(model.result_.estimate.size == len(schema.treatment_names), "treatments")
        require(bool(model._fitted.means), "means")
        _require_formula(model.formula_, schema.names)
        _require_result(model.result_)
        _require_predictions(model, _two_rows(model, schema))
    elif kind == "DebiasedLasso":
        require(model.lasso_coef_.shape == (len(model._design.names),), "coefficients")
        _require_result(model.result_)
        _require_predictions(model, _two_rows(model, Schema(model._design.names, (), {})))
    elif kind == "Inference":
        _require_result(model)


def _require_formula(formula: Any, columns: tuple[str, ...]) -> None:
    """Require that the formula of a model, if it has one, makes the model's columns."""
    if formula is not None:
        from debinet.models.formula_columns import FormulaColumns

        same = isinstance(formula, FormulaColumns) and formula.design.columns == columns
        require(same, "columns of the formula")


def _require_result(result: Any) -> None:
    require(bool(result.summary()), "result")
    if isinstance(result, Inference):
        # Only a perfect fit may have errors of exactly zero.
        require(bool((np.diag(result.covariance) > 0).all()) or NOTE in result.notes, "variances")


def _require_predictions(model: Any, rows: Any) -> None:
    """Require predictions of new rows, by the same way as a user's."""
    predicted = model.predict(rows)
    require(predicted.shape == (len(rows),) and bool(np.isfinite(predicted).all()), "predictions")


def _two_rows(model: Any, schema: Schema) -> Any:
    """Return two rows of zeros and first categories, as the data of the fit would be."""
    formula = getattr(model, "formula_", None)
    if formula is not None:
        return formula.design.source.head(2)
    names, levels = schema.names, schema.levels
    first = {j: float(levels[j][0]) if j in schema.codes else levels[j][0] for j in levels}
    columns = [[first.get(j, 0.0)] * 2 for j in range(len(names))]
    labels = getattr(model, "feature_names_in_", None)
    if labels is None:
        return np.array(columns, dtype=object if len(levels) > len(schema.codes) else np.float64).T
    require(list(labels) == list(names), "names of columns")
    return pd.DataFrame(dict(zip(names, columns, strict=True)))
