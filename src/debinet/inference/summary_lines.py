"""A result's provenance in words: the only place where it becomes text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from debinet.exceptions import CovarianceError
from debinet.inference.hypotheses import WaldTest
from debinet.inference.instrument_lines import instrument_lines
from debinet.inference.provenance import CorrectedErrors, LassoPenalties, Provenance, Selected
from debinet.report.tables import format_number, format_pvalue

if TYPE_CHECKING:
    from debinet.inference.result import Inference

# More coefficients than this are not listed one by one.
_LISTED = 5
# The same for controls.
_LISTED_CONTROLS = 10


def result_title(provenance: Provenance) -> str:
    """Return the heading of a result."""
    corrected = ", corrected for measurement error," if provenance.errors is not None else ""
    robust = ", by Huber's M-estimator," if provenance.huber is not None else ""
    return f"{provenance.model}{corrected}{robust} of {provenance.outcome}"


def summary_lines(result: Inference, level: float, joint: bool) -> dict[str, str]:
    """Return what was run, by label; only what is known."""
    provenance, q = result.provenance, len(result.names)
    source = "" if provenance.source is None else f", streamed from {provenance.source}"
    lines: dict[str, str | None] = {
        "formula": provenance.formula,
        "model": _equation(provenance),
        "rows": f"{result.n}{source}",
        "columns": _columns(provenance, q),
        "controls": listed_controls(provenance.control_columns),
        **instrument_lines(result, level),
        "learner": _learner(provenance),
        "cross-fitting": _cross_fitting(provenance),
        "method": provenance.method,
        **_lasso_lines(provenance.lasso),
        "clusters": _clusters(provenance),
        "categories": _joint_tests(result),
        "doses": _doses(result),
        "errors in D": _errors(provenance.errors, result.names),
        "last stage": _last_stage(result),
    }
    if provenance.selection is not None:
        lines["selection"] = selection_line(provenance.selection)
        lines["target"] = "coefficients of the selected features in the full model"
    kind = result.vcov_type
    if kind == "full":
        kind = "full procedure, clustered" if result.groups is not None else "full procedure"
    lines["covariance"] = f"{kind}, t distribution with {result.df:g} degrees of freedom"
    lines["intervals"] = f"{100 * level:g} %, {'joint' if joint else 'pointwise'}"
    return {label: text for label, text in lines.items() if text is not None}


def selection_line(selected: Selected) -> str:
    """Return how treatments were selected."""
    where = "the rows of estimation" if selected.same_rows else f"{selected.rows} other rows"
    return f"{selected.selector} on {where}: {selected.chosen} of {selected.offered} features"


def _equation(provenance: Provenance) -> str | None:
    if provenance.lasso is not None:
        return f"{provenance.outcome} = X b + e"
    return None if provenance.learner is None else f"{provenance.outcome} = D b + f(Z) + e"


def _columns(provenance: Provenance, q: int) -> str | None:
    if provenance.controls is None:
        return str(q) if provenance.lasso is not None else None
    p = provenance.controls
    return f"{q} treatment{'s' * (q != 1)} (D), {p} control{'s' * (p != 1)} (Z)"


def listed_controls(names: Sequence[str]) -> str | None:
    """Return the names of the controls, those beyond ten as a number."""
    if not names:
        return None
    more = len(names) - _LISTED_CONTROLS
    return ", ".join(names[:_LISTED_CONTROLS]) + (f" and {more} more" if more > 0 else "")


def _learner(provenance: Provenance) -> str | None:
    if provenance.hidden_units is None:
        return provenance.learner
    return f"{provenance.learner}, {provenance.hidden_units} features"


def _cross_fitting(provenance: Provenance) -> str | None:
    folds = provenance.cross_fitting
    if folds is None:
        return None
    return folds.label + (f", {folds.repetitions} times, median" * (folds.repetitions > 1))


def _clusters(provenance: Provenance) -> str | None:
    clusters = provenance.clusters
    if clusters is None:
        return None
    numbers = " and ".join(map(str, clusters.numbers))
    return numbers if clusters.column is None else f"{numbers} of {clusters.column!r}"


def _joint_tests(result: Inference) -> str | None:
    """Return, for treatments with several coefficients, the test that all of them are zero."""
    tests = [
        f"{one.name} {_joint_test(result, one.terms)}"
        for one in result.provenance.categories
        if len(one.terms) > 1
    ]
    return "; ".join(tests) or None


def _joint_test(result: Inference, terms: tuple[str, ...]) -> str:
    try:
        return f"(joint test): {_words(result.wald_test(list(terms)))}"
    except CovarianceError:
        return f"({len(terms)} coefficients): no joint test, as there are too few clusters"


def _doses(result: Inference) -> str | None:
    """Return, for doses, the tests that there is no effect, and that it is a straight line."""
    bases = [one.basis for one in result.provenance.doses]
    tests = [
        f"{basis.name}: no effect {wald_words(result, basis.terms)}, "
        f"straight line {wald_words(result, basis.terms[1:])}"
        for basis in bases
    ]
    return "; ".join(tests) or None


def wald_words(result: Inference, terms: tuple[str, ...]) -> str:
    """Return the test that all these coefficients are zero."""
    try:
        return _words(result.wald_test(list(terms)))
    except CovarianceError:
        return "cannot be tested, as there are too few clusters"


def _words(test: WaldTest) -> str:
    pvalue = format_pvalue(test.pvalue)
    return (
        f"F({test.df_num}, {test.df_denom:g}) = {format_number(test.statistic)}, "
        f"p {pvalue if pvalue.startswith('<') else f'= {pvalue}'}"
    )


def _errors(errors: CorrectedErrors | None, names: tuple[str, ...]) -> str | None:
    if errors is None:
        return None
    pairs = list(zip(names, errors.variances, strict=True))
    listed = ", ".join(f"{name} {value:.3g}" for name, value in pairs[:_LISTED])
    more = f" and {len(pairs) - _LISTED} more" if len(pairs) > _LISTED else ""
    return (
        f"mean squared error {listed}{more}, {'as given' if errors.given else 'from the learner'}"
    )


def _last_stage(result: Inference) -> str | None:
    if result.provenance.huber is None:
        return None
    first = result.regressions[0].all_rows("the number of clipped residuals")
    clipped = 0 if first.clip is None else int((abs(first.residuals) > first.clip).sum())
    return (
        f"Huber's M-estimator, c = {result.provenance.huber:g}; residuals of {clipped} rows clipped"
    )


def _lasso_lines(lasso: LassoPenalties | None) -> dict[str, str | None]:
    if lasso is None:
        return {}
    least, most = lasso.least_nodewise, lasso.most_nodewise
    return {
        "Lasso": f"penalty {lasso.penalty:.4g}, {lasso.nonzero} coefficient(s) not zero",
        "nodewise": f"penalty {least:.4g}" + (f" to {most:.4g}" if most > least else ""),
        "noise": f"standard deviation {lasso.noise:.4g}",
    }
