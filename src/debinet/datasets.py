"""Data sets: simulated designs with known coefficients, and tables of published studies."""

from debinet.data.designs import (
    Simulated,
    make_ccddhnr2018,
    make_enrolment,
    make_oblique,
    make_smooth_nonlinear,
    make_sparse_linear,
    make_survey,
    make_table1,
    make_table2,
    make_table4,
    make_waves,
)
from debinet.data.studies import fetch_401k, fetch_credit_default

__all__ = [
    "Simulated",
    "fetch_401k",
    "fetch_credit_default",
    "make_ccddhnr2018",
    "make_enrolment",
    "make_oblique",
    "make_smooth_nonlinear",
    "make_sparse_linear",
    "make_survey",
    "make_table1",
    "make_table2",
    "make_table4",
    "make_waves",
]
