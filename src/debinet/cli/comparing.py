"""`debinet fit --compare`: several learners or methods in one call."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from debinet.cli.fit_options import LEARNERS, FitOptions, read_crossfit

if TYPE_CHECKING:
    from debinet.models.comparison import ModelComparison

_TABLES: dict[str, Callable[[ModelComparison], str]] = {
    ".csv": lambda found: found.frame.to_csv(index=False),
    ".md": lambda found: found.to_markdown() + "\n",
    ".tex": lambda found: found.to_latex() + "\n",
    ".html": lambda found: found.to_html() + "\n",
}


class Compared:
    """Learners or methods that are fitted as one model would be; `found` has the comparison."""

    found: ModelComparison

    def __init__(self, asked: FitOptions, treatments: list[str]) -> None:
        self.asked, self.treatments = asked, treatments

    def fit(self, X: Any, y: Any, *, groups: Any, sample_weight: Any) -> None:
        """Fit all of them."""
        from debinet.cli.reading import split_names
        from debinet.inference.methods import METHODS
        from debinet.models.compare import compare
        from debinet.models.partially_linear import PartiallyLinear

        asked = self.asked
        models = {
            name: PartiallyLinear(
                self.treatments,
                asked.learner if name in METHODS else name,
                method=name if name in METHODS else "auto",
                crossfit=read_crossfit(asked.crossfit),
                random_state=asked.seed,
                verbose=asked.progress,
            )
            for name in split_names(asked.compare)
        }
        self.found = compare(
            models, X, y, groups=groups, sample_weight=sample_weight, level=asked.level
        )


def require_comparable(asked: FitOptions, **others: Any) -> None:
    """Require names of learners and methods, and refuse options that are about a single model."""
    from debinet.cli.reading import split_names
    from debinet.inference.methods import METHODS

    known = (*LEARNERS, *METHODS)
    names = split_names(asked.compare)
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        wrong = repr(unknown[0] if unknown else asked.compare)
        raise click.UsageError(f"--compare {wrong}: use names among {', '.join(known)}.")
    given = [name for name, value in others.items() if value]
    given += [name for name in ("formula", "select") if getattr(asked, name)]
    if given:
        raise click.UsageError(f"--compare cannot be used with --{given[0]}.")


def show_comparison(
    found: ModelComparison, tables: tuple[Path, ...], *, as_json: bool, quiet: bool
) -> int:
    """Write and print a comparison; return 1 if a model failed."""
    from debinet.data.atomic_write import write_atomically

    for path in tables:
        with write_atomically(path) as draft:
            draft.write_text(_TABLES[path.suffix.lower()](found), encoding="utf-8")
    if as_json:
        models = json.loads(found.frame.to_json(orient="records", double_precision=15))
        tests = json.loads(
            found.agreement.reset_index(names="treatment").to_json(
                orient="records", double_precision=15
            )
        )
        click.echo(json.dumps({"models": models, "agreement": tests}, indent=2, ensure_ascii=False))
    elif not quiet:
        click.echo(found.summary())
    return int((found.frame["trust"] == "failed").any())
