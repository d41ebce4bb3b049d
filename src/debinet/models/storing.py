"""Fitted models in files: `save` of every model, and `dn.load`."""

from __future__ import annotations

from os import PathLike, fspath
from typing import Any

import numpy as np

from debinet.data.archive import Kind, read_archive, read_format, require, write_archive
from debinet.data.records import pack, unpack
from debinet.exceptions import DebiNetError, FileFormatError
from debinet.inference.loading import load_result
from debinet.inference.result import Inference
from debinet.inference.storage import KIND as RESULT
from debinet.models.kinds import Kinds

KIND = Kind("debinet-model", 1, "save")
MODELS = ("PartiallyLinear", "DebiNet", "DebiasedLasso", "FormulaFit")


def save_model(model: Any, path: str | PathLike[str]) -> None:
    """Write a fitted model, its result included, whole or not at all."""
    arrays: dict[str, Any] = {}
    tree = pack(model, Kinds(), arrays)
    write_archive(path, KIND, {"model": tree}, arrays)


def load(path: str | PathLike[str], *, trusted: bool = False) -> Any:
    """Read a model, a result or a network that one of the `save` methods wrote.

    Files of every released version can be read. There is no pickle in them: a file from a stranger
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
    PartiallyLinear, DebiNet, DebiasedLasso, the fit of `plm`, Inference or Net

    Raises
    ------
    FileFormatError
        If the file is damaged, not one of ours, or needs `trusted=True`.

    Examples
    --------
    >>> import debinet as dn
    >>> X, y, _ = dn.datasets.make_sparse_linear(n=200, random_state=0)
    >>> model = dn.PartiallyLinear(["d1"], random_state=0).fit(X, y)
    >>> model.save("wages.npz")  # doctest: +SKIP
    >>> dn.load("wages.npz").predict(X)  # doctest: +SKIP
    """
    found = read_format(path)
    if found == "debinet-net":
        from debinet.learners.net.net import Net

        return Net.load(path)
    if found == KIND.format:
        return read_archive(path, KIND, lambda header, archive: _rebuild(header, archive, trusted))
    if found == RESULT.format:
        return load_result(path)
    raise FileFormatError(
        "a file that one of the `save` methods wrote",
        f"{fspath(path)!r}, which is another kind of file, or damaged",
        "Check the path, or save it again.",
    )


def load_any_result(path: str | PathLike[str]) -> Inference:
    """Read a result, or the result of a model without its learner."""
    if read_format(path) != KIND.format:
        return load_result(path)

    def rebuild(header: dict[str, Any], archive: Any) -> Inference:
        parts = header["model"]["parts"]
        parts = parts["model"]["parts"] if header["model"]["record"] == "plm" else parts
        state = dict(parts["state"]["map"])
        result: Inference = unpack(state["result_"], Kinds(), archive)
        require(isinstance(result, Inference), "result")
        return result

    return read_archive(path, KIND, rebuild)


def _rebuild(header: dict[str, Any], archive: Any, trusted: bool) -> Any:
    try:
        model = unpack(header["model"], Kinds(trusted), archive)
        require(type(model).__name__ in MODELS, "model")
        _require_consistent(model)
    except FileFormatError:
        raise
    except DebiNetError as error:
        raise ValueError(str(error)) from error  # it is the file that is wrong, not the caller
    return model


def _require_consistent(model: Any) -> None:
    """Require that the parts fit together, so that predictions do not fail later."""
    kind = type(model).__name__
    if kind == "FormulaFit":
        _require_consistent(model.model)
    elif kind == "DebiNet":
        if model._estimated.model is not None:
            _require_consistent(model._estimated.model)
    elif kind == "PartiallyLinear":
        q = len(model._schema.treatments)
        rows = np.zeros((2, len(model._schema.control_names)))
        require(model.result_.estimate.shape == (q,) and len(model._means) > 0, "treatments")
        for means in model._means:
            m_y, m_D = means(rows)
            require(m_y.shape == (2,) and m_D.shape == (2, q), "predictions")
    else:
        require(model.lasso_coef_.shape == (len(model._design.names),), "coefficients")
