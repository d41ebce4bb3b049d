"""Data to try things on: simulated designs with known truth."""

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
    make_waves,
)

__all__ = [
    "Simulated",
    "make_ccddhnr2018",
    "make_enrolment",
    "make_oblique",
    "make_smooth_nonlinear",
    "make_sparse_linear",
    "make_survey",
    "make_table1",
    "make_table2",
    "make_waves",
]
