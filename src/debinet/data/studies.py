"""Tables of published studies, as data frames."""

from __future__ import annotations

import os
from os import PathLike
from pathlib import Path

import pandas as pd

from debinet.data.files import ENDINGS, Study, download_table, find_file, load_table, store_table
from debinet.exceptions import DataNotFoundError, FileFormatError

ADDRESSES_401K = ("https://raw.githubusercontent.com/VC2015/DMLonGitHub/master/sipp1991.dta",)
ADDRESSES_CREDIT_DEFAULT = ("https://archive.ics.uci.edu/static/public/350/data.csv",)
ADDRESSES_CARD = (
    "https://raw.githubusercontent.com/bashtage/linearmodels/main/linearmodels/datasets/card/"
    "card.csv.bz2",
)

_PENSIONS = (
    *("nifa", "net_tfa", "tw", "age", "inc", "fsize", "educ", "db", "marr", "twoearn"),
    *("e401", "p401", "pira", "hown"),
)
_CREDIT = (
    *("ID", "LIMIT_BAL", "SEX", "EDUCATION", "MARRIAGE", "AGE"),
    *("PAY_0", "PAY_2", "PAY_3", "PAY_4", "PAY_5", "PAY_6"),
    *(f"BILL_AMT{month}" for month in range(1, 7)),
    *(f"PAY_AMT{month}" for month in range(1, 7)),
    "default_next_month",
)
_SCHOOLING = (
    *("id", "nearc2", "nearc4", "educ", "age", "fatheduc", "motheduc", "weight"),
    *("momdad14", "sinmom14", "step14", *(f"reg66{k}" for k in range(1, 10)), "south66"),
    *("black", "smsa", "south", "smsa66", "wage", "enroll", "KWW", "IQ", "married", "libcrd14"),
    *("exper", "lwage", "expersq"),
)

STUDY_401K = Study(
    title="the 401(k) table",
    file="401k/sipp1991",
    columns=_PENSIONS,
    rows=9915,
    digest="f90ee0c8a7d95cff2ce033d85de04bccdcfe29b0d4af5d9b7309498f2d079b47",
    addresses=ADDRESSES_401K,
)
STUDY_CREDIT_DEFAULT = Study(
    title="the table of credit card clients",
    file="credit_default/credit_default",
    columns=_CREDIT,
    rows=30000,
    digest="6effaefef5ea643679d0c9ffe8390a45a77b9d4feff28d9b9fe7d2c68c73e889",
    addresses=ADDRESSES_CREDIT_DEFAULT,
    original_columns=("ID", *(f"X{j}" for j in range(1, 24)), "Y"),
)
STUDY_CARD = Study(
    title="the table of wages and schooling",
    file="card/card",
    columns=_SCHOOLING,
    rows=3010,
    digest="d7c2472a6fde4cdaa6eab1a13b9c8cdd4a50288229bdb6258137b8f41dde1128",
    addresses=ADDRESSES_CARD,
)


def fetch_401k(path: str | PathLike[str] | None = None, *, download: bool = True) -> pd.DataFrame:
    """Return the 1991 survey of income and program participation, as used in [1]_.

    The table is searched for in this order: `path`; the folder in the environment variable
    DEBINET_DATA, as `401k/sipp1991` with ending `.parquet`, `.csv` or `.dta`; the cache; the
    network. Its content is always verified. Downloads are kept in the cache: the folder
    DEBINET_CACHE, or else `debinet` in the user's cache (`XDG_CACHE_HOME`, `~/.cache`).

    Parameters
    ----------
    path : path-like, optional
        A file, or a folder laid out like DEBINET_DATA. If given, nothing else is tried.
    download : bool
        Whether the network may be used.

    Returns
    -------
    DataFrame of shape (9915, 14)
        float64: nifa, net_tfa (net financial assets), tw, age, inc, fsize, educ, db, marr, twoearn,
        e401 (eligible), p401 (participates), pira, hown.

    Raises
    ------
    DataNotFoundError
        The table is in none of these places.
    FileFormatError
        A file was found that is not this table.
    MissingDependencyError
        The only file found is a parquet file, and pyarrow is not installed.

    References
    ----------
    .. [1] Chernozhukov, V. et al. (2018). Double/debiased machine learning for treatment and
       structural parameters. The Econometrics Journal 21(1), C1-C68.

    Examples
    --------
    >>> import debinet as dn
    >>> table = dn.datasets.fetch_401k()  # doctest: +SKIP
    >>> y, X = table.pop("net_tfa"), table.drop(columns=["nifa", "tw"])  # doctest: +SKIP
    """
    return fetch_table(STUDY_401K, path, download=download)


