"""`debinet demo`: the main workflow, offline, on data that ship with scikit-learn."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    import pandas as pd

    from debinet.inference.result import Inference


@click.command("demo")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("demo"),
    show_default=True,
    help="Folder for the reports.",
)
def demo_command(out: Path) -> int:
    """Select and debias features of the diabetes data, then a design whose truth is known.

    Writes two pages, tables in Markdown and LaTeX, and the saved result.
    """
    from debinet.inference.reporting import write_report

    out.mkdir(parents=True, exist_ok=True)
    result = diabetes()
    click.echo(result.summary())
    click.echo(f"\nTrust: {result.trust().verdict}")
    write_report(result, out / "report.html", source="scikit-learn's load_diabetes")
    (out / "coefficients.md").write_text(result.to_markdown() + "\n", encoding="utf-8")
    (out / "coefficients.tex").write_text(result.to_latex() + "\n", encoding="utf-8")
    result.save(out / "result.npz")
    simulated, truth = known_truth()
    bounds = simulated.confint().assign(truth=truth)
    covers = bounds["truth"].between(bounds["lower"], bounds["upper"])
    click.echo("\nA design with known truth: intervals beside the true coefficients\n")
    click.echo(bounds.assign(covers=covers).round(3).to_string())
    _write_truth(simulated, truth, out / "truth.html")
    click.echo(f"\nReports: {out / 'report.html'}, {out / 'truth.html'}")
    return 0


def diabetes() -> Inference:
    """Return the result for 64 features: ten measurements, their squares and products."""
    import pandas as pd
    from sklearn.datasets import load_diabetes
    from sklearn.preprocessing import PolynomialFeatures, StandardScaler

    from debinet.models.debinet import DebiNet

    data = load_diabetes(as_frame=True, scaled=False)
    ten = StandardScaler().set_output(transform="pandas").fit_transform(data.data)
    grid = PolynomialFeatures(2, include_bias=False).fit(ten)
    X = pd.DataFrame(grid.transform(ten), columns=grid.get_feature_names_out())
    # The square of a binary feature is a linear function of it.
    X = X.drop(columns="sex^2")
    model = DebiNet("lasso", random_state=0)
    result: Inference = model.fit(X, data.target.rename("progression")).result_
    return result


def known_truth() -> tuple[Inference, pd.Series]:
    """Return the result for a simulated design, and its true coefficients."""
    from debinet.data.designs import make_sparse_linear
    from debinet.models.partially_linear import PartiallyLinear

    effects = (1.0, -0.5, 0.0, 0.5)
    X, y, truth = make_sparse_linear(n=500, effects=effects, random_state=0)
    return PartiallyLinear(list(truth.index), random_state=0).fit(X, y).result_, truth


def _write_truth(result: Inference, truth: pd.Series, path: Path) -> None:
    from debinet.report.page import Section, write_page

    write_page(
        path,
        "A design with known truth",
        [
            Section(
                "Joint intervals and the truth",
                table=result.to_html(joint=True),
                figure=result.plot(joint=True, truth=truth),
                caption="Forest plot with the true coefficients as diamonds",
            )
        ],
    )
