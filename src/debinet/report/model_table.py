"""`table`: several models side by side, a column each, as in a paper."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
import pandas as pd

from debinet.data.options import one_of, share, switch, whole_number
from debinet.exceptions import InputError, OptionError
from debinet.report import tables
from debinet.report.table_files import write_table

_STARS = (0.1, 0.05, 0.01)
BELOW = ("se", "ci", "none")


@dataclass(frozen=True, repr=False, eq=False)
class ModelTable:
    """Several models side by side.

    Attributes
    ----------
    frame : DataFrame
        The cells as text: a column per model; rows of coefficients, of what stands below them, and
        of facts about the models.
    coefficients : int
        Number of rows before those of facts.
    notes : tuple of str
        What brackets and stars mean.
    """

    frame: pd.DataFrame
    coefficients: int
    notes: tuple[str, ...]

    def to_text(self) -> str:
        """Return aligned columns of plain text."""
        text = tables.text_table(self.frame, rule=self.coefficients)
        return "\n".join([text, "", *self.notes])

    def to_markdown(self) -> str:
        """Return a GitHub-flavoured Markdown table."""
        notes = [tables.escape_markdown(note) for note in self.notes]
        return "\n".join([tables.markdown_table(self.frame), "", *notes])

    def to_latex(self, caption: str | None = None) -> str:
        """Return a booktabs table; with a caption, as a float."""
        return tables.latex_table(self.frame, caption, rule=self.coefficients, notes=self.notes)

    def to_html(self, caption: str | None = None) -> str:
        """Return a `<table>`."""
        words = [*([f"{caption}."] if caption else []), *self.notes]
        return tables.html_table(self.frame, " ".join(words), sortable=False)

    def save(self, path: str | PathLike[str], caption: str | None = None) -> None:
        """Write the table in the format of the file's ending.

        Parameters
        ----------
        path : path
            `.txt`, `.md`, `.tex`, `.html`, `.csv`; with `pip install "debinet[tables]"` also
            `.docx` and `.xlsx`. Replaced if it exists.
        caption : str, optional
            For `.tex`, `.html` and `.docx`.
        """
        write_table(self, path, caption)

    def __repr__(self) -> str:
        return f"<ModelTable: {self.frame.shape[1]} models>"

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return self.to_html()


def table(
    models: Any,
    names: Sequence[str] | None = None,
    *,
    stars: bool | Sequence[float] = False,
    digits: int = 3,
    below: str = "se",
    level: float = 0.95,
    trust: bool = True,
) -> ModelTable:
    """Put models side by side.

    Parameters
    ----------
    models : sequence of models or results, or mapping from str to them
        Fitted models of this library, or their results. Those of statsmodels are shown, too.
    names : sequence of str, optional
        Headings of the columns; by default (1), (2), ..., or the names in a mapping.
    stars : bool or sequence of float
        Whether stars mark small p-values, or the limits for one, two, ... stars. True stands for
        (0.1, 0.05, 0.01).
    digits : int
        Significant digits.
    below : {"se", "ci", "none"}
        What stands below a coefficient: its standard error, its interval, or nothing.
    level : float
        Of the intervals.
    trust : bool
        Whether a row shows the verdicts of `trust()`.

    Examples
    --------
    >>> import debinet as dn
    >>> X, y, truth = dn.datasets.make_sparse_linear(n=300, random_state=0)
    >>> each = [dn.PartiallyLinear(d, "lasso", random_state=0).fit(X, y) for d in ("d1", "d2")]
    >>> print(dn.table(each, digits=2, trust=False))
                         (1)           (2)
    d1                   1.0
                     (0.052)
    d2                               -0.53
                                   (0.055)
    --------------------------------------
    rows                 300           300
    learner     LassoLearner  LassoLearner
    method        structured    structured
    covariance           HC3           HC3
    <BLANKLINE>
    Standard errors in parentheses.
    """
    results = _results(models)
    headings = _headings(models, names, len(results))
    limits = _limits(stars)
    whole_number("digits", digits, 1)
    one_of("below", below, BELOW)
    share("level", level, "Use level=0.95 for 95 % intervals.")
    switch("trust", trust)
    frames = [_coefficients(result, level) for result in results]
    shown = [_cells(frame, limits, digits, below) for frame in frames]
    terms = list(dict.fromkeys(term for frame in frames for term in frame.index))
    labels, rows = [], []
    for term in terms:
        found = [cells.get(term, ("", "")) for cells in shown]
        labels.append(str(term))
        rows.append([cell for cell, _ in found])
        if any(under for _, under in found):
            labels.append("")
            rows.append([under for _, under in found])
    facts = _facts(results, trust)
    frame = pd.DataFrame([*rows, *facts.values()], index=[*labels, *facts], columns=headings)
    return ModelTable(frame, len(rows), _notes(limits, below, level))


def _results(models: Any) -> list[Any]:
    each = list(models.values()) if isinstance(models, Mapping) else models
    if isinstance(each, str) or not isinstance(each, Iterable):
        each = [each]
    found = [getattr(model, "result_", model) for model in each]
    if not found:
        raise InputError("at least one model", "none", "For example table([first, second]).")
    for result in found:
        if not (hasattr(result, "to_frame") or hasattr(result, "params")):
            raise InputError(
                "fitted models, or their results",
                f"{type(result).__name__}",
                "Call fit first, and pass table([first, second]).",
            )
    return found


def _headings(models: Any, names: Sequence[str] | None, count: int) -> list[str]:
    if names is None:
        if isinstance(models, Mapping):
            return [str(name) for name in models]
        return [f"({k + 1})" for k in range(count)]
    if isinstance(names, str) or len(names) != count:
        raise OptionError(f"names of {count} models", repr(names), "Give one name per model.")
    return [str(name) for name in names]


def _limits(stars: bool | Sequence[float]) -> tuple[float, ...]:
    """Return the limits of p-values, the largest first."""
    if isinstance(stars, (bool, np.bool_)):
        return _STARS if stars else ()
    if isinstance(stars, (int, float, str)):
        raise OptionError("stars to be True, False or limits", repr(stars), "Use (0.1, 0.05).")
    return tuple(sorted((share("stars", limit) for limit in stars), reverse=True))


def _coefficients(result: Any, level: float) -> pd.DataFrame:
    """Return coef, se, pvalue, lower and upper, NaN where the result has none."""
    if hasattr(result, "to_frame"):
        frame = result.to_frame(level)
    else:
        columns = {"coef": result.params, "se": result.bse, "pvalue": result.pvalues}
        frame = pd.DataFrame(columns)
        frame[["lower", "upper"]] = np.asarray(result.conf_int(1 - level))
    return pd.DataFrame(frame).reindex(columns=["coef", "se", "pvalue", "lower", "upper"])


def _cells(
    frame: pd.DataFrame, limits: tuple[float, ...], digits: int, below: str
) -> dict[Any, tuple[str, str]]:
    """Return the cell of every coefficient, and the one below it."""
    cells = {}
    for term, *values in frame.itertuples(name=None):
        coef, se, pvalue, lower, upper = (float(value) for value in values)
        mark = "*" * sum(pvalue < limit for limit in limits)
        under = f"({_number(se, digits)})" if below == "se" and np.isfinite(se) else ""
        if below == "ci":
            under = f"[{_number(lower, digits)}, {_number(upper, digits)}]"
        cells[term] = _number(coef, digits) + mark, under
    return cells


def _facts(results: Sequence[Any], trust: bool) -> dict[str, list[str]]:
    """Return rows about the models, where any has something to say."""
    made = [getattr(result, "provenance", None) for result in results]
    outcomes = [str(getattr(result, "outcome", "") or _outcome(result)) for result in results]
    facts = {
        "outcome": outcomes if len(set(outcomes)) > 1 else [],
        "rows": [f"{int(result.nobs)}" for result in results],
        "learner": [getattr(p, "learner", None) or "" for p in made],
        "method": [getattr(p, "method", None) or "" for p in made],
        "covariance": [str(getattr(result, "cov_type", "")) for result in results],
        "trust": [r.trust().verdict if hasattr(r, "trust") and trust else "" for r in results],
    }
    return {name: cells for name, cells in facts.items() if any(cells)}


def _outcome(result: Any) -> str:
    return str(getattr(getattr(result, "model", None), "endog_names", ""))


def _notes(limits: tuple[float, ...], below: str, level: float) -> tuple[str, ...]:
    notes = {
        "se": ["Standard errors in parentheses."],
        "ci": [f"{100 * level:g} % intervals in brackets."],
        "none": [],
    }[below]
    if limits:
        each = [f"{'*' * (k + 1)} p < {limit:g}" for k, limit in enumerate(limits)]
        notes.append(", ".join(each) + ".")
    return tuple(notes)


def _number(value: float, digits: int) -> str:
    return "" if np.isnan(value) else tables.format_number(float(value), digits)
