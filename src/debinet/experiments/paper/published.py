"""The values that the paper prints, as printed."""

from __future__ import annotations

from debinet.experiments.comparison import Published, Rows

_PREDICTION = ("error", "train", "test")


def _row(names: tuple[str, ...], *texts: str) -> dict[str, Published]:
    """Read cells such as "0.421 0.418": a value and, if printed, its standard deviation."""
    found = {}
    for name, text in zip(names[: len(texts)], texts, strict=True):
        value, _, sd = text.partition(" ")
        found[name] = Published(value, float(sd) if sd else None)
    return found


_TABLE_1 = {
    "PLM-NN": ("1.59e-5", "10.48", "10.36"),
    "PLM-NW": ("0.11e-5", "16.33", "16.08"),
    "DML Lasso": ("0.60e-5", "15.79", "15.79"),
    "DML DT": ("65.1e-5", "336.00", "342.68"),
    "DML RF": ("0.58e-5", "44.00", "44.87"),
}
TABLE_1: Rows = {("", name): _row(_PREDICTION, *cells) for name, cells in _TABLE_1.items()}

_TABLE_2 = {
    ("A", "Lasso"): ("0.536 0.058", "286.218 9.766", "296.112 25.615"),
    ("A", "OLS post-Lasso"): ("1.402 0.309", "233.363 11.050", "308.440 25.241", "0.558"),
    ("A", "debiased Lasso"): ("2.019 0.290", "4998.75 364.669", "1100.68 111.53", "0.000"),
    ("A", "DebiNet"): ("0.421 0.418", "136.376 54.195", "278.625 30.932", "0.830"),
    ("A", "NW post-Lasso"): ("1.398 0.307", "229.193 10.860", "308.399 25.301", "0.560"),
    ("B", "Lasso"): ("0.264 0.027", "3.531 0.131", "3.634 0.411"),
    ("B", "OLS post-Lasso"): ("0.001 0.000", "0.992 0.057", "1.009 0.086", "0.958"),
    ("B", "debiased Lasso"): ("0.004 0.002", "55.024 3.295", "14.000 1.410", "0.702"),
    ("B", "DebiNet"): ("0.001 0.000", "0.989 0.056", "1.012 0.086", "0.956"),
    ("B", "NW post-Lasso"): ("0.001 0.000", "0.975 0.056", "1.009 0.084", "0.960"),
    ("C", "OLS"): ("0.003 0.000", "0.378 0.031", "2.625 0.313", "0.955"),
    ("C", "Lasso"): ("0.458 0.021", "175.803 3.846", "245.660 25.020"),
    ("C", "OLS post-Lasso"): ("0.175 0.025", "88.959 6.314", "211.952 21.839", "0.927"),
    ("C", "debiased Lasso"): ("0.299 0.036", "122.515 12.222", "122.204 13.268", "0.123"),
    ("C", "DebiNet"): ("0.175 0.025", "88.953 6.324", "211.877 21.926", "0.928"),
    ("C", "NW post-Lasso"): ("0.174 0.025", "87.132 6.195", "211.007 21.821", "0.927"),
}
TABLE_2: dict[tuple[str, str], dict[str, Published]] = {
    key: _row((*_PREDICTION, "coverage"), *row) for key, row in _TABLE_2.items()
}
# Seconds on a CPU; the paper's "-" is less than one second.
TABLE_2_SECONDS = {
    ("A", "debiased Lasso"): 154.0,
    ("A", "DebiNet"): 60.0,
    ("B", "debiased Lasso"): 150.0,
    ("B", "DebiNet"): 21.0,
    ("C", "debiased Lasso"): 4.0,
    ("C", "DebiNet"): 6.0,
}

_TABLE_3 = {  # its SE is the standard deviation of the runs
    "PLM-NN": ("0.590 0.186", "0.596", "0.186"),
    "PLM-NW": ("0.912 0.351", "0.931", "0.351"),
    "DML Lasso": ("0.887 0.415", "0.911", "0.415"),
    "DML DT": ("0.805 0.385", "0.804", "0.385"),
    "DML RF": ("0.809 0.388", "0.810", "0.388"),
}
TABLE_3: Rows = {
    ("", name): _row(("mean", "median", "sd"), *cells) for name, cells in _TABLE_3.items()
}

_TABLE_4 = {
    "PLM-NN": ("4.00e-5", "3.81", "3.87"),
    "PLM-NW": ("1.26e-5", "3.51", "3.66"),
    "DML Lasso": ("0.38e-5", "4.17", "3.99"),
    "DML DT": ("240e-5", "8.41", "15.51"),
}
TABLE_4: Rows = {("", name): _row(_PREDICTION, *cells) for name, cells in _TABLE_4.items()}

_TABLE_5 = {
    "MLP": ("0.43", "0.824", "0.77"),
    "OLS attack": ("0.39", "0.840", "0.69"),
    "DebiNet attack (Lasso)": ("3.95", "0.008", "0.02"),
    "DebiNet attack (elastic net)": ("3.95", "0.008", "0.02"),
}
TABLE_5: Rows = {
    ("", name): _row(("loss", "accuracy", "auc"), *cells) for name, cells in _TABLE_5.items()
}
