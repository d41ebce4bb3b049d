"""How many source files a fit enters, and how often it steps back to an earlier package.

    python benchmarks/way_of_a_fit.py [--list]

Files are those of which a function runs during `fit`, in the order in which they are first entered;
the package's `__init__`, which resolves public names, does not count. Packages have the order in
which they are first entered. A step back is a newly entered file of a package that comes before
that of the file entered last. `models` orchestrates all others and does not count for steps.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any

import debinet as dn

ROOT = Path(dn.__file__).parent
MODELS = {
    "PartiallyLinear": lambda: dn.PartiallyLinear(["d1"], random_state=0),
    "DebiNet": lambda: dn.DebiNet(random_state=0),
}


def entered_files(run: Callable[[], Any]) -> list[str]:
    """Return the source files whose functions run, in the order of their first call."""
    files: dict[str, None] = {}

    def profile(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_name != "<module>":
            path = Path(frame.f_code.co_filename)
            if path.is_relative_to(ROOT):
                files.setdefault(str(path.relative_to(ROOT)))

    sys.setprofile(profile)
    try:
        run()
    finally:
        sys.setprofile(None)
    return [name for name in files if name != "__init__.py"]


def steps_back(files: list[str]) -> int:
    """Return how often a newly entered file belongs to an earlier package than the last one."""
    packages = [name.split("/")[0] for name in files]
    packages = [package for package in packages if package != "models"]
    order = list(dict.fromkeys(packages))
    positions = [order.index(package) for package in packages]
    return sum(after < before for before, after in pairwise(positions))


def count(model: str) -> tuple[list[str], int]:
    """Return the files that a default fit enters, and its steps back."""
    data = dn.datasets.make_smooth_nonlinear(300, random_state=0)
    MODELS[model]().fit(data.X, data.y)  # imports, and what is made once, do not count
    files = entered_files(lambda: MODELS[model]().fit(data.X, data.y))
    return files, steps_back(files)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", action="store_true", help="name the files, too")
    options = parser.parse_args()
    for model in MODELS:
        files, back = count(model)
        print(f"{model}.fit enters {len(files)} files and steps back {back} times")
        if options.list:
            print("\n".join(f"  {name}" for name in files))


if __name__ == "__main__":
    main()