def fetch_credit_default(
    path: str | PathLike[str] | None = None, *, download: bool = True
) -> pd.DataFrame:
    """Return the default of credit card clients in Taiwan, 2005 [1]_.

    It is searched for as in `fetch_401k`, under the name `credit_default/credit_default`. The names
    X1 to X23 and Y of the original file are replaced by those in common use.

    Parameters
    ----------
    path, download
        As in `fetch_401k`.

    Returns
    -------
    DataFrame of shape (30000, 25)
        float64: ID, LIMIT_BAL, SEX, EDUCATION, MARRIAGE, AGE, PAY_0, PAY_2 to PAY_6, BILL_AMT1 to
        BILL_AMT6, PAY_AMT1 to PAY_AMT6, default_next_month.

    References
    ----------
    .. [1] Yeh, I.-C. (2009). Default of Credit Card Clients. UCI Machine Learning Repository,
       doi:10.24432/C55S3H, CC BY 4.0.

    Examples
    --------
    >>> import debinet as dn
    >>> table = dn.datasets.fetch_credit_default()  # doctest: +SKIP
    """
    return fetch_table(STUDY_CREDIT_DEFAULT, path, download=download)


def fetch_card(path: str | PathLike[str] | None = None, *, download: bool = True) -> pd.DataFrame:
    """Return wages and schooling of young men in the United States, 1976 [1]_.

    It is searched for as in `fetch_401k`, under the name `card/card`.

    Parameters
    ----------
    path, download
        As in `fetch_401k`.

    Returns
    -------
    DataFrame of shape (3010, 34)
        float64: lwage (log hourly wage), educ and exper (years), age, black, smsa and south (of
        1976), smsa66, south66 and reg661 to reg669 (of 1966), nearc2, nearc4 (a college near by),
        and others. fatheduc, motheduc, KWW, IQ, married and libcrd14 have missing values.

    References
    ----------
    .. [1] Card, D. (1995). Using geographic variation in college proximity to estimate the return
       to schooling. In Aspects of Labour Market Behaviour, University of Toronto Press.

    Examples
    --------
    >>> import debinet as dn
    >>> table = dn.datasets.fetch_card()  # doctest: +SKIP
    """
    return fetch_table(STUDY_CARD, path, download=download)


def fetch_table(
    study: Study, path: str | PathLike[str] | None = None, *, download: bool = True
) -> pd.DataFrame:
    """Return a table from `path`, DEBINET_DATA, the cache or the network, in this order."""
    if path is not None:
        return _from_path(study, Path(path).expanduser())
    folder = os.environ.get("DEBINET_DATA")
    found = find_file(study, Path(folder).expanduser()) if folder else None
    if found is not None:
        return load_table(study, found)
    cached = cache_folder() / f"{study.file}.csv"
    searched = [f"the folder DEBINET_DATA ({folder or 'not set'})"]
    try:
        return load_table(study, cached)
    except FileNotFoundError:
        searched.append(f"the cache ({cached})")
    except (OSError, FileFormatError) as error:
        searched.append(f"the cache ({cached} cannot be used: {error})")
    if not download:
        raise _not_found(study, [*searched, "no network, because download=False"])
    try:
        table = download_table(study)
    except OSError as error:
        raise _not_found(study, [*searched, str(error)]) from error
    store_table(table, cached)
    return table


def cache_folder() -> Path:
    """Return DEBINET_CACHE, or the folder debinet in the user's cache."""
    if own := os.environ.get("DEBINET_CACHE"):
        return Path(own).expanduser()
    shared = Path(os.environ.get("XDG_CACHE_HOME", ""))
    # The XDG specification says to ignore relative paths.
    return (shared if shared.is_absolute() else Path.home() / ".cache") / "debinet"


def _from_path(study: Study, path: Path) -> pd.DataFrame:
    found = find_file(study, path) if path.is_dir() else path
    if found is None or not found.exists():
        raise _not_found(study, [f"the given path ({path})"])
    return load_table(study, found)


def _not_found(study: Study, searched: list[str]) -> DataNotFoundError:
    return DataNotFoundError(
        f"{study.title}, the file {study.file} with ending {', '.join(ENDINGS)}",
        f"nothing in: {'; '.join(searched)}",
        f"Download {study.addresses[0]} and pass it as `path`; or put the table at "
        f"{cache_folder() / study.file}.csv, or at {study.file}.csv in a folder and set "
        "DEBINET_DATA to that folder.",
    )
